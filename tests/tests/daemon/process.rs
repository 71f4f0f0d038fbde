//! Starting and stopping a daemon, and what its callers say all the time.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use amem_client::{Client, v1};
pub(crate) use amem_tests::daemon::create_bare;
use amem_tests::process::{with_few_descriptors, with_small_files};
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A running daemon; it is killed when it is dropped.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) socket: PathBuf,
}

/// A folder on the disk that the build is on: a folder of temporary files may be in memory.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A daemon that is about to start.
pub(crate) fn command(folder: &Path, socket: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-tested-daemon"));
    command.env_clear().stderr(Stdio::piped());
    command.arg("--folder").arg(folder);
    command.arg("--socket").arg(socket);
    command
}

/// A path for one, in a folder that goes with its daemon.
pub(crate) fn new_socket() -> PathBuf {
    let id = uuid::Uuid::new_v4().simple().to_string();
    std::env::temp_dir().join(format!("amem-{}/s", &id[..12]))
}

impl Daemon {
    /// Starts a daemon on a folder and waits until it is ready. Its socket lies in the folder of temporary files:
    /// the path of one is short.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    /// The same with further flags.
    pub(crate) fn start_with(folder: &Path, flags: &[&str]) -> Self {
        let socket = new_socket();
        let mut command = command(folder, &socket);
        command.args(flags);
        Self::start_by(command, socket)
    }

    /// The same where no file may be larger than so many blocks (`with_small_files`).
    pub(crate) fn start_with_small_files(folder: &Path, blocks: u32) -> Self {
        let socket = new_socket();
        let mut command = with_small_files(&command(folder, &socket), blocks);
        command.env_clear().stderr(Stdio::piped());
        Self::start_by(command, socket)
    }

    /// The same where so many files may be open (`with_few_descriptors`).
    pub(crate) fn start_with_few_descriptors(folder: &Path, count: u32) -> Self {
        let socket = new_socket();
        let mut command = with_few_descriptors(&command(folder, &socket), count);
        command.env_clear().stderr(Stdio::piped());
        Self::start_by(command, socket)
    }

    pub(crate) fn start_by(mut command: Command, socket: PathBuf) -> Self {
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let told: Vec<String> = log
            .by_ref()
            .map(Result::unwrap)
            .take_while(|line| !line.contains("ready"))
            .collect();
        assert!(child.try_wait().unwrap().is_none(), "{told:?}");
        std::thread::spawn(move || log.for_each(drop));
        Self { child, socket }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect_unix(&self.socket).await.unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended by itself, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").arg(name).arg(pid).status().unwrap();
        assert!(sent.success());
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.signal("-TERM");
        self.child.wait().unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        if let Some(folder) = self.socket.parent() {
            drop(std::fs::remove_dir_all(folder));
        }
    }
}

/// Makes a brain.
pub(crate) async fn create(client: &Client, brain: &str) -> v1::CreateBrainResponse {
    let request = v1::CreateBrainRequest {
        brain: brain.into(),
        ..Default::default()
    };
    let made = client.brains().create_brain(request).await;
    made.unwrap().into_inner()
}

/// New facts of these texts.
pub(crate) fn facts(brain: &str, texts: &[&str]) -> v1::IngestRequest {
    let event = |text: &&str| v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: (*text).to_owned(),
        ..Default::default()
    };
    v1::IngestRequest {
        brain: brain.into(),
        events: texts.iter().map(event).collect(),
        ..Default::default()
    }
}

/// Ingests facts; gives back the commit and the ids.
pub(crate) async fn ingest(client: &Client, brain: &str, texts: &[&str]) -> v1::IngestResponse {
    let done = client.memory().ingest(facts(brain, texts)).await;
    done.unwrap().into_inner()
}

pub(crate) async fn get(client: &Client, brain: &str, ids: &[u64]) -> Vec<v1::Event> {
    let request = v1::GetEventsRequest {
        brain: brain.into(),
        event_ids: ids.to_vec(),
        include_edges: true,
        include_forgotten: true,
        ..Default::default()
    };
    let got = client.queries().get_events(request).await;
    got.unwrap().into_inner().events
}

/// A refusal must have this code, this reason, and these words.
pub(crate) fn check_refused<T: std::fmt::Debug>(
    what: &str,
    answer: Result<T, Status>,
    code: Code,
    reason: &str,
    words: &[&str],
) {
    let status = answer.expect_err(what);
    assert_eq!(status.code(), code, "{what}: {status}");
    let found = status.get_details_error_info().map(|info| info.reason);
    assert_eq!(found.as_deref().unwrap_or(""), reason, "{what}: {status}");
    for word in words {
        assert!(status.message().contains(word), "{what}: {status}");
    }
}

/// The files of a folder, and of those below it, that have these bytes.
pub(crate) fn files_with(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
            continue;
        }
        // Files come and go while others write.
        let Ok(content) = std::fs::read(&path) else {
            continue;
        };
        let mut rest = content.as_slice();
        while let Some(at) = rest.iter().position(|byte| *byte == bytes[0]) {
            if rest[at..].starts_with(bytes) {
                found.push(path);
                break;
            }
            rest = &rest[at + 1..];
        }
    }
    found
}
