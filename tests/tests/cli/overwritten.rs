//! `cp` over the file of a brain that the daemon has open, and `amemctl brain restore`.
//!
//! Nothing is answered behind the copy that is not there; the error says what happened; the command puts a whole copy
//! in its place, and keeps what stands there.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use amem_client::{Client, v1};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::daemon::ServedFolder;

/// The text that makes a file longer by more than it has room for.
const LONG_TEXT_BYTES: usize = 1 << 19;
const LONG_TEXTS: usize = 8;

/// Writers at a time, and what each has written before the copy.
const WRITERS: usize = 2;
const WRITTEN_BEFORE: usize = 20;

/// How the older copy compares to the file that it is written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Copy {
    Shorter,
    Longer,
    SameSize,
}

/// As `sudo cp` does it: the file is emptied and written again, whatever its mode.
fn cp(from: &Path, to: &Path) {
    let mode = fs::metadata(to).unwrap().permissions();
    fs::set_permissions(to, fs::Permissions::from_mode(0o600)).unwrap();
    let copied = Command::new("cp").args([from, to]).status().unwrap();
    fs::set_permissions(to, mode).unwrap();
    assert!(copied.success());
}

fn texts(served: &ServedFolder, brain: &str) -> Vec<String> {
    let view = served.view(brain);
    let text = |id| view.node(amem_client::core::NodeId(id)).unwrap().text();
    let texts = (0..view.nodes()).map(|id| text(id).unwrap().into_owned());
    texts.collect()
}

fn request(text: &str) -> v1::IngestRequest {
    let event = v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text: text.into(),
        ..Default::default()
    };
    v1::IngestRequest {
        brain: "w".into(),
        events: vec![event],
        ..Default::default()
    }
}

fn add(runtime: &Runtime, client: &Client, text: &str) {
    let added = runtime.block_on(client.memory().ingest(request(text)));
    added.unwrap();
}

fn grow(runtime: &Runtime, client: &Client) {
    for n in 0..LONG_TEXTS {
        let text = format!("text {n} ").repeat(LONG_TEXT_BYTES / 7);
        add(runtime, client, &text);
    }
}

/// A daemon with a brain, the copy of it, and a client.
struct World {
    served: ServedFolder,
    runtime: Runtime,
    client: Client,
    file: std::path::PathBuf,
    copy: std::path::PathBuf,
}

impl World {
    fn new(copy: Copy) -> Self {
        let served = ServedFolder::start();
        let runtime = Runtime::new().unwrap();
        let client = runtime.block_on(Client::connect_unix(served.path("run/s")));
        let client = client.unwrap();
        served.out("brain create w --no-vectors");
        add(&runtime, &client, "in the copy");
        if copy == Copy::Longer {
            grow(&runtime, &client);
        }
        let world = Self {
            file: served.path("brains/w.amem"),
            copy: served.path("copy.amem"),
            served,
            runtime,
            client,
        };
        cp_away(&world.file, &world.copy);
        match copy {
            Copy::Shorter => grow(&world.runtime, &world.client),
            // A checkpoint gives back what the journal had reserved.
            Copy::Longer => drop(world.served.out("checkpoint w")),
            Copy::SameSize => {}
        }
        add(&world.runtime, &world.client, "after the copy");
        let (before, after) = (bytes_of(&world.file), bytes_of(&world.copy));
        let is_so = match copy {
            Copy::Shorter => after < before,
            Copy::Longer => after > before,
            Copy::SameSize => after == before,
        };
        assert!(is_so, "{copy:?}: {before} bytes, then {after}");
        world
    }

    /// Everything that is asked of the brain says what happened.
    fn expect_refusals(&self) {
        for line in ["add w refused", "search w copy", "verify w", "get w 0"] {
            self.served.refused(
                line,
                4,
                "overwritten",
                "another program wrote to w.amem",
                "amemctl brain restore",
            );
        }
    }

    /// Restores the copy; returns the path of what stood there.
    fn restore(&self) -> std::path::PathBuf {
        let restored = self.served.data("brain restore w copy.amem", 0);
        let kept = restored["keptFile"].as_str().unwrap();
        let listed = self.served.data("conflicts", 0);
        let files = listed["files"].as_array().unwrap();
        assert!(files.iter().any(|file| file["file"] == kept), "{listed}");
        self.served.path(&format!("brains/.amemd/{kept}"))
    }
}

fn bytes_of(file: &Path) -> u64 {
    fs::metadata(file).unwrap().len()
}

fn cp_away(from: &Path, to: &Path) {
    let copied = Command::new("cp").args([from, to]).status().unwrap();
    assert!(copied.success());
}

#[test]
fn a_copy_over_an_open_brain_is_an_error_and_restore_brings_it_back() {
    for copy in [Copy::Shorter, Copy::Longer, Copy::SameSize] {
        let world = World::new(copy);
        let reading = world.runtime.block_on(world.client.brain("w")).unwrap();
        let follows = |id| {
            let got = world.runtime.block_on(reading.get(&[id]));
            got.map(|events| events[0].text.clone())
        };
        assert_eq!(follows(0).unwrap(), "in the copy");
        assert!(reading.is_direct(), "it reads the file");

        cp(&world.copy, &world.file);
        let stands = fs::read(&world.file).unwrap();
        world.expect_refusals();
        let refused = follows(0).unwrap_err();
        assert!(
            refused.to_string().contains("brain restore w"),
            "{copy:?}: {refused}"
        );
        assert!(
            fs::read(&world.file).unwrap() == stands,
            "{copy:?}: the daemon wrote to it"
        );
        let problems = world.served.data("brain ls", 1);
        let problem = &problems["brains"][0]["problem"];
        assert_eq!(problem["reason"], "OVERWRITTEN", "{problems}");

        let kept = world.restore();
        assert!(fs::read(kept).unwrap() == stands, "{copy:?}: what is kept");
        assert_eq!(world.served.data("verify w", 0)["whole"], true);
        world.served.out("add w afterwards");
        let texts = texts(&world.served, "w");
        assert_eq!(texts.first().unwrap(), "in the copy");
        assert_eq!(texts.last().unwrap(), "afterwards", "{copy:?}");
        assert_eq!(follows(0).unwrap(), "in the copy");
        let last = texts.len() as u64 - 1;
        assert_eq!(follows(last).unwrap(), "afterwards", "{copy:?}");
        let problems = world.served.data("brain ls", 0);
        assert!(problems["brains"][0]["problem"].is_null(), "{problems}");
    }
}

#[test]
fn a_copy_over_a_brain_under_load_loses_no_later_answer_in_silence() {
    for copy in [Copy::Shorter, Copy::Longer, Copy::SameSize] {
        let mut world = World::new(copy);
        let is_copied = Arc::new(AtomicBool::new(false));
        let late = Arc::new(Mutex::new(Vec::new()));
        let (ready, mut all_ready) = tokio::sync::mpsc::channel(WRITERS);
        let writers = (0..WRITERS).map(|writer| {
            let (client, late) = (world.client.clone(), late.clone());
            let (is_copied, ready) = (is_copied.clone(), ready.clone());
            world.runtime.spawn(async move {
                for n in 0.. {
                    let text = format!("writer {writer}, text {n}");
                    let is_late = is_copied.load(Ordering::SeqCst);
                    match client.memory().ingest(request(&text)).await {
                        Ok(_) if is_late => late.lock().unwrap().push(text),
                        Ok(_) => {}
                        Err(refusal) => return refusal,
                    }
                    if n == WRITTEN_BEFORE {
                        ready.send(()).await.unwrap();
                    }
                }
                unreachable!("it goes on until it is refused")
            })
        });
        let writers: Vec<_> = writers.collect();
        for _ in 0..WRITERS {
            world.runtime.block_on(all_ready.recv()).unwrap();
        }
        cp(&world.copy, &world.file);
        is_copied.store(true, Ordering::SeqCst);
        let ends = Duration::from_secs(30);
        for writer in writers {
            let ended = world
                .runtime
                .block_on(async { tokio::time::timeout(ends, writer).await });
            let refusal = ended.expect("a writer is answered for ever").unwrap();
            println!("{copy:?}: {refusal}");
        }
        assert_eq!(*late.lock().unwrap(), [""; 0], "{copy:?}");
        // Who has mapped a file that is emptied may be ended by it.
        if world.served.ended() {
            println!("{copy:?}: the daemon ended");
            world.served.start_again();
        } else {
            world.expect_refusals();
        }
        world.restore();
        world.served.out("add w afterwards");
        let texts = texts(&world.served, "w");
        assert_eq!(texts.first().unwrap(), "in the copy");
        assert_eq!(texts.last().unwrap(), "afterwards");
        assert!(!texts.contains(&"after the copy".to_owned()), "{copy:?}");
    }
}

#[test]
fn verify_of_an_open_brain_reads_the_file_and_a_checkpoint_ends_its_writing() {
    let world = World::new(Copy::SameSize);
    world.served.out("add w third");
    let bytes = fs::read(&world.file).unwrap();
    let said = b"after the copy";
    let at = bytes.windows(said.len()).position(|part| part == said);
    let mode = fs::metadata(&world.file).unwrap().permissions();
    fs::set_permissions(&world.file, fs::Permissions::from_mode(0o600)).unwrap();
    let file = fs::File::options().write(true).open(&world.file).unwrap();
    file.write_all_at(&[0; 14], at.unwrap() as u64).unwrap();
    fs::set_permissions(&world.file, mode).unwrap();
    let found = world.served.data("verify w", 1);
    assert_ne!(found["whole"], true, "{found}");
    let ran = world.served.run_with("checkpoint w", &[]);
    assert_ne!(ran.status.code(), Some(0), "{ran:?}");
    world.expect_refusals();
    world.restore();
    assert_eq!(texts(&world.served, "w"), ["in the copy"]);
}

#[test]
fn a_healthy_brain_is_replaced_and_taken_back() {
    let world = World::new(Copy::SameSize);
    let kept = world.restore();
    assert_eq!(texts(&world.served, "w"), ["in the copy"]);
    let kept = kept.file_name().unwrap().to_str().unwrap().to_owned();
    let taken = format!("conflicts --take-theirs recovered/{kept}");
    world.served.out(&taken);
    assert_eq!(
        texts(&world.served, "w"),
        ["in the copy", "after the copy"],
        "what was replaced comes back"
    );
    // Under a free name it is a brain as well, and nothing is kept.
    let made = world.served.data("brain restore new copy.amem", 0);
    assert_eq!(made["keptFile"], Value::Null);
    assert_eq!(texts(&world.served, "new"), ["in the copy"]);
}

#[test]
fn only_callers_that_may_administer_a_brain_put_a_copy_in_its_place() {
    let mut world = World::new(Copy::SameSize);
    world.served.by_tcp_with("-q token create far --role write");
    let role = "admin";
    world.served.refused(
        "brain restore w copy.amem",
        5,
        "permission_denied",
        role,
        "token",
    );
    assert_eq!(texts(&world.served, "w"), ["in the copy", "after the copy"]);
    // It may import, under a free name.
    world.served.out("import copy.amem new");
}

#[test]
fn what_is_no_whole_brain_takes_no_place() {
    let world = World::new(Copy::SameSize);
    let mut bytes = fs::read(&world.copy).unwrap();
    bytes[5000] ^= 1;
    world.served.put("flipped.amem", &bytes);
    world
        .served
        .put("words.txt", "no brain, but long enough to look at");
    let refused = |line: &str, exit| {
        let ran = world.served.run_with(line, &[]);
        assert_eq!(ran.status.code(), Some(exit), "{line}: {ran:?}");
    };
    refused("brain restore w flipped.amem", 4);
    refused("brain restore w words.txt", 4);
    refused("brain restore w missing.amem", 3);
    refused("brain restore ./w.amem copy.amem", 5);
    assert_eq!(texts(&world.served, "w"), ["in the copy", "after the copy"]);
    assert_eq!(world.served.data("conflicts", 0)["files"], Value::Null);
}
