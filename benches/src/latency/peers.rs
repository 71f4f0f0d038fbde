//! The systems under test: the daemon and the echo as processes, and a file that is written and synced by hand.
//!
//! Both processes are this very program: under the name of the daemon it is the daemon (`main`).

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::table;

/// Under this name this program is the daemon.
pub(crate) const DAEMON: &str = "amemd";

/// The processes; they are killed when this is dropped.
pub(crate) struct Peers {
    children: Vec<Child>,
    pub(crate) daemon_socket: PathBuf,
    pub(crate) echo_socket: PathBuf,
    /// Where the daemon serves HTTP.
    pub(crate) http: Option<SocketAddr>,
    /// The folder of the sockets: the path of one is short.
    _run: tempfile::TempDir,
}

impl Peers {
    /// Starts the daemon and the echo.
    pub(crate) fn start(folder: &Path) -> Result<Self, Box<dyn Error>> {
        Self::with(folder, |_| {})
    }

    /// The same with HTTP over TCP.
    pub(crate) fn with_http(folder: &Path) -> Result<Self, Box<dyn Error>> {
        Self::with(folder, |daemon| {
            daemon.args(["--http-listen", "127.0.0.1:0", "--tokens-file"]);
            daemon.arg(folder.join("tokens.toml"));
        })
    }

    fn with(folder: &Path, set: impl FnOnce(&mut Command)) -> Result<Self, Box<dyn Error>> {
        let mut peers = Self::echo()?;
        let mut daemon = Command::new(env::current_exe()?);
        daemon.arg0(DAEMON).env_clear().stderr(Stdio::piped());
        daemon.arg("--folder").arg(folder.join("brains"));
        daemon.arg("--socket").arg(&peers.daemon_socket);
        set(&mut daemon);
        std::fs::create_dir_all(folder.join("brains"))?;
        let child = peers.adopt(daemon)?;
        let log = child.stderr.take();
        let ready = until_ready(log.ok_or("a daemon without a log")?)?;
        let address = ready
            .split_once("http=\"")
            .map(|(_, rest)| rest.split('"').next());
        peers.http = address.flatten().and_then(|address| address.parse().ok());
        Ok(peers)
    }

    /// Starts the echo alone.
    pub(crate) fn echo() -> Result<Self, Box<dyn Error>> {
        let run = tempfile::tempdir()?;
        let mut peers = Self {
            children: Vec::new(),
            daemon_socket: run.path().join("daemon/s"),
            echo_socket: run.path().join("echo"),
            http: None,
            _run: run,
        };
        let mut echo = Command::new(env::current_exe()?);
        echo.arg("echo").arg(&peers.echo_socket);
        echo.stdout(Stdio::piped());
        let child = peers.adopt(echo)?;
        let out = child.stdout.take();
        until_ready(out.ok_or("an echo without a voice")?)?;
        Ok(peers)
    }

    /// The daemon's process, after the echo's.
    pub(crate) fn daemon_id(&self) -> Option<u32> {
        self.children.get(1).map(Child::id)
    }

    fn adopt(&mut self, mut command: Command) -> Result<&mut Child, Box<dyn Error>> {
        self.children.push(command.stdin(Stdio::null()).spawn()?);
        Ok(self.children.last_mut().ok_or("nothing was started")?)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        for child in &mut self.children {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Reads until a line says `ready`, and returns it. A thread reads what comes later, so that no pipe fills.
fn until_ready(from: impl Read + Send + 'static) -> Result<String, Box<dyn Error>> {
    let mut lines = BufReader::new(from).lines();
    for line in lines.by_ref() {
        let line = line?;
        if line.contains("ready") {
            thread::spawn(move || lines.for_each(drop));
            return Ok(line);
        }
    }
    Err("a process ended before it was ready".into())
}

/// A preallocated file: writes to it change no metadata that a sync would have to write.
pub(crate) struct RawLog {
    file: File,
    at: u64,
}

impl RawLog {
    const BYTES: u64 = 64 << 20;

    pub(crate) fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let file = File::create(folder.join("raw"))?;
        let zeros = vec![0; 1 << 20];
        for at in (0..Self::BYTES).step_by(zeros.len()) {
            file.write_all_at(&zeros, at)?;
        }
        file.sync_all()?;
        Ok(Self { file, at: 0 })
    }

    /// Repeatedly appends `bytes` bytes and syncs them.
    pub(crate) fn measure(
        &mut self,
        bytes: usize,
        calls: usize,
    ) -> Result<(Histogram<u64>, Duration), Box<dyn Error>> {
        let frame = vec![0x5a; bytes];
        let mut times = table::histogram()?;
        let began = Instant::now();
        for _ in 0..calls {
            if self.at + bytes as u64 > Self::BYTES {
                self.at = 0;
            }
            let at = Instant::now();
            self.file.write_all_at(&frame, self.at)?;
            self.file.sync_data()?;
            times.record(at.elapsed().as_nanos() as u64)?;
            self.at += bytes as u64;
        }
        Ok((times, began.elapsed()))
    }
}
