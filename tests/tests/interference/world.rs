//! A daemon, and tools on its folder, both as an ordinary user.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Seek};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use amem_client::core::NodeId;
use amem_client::core::reader::Reader;
use amem_client::core::view::View;
use amem_client::{Client, v1};
use amem_tests::daemon::{DaemonHome, DaemonProcess, create_bare};
use std::os::unix::process::CommandExt;
use tonic::Status;

use crate::PATIENCE;
use crate::rows::{Becomes, Row};

/// An ordinary user, if this one is root.
const USER: u32 = 65_531;

pub(crate) struct World {
    pub(crate) client: Client,
    folder: tempfile::TempDir,
    user: Option<u32>,
    place: DaemonHome,
    pub(crate) running: DaemonProcess,
}

impl World {
    /// A daemon on a folder of its own, with a brain `other`.
    pub(crate) async fn start() -> Self {
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let user = is_root.then_some(USER);
        let folder = tempfile::tempdir().unwrap();
        let brains = folder.path().join("brains");
        fs::create_dir(&brains).unwrap();
        let mut program = PathBuf::from(env!("CARGO_BIN_EXE_amem-tested-daemon"));
        if let Some(user) = user {
            for path in [folder.path(), &brains] {
                chown(path, Some(user), Some(user)).unwrap();
            }
            // Where the build is, an ordinary user may not be let in. Another process copies: a descriptor of ours,
            // which a child of another test has for a moment, would keep the program from being run.
            let copy = folder.path().join("amemd");
            let copied = Command::new("cp").args([&program, &copy]).status();
            assert!(copied.unwrap().success());
            program = copy;
        }
        let mut place = DaemonHome::new(program, &brains);
        if let Some(user) = user {
            place.run_as(user);
            // The caller is root.
            place.set("AMEMD_ACCESS_USERS", "0=admin");
            place.set("AMEMD_ACCESS_SOCKET_GROUP", user.to_string());
        }
        let running = place.start();
        let client = Client::connect_unix(place.socket()).await.unwrap();
        let world = Self {
            client,
            folder,
            user,
            place,
            running,
        };
        world.make("other").await;
        let copied = world.run("cp other.amem other.copy", "other");
        assert!(copied, "the brain to be put elsewhere");
        world
    }

    /// Another daemon, once the one before has ended.
    pub(crate) async fn start_again(&mut self) {
        self.running = self.place.start();
        self.client = self.connect().await;
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::connect_unix(self.place.socket()).await.unwrap()
    }

    /// True if the daemon runs as another user than this one, who is root.
    pub(crate) fn is_of_another_user(&self) -> bool {
        self.user.is_some()
    }

    fn brains(&self) -> PathBuf {
        self.folder.path().join("brains")
    }

    pub(crate) fn file(&self, brain: &str) -> PathBuf {
        self.brains().join(format!("{brain}.amem"))
    }

    /// A brain with an event in its base and one in its journal.
    pub(crate) async fn make(&self, brain: &str) {
        create_bare(&self.client, brain).await;
        self.ingest(brain, "in the base").await.unwrap();
        let request = v1::CheckpointBrainRequest {
            brain: brain.into(),
        };
        self.client
            .brains()
            .checkpoint_brain(request)
            .await
            .unwrap();
        self.ingest(brain, "in the journal").await.unwrap();
    }

    pub(crate) async fn ingest(&self, brain: &str, text: &str) -> Result<(), Status> {
        ingest(&self.client, brain, text).await
    }

    /// Has a shell do something in the folder; whether it said that it was done.
    pub(crate) fn run(&self, script: &str, brain: &str) -> bool {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).current_dir(self.brains());
        command.env("b", format!("{brain}.amem"));
        command.env("other", "other.copy");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command.output().unwrap().status.success()
    }

    /// Waits until the daemon has seen what was done, and says so.
    pub(crate) async fn expect(&self, row: &Row, brain: &str, what: &str) {
        let began = Instant::now();
        loop {
            let is_seen = match row.becomes {
                Becomes::Same => true,
                Becomes::Exposed => self.reports_mode(brain),
                Becomes::Kept => self.is_kept_and_told_of("conflicts", brain).await,
                Becomes::KeptOrSaved => {
                    self.is_kept_and_told_of("conflicts", brain).await
                        || self.is_saved_and_replaced(brain).await
                }
                Becomes::Saved => self.is_kept_and_told_of("recovered", brain).await,
                Becomes::Stray => {
                    self.is_reported_or_adopted(&format!("linked-{brain}"))
                        .await
                }
            };
            if is_seen {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{what}: nothing is reported");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Whether the log reports a brain's file with another mode, or a checkpoint has put it right already.
    fn reports_mode(&self, brain: &str) -> bool {
        let is_right = fs::metadata(self.file(brain)).unwrap().mode() & 0o7777 == 0o400;
        let told = format!("brain=\"{brain}\"");
        is_right || self.told_of_modes().iter().any(|line| line.contains(&told))
    }

    /// What the log reports of modes of brains' files.
    pub(crate) fn told_of_modes(&self) -> Vec<String> {
        let log = self.running.log();
        let lines = log.lines();
        let lines = lines
            .filter(|line| line.contains("another program changed the mode of the brain's file"));
        lines.map(str::to_owned).collect()
    }

    /// Whether a brain was saved, and another file is a brain of its name.
    pub(crate) async fn is_saved_and_replaced(&self, brain: &str) -> bool {
        let request = v1::GetBrainRequest {
            brain: brain.into(),
        };
        self.is_kept_and_told_of("recovered", brain).await
            && self.client.brains().get_brain(request).await.is_ok()
    }

    /// Whether a second name of a brain's file is reported, as a file that is rejected or still written, or
    /// has become a brain as the first one has another file now.
    async fn is_reported_or_adopted(&self, linked: &str) -> bool {
        let request = v1::ListBrainsRequest::default();
        let listed = self.client.brains().list_brains(request).await;
        if listed.unwrap().into_inner().files_waiting > 0 {
            return true;
        }
        let request = v1::ListProblemsRequest::default();
        let told = self.client.admin().list_problems(request).await;
        let told = told.unwrap().into_inner().problems;
        let request = v1::GetBrainRequest {
            brain: linked.into(),
        };
        told.iter()
            .any(|told| told.brain == linked && told.message.contains("hard link"))
            || self.client.brains().get_brain(request).await.is_ok()
    }

    fn kept_files(&self, place: &str, brain: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.brains().join(".amemd").join(place)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let of = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{brain}-")) || name.starts_with(&format!("{brain}."))
        };
        paths.filter(of).collect()
    }

    /// Whether a file of the brain is there, is listed, and the log warned of what had become of it.
    async fn is_kept_and_told_of(&self, place: &str, brain: &str) -> bool {
        let Some(kept) = self.kept_files(place, brain).pop() else {
            return false;
        };
        let name = format!("{place}/{}", kept.file_name().unwrap().to_str().unwrap());
        let request = v1::ListKeptFilesRequest::default();
        let listed = self.client.admin().list_kept_files(request).await;
        let listed = listed.unwrap().into_inner().files;
        let warns = |line: &str| line.contains(" WARN ") || line.contains(" ERROR ");
        listed.iter().any(|listed| listed.file == name)
            && self
                .running
                .log()
                .lines()
                .any(|line| warns(line) && line.contains(&name))
    }

    /// The quarantined file of a brain.
    pub(crate) fn kept(&self, place: &str, brain: &str) -> PathBuf {
        self.kept_files(place, brain).remove(0)
    }

    /// All of the file that tools put in a brain's place.
    pub(crate) fn other(&self) -> Vec<u8> {
        fs::read(self.brains().join("other.copy")).unwrap()
    }

    /// What a file has that is open: its bytes, read as they are.
    pub(crate) fn brain_of(&self, file: &mut fs::File) -> View {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        let copy = self.folder.path().join("plain");
        fs::write(&copy, bytes).unwrap();
        Reader::open_copy(&copy).unwrap()
    }

    /// Every brain that is served verifies.
    pub(crate) async fn is_whole(&self) {
        let request = v1::ListBrainsRequest::default();
        let listed = self.client.brains().list_brains(request).await;
        for listed in listed.unwrap().into_inner().brains {
            let request = v1::VerifyBrainRequest {
                brain: listed.brain.clone(),
            };
            let report = self.client.brains().verify_brain(request).await;
            let report = report.unwrap().into_inner();
            assert!(report.whole, "{}: {report:?}", listed.brain);
        }
    }
}

/// Ingests a fact.
pub(crate) async fn ingest(client: &Client, brain: &str, text: &str) -> Result<(), Status> {
    let request = v1::IngestRequest {
        brain: brain.into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: text.into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    client.memory().ingest(request).await.map(drop)
}

/// The texts of a view.
pub(crate) fn texts_of(view: &View) -> BTreeSet<String> {
    let text = |id| view.node(NodeId(id)).unwrap().text().unwrap().to_string();
    (0..view.nodes()).map(text).collect()
}
