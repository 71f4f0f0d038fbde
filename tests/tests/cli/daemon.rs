//! A daemon beside the program, on folders of their own.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use amem_format::reader::Reader;
use amem_format::view::View;
use amem_tests::programs::{amemctl, amemd};
use serde_json::Value;

/// A daemon, and the program that talks to it.
pub(crate) struct ServedFolder {
    child: Child,
    folder: tempfile::TempDir,
    more: Vec<String>,
}

impl ServedFolder {
    /// Starts a daemon on an empty folder.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("brains")).unwrap();
        std::fs::write(folder.path().join("log"), "").unwrap();
        let child = command(&folder).spawn().unwrap();
        let served = Self {
            child,
            folder,
            more: Vec::new(),
        };
        let until = Instant::now() + Duration::from_secs(30);
        while served.log("tcp=").is_none() {
            assert!(Instant::now() < until, "amemd does not listen");
            std::thread::yield_now();
        }
        served
    }

    /// What the log says behind some words, up to the next space.
    fn log(&self, words: &str) -> Option<String> {
        let log = std::fs::read_to_string(self.path("log")).unwrap();
        let (_, behind) = log.split_once(words)?;
        let (value, _) = behind.split_once(['\n', ' '])?;
        Some(value.trim_matches('"').to_owned())
    }

    /// From now on the program talks to it by TCP, and can read no file of it.
    pub(crate) fn by_tcp(&mut self) {
        self.by_tcp_with("-q token create far");
    }

    /// The same, with a token that a command makes.
    pub(crate) fn by_tcp_with(&mut self, line: &str) {
        let address = self.log("tcp=").unwrap();
        let token = self.out(line);
        self.put("token", token);
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(self.path("token"), private).unwrap();
        let token = self.path("token").display().to_string();
        self.more = vec!["--address".into(), address, "--token-file".into(), token];
    }

    /// A path beside the brains.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file beside the brains, in a folder that is made if need be.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A view of one of its brains.
    pub(crate) fn view(&self, brain: &str) -> View {
        let path = self.path(&format!("brains/{brain}.amem"));
        Reader::open(path).unwrap().view().unwrap()
    }

    /// Runs the program in the folder, with something on stdin.
    pub(crate) fn run_with(&self, line: &str, stdin: &[u8]) -> Output {
        let mut command = amemctl();
        command
            .current_dir(self.folder.path())
            .args(line.split(' '));
        if self.more.is_empty() {
            command.arg("--socket").arg(self.path("run/s"))
        } else {
            command.args(&self.more)
        };
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // What does not want it closes it.
        drop(child.stdin.take().unwrap().write_all(stdin));
        child.wait_with_output().unwrap()
    }

    /// The envelope's data.
    pub(crate) fn data(&self, line: &str, exit: i32) -> Value {
        self.data_with(line, &[], exit)
    }

    /// The envelope's data, with something on stdin.
    pub(crate) fn data_with(&self, line: &str, stdin: &[u8], exit: i32) -> Value {
        let ran = self.run_with(&format!("{line} --json"), stdin);
        assert_eq!(ran.status.code(), Some(exit), "{line}: {ran:?}");
        let envelope: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert!(envelope["error"].is_null(), "{line}: {envelope}");
        envelope["data"].clone()
    }

    /// The envelope's data of arguments that may have spaces; null if it fails.
    pub(crate) fn told(&self, arguments: &[&str], exit: i32) -> Value {
        let mut command = amemctl();
        command.current_dir(self.folder.path()).args(arguments);
        command
            .arg("--socket")
            .arg(self.path("run/s"))
            .arg("--json");
        let ran = command.output().unwrap();
        assert_eq!(ran.status.code(), Some(exit), "{arguments:?}: {ran:?}");
        let envelope: Value = serde_json::from_slice(&ran.stdout).unwrap();
        envelope["data"].clone()
    }

    /// What it prints.
    pub(crate) fn out(&self, line: &str) -> Vec<u8> {
        let ran = self.run_with(line, &[]);
        assert_eq!(ran.status.code(), Some(0), "{line}: {ran:?}");
        ran.stdout
    }

    /// Fails with this exit code and code, with this in the message and this in the remedy.
    pub(crate) fn refused(&self, line: &str, exit: i32, code: &str, message: &str, remedy: &str) {
        let ran = self.run_with(&format!("{line} --json"), &[]);
        assert_eq!(ran.status.code(), Some(exit), "{line}: {ran:?}");
        let envelope: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let error = &envelope["error"];
        assert_eq!(error["code"], code, "{line}: {error}");
        for (part, of) in [(message, "message"), (remedy, "remedy")] {
            assert!(
                error[of].as_str().unwrap().contains(part),
                "{line}: {error}"
            );
        }
    }
}

impl ServedFolder {
    /// Kills the daemon, as a crash does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// True if the daemon has ended.
    pub(crate) fn ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Starts it again after it has ended.
    pub(crate) fn start_again(&mut self) {
        self.child = command(&self.folder).spawn().unwrap();
    }
}

/// A daemon on the folder.
fn command(folder: &tempfile::TempDir) -> Command {
    let log = std::fs::File::options()
        .append(true)
        .open(folder.path().join("log"))
        .unwrap();
    let mut command = Command::new(amemd());
    command
        .arg("--folder")
        .arg(folder.path().join("brains"))
        .arg("--socket")
        .arg(folder.path().join("run/s"))
        .args(["--tcp-listen", "127.0.0.1:0", "--tokens-file"])
        .arg(folder.path().join("tokens.toml"))
        .stderr(log);
    command
}

impl Drop for ServedFolder {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
