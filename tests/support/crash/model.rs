//! What the model lets a crash at the end of a few operations leave: exactly these states.

use std::collections::BTreeSet;
use std::io;

use amem_store::disk::Disk;

use super::crash_states;
use crate::disk::{Among, EIO, Effect, Fault, Kind, SimDisk};

/// Names and, after `=`, the bytes that aren't zero, and the length; the states separated by `|`, sorted.
fn left(work: impl FnOnce(&SimDisk) -> io::Result<()>) -> String {
    left_on(SimDisk::new(3), work)
}

fn left_on(disk: SimDisk, work: impl FnOnce(&SimDisk) -> io::Result<()>) -> String {
    work(&disk).unwrap();
    let log = disk.log();
    let end = log.ops.len();
    let mut states = BTreeSet::new();
    for state in crash_states(&log.from_point(end), 10_000, 1) {
        if state.choice.kill {
            continue;
        }
        let mut names = Vec::new();
        for name in state.image.names.keys() {
            names.push(match state.image.file(name) {
                None => format!("{name}/"),
                Some(content) => {
                    let bytes = content.read(u64::MAX);
                    let mut letters = bytes.clone();
                    letters.retain(|&b| b != 0);
                    letters.dedup();
                    let letters = String::from_utf8_lossy(&letters).into_owned();
                    format!("{name}={letters}{}", bytes.len())
                }
            });
        }
        states.insert(names.join(" "));
    }
    Vec::from_iter(states).join(" | ")
}

fn fail_next(disk: &SimDisk, kind: Kind) {
    disk.fail(Fault {
        after: 0,
        among: Among::Only(kind),
        error: EIO,
        effect: Effect::Nothing,
        lasting: false,
    });
}

/// A file with content, durable under a name.
fn durable(disk: &SimDisk, name: &str, bytes: &[u8]) -> io::Result<()> {
    let file = disk.create(name)?;
    file.write_at(0, bytes)?;
    file.sync()?;
    disk.sync_folder(name.rsplit_once('/').map_or("", |(folder, _)| folder))
}

#[test]
fn unsynced_writes_survive_in_any_subset_and_may_leave_their_length() {
    let states = left(|disk| {
        let file = disk.create("f")?;
        disk.sync_folder("")?;
        file.write_at(0, b"a")?;
        file.sync()?;
        file.write_at(1, b"b")?;
        file.write_at(2, b"c")
    });
    assert_eq!(
        states,
        "f=a1 | f=a2 | f=a3 | f=ab2 | f=ab3 | f=abc3 | f=ac3"
    );
}

#[test]
fn a_write_is_torn_at_sectors() {
    let states = left(|disk| {
        durable(disk, "f", &[0; 1000])?;
        let file = disk.open("f")?;
        file.write_at(500, &[b'x'; 12])?;
        file.sync()?;
        let mut two = vec![b'a'; 12];
        two.extend([b'b'; 20]);
        file.write_at(500, &two)
    });
    assert_eq!(states, "f=a1000 | f=ab1000 | f=x1000 | f=xb1000");
}

#[test]
fn a_cell_survives_whole_or_not_at_all() {
    let states = left(|disk| {
        durable(disk, "f", &[0; 4096])?;
        let cell = u64::from_le_bytes(*b"abcdefgh");
        disk.open("f")?.store_cell(0, 504, cell)
    });
    assert_eq!(states, "f=4096 | f=abcdefgh4096");
}

#[test]
fn a_name_without_its_folders_sync_may_be_missing() {
    let states = left(|disk| {
        let file = disk.create("f")?;
        file.write_at(0, b"a")?;
        file.sync()
    });
    assert_eq!(states, " | f=a1");
}

#[test]
fn a_rename_across_folders_leaves_both_names_one_or_neither() {
    let publish = |disk: &SimDisk| {
        disk.create_folder("t")?;
        disk.sync_folder("")?;
        durable(disk, "t/f", b"a")?;
        disk.publish("t/f", "g")
    };
    assert_eq!(left(publish), "g=a1 t/ | g=a1 t/ t/f=a1 | t/ | t/ t/f=a1");
    let given = left(|disk| publish(disk).and_then(|()| disk.sync_folder("")));
    assert_eq!(given, "g=a1 t/ | g=a1 t/ t/f=a1");
    let taken = left(|disk| publish(disk).and_then(|()| disk.sync_folder("t")));
    assert_eq!(taken, "g=a1 t/ | t/");
}

#[test]
fn an_atomic_rename_across_folders_is_durable_after_a_sync_of_either_folder() {
    let publish = |disk: &SimDisk| {
        disk.create_folder("t")?;
        disk.sync_folder("")?;
        durable(disk, "t/f", b"a")?;
        disk.publish("t/f", "g")
    };
    let whole = || SimDisk::new(3).with_whole_renames();
    assert_eq!(left_on(whole(), publish), "g=a1 t/ | t/ t/f=a1");
    for folder in ["", "t"] {
        let synced = |disk: &SimDisk| publish(disk).and_then(|()| disk.sync_folder(folder));
        assert_eq!(left_on(whole(), synced), "g=a1 t/", "{folder:?}");
    }
    for (failed, synced, left) in [
        ("", "t", "g=a1 t/"),
        ("", "", "g=a1 t/ | t/ t/f=a1"),
        ("t", "", "g=a1 t/"),
    ] {
        let synced = |disk: &SimDisk| {
            publish(disk)?;
            fail_next(disk, Kind::SyncFolder);
            assert!(disk.sync_folder(failed).is_err());
            disk.sync_folder(synced)
        };
        assert_eq!(left_on(whole(), synced), left, "{failed:?}");
    }
}

#[test]
fn a_rename_within_a_folder_is_atomic() {
    let states = left(|disk| {
        durable(disk, "f", b"a")?;
        disk.publish("f", "g")
    });
    assert_eq!(states, "f=a1 | g=a1");
}

#[test]
fn a_second_name_may_be_lost_and_the_file_keeps_its_first() {
    let linked = |disk: &SimDisk| {
        durable(disk, "f", b"a")?;
        disk.create_folder("t")?;
        disk.sync_folder("")?;
        disk.link("f", "t/g")
    };
    assert_eq!(left(linked), "f=a1 t/ | f=a1 t/ t/g=a1");
    let moved = left(|disk| {
        linked(disk)?;
        disk.sync_folder("t")?;
        disk.remove("f")
    });
    assert_eq!(moved, "f=a1 t/ t/g=a1 | t/ t/g=a1");
}

#[test]
fn an_exchange_is_atomic_until_one_of_its_folders_is_synced() {
    let exchange = |disk: &SimDisk| {
        disk.create_folder("t")?;
        disk.sync_folder("")?;
        durable(disk, "t/new", b"b")?;
        durable(disk, "f", b"a")?;
        disk.exchange("t/new", "f")
    };
    assert_eq!(left(exchange), "f=a1 t/ t/new=b1 | f=b1 t/ t/new=a1");
    let root = left(|disk| exchange(disk).and_then(|()| disk.sync_folder("")));
    assert_eq!(root, "f=b1 t/ t/new=a1 | f=b1 t/ t/new=b1");
    let removed = left(|disk| {
        exchange(disk)?;
        disk.remove("t/new")?;
        disk.sync_folder("t")
    });
    assert_eq!(removed, "f=a1 t/ | f=b1 t/", "the new file may be lost");
}

#[test]
fn changes_of_one_name_survive_in_their_order() {
    let states = left(|disk| {
        durable(disk, "f", b"a")?;
        disk.remove("f")?;
        disk.create("f").map(drop)
    });
    assert_eq!(states, " | f=0 | f=a1");
}

#[test]
fn what_is_in_a_folder_is_lost_with_it() {
    let states = left(|disk| {
        disk.create_folder("t")?;
        durable(disk, "t/f", b"a")
    });
    assert_eq!(states, " | t/ t/f=a1");
}

#[test]
fn a_later_sync_does_not_repair_a_failed_one() {
    let states = left(|disk| {
        durable(disk, "f", b"..")?;
        let file = disk.open("f")?;
        file.write_at(0, b"a")?;
        fail_next(disk, Kind::Sync);
        assert!(file.sync().is_err());
        file.write_at(1, b"b")?;
        file.sync()
    });
    assert_eq!(states, "f=.b2 | f=ab2");
    let covered = left(|disk| {
        durable(disk, "f", b".")?;
        let file = disk.open("f")?;
        file.write_at(0, b"a")?;
        fail_next(disk, Kind::Sync);
        assert!(file.sync().is_err());
        file.write_at(0, b"b")?;
        file.sync()
    });
    assert_eq!(covered, "f=b1");
    let folder = left(|disk| {
        durable(disk, "f", b"a")?;
        disk.remove("f")?;
        fail_next(disk, Kind::SyncFolder);
        assert!(disk.sync_folder("").is_err());
        disk.sync_folder("")
    });
    assert_eq!(folder, " | f=a1");
}

#[test]
fn a_killed_process_loses_nothing_and_syncs_nothing() -> io::Result<()> {
    let disk = SimDisk::new(3);
    let file = disk.create("f")?;
    file.write_at(0, b"a")?;
    let _lock = disk.lock("lock", "me");
    let log = disk.log();
    let end = log.ops.len();
    let killed = crash_states(&log.from_point(end), 100, 1).find(|s| s.choice.kill);
    let after = killed.unwrap().open();
    assert_eq!(after.contents("f").as_deref(), Some(&b"a"[..]));
    assert_eq!(after.boot_id(), disk.boot_id());
    assert!(after.lock("lock", "another").is_ok());
    assert_ne!(after.random(), disk.random());
    let log = after.log();
    let end = log.ops.len();
    let lost =
        crash_states(&log.from_point(end), 100, 1).find(|s| !s.image.names.contains_key("f"));
    let rebooted = lost.unwrap().open();
    assert_ne!(rebooted.boot_id(), disk.boot_id());
    assert_eq!(rebooted.list("")?, ["lock"]);
    assert_ne!(
        rebooted.create("f")?.id(),
        file.id(),
        "no inode number twice"
    );
    Ok(())
}

#[test]
fn the_same_seed_gives_the_same_states() {
    let disk = SimDisk::new(3);
    let file = disk.create("f").unwrap();
    for i in 0..20 {
        file.write_at(700 * i, &[1; 900]).unwrap();
    }
    let states = |seed| {
        let states = crash_states(&disk.log(), 500, seed);
        states.map(|s| s.choice.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(states(1), states(1));
    assert_ne!(states(1), states(2));
    assert_eq!(states(1).len(), 500);
}
