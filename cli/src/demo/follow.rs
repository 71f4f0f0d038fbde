//! Another process that reads the brain's file, with nothing between it and the bytes.
//!
//! It maps the file and writes a line for each new view that it sees, for each commit that it is told of by its
//! subscription, and for each question that it is asked on its standard input, whose end ends it.
//!
//! Not here: the demo's end of it (`follower`).

use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use amem_client::{Reader, v1};
use amem_format::NodeId;
use serde::{Deserialize, Serialize};

use super::stage::{DemoError, Result};
use crate::remote::Remote;

/// The hidden command that runs `follow`.
pub(crate) const COMMAND: &str = "demo-follow";
/// Rounds of measuring; the middle ones are told.
pub(super) const ROUNDS: usize = 301;
/// How often it looks for commits while nothing else is asked of it: the demo needs the processor for other things.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// Reads of the file in one round, which are timed together: a single one is too short for the clock.
const READS: u64 = 200;

/// What it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Question {
    /// Take a view now.
    Look,
    /// Do nothing but look for the next commit until it has come.
    Watch,
    /// Measure.
    Time,
    /// Find a word in all texts of a view taken now.
    Find(String),
}

/// What it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Seen {
    /// A new view of the file.
    View {
        /// The newest commit in it.
        lsn: u64,
        /// Its events.
        events: u64,
        /// The text of the newest one.
        newest: String,
        /// True if it follows a file that a daemon owns.
        live: bool,
        /// When it saw that, microseconds since 1970.
        at: u64,
    },
    /// The subscription has begun, or a commit came by it.
    Told(Told),
    /// An answer to `Watch`.
    Watching,
    /// An answer to `Look`: the newest commit in a view that was taken after the question.
    Looked(u64),
    /// An answer to `Time`.
    Timed(Timed),
    /// An answer to `Find`: how many texts have the word.
    Found(u64),
}

/// A message of the subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    /// The commit, or the last one before the subscription.
    pub(super) lsn: u64,
    /// Who made it.
    pub(super) agent: String,
    /// The texts of its new events.
    pub(super) texts: Vec<String>,
    /// When it came, microseconds since 1970.
    pub(super) at: u64,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Timed {
    /// Nanoseconds of a read from the file: a view, an event, its confidence, every byte of its text.
    pub(super) read_nanos: f64,
    /// Nanoseconds of a call that gets one event.
    pub(super) call_nanos: f64,
    /// Calls whose answer had the text that the file has.
    pub(super) alike: usize,
    /// Commits that came meanwhile.
    pub(super) commits: u64,
}

/// Follows a brain until standard input ends.
pub(crate) fn follow(path: &Path, socket: &Path, brain: &str) -> Result<()> {
    let reader = Reader::open(path)?;
    let remote = Remote::connect(socket)?;
    subscribe(Remote::connect(socket)?, brain)?;
    let (asked, questions) = channel();
    thread::spawn(move || {
        for question in std::io::stdin().lines().map_while(|line| line.ok()) {
            if asked.send(question).is_err() {
                return;
            }
        }
    });
    let (mut lsn, mut watching) = (None, false);
    loop {
        let view = reader.view()?;
        if lsn != Some(view.lsn()) {
            watching &= lsn.is_none();
            lsn = Some(view.lsn());
            let newest = match view.nodes().checked_sub(1) {
                Some(last) => view.node(NodeId(last))?.text()?.into_owned(),
                None => String::new(),
            };
            say(&Seen::View {
                lsn: view.lsn().0,
                events: view.nodes(),
                newest,
                live: reader.is_live(),
                at: now(),
            });
        }
        drop(view);
        let question = match watching {
            true => questions.recv_timeout(Duration::ZERO),
            false => questions.recv_timeout(LOOK_EVERY),
        };
        match question {
            Ok(question) => {
                let answer = answer(&question, &reader, &remote, brain)?;
                watching |= answer == Seen::Watching;
                say(&answer);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn answer(question: &str, reader: &Reader, remote: &Remote, brain: &str) -> Result<Seen> {
    let question = serde_json::from_str(question)
        .map_err(|e| DemoError::Wrong(format!("{question:?} is a question: {e}")))?;
    Ok(match question {
        Question::Watch => Seen::Watching,
        Question::Look => Seen::Looked(reader.view()?.lsn().0),
        Question::Time => Seen::Timed(timed(reader, remote, brain)?),
        Question::Find(word) => {
            let view = reader.view()?;
            let mut found = 0;
            for id in 0..view.nodes() {
                found += u64::from(view.node(NodeId(id))?.text()?.contains(&word));
            }
            Seen::Found(found)
        }
    })
}

/// Tells of commits, in a thread of its own, until the daemon ends.
fn subscribe(remote: Remote, brain: &str) -> Result<()> {
    let request = v1::SubscribeRequest {
        brain: brain.into(),
        ..Default::default()
    };
    let mut stream = remote.call(remote.client.memory().subscribe(request))?;
    thread::spawn(move || {
        // The end of the subscription is the daemon's, and no failure of ours.
        while let Ok(Some(message)) = remote.next(&mut stream) {
            let at = now();
            let changes = message.changes.into_iter();
            let texts = changes.filter_map(|change| match change.change {
                Some(v1::change::Change::Event(event)) => Some(event.text),
                _ => None,
            });
            say(&Seen::Told(Told {
                lsn: message.moment.unwrap_or_default().lsn,
                agent: message.agent,
                texts: texts.collect(),
                at,
            }));
        }
    });
    Ok(())
}

/// Measures both ways to read an event, by turns, so that whatever else the machine does hits both. Events come in
/// an order that depends on what was read, so that no read can begin before the last has ended.
fn timed(reader: &Reader, remote: &Remote, brain: &str) -> Result<Timed> {
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
        let began = Instant::now();
        let text = get(remote, brain, id)?;
        calls.push(began.elapsed());
        alike += usize::from(text == view.node(id)?.text()?);
    }
    black_box(next);
    Ok(Timed {
        read_nanos: median(&mut reads),
        call_nanos: median(&mut calls),
        alike,
        commits: reader.view()?.lsn().0 - before,
    })
}

/// The text of an event, by a call. It does not count as a use: reads of the file don't, either.
fn get(remote: &Remote, brain: &str, id: NodeId) -> Result<String> {
    let request = v1::GetEventsRequest {
        brain: brain.into(),
        event_ids: vec![id.0],
        touch: Some(false),
        ..Default::default()
    };
    let answer = remote.call(remote.client.queries().get_events(request))?;
    Ok(answer.events.into_iter().map(|event| event.text).collect())
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2);
    middle.map_or(0.0, |time| time.as_nanos() as f64)
}

fn say(seen: &Seen) {
    let line = serde_json::to_string(seen).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        // Nobody listens any more.
        std::process::exit(0);
    }
}

/// Microseconds since 1970, the same clock in every process of the machine.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_micros() as u64)
}
