//! Steps: read and follow the brain's file in this process, which is another one than the daemon's.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use amem_client::{Reader, v1};
use amem_format::NodeId;

use super::beliefs::BERTHS;
use super::sandbox::{BRAIN, PATIENCE};
use super::transcript::{Stage, wrong};
use super::state::Demo;
use crate::connection::remote::Remote;
use crate::failure::Failure;
use crate::render::count;

/// What is corrected while this process looks, and why.
const SEASON: &str = "Since May the marina has 90 berths: 60 for residents and 30 for visitors.";
const REASON: &str = "the new pier was opened on 2 May";
const PLANNER: &str = "planner";
/// Rounds of measuring; the median is shown.
const ROUNDS: usize = 301;
/// Reads in one round, timed together: a single one is too short for the clock.
const READS: u64 = 200;

/// What one event costs to read.
pub(super) struct Timing {
    /// From the file: a view, an event, its confidence, every byte of its text.
    pub(super) read_nanos: f64,
    call_nanos: f64,
    /// Calls whose answer had the text that the file has.
    alike: usize,
    /// Commits that came meanwhile.
    pub(super) commits: u64,
}

impl Demo {
    pub(super) fn read(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let reader = Reader::open(&self.file)?;
        let (view, pid) = (reader.view()?, std::process::id());
        let (lsn, events) = (view.lsn().0, view.nodes());
        stage.show(format_args!(
            "process {pid} sees commit {lsn} and {events} events"
        ))?;
        check!(stage, "it follows the file that is being written" => reader.is_live());
        check!(stage, "it sees the correction" => lsn >= self.correction.lsn);
        let timing = self.time(&reader)?;
        let (read, call) = (timing.read_nanos, timing.call_nanos);
        for (how, nanos) in [
            ("from the file:       ", read),
            ("by a call over the socket:", call),
        ] {
            stage.show(format_args!(
                "one event, whole, {how:<26} {:>9} ns",
                count(nanos as u64)
            ))?;
        }
        let ratio = count((call / read.max(1.0)) as u64);
        check!(stage, "reading the file is {ratio} times as fast as a call (medians of {ROUNDS} measurements)" => read < call);
        check!(stage, "every call gave the text that the file has" => timing.alike == ROUNDS);
        Ok(())
    }

    /// Measures both ways to read an event by turns, so that other load on the machine affects both. Which event is
    /// next depends on what was read, so that no read can begin before the last has ended.
    pub(super) fn time(&self, reader: &Reader) -> Result<Timing, Failure> {
        let before = reader.view()?.lsn().0;
        let (mut reads, mut calls) = (Vec::new(), Vec::new());
        let (mut next, mut alike) = (1_u64, 0);
        for _ in 0..ROUNDS {
            let began = Instant::now();
            for _ in 0..READS {
                let view = reader.view()?;
                let node = view.node(NodeId(next % view.nodes().max(1)))?;
                let bytes: u64 = node.text()?.bytes().map(u64::from).sum();
                let read = bytes + u64::from(node.confidence().to_bits());
                next = next
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(read | 1)
                    >> 3;
            }
            reads.push(began.elapsed() / READS as u32);
            let view = reader.view()?;
            let id = NodeId(next % view.nodes().max(1));
            // Not a use: reads of the file are none, either.
            let request = v1::GetEventsRequest {
                event_ids: vec![id.0],
                touch: Some(false),
                ..Default::default()
            };
            let began = Instant::now();
            let events = self.ask(self.brain.ask(request))?.events;
            calls.push(began.elapsed());
            let text = view.node(id)?.text()?;
            alike += usize::from(events.len() == 1 && events[0].text == text);
        }
        black_box(next);
        let commits = reader.view()?.lsn().0 - before;
        Ok(Timing {
            read_nanos: median(&mut reads),
            call_nanos: median(&mut calls),
            alike,
            commits,
        })
    }

    pub(super) fn follow(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let reader = Reader::open(&self.file)?;
        let events = reader.view()?.nodes();
        let remote = Remote::connect(&self.sandbox.socket())?;
        let request = v1::SubscribeRequest {
            brain: BRAIN.into(),
            ..Default::default()
        };
        let mut stream = remote.call(remote.client.memory().subscribe(request))?;
        let (done, answered, seen, told) = thread::scope(|scope| {
            // It does nothing but look until the file has another event.
            let seen = scope.spawn(|| {
                let began = Instant::now();
                while reader.view()?.nodes() == events && began.elapsed() < PATIENCE {}
                Ok::<_, amem_format::Error>(micros_now())
            });
            let told = scope.spawn(|| {
                while let Some(message) = remote.next(&mut stream)? {
                    if !message.changes.is_empty() {
                        return Ok(Some((micros_now(), message)));
                    }
                }
                Ok::<_, Failure>(None)
            });
            let done = self.replace(PLANNER, BERTHS[0], SEASON, REASON);
            let gone = |_| wrong("a thread ends well");
            Ok::<_, Failure>((
                done?,
                micros_now(),
                seen.join().map_err(gone)??,
                told.join().map_err(gone)??,
            ))
        })?;
        let view = reader.view()?;
        let newest = view.node(NodeId(view.nodes() - 1))?.text()?.into_owned();
        let (lsn, old) = (done.lsn, done.old);
        stage.show(format_args!(
            "{PLANNER} corrects event {old}: the answer is commit {lsn}"
        ))?;
        stage.row(format_args!("this process read: {newest}"))?;
        let read = newest == SEASON && old == BERTHS[1];
        check!(stage, "it read that in the file {}", delay(seen, answered) => read);
        let (at, message) =
            told.ok_or_else(|| wrong("the subscription tells of the correction"))?;
        let is_season = |change: &v1::Change| matches!(&change.change, Some(v1::change::Change::Event(event)) if event.text == SEASON);
        let told = message.agent == PLANNER && message.changes.iter().any(is_season);
        check!(stage, "its subscription told it, and who did it, {}", delay(at, answered) => told);
        check!(stage, "what it reads after the answer has what was answered" => view.lsn().0 >= lsn);
        Ok(())
    }
}

/// When something was seen, relative to the answer.
fn delay(seen: u64, answered: u64) -> String {
    let order = if seen <= answered { "before" } else { "after" };
    format!(
        "{} µs {order} the agent had the answer",
        count(seen.abs_diff(answered))
    )
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64
}

fn micros_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}
