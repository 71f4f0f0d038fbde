//! The device fails under a checkpoint of the real daemon: nothing can be written any more and nothing read (EIO), or
//! write-back finds no room. The call says so; what was acknowledged is on the medium.

use std::path::Path;
use std::time::{Duration, Instant};

use amem_client::v1;
use amem_tests::machine::skipped;
use amem_tests::mounts::{Kind, Memory, Mount};
use amem_tests::power::{CutMode, Cutter};
use tonic::Status;
use uuid::Uuid;

use crate::full::World;
use crate::rig::fill;
use crate::{mounted, say, scratch, size};

const WHAT: &str = "a device that fails under a checkpoint";

/// Events before the checkpoint, and words in each: no two alike, so that the new file is large.
const EVENTS: u64 = 40;
const WORDS: u64 = 2_000;

/// What the device can still take: less than the new file.
const ROOM: u64 = 256 << 10;

/// How long a checkpoint may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a failed call may say: the error of the device, or what the file system has become by it.
const REASONS: [&str; 3] = [
    "Input/output error",
    "Read-only file system",
    "No space left",
];

/// How the device fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failing {
    /// The file system is shut down in the middle of the checkpoint: each operation is an I/O error.
    AtOnce,
    /// Write-back has no room; then the power fails.
    WriteBack,
    /// Write-back has no room, and then it has; the daemon goes on over a cache that lies.
    Healed,
}

fn request(n: u64) -> v1::IngestRequest {
    let words = (0..WORDS).map(|word| {
        let number = (n * WORDS + word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("w{number:x} ")
    });
    v1::IngestRequest {
        brain: "b".into(),
        options: Some(v1::WriteOptions {
            request_id: Uuid::now_v7().to_string(),
            ..Default::default()
        }),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: words.collect(),
            ..Default::default()
        }],
        ..Default::default()
    }
}

async fn checkpoint(world: &World) -> Result<(), Status> {
    let request = v1::CheckpointBrainRequest { brain: "b".into() };
    let made = world.client.brains().checkpoint_brain(request).await;
    made.map(drop)
}

fn check(kind: Kind, status: &Status) {
    let is_said = REASONS
        .iter()
        .any(|reason| status.message().contains(reason));
    assert!(is_said, "{kind}: {status}");
}

/// Shuts the file system down once the new file is being written.
async fn shut_down(cutter: &mut Cutter, brains: &Path, mount: &Mount) {
    let begun = Instant::now();
    loop {
        let files = std::fs::read_dir(brains.join(".amemd/tmp")).unwrap();
        let sizes = files.filter_map(|file| file.ok()?.metadata().ok());
        if sizes.map(|file| file.len()).max().unwrap_or_default() > ROOM {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "no checkpoint was begun");
        tokio::task::yield_now().await;
    }
    cutter.cut(mount.folder(), CutMode::AtOnce).unwrap();
}

/// Writes some more: each is answered, or refused for a reason of the device.
async fn go_on(world: &mut World, kind: Kind, from: u64) {
    for n in 0..10 {
        if let Err(status) = world.write(request(from + n)).await {
            check(kind, &status);
        }
    }
}

/// One brain; what the checkpoint said, and the requests that were answered.
async fn fails(kind: Kind, failing: Failing) -> Option<(String, usize)> {
    let folder = scratch();
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    let memory = match failing {
        Failing::AtOnce => None,
        _ => match Memory::make(&full, kind.bytes()) {
            Ok(memory) => Some(memory),
            Err(why) => {
                skipped(&format!("{WHAT} on {kind}: {why}"));
                return None;
            }
        },
    };
    let mount = mounted(kind, &full, WHAT)?;
    mount.write_in_pages().unwrap();
    let mut world = World::new(kind, &mount).await;
    for n in 0..EVENTS {
        world.write(request(n)).await.unwrap();
    }
    let ballast = full.join("ballast");
    let made = match failing {
        Failing::AtOnce => {
            let mut cutter = Cutter::start().unwrap();
            let brains = mount.folder().join("brains");
            let shut = shut_down(&mut cutter, &brains, &mount);
            tokio::join!(checkpoint(&world), shut).0
        }
        _ => {
            fill(&ballast, ROOM);
            checkpoint(&world).await
        }
    };
    let status = made.expect_err("a checkpoint on a device that fails");
    check(kind, &status);
    if failing != Failing::AtOnce {
        world.check_reads().await;
    }
    go_on(&mut world, kind, 1_000).await;
    match failing {
        Failing::AtOnce => {}
        Failing::WriteBack => {
            world.check_reads().await;
            std::fs::remove_file(&ballast).unwrap();
        }
        Failing::Healed => {
            std::fs::remove_file(&ballast).unwrap();
            go_on(&mut world, kind, 2_000).await;
            world.check_reads().await;
        }
    }
    world = world.cut(&mount).await;
    world.check_reads().await;
    world.answer_all().await;
    checkpoint(&world).await.unwrap();
    let answered = world.end(&mount);
    drop(mount);
    drop(memory);
    Some((status.message().to_owned(), answered))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_fails_under_a_checkpoint_costs_no_acknowledged_write() {
    use Failing::{AtOnce, Healed, WriteBack};
    let rows = match size("AMEM_RIG_ROUNDS", 1) {
        1 => &[
            (Kind::Ext4, AtOnce),
            (Kind::Xfs, AtOnce),
            (Kind::Ext4, Healed),
        ][..],
        _ => &[
            (Kind::Ext4, AtOnce),
            (Kind::Xfs, AtOnce),
            (Kind::Ext4, WriteBack),
            (Kind::Ext4NoJournal, WriteBack),
            (Kind::Xfs, WriteBack),
            (Kind::Btrfs, WriteBack),
            (Kind::Ext4, Healed),
            (Kind::Ext4NoJournal, Healed),
            (Kind::Xfs, Healed),
            (Kind::Btrfs, Healed),
        ],
    };
    for (kind, failing) in rows {
        let begun = Instant::now();
        let Some((said, answered)) = fails(*kind, *failing).await else {
            continue;
        };
        say(&format!(
            "{kind}: {failing:?} under a checkpoint ({said}); {answered} acknowledged and on the medium, {:.1} s",
            begun.elapsed().as_secs_f32()
        ));
    }
}
