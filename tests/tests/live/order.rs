//! What readers in other processes find when the steps of publishing are done in a wrong order, and in the right one.
//!
//! A writer commits, checkpoints and erases on a real disk that mixes up one thing (`Flaw`). Three processes read the
//! file: one follows it, one opens it again each time, one has it under a second name. Whatever is wrong, one of them
//! has to tell; of the right order, none.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amem_format::NodeId;
use amem_store::Checkpoint;
use amem_store::disk::os::OsDisk;
use amem_store::{Mutation, Request, Store};
use amem_tests::board::Board;
use amem_tests::disk::{DisorderedDisk, Flaw};

use crate::peers::Peer;
use crate::{commit, folder, open_on, size};

/// A wrong order has to be found within this.
const FOUND_WITHIN: Duration = Duration::from_secs(5);
/// A reader that does not look for so long has a defect of its own.
const LOOKS_WITHIN: Duration = Duration::from_secs(30);
const HOW: [&str; 3] = ["follow", "open", "linked"];

/// A writer, its readers, and what they tell each other.
struct Load {
    store: Store,
    board: Arc<Board>,
    peers: Arc<Mutex<Vec<Peer>>>,
    brain: PathBuf,
    linked: PathBuf,
    erased: u64,
}

/// What came of it.
struct Outcome {
    /// What the readers found wrong, by how they read.
    wrong: Vec<String>,
    seen: Vec<String>,
    took: Duration,
}

/// Waits until each reader that has not ended has begun a view and ended it.
fn wait_for_looks(board: &Board, peers: &Mutex<Vec<Peer>>) {
    let mut peers = peers.lock().unwrap();
    let counts = peers.iter().map(|peer| board.views(peer.number));
    let before: Vec<_> = counts.collect();
    let deadline = Instant::now() + LOOKS_WITHIN;
    for (peer, before) in peers.iter_mut().zip(before) {
        // The view that is being taken may have been begun earlier.
        while board.views(peer.number) < before + 2 && !peer.has_ended() {
            assert!(
                Instant::now() < deadline,
                "{} does not look",
                HOW[peer.number as usize]
            );
            std::thread::yield_now();
        }
    }
}

impl Load {
    fn look(&self) {
        wait_for_looks(&self.board, &self.peers);
    }

    /// A group of commits, answered.
    fn commit(&mut self) {
        let board = &self.board;
        commit(&mut self.store, 8, 8, |lsn| board.answer(lsn));
        self.look();
    }

    /// Gives the second name to the file that has the first, in one step.
    fn link(&self) {
        let next = self.linked.with_extension("next");
        std::fs::hard_link(&self.brain, &next).unwrap();
        std::fs::rename(&next, &self.linked).unwrap();
    }

    /// A checkpoint with commits beside each of its steps.
    fn checkpoint(&mut self) {
        let mut checkpoint = Checkpoint::begin(&self.store).unwrap();
        self.commit();
        checkpoint.build().unwrap();
        self.commit();
        checkpoint.carry(&self.store.brain().clone()).unwrap();
        self.commit();
        drop(self.store.install(checkpoint).unwrap());
        self.commit();
        self.link();
    }

    /// An event is erased: once that is answered, no reader uses a file with its bytes.
    fn erase(&mut self) {
        let erased = vec![NodeId(self.erased)];
        self.erased += 1;
        let answer = self.store.execute(Request::new(Mutation::Erase(erased)));
        let lsn = answer.unwrap().lsn.0;
        self.store.checkpoint().unwrap();
        let generation = self.store.brain().base().identity().generation.0;
        self.board.let_go_below(generation);
        self.board.answer(lsn);
        self.look();
        self.link();
    }

    fn is_found(&self) -> bool {
        let mut peers = self.peers.lock().unwrap();
        let mut found = peers
            .iter_mut()
            .map(|peer| peer.has_ended() || self.board.wrong(peer.number) > 0);
        found.any(|found| found)
    }
}

/// Runs a load until something is found, or for a time.
fn run(flaw: Flaw, limit: Duration) -> Outcome {
    let dir = folder();
    let page = dir.path().join("board");
    let board = Arc::new(Board::create(&page).unwrap());
    let peers = Arc::new(Mutex::new(Vec::new()));
    let disk = {
        let (board, peers) = (board.clone(), peers.clone());
        let inner = Arc::new(OsDisk::new(dir.path()).unwrap());
        let pause = move || wait_for_looks(&board, &peers);
        DisorderedDisk::new(inner, dir.path(), flaw, pause)
    };
    let store = open_on(Arc::new(disk.clone()));
    let (brain, linked) = (dir.path().join("b.amem"), dir.path().join("linked"));
    let mut load = Load {
        store,
        board,
        peers,
        brain,
        linked,
        erased: 0,
    };
    commit(&mut load.store, 8, 8, drop);
    load.link();
    for (number, how) in (0..).zip(HOW) {
        let path: &Path = if how == "linked" {
            &load.linked
        } else {
            &load.brain
        };
        let peer = Peer::start(path, &page, how, number);
        load.peers.lock().unwrap().push(peer);
    }
    disk.begin();
    let begun = Instant::now();
    let steps = [Load::commit, Load::checkpoint, Load::commit, Load::erase];
    for step in steps.iter().cycle() {
        step(&mut load);
        if begun.elapsed() > limit || load.is_found() {
            break;
        }
    }
    let took = begun.elapsed();
    load.board.finish();
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for peer in load.peers.lock().unwrap().drain(..) {
        let (number, how) = (peer.number, HOW[peer.number as usize]);
        match peer.finish() {
            Err(why) => wrong.push(format!("{how}: {why}")),
            Ok(what) if load.board.wrong(number) > 0 => wrong.push(format!("{how}: {what}")),
            Ok(what) => seen.push(format!("{how}: {what}")),
        }
    }
    Outcome { wrong, seen, took }
}

#[test]
fn every_wrong_order_of_publishing_is_seen_by_readers_in_other_processes() {
    let mut caught = 0;
    for flaw in Flaw::WRONG {
        let outcome = run(flaw, FOUND_WITHIN);
        println!("{flaw:?}, {:.1?}: {:?}", outcome.took, outcome.wrong);
        caught += usize::from(!outcome.wrong.is_empty());
    }
    println!("{caught} of {} broken orders caught", Flaw::WRONG.len());
    assert_eq!(caught, Flaw::WRONG.len());
}

#[test]
fn the_correct_order_of_publishing_shows_no_reader_a_wrong_state() {
    let limit = Duration::from_secs(size("AMEM_ORDER_SECS", 2));
    for flaw in [Flaw::None, Flaw::HintEarly] {
        let outcome = run(flaw, limit);
        println!("{flaw:?}, {:.1?}: {:#?}", outcome.took, outcome.seen);
        assert!(outcome.wrong.is_empty(), "{:?}", outcome.wrong);
        assert_eq!(outcome.seen.len(), HOW.len());
    }
}
