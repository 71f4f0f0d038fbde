//! What a run that ended leaves in `.amemd/tmp` is looked at by the next: what may be somebody's is kept or given back.

use std::sync::Arc;

use amem_store::disk::{Disk, File};
use amem_store::folder::{CONFLICTS, RECOVERED, TMP};
use amem_store::{Checkpoint, Error, Folder, Mutation, NewBrain, Store, create};
use amem_store::{OriginalFile, Ownership};
use amem_tests::crash::CrashState;
use amem_tests::disk::{Among, Chance, EIO, Effect, Fault, Kind, SimDisk};

use super::{fact, ingest, run};

const FILE: &str = "b.amem";

fn folder(disk: &Arc<SimDisk>) -> Folder {
    Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap()
}

fn failing(among: Among, lasting: bool) -> Fault {
    Fault {
        after: 0,
        among,
        error: EIO,
        effect: Effect::Nothing,
        lasting,
    }
}

/// A brain with one event in its base and one in its journal, and its bytes.
fn brain(disk: &Arc<SimDisk>) -> Store {
    let folder = folder(disk);
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    run(&mut store, ingest(vec![fact("in the base")])).unwrap();
    store.checkpoint().unwrap();
    run(&mut store, ingest(vec![fact("in the journal")])).unwrap();
    store
}

/// Somebody's file under the brain's name, which is a copy of a brain: its descriptor.
fn put(disk: &Arc<SimDisk>) -> Arc<dyn File> {
    let other = Arc::new(SimDisk::new(8));
    drop(brain(&other));
    let file = disk.create(FILE).unwrap();
    file.write_at(0, &other.contents(FILE).unwrap()).unwrap();
    file
}

fn adopt(folder: &Folder) -> OriginalFile {
    let Ownership::Untracked(stamp) = amem_store::ownership(folder, "b").unwrap() else {
        panic!("it is not ours")
    };
    amem_store::adopt(folder, "b", stamp, false)
        .unwrap()
        .1
        .unwrap()
}

/// The process ends before the original is settled.
fn end(disk: &SimDisk, original: OriginalFile) {
    disk.fail(failing(Among::All, true));
    drop(original);
    disk.heal();
    assert_eq!(disk.list(TMP).unwrap().len(), 1);
}

/// What the next run makes of it: the files in the folder, those that were kept, those that were recovered.
fn begun(disk: &Arc<SimDisk>) -> [Vec<String>; 3] {
    let folder = folder(disk);
    assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
    drop(folder);
    ["", CONFLICTS, RECOVERED].map(|place| disk.list(place).unwrap())
}

fn none() -> Vec<String> {
    Vec::new()
}

/// A disk on each kind of file system: one that can exchange names and give second ones, one that can only give second
/// names, one that can only exchange names.
fn disks() -> [Arc<SimDisk>; 3] {
    [
        SimDisk::new(1),
        SimDisk::new(1).without_exchange(),
        SimDisk::new(1).without_links(),
    ]
    .map(Arc::new)
}

#[test]
fn a_file_system_that_can_neither_exchange_names_nor_give_second_ones_is_refused() {
    let disk = Arc::new(SimDisk::new(1).without_exchange().without_links());
    let refused = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap_err();
    assert!(matches!(refused, Error::FileSystem { .. }), "{refused}");
    let words = refused.to_string();
    assert!(
        words.contains("simulated") && words.contains("ext4"),
        "{words}"
    );
    for disk in disks() {
        drop(folder(&disk));
    }
}

#[test]
fn a_file_of_which_a_brain_was_made_goes_if_nobody_wrote_to_it() {
    for disk in disks() {
        put(&disk);
        end(&disk, adopt(&folder(&disk)));
        assert_eq!(begun(&disk), [vec![FILE.to_owned()], none(), none()]);
        let store = Store::open(&folder(&disk), "b").unwrap();
        assert_eq!(store.view().nodes(), 2);
    }
}

#[test]
fn a_file_that_was_written_to_after_a_brain_was_made_of_it_is_kept() {
    for disk in disks() {
        let file = put(&disk);
        let original = adopt(&folder(&disk));
        file.write_at(file.len().unwrap(), b"late").unwrap();
        end(&disk, original);
        let [here, kept, recovered] = begun(&disk);
        assert_eq!((here, recovered), (vec![FILE.to_owned()], none()));
        let kept = disk.contents(&format!("{CONFLICTS}/{}", kept[0])).unwrap();
        assert!(kept.ends_with(b"late"));
    }
}

#[test]
fn a_file_that_takes_the_name_is_kept_on_every_kind_of_file_system() {
    for disk in disks() {
        let mut store = brain(&disk);
        let file = disk.create("another").unwrap();
        file.write_at(0, b"somebody's").unwrap();
        disk.replace("another", FILE).unwrap();
        run(&mut store, ingest(vec![fact("goes on")])).unwrap();
        drop(store);
        let [here, kept, recovered] = begun(&disk);
        assert_eq!((here, recovered), (vec![FILE.to_owned()], none()));
        let kept = disk.contents(&format!("{CONFLICTS}/{}", kept[0]));
        assert_eq!(kept.as_deref(), Some(&b"somebody's"[..]));
        assert_eq!(Store::open(&folder(&disk), "b").unwrap().view().nodes(), 3);
    }
}

#[test]
fn a_file_that_gave_way_gets_its_name_back_if_the_folder_can_not_be_synced() {
    for disk in disks() {
        let file = put(&disk);
        let bytes = disk.contents(FILE);
        let folder = folder(&disk);
        let Ownership::Untracked(stamp) = amem_store::ownership(&folder, "b").unwrap() else {
            panic!("it is not ours")
        };
        disk.fail(failing(Among::Only(Kind::SyncFolder), false));
        amem_store::adopt(&folder, "b", stamp, false).unwrap_err();
        assert_eq!(disk.identity(FILE).unwrap(), file.id());
        assert_eq!(disk.contents(FILE), bytes);
        assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
    }
}

#[test]
fn a_file_that_was_being_kept_when_the_run_ended_is_kept_once() {
    let disk = Arc::new(SimDisk::new(1));
    drop(brain(&disk));
    let left = format!("{TMP}/b-{:016x}-{:016x}.swap", 1, 0);
    let file = disk.create(&left).unwrap();
    disk.link(&left, &format!("{CONFLICTS}/b-7.amem")).unwrap();
    let [_, kept, _] = begun(&disk);
    // Under a name of which nobody says that it could not be synced.
    assert_eq!(kept.len(), 1);
    assert_ne!(kept, ["b-7.amem"]);
    let kept = disk.identity(&format!("{CONFLICTS}/{}", kept[0])).unwrap();
    assert_eq!(kept, file.id());
}

#[test]
fn a_run_that_ended_between_two_names_gives_the_brain_its_own_back() {
    // A removal had moved the file away to look at it.
    for disk in disks() {
        drop(brain(&disk));
        disk.publish(FILE, &format!("{TMP}/b-{:016x}-{:016x}.out", 1, 0))
            .unwrap();
        assert_eq!(begun(&disk), [vec![FILE.to_owned()], none(), none()]);
        assert_eq!(Store::open(&folder(&disk), "b").unwrap().view().nodes(), 2);
    }
}

#[test]
fn a_file_whose_brain_is_gone_gets_its_name_back() {
    let disk = Arc::new(SimDisk::new(1));
    let file = put(&disk);
    end(&disk, adopt(&folder(&disk)));
    disk.remove(FILE).unwrap();
    assert_eq!(begun(&disk), [vec![FILE.to_owned()], none(), none()]);
    assert_eq!(disk.identity(FILE).unwrap(), file.id());
}

/// A brain whose checkpoint failed when it was done with all but taking the old file away.
fn old_is_left(disk: &Arc<SimDisk>) {
    let mut store = brain(disk);
    disk.fail(failing(Among::Only(Kind::Remove), false));
    store.checkpoint().unwrap_err();
    drop(store);
    disk.heal();
    assert_eq!(disk.list(TMP).unwrap().len(), 1);
}

#[test]
fn the_old_file_of_a_brain_goes() {
    let disk = Arc::new(SimDisk::new(1));
    old_is_left(&disk);
    assert_eq!(begun(&disk), [vec![FILE.to_owned()], none(), none()]);
    assert_eq!(Store::open(&folder(&disk), "b").unwrap().view().nodes(), 2);
}

#[test]
fn the_old_file_of_a_brain_whose_new_one_is_gone_is_kept_as_recovered() {
    type Act<'a> = &'a dyn Fn(&SimDisk);
    let removed = |disk: &SimDisk| disk.remove(FILE).unwrap();
    let replaced = |disk: &SimDisk| {
        removed(disk);
        let file = disk.create(FILE).unwrap();
        file.write_at(0, b"somebody's").unwrap();
    };
    let rows: [(Act<'_>, Option<&[u8]>); 2] = [(&removed, None), (&replaced, Some(b"somebody's"))];
    for (act, left) in rows {
        let disk = Arc::new(SimDisk::new(1));
        old_is_left(&disk);
        act(&disk);
        let [_, kept, recovered] = begun(&disk);
        assert_eq!((kept, recovered.len()), (none(), 1));
        assert_eq!(disk.contents(FILE).as_deref(), left);
        let folder = folder(&disk);
        let file = format!("recovered/{}", recovered[0]);
        let (view, _) = amem_store::quarantine::read(&folder, &file).unwrap();
        assert_eq!(view.nodes(), 2);
    }
}

#[test]
fn a_file_that_took_the_name_and_could_not_be_kept_at_once_is_kept_by_the_next_run() {
    let disk = Arc::new(SimDisk::new(1));
    let mut store = brain(&disk);
    let file = disk.create("another").unwrap();
    file.write_at(0, b"somebody's").unwrap();
    disk.exchange("another", FILE).unwrap();
    disk.remove("another").unwrap();
    disk.fail(failing(Among::Only(Kind::Link), false));
    store.checkpoint().unwrap_err();
    drop(store);
    let [here, kept, recovered] = begun(&disk);
    assert_eq!((here, recovered), (vec![FILE.to_owned()], none()));
    let kept = disk.contents(&format!("{CONFLICTS}/{}", kept[0]));
    assert_eq!(kept.as_deref(), Some(&b"somebody's"[..]));
}

#[test]
fn what_is_unfinished_goes_and_two_files_kept_in_one_moment_are_two() {
    let disk = Arc::new(SimDisk::new(1));
    drop(folder(&disk));
    let named = |ours: u64| format!("{TMP}/b-{ours:016x}-{:016x}.swap", 0);
    for name in [format!("{TMP}/b-1.amem"), format!("{TMP}/id-1")] {
        drop(disk.create(&name).unwrap());
    }
    drop(disk.create(FILE).unwrap());
    for ours in [1, 2] {
        drop(disk.create(&named(ours)).unwrap());
    }
    let [here, kept, recovered] = begun(&disk);
    assert_eq!((here, kept.len()), (vec![FILE.to_owned()], 2));
    assert_eq!(recovered, none());
}

#[test]
fn what_was_erased_is_gone_when_a_failed_checkpoint_is_made_again_by_the_same_run() {
    let disk = Arc::new(SimDisk::new(1));
    let folder = folder(&disk);
    create(&folder, "b", &NewBrain::default()).unwrap();
    let mut store = Store::open(&folder, "b").unwrap();
    let secret = b"a secret of these bytes";
    let text = String::from_utf8_lossy(secret).into_owned();
    let event = run(&mut store, ingest(vec![fact(&text)])).unwrap().ids[0];
    run(&mut store, Mutation::Erase(vec![event])).unwrap();
    disk.fail(failing(Among::Only(Kind::Remove), false));
    store.checkpoint().unwrap_err();
    drop(store);
    assert_eq!(disk.files_with(secret).len(), 1);
    let mut store = Store::open(&folder, "b").unwrap();
    if store.erase_pending() {
        store.checkpoint().unwrap();
    }
    assert_eq!(disk.files_with(secret), [""; 0]);
}

/// A checkpoint that was given up while removing fails: its file has all that the brain had.
fn given_up(disk: &Arc<SimDisk>, store: &Store) {
    let mut checkpoint = Checkpoint::begin(store).unwrap();
    checkpoint.build().unwrap();
    disk.fail(failing(Among::Only(Kind::Remove), true));
    drop(checkpoint);
}

#[test]
fn an_erase_is_not_done_before_what_could_not_be_removed_is() {
    let disk = Arc::new(SimDisk::new(1));
    let folder = folder(&disk);
    for name in ["b", "other"] {
        create(&folder, name, &NewBrain::default()).unwrap();
    }
    let mut store = Store::open(&folder, "b").unwrap();
    let secret = b"a secret of these bytes";
    let text = String::from_utf8_lossy(secret).into_owned();
    let event = run(&mut store, ingest(vec![fact(&text)])).unwrap().ids[0];
    given_up(&disk, &store);
    folder.clear_leftovers("b").unwrap_err();
    // Other brains have nothing to do with it.
    folder.clear_leftovers("other").unwrap();
    disk.heal();
    run(&mut store, Mutation::Erase(vec![event])).unwrap();
    assert_eq!(disk.files_with(secret).len(), 2);
    // The first removal is that of what was left.
    disk.fail(failing(Among::Only(Kind::Remove), false));
    store.checkpoint().unwrap_err();
    assert!(store.erase_pending() && store.poisoned().is_none());
    store.checkpoint().unwrap();
    assert!(!store.erase_pending());
    assert_eq!(disk.files_with(secret), [""; 0]);
    assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
}

#[test]
fn what_a_brain_was_made_of_and_could_not_be_taken_away_is_looked_at_again() {
    for disk in disks() {
        let file = put(&disk);
        let folder = folder(&disk);
        let original = adopt(&folder);
        disk.fail(failing(Among::Only(Kind::Remove), true));
        original.finalise().unwrap_err();
        folder.clear_leftovers("b").unwrap_err();
        disk.heal();
        assert_eq!(disk.list(TMP).unwrap().len(), 1);
        // Somebody wrote to it since.
        file.write_at(file.len().unwrap(), b"late").unwrap();
        folder.clear_leftovers("b").unwrap();
        assert_eq!(disk.list(TMP).unwrap(), [""; 0]);
        let kept = disk.list(CONFLICTS).unwrap();
        let kept = disk.contents(&format!("{CONFLICTS}/{}", kept[0])).unwrap();
        assert!(kept.ends_with(b"late"));
    }
}

#[test]
fn what_nobody_wrote_to_is_taken_away_when_it_is_looked_at_again() {
    for disk in disks() {
        put(&disk);
        let folder = folder(&disk);
        let original = adopt(&folder);
        disk.fail(failing(Among::Only(Kind::Remove), true));
        drop(original);
        disk.heal();
        assert_eq!(disk.list(TMP).unwrap().len(), 1);
        folder.clear_leftovers("b").unwrap();
        for place in [TMP, CONFLICTS, RECOVERED] {
            assert_eq!(disk.list(place).unwrap(), [""; 0], "{place}");
        }
    }
}

#[test]
fn a_file_that_could_not_be_kept_at_once_is_kept_when_it_is_looked_at_again() {
    let ways = [Kind::Link, Kind::Publish, Kind::SyncFolder, Kind::Remove];
    for (disk, kind) in disks()
        .into_iter()
        .flat_map(|disk| ways.map(|kind| (disk.cloned(), kind)))
    {
        let disk = Arc::new(disk);
        let file = put(&disk);
        let folder = folder(&disk);
        let original = adopt(&folder);
        file.write_at(file.len().unwrap(), b"late").unwrap();
        file.sync().unwrap();
        disk.fail(failing(Among::Only(kind), true));
        let failed = original.finalise().is_err();
        disk.heal();
        folder.clear_leftovers("b").unwrap();
        drop(folder);
        assert_eq!(disk.list(TMP).unwrap(), [""; 0], "{kind:?}, {failed}");
        // What is durable has it as well.
        let cut = format!("power {}", disk.position()).parse().unwrap();
        let after = CrashState::of(&Arc::new(disk.log()), cut).open();
        let [_, kept, _] = begun(&after);
        assert_eq!(kept.len(), 1, "{kind:?}, {failed}: {kept:?}");
        let kept = after.contents(&format!("{CONFLICTS}/{}", kept[0])).unwrap();
        assert!(kept.ends_with(b"late"));
    }
}

/// What a file goes through that was written to after a brain was made of it, while some operations fail.
type Way<'w> = &'w dyn Fn(&SimDisk, &Folder, OriginalFile, Fault);

/// Each operation of a way fails, in each manner, and the power does at each moment after it: the file is somewhere.
fn stays_somewhere(way: Way<'_>) {
    let (mut struck, mut states) = (0, 0);
    let kinds = [Kind::Link, Kind::Publish, Kind::SyncFolder, Kind::Remove];
    let mut faults = Vec::new();
    for among in kinds.map(Among::Only).into_iter().chain([Among::Changes]) {
        for effect in [Effect::Nothing, Effect::Everything] {
            faults.extend((0..4).map(|after| Fault {
                after,
                effect,
                ..failing(among, false)
            }));
            faults.extend((0..4).map(|after| Fault {
                after,
                effect,
                ..failing(among, true)
            }));
        }
    }
    for fault in faults {
        // Where a file has one name, a rename across folders is all that there is.
        let [both, links, exchanges] = disks();
        let exchanges = Arc::new(exchanges.cloned().with_whole_renames());
        for (which, disk) in [both, links, exchanges].into_iter().enumerate() {
            let file = put(&disk);
            let folder = folder(&disk);
            let original = adopt(&folder);
            file.write_at(file.len().unwrap(), b"late").unwrap();
            file.sync().unwrap();
            let from = disk.position();
            way(&disk, &folder, original, fault);
            struck += usize::from(disk.struck_at().is_some());
            disk.heal();
            for _ in 0..2 {
                folder.clear_leftovers("b").unwrap();
                assert_eq!(disk.list(TMP).unwrap(), [""; 0], "disk {which}, {fault:?}");
            }
            let log = Arc::new(disk.log());
            let chance = &mut Chance::of(1, 0);
            for number in from..=disk.position() {
                for _ in 0..20 {
                    let state = CrashState::by_chance(&log, number, false, chance);
                    let after = state.open();
                    drop(Folder::open(after.clone() as Arc<dyn Disk>, "after").unwrap());
                    let found = after.files_with(b"late");
                    assert!(
                        !found.is_empty(),
                        "disk {which}, {fault:?}: {}",
                        state.choice
                    );
                    states += 1;
                }
            }
        }
    }
    println!("{struck} of {} faults struck, {states} states", 3 * 80);
    assert!(struck > 80, "only {struck} faults struck");
}

#[test]
fn a_file_that_is_being_kept_is_somewhere_whatever_fails_and_whenever_the_power_does() {
    stays_somewhere(&|disk, _, original, fault| {
        disk.fail(fault);
        drop(original.finalise());
    });
}

#[test]
fn a_file_that_gets_its_name_back_is_somewhere_whatever_fails_and_whenever_the_power_does() {
    stays_somewhere(&|disk, folder, original, fault| {
        disk.fail(failing(Among::All, true));
        drop(original);
        disk.heal();
        disk.remove(FILE).unwrap();
        disk.fail(fault);
        drop(folder.clear_leftovers("b"));
    });
}
