//! The other process, as the demo sees it: started, asked, listened to.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::cleanup::{Cleanup, Ward};
use super::follow::{COMMAND, Question, Seen, Timed, Told};
use super::stage::{DemoError, Result};

/// How long the other process may take to say what it was asked.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the other process saw of a commit.
pub(super) struct Looked {
    /// The text of the newest event in the view in which it first saw it.
    pub(super) newest: String,
    /// When that was, microseconds since 1970.
    pub(super) at: u64,
    /// What its subscription told of the commit.
    pub(super) told: Told,
    /// The newest commit in a view that it took when it was asked.
    pub(super) asked: u64,
}

/// The other process. Dropping it ends it.
pub(super) struct Follower {
    process: Ward,
    questions: ChildStdin,
    seen: Receiver<Seen>,
}

impl Follower {
    /// Starts this program again, to follow a brain.
    pub(super) fn start(
        cleanup: &Cleanup,
        path: &Path,
        socket: &Path,
        brain: &str,
    ) -> Result<Self> {
        let program = env::current_exe().map_err(DemoError::io("find this program"))?;
        let mut command = Command::new(program);
        command
            .arg(COMMAND)
            .args([path, socket])
            .arg(brain)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = cleanup
            .spawn(&mut command)
            .map_err(DemoError::io("start another process"))?;
        let child = process.child();
        let ends = child.stdin.take().zip(child.stdout.take());
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
    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits for something that it sees.
    fn wait<T>(&mut self, what: &str, mut wanted: impl FnMut(Seen) -> Option<T>) -> Result<T> {
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

    /// Waits until it sees the file and is subscribed; gives the newest commit, the events, and whether the file is
    /// being followed.
    pub(super) fn begun(&mut self) -> Result<(u64, u64, bool)> {
        let (mut view, mut subscribed) = (None, false);
        self.wait("its first view", |seen| {
            match seen {
                Seen::View {
                    lsn, events, live, ..
                } => view = Some((lsn, events, live)),
                Seen::Told(_) => subscribed = true,
                _ => {}
            }
            view.filter(|_| subscribed)
        })
    }

    /// Asks it to look for the next commit, and returns when it does.
    pub(super) fn watch(&mut self) -> Result<()> {
        self.ask(&Question::Watch)?;
        self.wait("that it looks for the next commit", |seen| {
            (seen == Seen::Watching).then_some(())
        })
    }

    /// What it saw of a commit that was answered, and what it sees when it is asked for a view after the answer.
    pub(super) fn look_after(&mut self, commit: u64) -> Result<Looked> {
        self.ask(&Question::Look)?;
        let (mut found, mut told, mut asked) = (None, None, None);
        self.wait("that it sees the commit", |seen| {
            match seen {
                Seen::View {
                    lsn, newest, at, ..
                } if lsn >= commit && found.is_none() => found = Some((newest, at)),
                Seen::Told(message) if message.lsn == commit => told = Some(message),
                Seen::Looked(lsn) => asked = Some(lsn),
                _ => {}
            }
            let ((newest, at), told, asked) = (found.clone()?, told.clone()?, asked?);
            Some(Looked {
                newest,
                at,
                told,
                asked,
            })
        })
    }

    /// Asks for a view taken now; gives its newest commit.
    pub(super) fn look(&mut self) -> Result<u64> {
        self.ask(&Question::Look)?;
        self.wait("what it sees now", |seen| match seen {
            Seen::Looked(lsn) => Some(lsn),
            _ => None,
        })
    }

    /// Asks how long a read takes, and a call.
    pub(super) fn time(&mut self) -> Result<Timed> {
        self.ask(&Question::Time)?;
        self.wait("how long a read takes", |seen| match seen {
            Seen::Timed(timed) => Some(timed),
            _ => None,
        })
    }

    /// Asks how many texts have a word.
    pub(super) fn find(&mut self, word: &str) -> Result<u64> {
        self.ask(&Question::Find(word.into()))?;
        self.wait("in how many texts a word is", |seen| match seen {
            Seen::Found(texts) => Some(texts),
            _ => None,
        })
    }

    fn ask(&mut self, question: &Question) -> Result<()> {
        let line = serde_json::to_string(question)
            .map_err(|e| DemoError::io("write a question")(e.into()))?;
        writeln!(self.questions, "{line}").map_err(DemoError::io("ask the other process"))
    }
}
