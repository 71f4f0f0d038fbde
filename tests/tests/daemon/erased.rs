//! What is erased of a large brain while others write to it. `AMEM_ERASE_EVENTS` says how large; a million is the long
//! form.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use amem_client::{Client, Reader, v1};
use amem_doctor::verify;
use amem_format::base::section::{self, SectionRole};
use amem_format::base_builder::{BuildMode, Inline, Options, write_base_with};
use amem_format::brain::Brain;
use amem_format::journal::op::Op;
use amem_format::mapping::Map;
use amem_format::{Lsn, NodeId};
use amem_store::disk::Disk;
use amem_tests::disk::{About, HookedDisk, SimDisk};
use tonic::Code;
use uuid::Uuid;
use v1::resolve_kept_file_request::Action;

use crate::faulty::{FaultyDaemon, reason};
use crate::merge::{files, resolve};
use crate::process::{Daemon, check_refused, create_bare, files_with, folder, get};

const DIMENSION: u32 = 16;
/// Events in one request.
const BATCH: u64 = 1_000;
/// One event in so many is erased.
const SECRET_ONE_IN: u64 = 97;
/// A word that only secrets have, in their texts; and one in their attributes.
const WORD: &str = "qzxysecret";
const PIN: &str = "qzxypin";
/// And one that only secrets have that are packed.
const PACKED: &str = "qzxypacked";
/// BuildMode long a reader that looks may hold the old file.
const LET_GO: Duration = Duration::from_secs(5);

fn count() -> u64 {
    let asked = std::env::var("AMEM_ERASE_EVENTS");
    asked.map_or(4_000, |asked| asked.parse().unwrap())
}

fn is_secret(id: u64) -> bool {
    id.is_multiple_of(SECRET_ONE_IN)
}

/// One secret in so many is long, and packed.
const PACKED_ONE_IN: u64 = 3;

/// What is known of a secret.
fn secret(id: u64) -> String {
    let text = format!("the word is {WORD} of {id}");
    if (id / SECRET_ONE_IN).is_multiple_of(PACKED_ONE_IN) {
        format!("{text}: {}", format!("{PACKED} and so on, ").repeat(40))
    } else {
        text
    }
}

/// Four numbers that no other vector has beside each other.
fn mark() -> Vec<f32> {
    vec![0.123_456_7, -0.765_432_1, 0.234_567_8, -0.876_543_2]
}

fn vector(id: u64) -> v1::Vector {
    let mut values: Vec<f32> = (0..u64::from(DIMENSION))
        .map(|at| ((id.wrapping_mul(2_654_435_761) >> (at % 24)) % 1_000) as f32 / 1_000.0)
        .collect();
    if is_secret(id) {
        values[..4].copy_from_slice(&mark());
    }
    let space = String::new();
    v1::Vector { values, space }
}

fn event(id: u64) -> v1::NewEvent {
    let (text, attributes) = if is_secret(id) {
        (secret(id), format!("{{\"pin\":\"{PIN}\",\"of\":{id}}}"))
    } else {
        (
            format!("what is said of matter {}", id % 1_009),
            format!("{{\"of\":{id}}}"),
        )
    };
    v1::NewEvent {
        r#type: v1::EventType::Fact.into(),
        text,
        attributes_json: attributes,
        vector: Some(vector(id)),
        ..Default::default()
    }
}

/// The indexes that are made of texts, vectors and attributes.
fn derived() -> impl Iterator<Item = u8> {
    let rows = section::ROWS.iter();
    rows.filter(|row| row.role == SectionRole::Index && row.has_content)
        .map(|row| row.tag)
}

/// Holds a file to be whole, and the indexes of its base against those that are made of its events alone.
fn derived_from_nothing_else(file: &[u8]) {
    let report = verify::native(Arc::new(Map::owned(file)), None).unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    let open = |bytes: &[u8]| Arc::new(Brain::open(Map::owned(bytes)).unwrap());
    let brain = open(file);
    let view = brain.view();
    let how = BuildMode {
        workers: &Inline,
        from_scratch: true,
    };
    let mut rebuilt = Vec::new();
    let options = Options::next(&view, view.time());
    write_base_with(&view, &options, how, &mut rebuilt).unwrap();
    let rebuilt_brain = open(&rebuilt);
    for section in derived() {
        let of = |brain: &Brain, bytes: &[u8]| {
            let places = &brain.base().table().places;
            let place = places.iter().find(|place| place.tag == section).unwrap();
            bytes[place.offset as usize..][..place.len as usize].to_vec()
        };
        let (found, expected) = (of(&brain, file), of(&rebuilt_brain, &rebuilt));
        assert!(
            !found.is_empty() && found == expected,
            "section {section:#x}"
        );
    }
}

async fn ingest(client: &Client, events: Vec<v1::NewEvent>) -> Vec<u64> {
    let options = v1::WriteOptions {
        request_id: Uuid::now_v7().to_string(),
        ..Default::default()
    };
    let request = v1::IngestRequest {
        brain: "b".into(),
        options: Some(options),
        events,
        ..Default::default()
    };
    client
        .memory()
        .ingest(request)
        .await
        .unwrap()
        .into_inner()
        .event_ids
}

async fn fill(client: &Client, from: u64, to: u64) {
    for first in (from..to).step_by(BATCH as usize) {
        let ids = ingest(client, (first..to.min(first + BATCH)).map(event).collect()).await;
        assert_eq!(ids.first(), Some(&first));
    }
}

/// Hashes of what requests asked for, in the order of commits.
fn hashes(file: &[u8]) -> Vec<[u8; 16]> {
    let view = Arc::new(Brain::open(Map::owned(file)).unwrap()).view();
    let (mut from, mut out) = (Lsn(0), Vec::new());
    while let Some(next) = view.commit_after(from).unwrap() {
        out.extend(next.ops().filter_map(|op| match op.unwrap() {
            Op::Request { body, .. } => Some(body.to_le_bytes()),
            _ => None,
        }));
        from = next.commit.lsn;
    }
    out
}

/// Which of what was erased is where.
fn found(folder: &Path) -> Vec<(&'static str, Vec<std::path::PathBuf>)> {
    let marks: Vec<u8> = mark().into_iter().flat_map(f32::to_le_bytes).collect();
    let needles = [
        ("text", WORD.as_bytes()),
        ("packed text", PACKED.as_bytes()),
        ("attributes", PIN.as_bytes()),
        ("vector", &marks),
    ];
    let found = needles.map(|(what, bytes)| (what, files_with(folder, bytes)));
    found
        .into_iter()
        .filter(|(_, files)| !files.is_empty())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_erased_from_a_large_brain_are_in_no_file_while_writes_continue() {
    let (count, folder) = (count(), folder());
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let create = v1::CreateBrainRequest {
        brain: "b".into(),
        vectors: Some(v1::VectorOptions {
            dimension: DIMENSION,
            kind: None,
        }),
        ..Default::default()
    };
    client.brains().create_brain(create).await.unwrap();
    // Secrets in the base, in history, and in the journal.
    fill(&client, 0, count * 9 / 10).await;
    for id in [0, SECRET_ONE_IN] {
        let change = v1::SetAttributesRequest {
            brain: "b".into(),
            event_id: id,
            attributes_json: format!("{{\"pin\":\"{PIN}\",\"again\":true}}"),
            ..Default::default()
        };
        client.memory().set_attributes(change).await.unwrap();
        let change = v1::SetVectorRequest {
            brain: "b".into(),
            event_id: id,
            vector: Some(vector(SECRET_ONE_IN * 5)),
            ..Default::default()
        };
        client.memory().set_vector(change).await.unwrap();
    }
    let fold = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(fold).await.unwrap();
    fill(&client, count * 9 / 10, count).await;
    assert_eq!(found(folder.path()).len(), 4, "it is seen where it is");
    {
        let reader = Reader::open(folder.path().join("b.amem")).unwrap();
        let view = reader.view().unwrap();
        let text = view.node(NodeId(0)).unwrap();
        let is_packed = matches!(text.text().unwrap(), Cow::Owned(text) if text == secret(0));
        assert!(is_packed, "it is not packed");
    }

    let hashes = hashes(&std::fs::read(folder.path().join("b.amem")).unwrap());
    let hashes = [hashes[0], hashes[hashes.len() - 1]];
    for hash in &hashes {
        assert!(!files_with(folder.path(), hash).is_empty());
    }

    let reader = Reader::open(folder.path().join("b.amem")).unwrap();
    let view = reader.view().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let writes = tokio::spawn({
        let (client, stop) = (daemon.client().await, stop.clone());
        async move {
            let mut times = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                ingest(&client, vec![event(count * SECRET_ONE_IN + 1)]).await;
                times.push((began, began.elapsed()));
            }
            times
        }
    });
    let secrets: Vec<u64> = (0..count).filter(|id| is_secret(*id)).collect();
    let began = Instant::now();
    let erase = v1::EraseRequest {
        brain: "b".into(),
        event_ids: secrets.clone(),
        ..Default::default()
    };
    client.memory().erase(erase).await.unwrap();
    let took = began.elapsed();
    // A reader may still have the file that has no name any more; nothing else has anything.
    assert_eq!(found(folder.path()), [], "after the answer");
    for hash in &hashes {
        let files = files_with(folder.path(), hash);
        assert!(files.is_empty(), "a hash of a request is in {files:?}");
    }
    let file = std::fs::read(folder.path().join("b.amem")).unwrap();
    stop.store(true, Ordering::Relaxed);
    let times = writes.await.unwrap();
    let mut meanwhile: Vec<_> = times
        .iter()
        .filter(|(at, time)| *at + *time > began && *at < began + took)
        .map(|(_, time)| *time)
        .collect();
    meanwhile.sort_unstable();
    println!(
        "{} of {count} events erased in {took:?}; {} writes meanwhile, median {:?}, slowest {:?}",
        secrets.len(),
        meanwhile.len(),
        meanwhile.get(meanwhile.len() / 2),
        meanwhile.last(),
    );
    assert!(meanwhile.len() > 1, "writes waited for the erase");

    // Derived from it: the indexes are what they would be had it never been.
    derived_from_nothing_else(&file);
    let ask = v1::TextRequest {
        brain: "b".into(),
        text: WORD.into(),
        ..Default::default()
    };
    let hits = client.queries().text(ask).await.unwrap().into_inner().hits;
    assert!(hits.is_empty(), "{hits:?}");
    let ask = v1::SimilarRequest {
        brain: "b".into(),
        like: Some(v1::similar_request::Like::Vector(vector(0))),
        limit: 100,
        ..Default::default()
    };
    let hits = client
        .queries()
        .similar(ask)
        .await
        .unwrap()
        .into_inner()
        .hits;
    let ids: Vec<_> = hits
        .iter()
        .flat_map(|hit| &hit.event)
        .map(|event| event.id)
        .collect();
    assert!(
        !ids.is_empty() && !ids.iter().any(|id| secrets.contains(id)),
        "{ids:?}"
    );
    let shown = get(&client, "b", &[SECRET_ONE_IN, SECRET_ONE_IN + 1]).await;
    assert!(shown[0].erased && shown[0].text.is_empty() && shown[0].attributes_json.is_empty());
    assert!(!shown[1].erased && !shown[1].text.is_empty());

    // The reader lets go of the old file once it looks, and the views of it are gone.
    drop(view);
    let look_until = Instant::now() + LET_GO;
    let holds_old = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let folder = folder.path().to_string_lossy().into_owned();
        maps.lines()
            .any(|line| line.contains(&folder) && line.ends_with("(deleted)"))
    };
    assert!(holds_old(), "the old file is mapped until the reader looks");
    while holds_old() {
        drop(reader.view().unwrap());
        assert!(Instant::now() < look_until, "the reader holds the old file");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A copy of the brain takes its name, whatever the daemon is about: it is quarantined, and has what is being erased.
#[tokio::test(flavor = "multi_thread")]
async fn an_erase_leaves_nothing_in_a_copy_that_takes_the_name_during_it() {
    const TEXT: &str = "qwertzuiopasdf";
    let (mut refused, mut late) = (0, 0);
    for moment in 0.. {
        let disk = Arc::new(SimDisk::new(10));
        let (copy, left) = (
            Arc::new(OnceLock::<Vec<u8>>::new()),
            Arc::new(AtomicU64::new(0)),
        );
        let put = {
            let (disk, copy) = (disk.clone(), copy.clone());
            move || {
                let Some(copy) = copy.get() else { return };
                let file = disk.create("copy").unwrap();
                file.write_at(0, copy).unwrap();
                disk.replace("copy", "b.amem").unwrap();
            }
        };
        let hook = {
            let (put, left) = (put.clone(), left.clone());
            move |about| {
                if about == About::Open {
                    return;
                }
                let before = left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
                if before == Ok(1) {
                    put();
                }
            }
        };
        let served = FaultyDaemon::start(Arc::new(HookedDisk::new(disk.clone(), hook))).await;
        let client = served.client().await;
        create_bare(&client, "b").await;
        crate::process::ingest(&client, "b", &[TEXT, "stays"]).await;
        copy.set(disk.contents("b.amem").unwrap()).unwrap();
        match moment {
            0 => put(),
            moment => left.store(moment, SeqCst),
        }
        for attempt in 0.. {
            assert!(attempt < 100, "moment {moment}: it is never erased");
            let request = v1::EraseRequest {
                brain: "b".into(),
                event_ids: vec![0],
                ..Default::default()
            };
            let Err(status) = client.memory().erase(request).await else {
                let found = disk.files_with(TEXT.as_bytes());
                if found != ["b.amem"] {
                    assert!(
                        found.is_empty(),
                        "moment {moment}: erased, and in {found:?}"
                    );
                    break;
                }
                // It came when the brain was without the text already, as one that is put there later. It is kept,
                // and the next erase is refused with its name.
                late += 1;
                crate::process::ingest(&client, "b", &["after"]).await;
                assert_eq!(disk.files_with(TEXT.as_bytes()).len(), 1);
                continue;
            };
            if reason(&status) == "KEPT_FILE" {
                refused += 1;
                for file in files(&client).await {
                    let discard = resolve(&client, &file.file, Action::Discard(true)).await;
                    discard.unwrap();
                }
            } else {
                assert_eq!(
                    status.code(),
                    Code::Unavailable,
                    "moment {moment}: {status}"
                );
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        let unreached = left.swap(0, SeqCst) > 0;
        let found = disk.files_with(TEXT.as_bytes());
        assert!(
            found.is_empty(),
            "moment {moment}: erased, and in {found:?}"
        );
        served.end().await;
        if unreached {
            assert!(refused > 3 && moment > 5, "{refused} of {moment} moments");
            assert!(late < 10, "{late} of {moment} moments");
            break;
        }
    }
}

#[tokio::test]
async fn an_erase_under_the_request_id_of_another_request_is_refused() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    crate::process::ingest(&client, "b", &["first", "second"]).await;
    let erase = |event, options| v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![event],
        options,
        ..Default::default()
    };
    let id = v1::WriteOptions {
        request_id: Uuid::now_v7().to_string(),
        ..Default::default()
    };
    let id = || Some(id.clone());
    for _ in 0..2 {
        client.memory().erase(erase(0, id())).await.unwrap();
    }
    let refused = client.memory().erase(erase(1, id())).await;
    let words = &["with another body"];
    check_refused(
        "reused",
        refused,
        Code::AlreadyExists,
        "REQUEST_REUSED",
        words,
    );
    assert_eq!(get(&client, "b", &[1]).await[0].text, "second");
}
