//! What an agent sees: each commit is noted with how long it took to come, and of others' events is kept what may be
//! corrected and linked.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use amem_client::CommitStream;
use amem_client::v1::change::Change;
use amem_locks::LockResultExt;
use amem_tests::agents::{self, MEET, THE_END};

use crate::Failure;
use crate::notes::NoteFile;

/// Events that are kept in mind.
const KEPT: usize = 64;

/// What an agent knows of others' events.
pub(crate) struct OtherEvents {
    number: usize,
    events: Mutex<Events>,
}

/// Events of others.
#[derive(Default)]
pub(crate) struct Events {
    /// The newest ones, the newest last.
    pub(crate) recent: VecDeque<u64>,
    /// Those that this agent is to correct with others.
    pub(crate) to_meet: VecDeque<u64>,
}

impl OtherEvents {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            number,
            events: Mutex::default(),
        }
    }

    pub(crate) fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unpoisoned()
    }

    fn saw(&self, event: u64, text: &str) {
        let mut events = self.events();
        events.recent.push_back(event);
        if events.recent.len() > KEPT {
            events.recent.pop_front();
        }
        if text.ends_with(MEET) && agents::meets(self.number, event) {
            events.to_meet.push_back(event);
        }
    }
}

/// Follows until the last event.
pub(crate) async fn follow(
    mut commits: CommitStream,
    mut seen: NoteFile,
    known: std::sync::Arc<OtherEvents>,
) -> Result<(), Failure> {
    let own = agents::name(known.number);
    loop {
        let commit = commits.next().await?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let committed = agents::micros(commit.moment.as_ref().and_then(|moment| moment.time));
        seen.write(format!(
            "{}\t{}",
            now.as_micros() as i64 - committed,
            agents::line(&commit)
        ))?;
        let events = commit
            .changes
            .iter()
            .filter_map(|change| match &change.change {
                Some(Change::Event(event)) => Some(event),
                _ => None,
            });
        for event in events {
            if event.text == THE_END {
                return Ok(());
            }
            if commit.agent != own {
                known.saw(event.id, &event.text);
            }
        }
    }
}
