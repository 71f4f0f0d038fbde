//! The ledger: a file of JSON lines for each session, beside the brains.
//!
//! Promises: a line that was cut off by a crash is left out, and the next one begins a line of its own; what another
//! version wrote and this one cannot read is kept and left out; files are read and written on threads that may block.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use amem_locks::LockResultExt;
use xxhash_rust::xxh3::xxh3_128;

use crate::entry::{LedgerEntry, SessionSummary};
use crate::error::HookError;
use crate::limits::{LEDGER_BYTES_MAX, LEDGER_DAYS, SESSIONS_KEPT_MAX, SESSIONS_OPEN_MAX};

/// Uses of ledgers from one look for old ones to the next.
const PRUNE_EVERY: u64 = 256;

/// Which session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The brain.
    pub brain: String,
    /// The client.
    pub client: String,
    /// The client's id.
    pub session: String,
}

impl SessionKey {
    fn file(&self) -> String {
        let key = format!("{}\0{}\0{}", self.brain, self.client, self.session);
        format!("{:032x}.jsonl", xxh3_128(key.as_bytes()))
    }
}

/// What a session has, as its lines say.
#[derive(Debug, Default)]
pub struct SessionLedger {
    path: PathBuf,
    bytes: u64,
    /// Memories that it was given, or that are from it, and that it has still.
    pub(crate) has: HashSet<String>,
    /// True if it has the brief.
    pub(crate) is_briefed: bool,
    /// Hashes of the ids of turns that are stored.
    pub(crate) turns: HashSet<u64>,
    is_opened: bool,
}

impl SessionLedger {
    fn take(&mut self, entry: &LedgerEntry) {
        match entry {
            LedgerEntry::Opened { .. } => self.is_opened = true,
            LedgerEntry::Cleared { .. } => {
                self.has.clear();
                self.is_briefed = false;
            }
            LedgerEntry::Given {
                moment, memories, ..
            } => {
                self.is_briefed |= *moment == amem_agents::HookMoment::Start;
                self.has
                    .extend(memories.iter().map(|memory| memory.id.clone()));
            }
            LedgerEntry::Stored {
                turns, memories, ..
            } => {
                self.turns.extend(turns);
                // What it said itself is in its context.
                self.has
                    .extend(memories.iter().map(|memory| memory.id.clone()));
            }
            LedgerEntry::Ended { .. } => {}
        }
    }

    /// True if there are lines of this session.
    pub(crate) fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// Adds a line. What begins it waits for its end, or the file and this have other lines.
    pub(crate) async fn write(&mut self, entry: &LedgerEntry) -> Result<(), HookError> {
        let failed = |error: io::Error| HookError::Ledger {
            doing: "write",
            error,
        };
        let mut line = serde_json::to_vec(entry).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        if self.bytes + line.len() as u64 > LEDGER_BYTES_MAX {
            return Err(HookError::TooLarge {
                what: "the ledger of the session in bytes",
                has: usize::try_from(self.bytes).unwrap_or(usize::MAX) + line.len(),
                limit: usize::try_from(LEDGER_BYTES_MAX).unwrap_or(usize::MAX),
            });
        }
        let (path, bytes) = (self.path.clone(), line.len() as u64);
        blocking("write", move || append(&path, &line)).await?;
        self.bytes += bytes;
        self.take(entry);
        Ok(())
    }
}

type OpenSessions = HashMap<SessionKey, (u64, Arc<tokio::sync::Mutex<SessionLedger>>)>;

/// The ledgers of all sessions, in a folder. All clones are the same.
#[derive(Debug, Clone)]
pub struct Ledger {
    folder: PathBuf,
    /// Held while a file is read: only threads that may block take it.
    open: Arc<Mutex<(u64, OpenSessions)>>,
}

impl Ledger {
    /// In a folder, which is made when it is needed.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            open: Arc::default(),
        }
    }

    /// The ledger of a session. Who holds its lock is alone with the session.
    ///
    /// # Errors
    /// A folder or a file that cannot be used.
    pub async fn session(
        &self,
        key: &SessionKey,
    ) -> Result<Arc<tokio::sync::Mutex<SessionLedger>>, HookError> {
        let (ledger, key) = (self.clone(), key.clone());
        blocking("open", move || ledger.opened(&key)).await
    }

    fn opened(&self, key: &SessionKey) -> io::Result<Arc<tokio::sync::Mutex<SessionLedger>>> {
        let mut open = self.open.lock().unpoisoned();
        let (uses, sessions) = &mut *open;
        *uses += 1;
        if let Some((used, session)) = sessions.get_mut(key) {
            *used = *uses;
            return Ok(session.clone());
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.folder)?;
        let path = self.folder.join(key.file());
        let session = load(path)?;
        // It looks at every file: not at every session.
        if !session.is_opened() && *uses % PRUNE_EVERY == 1 {
            self.prune();
        }
        let session = Arc::new(tokio::sync::Mutex::new(session));
        if sessions.len() >= SESSIONS_OPEN_MAX {
            // One that a call works with is known again from its file, but not before that call is done.
            let idle = sessions
                .iter()
                .filter(|(_, (_, s))| Arc::strong_count(s) == 1);
            let oldest = idle.min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(key.clone(), (*uses, session.clone()));
        Ok(session)
    }

    /// The sessions of a brain whose ids begin with a text, the newest first, with their lines: behind the first
    /// `skip`, `most` of them.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn find(
        &self,
        brain: &str,
        session: &str,
        (mut skip, most): (usize, usize),
    ) -> Result<Vec<(SessionSummary, Vec<LedgerEntry>)>, HookError> {
        let failed = |error: io::Error| HookError::Ledger {
            doing: "read",
            error,
        };
        let mut out = Vec::new();
        for (_, path) in self.files().map_err(failed)? {
            if out.len() == most {
                break;
            }
            // The first line says whose file it is: the others are not read for nothing.
            let is_meant = first_line(&path).is_some_and(|first| match first {
                LedgerEntry::Opened {
                    brain: of,
                    session: id,
                    ..
                } => of == brain && id.starts_with(session),
                _ => false,
            });
            if !is_meant {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if let Some(found) = lines(&path)
                .ok()
                .and_then(|entries| Some((SessionSummary::of(&entries)?, entries)))
            {
                out.push(found);
            }
        }
        Ok(out)
    }

    /// The newest session of a project but one, from which something was learnt.
    pub(crate) async fn last_of(
        &self,
        key: &SessionKey,
        project: Option<&str>,
    ) -> Option<SessionSummary> {
        let (ledger, key) = (self.clone(), key.clone());
        let project = project.map(str::to_owned);
        let look = move || Ok(ledger.newest_of(&key, project.as_deref()));
        blocking("read", look).await.ok().flatten()
    }

    fn newest_of(&self, key: &SessionKey, project: Option<&str>) -> Option<SessionSummary> {
        /// Files that are looked at.
        const LOOKED_AT: usize = 40;
        let files = self.files().ok()?;
        files.into_iter().take(LOOKED_AT).find_map(|(_, path)| {
            let LedgerEntry::Opened {
                brain,
                client,
                session,
                project: of,
                ..
            } = first_line(&path)?
            else {
                return None;
            };
            let is_other = session != key.session || client != key.client;
            if !is_other || brain != key.brain || of.as_deref() != project {
                return None;
            }
            let found = SessionSummary::of(&lines(&path).ok()?)?;
            (found.learned > 0).then_some(found)
        })
    }

    /// The files, the newest first.
    fn files(&self) -> io::Result<Vec<(SystemTime, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let mut out = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "jsonl") {
                // A file that is removed meanwhile is none.
                if let Ok(modified) = entry.metadata().and_then(|meta| meta.modified()) {
                    out.push((modified, path));
                }
            }
        }
        out.sort_by(|a, b| b.cmp(a));
        Ok(out)
    }

    /// Removes what is too old or too much. What cannot be removed now is removed next time.
    fn prune(&self) {
        let Ok(files) = self.files() else { return };
        let age = Duration::from_secs(LEDGER_DAYS * 24 * 3600);
        let oldest = SystemTime::now().checked_sub(age);
        for (at, (modified, path)) in files.iter().enumerate() {
            let is_old = oldest.is_some_and(|oldest| *modified < oldest);
            if is_old || at >= SESSIONS_KEPT_MAX {
                let _next_time = fs::remove_file(path);
            }
        }
    }
}

/// Does something with files on a thread that may block.
async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, HookError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.unwrap_or_else(|defect| Err(io::Error::other(defect)));
    done.map_err(|error| HookError::Ledger { doing, error })
}

fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(line)
}

/// The line that begins a file.
fn first_line(path: &Path) -> Option<LedgerEntry> {
    let mut line = String::new();
    BufReader::new(File::open(path).ok()?)
        .read_line(&mut line)
        .ok()?;
    serde_json::from_str(&line).ok()
}

fn lines(path: &Path) -> io::Result<Vec<LedgerEntry>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(LEDGER_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

fn load(path: PathBuf) -> io::Result<SessionLedger> {
    let mut session = SessionLedger {
        path,
        ..SessionLedger::default()
    };
    let mut bytes = Vec::new();
    match File::open(&session.path) {
        Ok(file) => file.take(LEDGER_BYTES_MAX + 1).read_to_end(&mut bytes)?,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(session),
        Err(e) => return Err(e),
    };
    session.bytes = bytes.len() as u64;
    if bytes.last().is_some_and(|last| *last != b'\n') {
        // The line that a crash cut off is closed, so that it does not spoil the next one.
        let mut file = OpenOptions::new().append(true).open(&session.path)?;
        file.write_all(b"\n")?;
        session.bytes += 1;
    }
    for entry in bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<LedgerEntry>(line).ok())
    {
        session.take(&entry);
    }
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::GivenId;
    use amem_agents::HookMoment;

    fn key(session: &str) -> SessionKey {
        SessionKey {
            brain: "memories".into(),
            client: "codex".into(),
            session: session.into(),
        }
    }

    fn opened(session: &str) -> LedgerEntry {
        LedgerEntry::Opened {
            at: 1,
            brain: "memories".into(),
            client: "codex".into(),
            session: session.into(),
            project: Some("p".into()),
        }
    }

    fn given(id: &str) -> LedgerEntry {
        LedgerEntry::Given {
            at: 2,
            moment: HookMoment::Prompt,
            prompt: "h".into(),
            chars: 3,
            tokens: 9,
            memories: vec![GivenId {
                id: id.into(),
                event: 7,
            }],
            near: Vec::new(),
            short: false,
        }
    }

    #[tokio::test]
    async fn what_a_session_has_is_known_after_a_restart_and_a_cut_line() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(folder.path().join("hooks"));
        let session = ledger.session(&key("a")).await.unwrap();
        let mut session = session.lock().await;
        session.write(&opened("a")).await.unwrap();
        session.write(&given("m1")).await.unwrap();
        let stored = LedgerEntry::Stored {
            at: 3,
            moment: HookMoment::Answer,
            turns: vec![5, u64::MAX],
            memories: Vec::new(),
            said: Vec::new(),
        };
        session.write(&stored).await.unwrap();
        let path = session.path.clone();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(br#"{"what":"giv"#).unwrap();
        let again = Ledger::new(folder.path().join("hooks"));
        let session = again.session(&key("a")).await.unwrap();
        let mut session = session.lock().await;
        assert!(session.is_opened() && session.has.contains("m1"));
        assert!(session.turns.contains(&u64::MAX) && !session.is_briefed);
        session.write(&given("m2")).await.unwrap();
        let found = again.find("memories", "", (0, 9)).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.given, found[0].0.turns), (2, 2));
        assert_eq!(found[0].1.len(), 4);
        assert!(again.find("memories", "b", (0, 9)).unwrap().is_empty());
        assert!(again.find("other", "", (0, 9)).unwrap().is_empty());
        session
            .write(&LedgerEntry::Cleared { at: 9 })
            .await
            .unwrap();
        assert!(session.has.is_empty() && session.turns.len() == 2);
    }

    #[tokio::test]
    async fn a_ledger_that_is_full_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(folder.path().to_owned());
        let session = ledger.session(&key("a")).await.unwrap();
        let mut session = session.lock().await;
        session.write(&opened("a")).await.unwrap();
        session.bytes = LEDGER_BYTES_MAX - 3;
        let error = session.write(&given("m")).await.unwrap_err().to_string();
        assert!(
            error.contains("ledger") && error.contains("most"),
            "{error}"
        );
        assert!(!session.has.contains("m"));
    }
}
