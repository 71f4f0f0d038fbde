//! A daemon as a process that is killed and started again, always on the same folder and socket.
//!
//! Promises: dropping it leaves no process behind, and no socket. Not here: requests to it, but for creating a brain.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use amem_client::{Client, v1};
use amem_locks::LockResultExt;

/// Where daemons run, one after the other.
#[derive(Debug)]
pub struct DaemonHome {
    program: PathBuf,
    folder: PathBuf,
    run: PathBuf,
    variables: Vec<(String, String)>,
    user: Option<u32>,
}

impl DaemonHome {
    /// A place for daemons of this program on this folder of brains. The socket lies in the folder of temporary
    /// files, as the path of one is short.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        let id = uuid::Uuid::new_v4().simple().to_string();
        Self {
            program: program.into(),
            folder: folder.into(),
            run: env::temp_dir().join(format!("amem-{}", &id[..12])),
            variables: Vec::new(),
            user: None,
        }
    }

    /// Sets a variable of the daemons' environment.
    pub fn set(&mut self, variable: &str, value: impl Into<String>) {
        self.variables.push((variable.to_owned(), value.into()));
    }

    /// Runs the daemons as another user that owns the folder of the brains; takes root.
    pub fn run_as(&mut self, user: u32) {
        self.user = Some(user);
    }

    /// The folder of the brains.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the socket.
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.run.join("s")
    }

    /// Starts a daemon, and does not wait until it is ready.
    ///
    /// # Panics
    /// If the program can't be started.
    pub fn launch(&self) -> DaemonProcess {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.variables.iter().cloned());
        command.arg("--folder").arg(&self.folder);
        command.arg("--socket").arg(self.socket());
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        match command.spawn() {
            Ok(child) => DaemonProcess(child, Arc::default()),
            Err(why) => panic!("cannot start {}: {why}", self.program.display()),
        }
    }

    /// Starts a daemon, and waits until it is ready.
    ///
    /// # Panics
    /// With what it said, if it ends instead.
    pub fn start(&self) -> DaemonProcess {
        let mut running = self.launch();
        let log = running.0.stderr.take();
        let mut log = BufReader::new(log.unwrap_or_else(|| panic!("a daemon without a log")));
        let (mut said, mut line) = (String::new(), String::new());
        while !line.contains("ready") {
            said.push_str(&line);
            line.clear();
            match log.read_line(&mut line) {
                Ok(1..) => {}
                end => panic!("the daemon ended before it was ready ({end:?}): {said}"),
            }
        }
        // What it says later is taken, so that it is never held up by a full pipe.
        let said = running.1.clone();
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let mut said = said.lock().unpoisoned();
                said.extend([&*line, "\n"]);
            }
        });
        running
    }
}

/// Makes a brain without vectors, so that a test is about something else.
///
/// # Panics
/// If it is refused.
pub async fn create_bare(client: &Client, brain: &str) {
    let request = v1::CreateBrainRequest {
        brain: brain.into(),
        vectors: Some(v1::VectorOptions::default()),
        ..Default::default()
    };
    let made = client.brains().create_brain(request).await;
    made.unwrap_or_else(|e| panic!("{brain} is not made: {e}"));
}

impl Drop for DaemonHome {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.run));
    }
}

/// A daemon; it is killed when it is dropped.
#[derive(Debug)]
pub struct DaemonProcess(Child, Arc<Mutex<String>>);

impl DaemonProcess {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// What it has said since it was ready.
    pub fn log(&self) -> String {
        let said = self.1.lock();
        said.unpoisoned().clone()
    }

    /// How it ended by itself, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// SIGKILL.
    ///
    /// # Panics
    /// If it had ended by itself.
    pub fn kill(mut self) {
        let ended = self.0.try_wait();
        assert!(
            matches!(ended, Ok(None)),
            "the daemon ended by itself: {ended:?}"
        );
        drop(self);
    }

    /// SIGTERM; waits until it has ended.
    ///
    /// # Panics
    /// If it can't be told.
    pub fn stop(mut self) -> ExitStatus {
        let pid = self.pid().to_string();
        let told = Command::new("kill").arg("-TERM").arg(pid).status();
        assert!(told.is_ok_and(|told| told.success()), "kill -TERM");
        match self.0.wait() {
            Ok(status) => status,
            Err(why) => panic!("the daemon can't be waited for: {why}"),
        }
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
