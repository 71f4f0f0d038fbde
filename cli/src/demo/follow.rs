//! Another process that reads the brain's file, with nothing between it and the bytes.
//!
//! `follow` is that process: it maps the file and writes a line for each new view that it sees, and for each
//! question it is asked on its standard input, whose end ends it. `Follower` is the demo's end of it.

use std::env;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use amem_client::Reader;
use amem_core::{NodeId, Result as CoreResult};
use serde::{Deserialize, Serialize};

use super::cleanup::{Cleanup, Ward};
use super::stage::{DemoError, Result};

/// The hidden command that runs `follow`.
pub(crate) const COMMAND: &str = "demo-follow";
/// How long the other process may take to say what it was asked.
const PATIENCE: Duration = Duration::from_secs(10);
/// Reads that are timed together.
const READS: u64 = 50_000;
/// Rounds of them; the middle one is told.
const ROUNDS: usize = 7;

/// What the other process says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Seen {
    /// A new view.
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
    /// An answer to `look`: the newest commit in a view that was taken after the question.
    Looked {
        /// The newest commit in it.
        lsn: u64,
    },
    /// An answer to `time`.
    Timed {
        /// Nanoseconds that one read took: a view, an event, its confidence, every byte of its text.
        nanos: f64,
        /// Commits that came meanwhile.
        commits: u64,
    },
}

/// Follows a file until standard input ends.
pub(crate) fn follow(path: &Path) -> CoreResult<()> {
    let reader = Reader::open(path)?;
    let (asked, questions) = channel();
    thread::spawn(move || {
        for question in std::io::stdin().lines() {
            let Ok(question) = question else { return };
            if asked.send(question).is_err() {
                return;
            }
        }
    });
    let mut lsn = None;
    loop {
        let view = reader.view()?;
        if lsn != Some(view.lsn()) {
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
        match questions.try_recv() {
            Ok(question) if question == "time" => say(&timed(&reader)?),
            Ok(_) => say(&Seen::Looked {
                lsn: reader.view()?.lsn().0,
            }),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

/// Reads events in an order that depends on what was read, so that no read can begin before the last has ended.
fn timed(reader: &Reader) -> CoreResult<Seen> {
    let before = reader.view()?.lsn().0;
    let mut rounds = [0.0; ROUNDS];
    let mut next = 1_u64;
    for round in &mut rounds {
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
        *round = began.elapsed().as_nanos() as f64 / READS as f64;
    }
    black_box(next);
    rounds.sort_by(f64::total_cmp);
    Ok(Seen::Timed {
        nanos: rounds[ROUNDS / 2],
        commits: reader.view()?.lsn().0 - before,
    })
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
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_micros() as u64)
}

/// What the other process saw of a commit.
pub(crate) struct Looked {
    /// The text of the newest event in the view in which it first saw it.
    pub(crate) newest: String,
    /// When that was, microseconds since 1970.
    pub(crate) at: u64,
    /// The newest commit in a view that it took when it was asked.
    pub(crate) asked: u64,
}

/// The other process, as the demo sees it.
pub(crate) struct Follower {
    process: Ward,
    questions: ChildStdin,
    seen: Receiver<Seen>,
}

impl Follower {
    /// Starts this program again, to follow a file.
    pub(crate) fn start(cleanup: &Cleanup, path: &Path) -> Result<Self> {
        let program = env::current_exe().map_err(DemoError::io("find this program"))?;
        let mut child = Command::new(program)
            .arg(COMMAND)
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(DemoError::io("start another process"))?;
        let ends = child.stdin.take().zip(child.stdout.take());
        let process = cleanup.adopt(child);
        let Some((questions, answers)) = ends else {
            return Err(DemoError::Wrong("another process has pipes".into()));
        };
        let (sender, seen) = channel();
        thread::spawn(move || {
            for line in BufReader::new(answers).lines().map_while(|line| line.ok()) {
                let Ok(seen) = serde_json::from_str(&line) else {
                    return;
                };
                if sender.send(seen).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            process,
            questions,
            seen,
        })
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits for something that it sees.
    pub(crate) fn wait<T>(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(Seen) -> Option<T>,
    ) -> Result<T> {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.seen.recv_timeout(left) {
                Ok(seen) => {
                    if let Some(found) = wanted(seen) {
                        return Ok(found);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = PATIENCE.as_secs();
                    let why = format!("the other process tells {what} within {seconds} s");
                    return Err(DemoError::Wrong(why));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let why = format!("the other process lives until it has told {what}");
                    return Err(DemoError::Wrong(why));
                }
            }
        }
    }

    /// What it saw of a commit that was answered, and what it sees when it is asked for a view after the answer.
    pub(crate) fn look_after(&mut self, commit: u64) -> Result<Looked> {
        self.ask("look")?;
        let (mut found, mut asked) = (None, None);
        self.wait("that it sees the commit", |seen| {
            match seen {
                Seen::View {
                    lsn, newest, at, ..
                } if lsn >= commit => found = Some((newest, at)),
                Seen::Looked { lsn } => asked = Some(lsn),
                _ => {}
            }
            let ((newest, at), asked) = (found.clone()?, asked?);
            Some(Looked { newest, at, asked })
        })
    }

    /// Asks for a view taken now; gives its newest commit.
    pub(crate) fn look(&mut self) -> Result<u64> {
        self.ask("look")?;
        self.wait("what it sees now", |seen| match seen {
            Seen::Looked { lsn } => Some(lsn),
            _ => None,
        })
    }

    /// Asks how long a read takes; gives nanoseconds, and the commits that came meanwhile.
    pub(crate) fn time(&mut self) -> Result<(f64, u64)> {
        self.ask("time")?;
        self.wait("how long a read takes", |seen| match seen {
            Seen::Timed { nanos, commits } => Some((nanos, commits)),
            _ => None,
        })
    }

    fn ask(&mut self, question: &str) -> Result<()> {
        writeln!(self.questions, "{question}").map_err(DemoError::io("ask the other process"))
    }
}
