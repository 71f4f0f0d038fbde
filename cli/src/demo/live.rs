//! What another process sees: the file itself, at the speed of memory, and every commit as it is made.

use super::beliefs::Corrected;
use super::cleanup::Cleanup;
use super::follow::{ROUNDS, now};
use super::follower::Follower;
use super::run::{BRAIN, Demo};
use super::stage::{Result, Stage};
use crate::render::count;

/// What is corrected while the other process looks, by whom, and why.
const SEASON: &str = "Since May the marina has 90 berths: 60 for residents and 30 for visitors.";
const PLANNER: &str = "planner";
const SEASON_REASON: &str = "the new pier was opened on 2 May";

impl Demo {
    pub(super) fn read(
        &self,
        stage: &mut Stage<'_>,
        cleanup: &Cleanup,
        done: &Corrected,
    ) -> Result<Follower> {
        stage.step(
            "read",
            "Another process maps the file and reads it without asking anyone. How fast is that?",
        )?;
        let mut follower = self.follower(cleanup)?;
        let (lsn, events, live) = follower.begun()?;
        stage.show(format_args!(
            "process {} sees commit {lsn} and {events} events",
            follower.pid()
        ))?;
        stage.check("it follows the file that is being written", live)?;
        stage.check("it sees the correction", lsn >= done.lsn)?;
        let timed = follower.time()?;
        stage.show(format_args!(
            "one event, whole, from the file:       {:>9} ns",
            count(timed.read_nanos as u64)
        ))?;
        stage.show(format_args!(
            "the same by a call over the socket:    {:>9} ns  (the middle of {ROUNDS} measurements each)",
            count(timed.call_nanos as u64)
        ))?;
        let ratio = timed.call_nanos / timed.read_nanos.max(1.0);
        stage.check(
            format_args!(
                "reading the file is {} times as fast as a call",
                count(ratio as u64)
            ),
            timed.read_nanos < timed.call_nanos,
        )?;
        stage.check(
            "every call gave the text that the file has",
            timed.alike == ROUNDS,
        )?;
        Ok(follower)
    }

    /// Starts the other process.
    pub(super) fn follower(&self, cleanup: &Cleanup) -> Result<Follower> {
        Follower::start(cleanup, &self.file, self.daemon.socket(), BRAIN)
    }

    pub(super) fn follow(&self, stage: &mut Stage<'_>, follower: &mut Follower) -> Result<()> {
        stage.step(
            "follow",
            "The other process sees a correction being made: in the file, and by subscription.",
        )?;
        let old = self.id("berths-april")?;
        follower.watch()?;
        let done = self.replace(PLANNER, self.id("berths")?, SEASON, SEASON_REASON)?;
        let answered = now();
        let looked = follower.look_after(done.lsn)?;
        stage.show(format_args!(
            "{PLANNER} corrects event {}: the answer is commit {}",
            done.old, done.lsn
        ))?;
        stage.row(format_args!("the other process read: {}", looked.newest))?;
        stage.check(
            format_args!("it read that in the file {}", delay(looked.at, answered)),
            looked.newest == SEASON && done.old == old,
        )?;
        stage.check(
            format_args!(
                "its subscription told it, and who did it, {}",
                delay(looked.told.at, answered)
            ),
            looked.told.texts == [SEASON] && looked.told.agent == PLANNER,
        )?;
        stage.check(
            "what it reads after the answer has what was answered",
            looked.asked >= done.lsn,
        )
    }
}

/// When something was seen, told from when its answer came.
fn delay(seen: u64, answered: u64) -> String {
    if seen <= answered {
        format!("{} µs before we had the answer", count(answered - seen))
    } else {
        format!("{} µs after we had the answer", count(seen - answered))
    }
}
