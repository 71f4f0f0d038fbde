//! Everyday tools of the same user on the file of a brain, at rest, under load and during checkpoints: the effects on
//! the brain, as its daemon, a reader of the file and a plain reader of its bytes see it.
//!
//! Promises: each cell of `rows::ROWS` is tried, and the same table stands in docs/RELIABILITY.md. As root, the daemon
//! and the tools run as an ordinary user, for whom file modes matter.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod destroyed;
mod load;
mod rows;
mod strange;
mod world;

use std::fs;
use std::time::{Duration, Instant};

use amem_client::core::Error;
use amem_client::core::reader::Reader;
use amem_client::v1;
use amem_tests::daemon::create_bare;
use tonic::Code;

use self::load::{Load, State};
use self::rows::{Becomes, ROWS, Row};
use self::world::{World, texts_of};

/// How long anything may take to be noticed.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a reader may show less than was answered.
const STALE_MAX: Duration = Duration::from_secs(2);

/// Brains whose files are opened while the daemon looks at the folder.
const OPENED: usize = 100;

/// Tries a row, and says in a line what was seen.
async fn try_row(world: &World, row: &Row, state: State) {
    let name = format!("{}-{state:?}", row.tool.replace([' ', '+'], "-")).to_lowercase();
    let what = format!("{} while {state:?}", row.tool);
    world.make(&name).await;
    let path = world.file(&name);
    let reader = Reader::open(&path).unwrap();
    // As a user that copies the file in the middle of it.
    let mut plain = fs::File::open(&path).unwrap();
    let load = Load::start(world, &name, state).await;

    let done = world.run(row.script, &name);
    assert_eq!(done, row.succeeds, "{what}: {} said otherwise", row.script);
    world.expect(row, &name, &what).await;
    let answered = load.end().await;
    let is_written = state == State::Idle || answered.len() > 2;
    assert!(is_written, "{what}: nobody wrote");

    let seen = match row.becomes {
        Becomes::Saved => {
            let request = v1::GetBrainRequest {
                brain: name.clone(),
            };
            let refused = world.client.brains().get_brain(request).await.unwrap_err();
            assert_eq!(refused.code(), Code::NotFound, "{what}: {refused}");
            texts_of(&Reader::open_copy(world.kept("recovered", &name)).unwrap())
        }
        Becomes::KeptOrSaved if world.is_saved_and_replaced(&name).await => {
            let mut seen = texts_of(&Reader::open_copy(world.kept("recovered", &name)).unwrap());
            // What was answered since is in the brain that has the name now.
            seen.extend(texts_of(&Reader::open_copy(&path).unwrap()));
            seen
        }
        Becomes::Same
        | Becomes::Exposed
        | Becomes::Kept
        | Becomes::KeptOrSaved
        | Becomes::Stray => {
            if row.becomes == Becomes::Kept {
                // The user that put it there finds all of it, also where it was a link to it.
                let kept = fs::read(world.kept("conflicts", &name)).unwrap();
                assert!(kept == world.other(), "{what}: another file is kept");
            }
            world.ingest(&name, "afterwards").await.unwrap();
            let began = Instant::now();
            while !texts_of(&reader.view().unwrap()).contains("afterwards") {
                assert!(began.elapsed() < STALE_MAX, "{what}: the reader is stale");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let seen = texts_of(&Reader::open_copy(&path).unwrap());
            assert!(seen.contains("afterwards"), "{what}");
            seen
        }
    };
    let lost: Vec<_> = answered.difference(&seen).collect();
    assert!(lost.is_empty(), "{what}: {lost:?}");

    // Whatever file the reader follows now, it shows what was there before the tool came, and no nonsense.
    match reader.view() {
        Ok(view) => {
            let followed = texts_of(&view);
            for text in ["in the base", "in the journal"] {
                assert!(followed.contains(text), "{what}: {followed:?}");
            }
        }
        // A checkpoint had replaced its file, and then the tool took the new one away.
        Err(Error::Superseded { .. })
            if state == State::Checkpointed
                && matches!(row.becomes, Becomes::Saved | Becomes::KeptOrSaved) => {}
        Err(e) => panic!("{what}: the reader: {e}"),
    }
    let held = texts_of(&world.brain_of(&mut plain));
    assert!(held.contains("in the journal"), "{what}: {held:?}");
    println!("{what}: {} answered, 0 lost", answered.len());
}

async fn try_all(state: State) {
    let world = World::start().await;
    for row in &ROWS {
        try_row(&world, row, state).await;
    }
    world.is_whole().await;
    let told = world.told_of_modes();
    let other = told.iter().find(|line| !line.contains("brain=\"chmod-"));
    assert_eq!(other, None, "nobody changed that mode");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_mode_is_reported_only_if_it_was_set_explicitly() {
    let world = World::start().await;
    for n in 0..OPENED {
        create_bare(&world.client, &format!("brain-{n}")).await;
    }
    assert!(world.run("chmod 644 $b", "other"));
    let began = Instant::now();
    while world.told_of_modes().is_empty() {
        assert!(began.elapsed() < PATIENCE, "it is not told of");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for line in world.told_of_modes() {
        assert!(line.contains("brain=\"other\""), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_on_the_file_of_an_idle_brain() {
    try_all(State::Idle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_on_the_file_of_a_busy_brain() {
    try_all(State::Loaded).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_on_the_file_of_a_brain_during_checkpoints() {
    try_all(State::Checkpointed).await;
}

#[test]
fn the_table_is_in_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/RELIABILITY.md");
    let text = fs::read_to_string(path).unwrap();
    for row in &ROWS {
        let line = row.line();
        assert!(text.contains(&line), "docs/RELIABILITY.md lacks: {line}");
    }
}
