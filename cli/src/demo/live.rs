//! Steps on the live file: this process, which is not the daemon's, reads and follows it; cp copies it; the daemon dies
//! and ends.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use amem_client::{Reader, v1};
use amem_format::view::View;
use amem_format::{Lsn, Micros, NodeId};
use amem_host::child::foreign_command;
use rustix::process::Signal;

use super::beliefs::{BACKUP, BERTHS, CORRECTION};
use super::demo_state::{Demo, number};
use super::sandbox::{PATIENCE, poll};
use super::transcript::{Transcript, wrong};
use super::write_load::{BRAIN, WriteLoad, count_writes};
use crate::connection::remote::Remote;
use crate::failure::Failure;
use crate::render::count;
use crate::vitals::{Vitals, span_micros};
use crate::when;

/// The correction that this process follows, and its reason.
const SEASON: [&str; 2] = [
    "Since May the marina has 90 berths: 60 for residents and 30 for visitors.",
    "the new pier was opened on 2 May",
];
const AGENT: &str = "planner";
/// Measurements; the median is shown.
const ROUNDS: usize = 301;
/// Reads in one measurement: a single one is too short for the clock.
const READS: u64 = 200;
/// Copies that are made while writes go on.
const COPIES: u64 = 3;
/// Writes that are answered between two of them.
const WRITES: u64 = 40;

/// The cost of reading one event.
struct ReadTimes {
    /// From the file: a view, an event, its confidence, every byte of its text.
    read: Duration,
    call: Duration,
    /// Calls that returned the text in the file.
    equal: usize,
    /// Commits that came meanwhile.
    commits: u64,
}

pub(super) fn read(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let reader = Reader::open(&demo.file)?;
    let (view, pid) = (reader.view()?, std::process::id());
    let (lsn, events) = (view.lsn().0, view.nodes());
    page.show(format_args!(
        "process {pid} sees commit {lsn} and {events} events"
    ))?;
    check!(page, "it follows the file that is being written" => reader.is_live());
    check!(page, "it sees the correction" => lsn >= demo.correction.lsn);
    let times = measure(demo, &reader)?;
    let (read, call) = (times.read.as_nanos() as u64, times.call.as_nanos() as u64);
    for (how, nanos) in [
        ("from the file:", read),
        ("by a call over the socket:", call),
    ] {
        page.show(format_args!(
            "one event, whole, {how:<26} {:>9} ns",
            count(nanos)
        ))?;
    }
    let ratio = count(call / read.max(1));
    check!(page, "reading the file is {ratio} times as fast as a call (medians of {ROUNDS} measurements)" => read < call);
    check!(page, "every call returned the text that is in the file" => times.equal == ROUNDS);
    Ok(())
}

/// Measures reads and calls in turn, so that other load on the machine affects both. Each read chooses the next event,
/// so that reads cannot overlap.
fn measure(demo: &Demo, reader: &Reader) -> Result<ReadTimes, Failure> {
    let before = reader.view()?.lsn().0;
    let (mut reads, mut calls) = ([Duration::ZERO; ROUNDS], [Duration::ZERO; ROUNDS]);
    let (mut next, mut equal) = (1_u64, 0);
    for round in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..READS {
            let view = reader.view()?;
            let node = view.node(NodeId(next % view.nodes().max(1)))?;
            let bytes: u64 = node.text()?.bytes().map(u64::from).sum();
            let read = bytes + u64::from(node.confidence().to_bits());
            let product = next.wrapping_mul(6_364_136_223_846_793_005);
            next = product.wrapping_add(read | 1) >> 3;
        }
        reads[round] = began.elapsed() / READS as u32;
        let view = reader.view()?;
        let id = NodeId(next % view.nodes().max(1));
        // Reads of the file do not count as uses; neither does this call.
        let request = v1::GetEventsRequest {
            event_ids: vec![id.0],
            touch: Some(false),
            ..Default::default()
        };
        let began = Instant::now();
        let events = demo.ask(demo.brain.ask(request))?.events;
        calls[round] = began.elapsed();
        let text = view.node(id)?.text()?;
        equal += usize::from(events.len() == 1 && events[0].text == text);
    }
    black_box(next);
    reads.sort_unstable();
    calls.sort_unstable();
    Ok(ReadTimes {
        read: reads[ROUNDS / 2],
        call: calls[ROUNDS / 2],
        equal,
        commits: reader.view()?.lsn().0 - before,
    })
}

pub(super) fn follow(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let reader = Reader::open(&demo.file)?;
    let events = reader.view()?.nodes();
    let remote = Remote::connect(&demo.sandbox.socket())?;
    let request = v1::SubscribeRequest {
        brain: BRAIN.into(),
        ..Default::default()
    };
    let mut stream = remote.call(remote.client.memory().subscribe(request))?;
    let (done, answered, seen, (received, message)) = thread::scope(|scope| {
        // Reads in a loop until the file has another event.
        let seen = scope.spawn(|| {
            let began = Instant::now();
            while reader.view()?.nodes() == events && began.elapsed() < PATIENCE {}
            Ok::<_, amem_format::Error>(when::now())
        });
        let received = scope.spawn(|| {
            while let Some(message) = remote.next(&mut stream)? {
                if !message.changes.is_empty() {
                    return Ok((when::now(), message));
                }
            }
            Err(wrong("the subscription reports the correction"))
        });
        let done = demo.replace(AGENT, BERTHS[0], SEASON)?;
        let (answered, panicked) = (when::now(), |_| wrong("no thread panics"));
        let received = received.join().map_err(panicked)??;
        let seen = seen.join().map_err(|_| wrong("no thread panics"))??;
        Ok::<_, Failure>((done, answered, seen, received))
    })?;
    let view = reader.view()?;
    let newest = view.node(NodeId(view.nodes() - 1))?.text()?.into_owned();
    let (lsn, old) = (done.lsn, done.old);
    page.show(format_args!(
        "{AGENT} corrects event {old}: the answer is commit {lsn}"
    ))?;
    page.row(format_args!("this process read: {newest}"))?;
    let is_read = newest == SEASON[0] && old == BERTHS[1];
    check!(page, "it read that in the file {}", delay(seen, answered) => is_read);
    let is_season = |change: &v1::Change| matches!(&change.change, Some(v1::change::Change::Event(event)) if event.text == SEASON[0]);
    let is_reported = message.agent == AGENT && message.changes.iter().any(is_season);
    check!(page, "its subscription reported the change and the agent {}", delay(received, answered) => is_reported);
    check!(page, "what it reads after the answer has what was answered" => view.lsn().0 >= lsn);
    Ok(())
}

/// When something was seen, relative to the answer.
fn delay(seen: Micros, answered: Micros) -> String {
    let order = if seen <= answered { "before" } else { "after" };
    let micros = count(seen.0.abs_diff(answered.0));
    format!("{micros} µs {order} the agent had the answer")
}

pub(super) fn copy(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let (quiet, load) = (demo.view()?, WriteLoad::start(&demo.sandbox.socket())?);
    let mut copy = demo.file.clone();
    for n in 1..=COPIES {
        load.wait_until(n * WRITES)?;
        copy = demo.sandbox.folder.join(format!("copy-{n}.amem"));
        let before = load.answered();
        let cp = demo
            .sandbox
            .run(foreign_command("cp").args([&demo.file, &copy]));
        let during = cp.map(|_| load.answered() - before)?;
        let (writes, view) = count_writes(&copy, quiet.nodes())?;
        let is_whole = writes >= before && view.nodes() == quiet.nodes() + writes;
        check!(page, "copy {n} has {writes} writes: {before} were answered before it, {during} during it" => is_whole);
        let (lsn, reader) = (view.lsn(), Reader::open(&demo.file)?);
        // A copy may have a commit that is written but not yet published to readers.
        let whole = poll("the brain has the commits of its copy", || {
            Ok(Some(reader.view()?).filter(|whole| whole.lsn() >= lsn))
        })?;
        check!(page, "it has every commit up to its last, {lsn}, as the brain has it" => is_prefix(&view, &whole)?);
    }
    let copy = copy.to_string_lossy();
    // A copy may end inside a commit that was not answered yet; that one does not count.
    let verified = demo.json("verify", &[&copy])?;
    let is_sound =
        verified["findings"] == serde_json::json!([]) && number(&verified["checksums"]) > 0;
    check!(page, "another process compares every byte of the last copy with its checksums: all are right" => is_sound);
    let head = &demo.json("resolve", &[&copy, &BACKUP.to_string()])?["head"];
    let is_known = number(&head["id"]) == demo.correction.new && head["text"] == CORRECTION[0];
    check!(page, "the copy has the correction, and is read without any daemon" => is_known);
    let (began, reader) = (Instant::now(), Reader::open(&demo.file)?);
    let mut times = measure(demo, &reader)?;
    // On a busy disk one write may take longer than a measurement.
    while times.commits == 0 && began.elapsed() < PATIENCE {
        times = measure(demo, &reader)?;
    }
    let (read, commits) = (times.read, times.commits);
    check!(page, "meanwhile this process reads on, {read:?} an event, while {commits} commits came" => commits > 0);
    let (answered, lsn) = (load.answered(), reader.view()?.lsn().0);
    check!(page, "it sees commit {lsn}: every one of the {answered} answered writes" => lsn >= quiet.lsn().0 + answered);
    let vitals = Vitals::of(&demo.remote)?;
    let mut latencies = vitals.latencies.iter();
    let ingest = latencies.find(|row| row.rpc.ends_with("/Ingest"));
    let ingest = ingest.ok_or_else(|| wrong("the daemon reports how long writes take"))?;
    let millis = |span| span_micros(span) as f64 / 1e3;
    let (half, all) = (millis(ingest.p50), millis(ingest.max));
    page.show(format_args!("half of the writes were on the disk and answered within {half:.1} ms, all within {all:.1} ms"))?;
    demo.load = Some(load);
    Ok(())
}

/// Whether the commits of `view` are the first commits of `whole`, each with the same operations.
fn is_prefix(view: &View, whole: &View) -> Result<bool, Failure> {
    let mut lsn = Lsn(0);
    while let Some(ours) = view.commit_after(lsn)? {
        let Some(other) = whole.commit_after(lsn)? else {
            return Ok(false);
        };
        let ops: Vec<_> = ours.ops().collect::<amem_format::Result<_>>()?;
        let others: Vec<_> = other.ops().collect::<amem_format::Result<_>>()?;
        if ours.commit != other.commit || ops != others {
            return Ok(false);
        }
        lsn = ours.commit.lsn;
    }
    Ok(lsn == view.lsn())
}

pub(super) fn kill(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let (writes, view) = count_writes(&demo.file, 0)?;
    let others = view.nodes() - writes;
    drop(view);
    demo.sandbox.end(demo.daemon, Signal::KILL)?;
    let load = demo.load.take();
    let (answered, error) = load.map_or((0, None), WriteLoad::wait_for_error);
    check!(page, "the writer got an error: its last write is not certain" => error.is_some());
    (demo.daemon, demo.remote) = demo.sandbox.start_daemon()?;
    page.show(format_args!(
        "amemd is process {} now",
        demo.sandbox.pid(demo.daemon)
    ))?;
    demo.brain = demo.remote.wait(demo.remote.client.brain(BRAIN))?.by_call();
    let (writes, view) = count_writes(&demo.file, 0)?;
    let is_whole = writes == answered || writes == answered + 1;
    check!(page, "{answered} writes were answered, {writes} are there, without a gap: none is lost" => is_whole);
    check!(page, "so are the {others} events from before" => view.nodes() - writes == others);
    Ok(())
}

pub(super) fn stop(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let new = demo.correction.new;
    check!(page, "after all of this the correction still holds" => demo.head(BACKUP)?.id == new);
    let status = demo.sandbox.end(demo.daemon, Signal::TERM)?;
    check!(page, "amemd ended well ({status})" => status.success());
    let view = Reader::open_copy(&demo.file)?;
    let is_read = view.node(NodeId(new))?.text()? == CORRECTION[0];
    check!(page, "the correction is read without it" => is_read);
    Ok(())
}
