//! A daemon for a test, a brain with something of everything in it, and what refusals must be.

use std::fmt::Debug;

use amem_client::{Brain, Client, Refusal, v1};
use amem_tests::daemon::{DaemonHome, DaemonProcess};
use amem_tests::random::Random;
use tempfile::TempDir;
use tonic::Code;

/// A daemon on a folder of its own.
pub(crate) struct Kit {
    pub(crate) running: Option<DaemonProcess>,
    pub(crate) place: DaemonHome,
    _folder: TempDir,
}

impl Kit {
    pub(crate) fn new() -> Self {
        // On the disk that the build is on: a folder of temporary files may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
        Self {
            running: Some(place.start()),
            place,
            _folder: folder,
        }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect_unix(self.place.socket()).await.unwrap()
    }

    /// A new brain.
    pub(crate) async fn brain(&self, name: &str) -> Brain {
        let client = self.client().await;
        let request = v1::CreateBrainRequest {
            brain: name.into(),
            ..Default::default()
        };
        client.brains().create_brain(request).await.unwrap();
        client.brain(name).await.unwrap()
    }

    pub(crate) fn kill(&mut self) {
        self.running.take().unwrap().kill();
    }

    pub(crate) fn restart(&mut self) {
        self.running = Some(self.place.start());
    }
}

/// A new fact.
pub(crate) fn fact(text: impl Into<String>) -> v1::NewEvent {
    v1::NewEvent {
        text: text.into(),
        ..Default::default()
    }
}

const WORDS: [&str; 10] = [
    "river", "stone", "walking", "garden", "painted", "harbour", "lamp", "kite", "orchard",
    "violin",
];

/// A few words.
pub(crate) fn words(random: &mut Random) -> String {
    let count = 1 + random.below(6);
    let words: Vec<_> = (0..count).map(|_| random.pick(&WORDS)).collect();
    words.join(" ")
}

fn event(random: &mut Random, session_id: u32) -> v1::NewEvent {
    let attributes = match random.below(3) {
        0 => String::new(),
        1 => format!(r#"{{"n":{}}}"#, random.below(10)),
        _ => format!(r#"{{"amem.user":"u{}"}}"#, random.below(2)),
    };
    v1::NewEvent {
        r#type: 1 + random.below(6) as i32,
        text: words(random),
        session_id: Some(session_id),
        confidence: Some(random.unit()),
        event_time: (random.below(3) == 0).then(|| amem_client::Timestamp {
            seconds: 1_700_000_000 + random.below(10_000_000) as i64,
            nanos: 0,
        }),
        attributes_json: attributes,
        ..Default::default()
    }
}

/// Fills a brain: events in sessions, edges of every type, corrections, forgotten and compressed events.
pub(crate) async fn fill(brain: &Brain, random: &mut Random) {
    for key in ["first", "second", "third"] {
        let open = v1::OpenSessionRequest {
            key: key.into(),
            ..Default::default()
        };
        let session_id = brain.write(open).await.unwrap().session_id;
        let events = (0..30).map(|_| event(random, session_id)).collect();
        let ingest = v1::IngestRequest {
            events,
            follow: true,
            ..Default::default()
        };
        brain.write(ingest).await.unwrap();
        if key == "second" {
            let compress = v1::CompressSessionRequest {
                session_id,
                text: format!("about {}", words(random)),
                ..Default::default()
            };
            brain.write(compress).await.unwrap();
            let close = v1::CloseSessionRequest {
                session_id,
                outcome: "done".into(),
                ..Default::default()
            };
            brain.write(close).await.unwrap();
        }
    }
    for _ in 0..60 {
        let (source, target) = (random.below(90), random.below(90));
        if source != target {
            let types = [1, 2, 3, 5, 6];
            let edge_type = v1::EdgeType::try_from(random.pick(&types)).unwrap();
            brain.link(source, target, edge_type).await.unwrap();
        }
    }
    for _ in 0..15 {
        let target_id = random.below(40);
        let correct = v1::CorrectRequest {
            target_id,
            event: Some(fact(words(random))),
            ..Default::default()
        };
        brain.write(correct).await.unwrap();
    }
    for _ in 0..8 {
        brain.forget(random.below(90)).await.unwrap();
    }
    brain.write(v1::DecayRequest::default()).await.unwrap();
}

/// A refusal must have this code, this reason and these words.
#[track_caller]
pub(crate) fn check<T: Debug>(answer: Result<T, Refusal>, code: Code, reason: &str, words: &str) {
    let refusal = answer.unwrap_err();
    assert_eq!(
        (Code::from(refusal.code), &*refusal.reason),
        (code, reason),
        "{refusal}"
    );
    assert!(refusal.message.contains(words), "{refusal}");
}
