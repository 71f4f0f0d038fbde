//! Step: what is erased is gone from every file of the demo's, and from every answer.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use amem_client::{Reader, v1};
use amem_format::NodeId;

use super::sandbox::{BRAIN, PATIENCE, POLL_EVERY};
use super::transcript::{Stage, wrong};
use super::state::Demo;
use crate::failure::Failure;
use crate::render::{bytes, plural};

/// What must not be kept. It is told twice, so that one is in the file's base and the other in its journal.
const SECRETS: [&str; 2] = [
    "The gate of pier C opens with the code 5923-zorvanik.",
    "Mind that the code zorvanik is changed in June.",
];
/// A word of both that occurs nowhere else, in the form in which the word index has it.
const WORD: &str = "zorvanik";

struct Secret {
    ids: Vec<u64>,
    /// The last commit before it.
    before: u64,
    /// The last commit that has all of it.
    after: u64,
    /// What to look for: the texts, the word, the vectors.
    traces: Vec<Vec<u8>>,
}

/// The files below a folder, hidden ones included, searched for traces.
#[derive(Default)]
struct Scan {
    /// Files with traces, and how many different ones.
    hits: Vec<(PathBuf, usize)>,
    files: u64,
    bytes: u64,
}

impl Demo {
    pub(super) fn erase(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let reader = Reader::open(&self.file)?;
        let secret = self.tell_secret()?;
        for (id, text) in secret.ids.iter().zip(SECRETS) {
            stage.row(format_args!("[{id}] fact: {text}"))?;
        }
        let scan = Scan::of(self.sandbox.folder(), &secret.traces)?;
        let here = scan.hits.iter().find(|(file, _)| *file == self.file);
        let has_all = here.is_some_and(|(_, traces)| *traces == 5) && secret.traces.len() == 5;
        check!(stage, "before: the file has both texts and both vectors" => has_all);
        let known =
            self.answers(&secret)?.iter().all(|(_, has)| *has) && texts_with_word(&reader)? == 2;
        check!(stage, "before: search, history and this process know it" => known);
        let [first, second] = [secret.ids[0], secret.ids[1]];
        self.json(
            &format!("erase marina {first} {second} --yes --wait 0 --agent planner"),
            &[],
        )?;
        self.check_erased(stage, &secret)?;
        check!(stage, "this process, which follows the file, finds nothing" => texts_with_word(&reader)? == 0);
        // The client's brain follows the file, too: it releases the old one at its next view.
        if let Some(reader) = self.brain.reader() {
            drop(reader.view()?);
        }
        let let_go = lets_go(std::process::id())? && lets_go(self.daemon.pid())?;
        check!(stage, "neither it nor the daemon holds the old file any more" => let_go);
        stage.show(
            "What stays is that something was remembered, when and by whom. A copy that was made while the secret \
             was in the file is another file, which amemd cannot reach; ours were made before.",
        )
    }

    /// Tells the secret: once for the base, once for the journal.
    fn tell_secret(&self) -> Result<Secret, Failure> {
        let (before, mut ids) = (self.view()?.lsn().0, Vec::new());
        for text in SECRETS {
            let told = self.json(
                &format!("add marina --attribute code={WORD} --agent planner"),
                &[text],
            )?;
            ids.push(
                told["id"]
                    .as_u64()
                    .ok_or_else(|| wrong("an event that was remembered has an id"))?,
            );
            if ids.len() == 1 {
                self.json("checkpoint marina", &[])?;
            }
        }
        let view = self.view()?;
        let mut traces: Vec<Vec<u8>> = SECRETS
            .iter()
            .chain([&WORD])
            .map(|text| text.as_bytes().to_vec())
            .collect();
        for &id in &ids {
            let vector = view.node(NodeId(id))?.vector()?.unwrap_or_default();
            traces.push(vector.iter().flat_map(|x| x.to_le_bytes()).collect());
        }
        Ok(Secret {
            ids,
            before,
            after: view.lsn().0,
            traces,
        })
    }

    fn check_erased(&self, stage: &mut Stage<'_>, secret: &Secret) -> Result<(), Failure> {
        let scan = Scan::of(self.sandbox.folder(), &secret.traces)?;
        if let Some((file, _)) = scan.hits.first() {
            check!(stage, "{} has nothing of what was erased", file.display() => false);
        }
        let (files, size) = (plural(scan.files, "file"), bytes(scan.bytes));
        check!(stage, "after: nothing of it is in any of the demo's {files} ({size})" => scan.files > 0);
        for (answer, has) in self.answers(secret)? {
            check!(stage, "{answer}: nothing" => !has);
        }
        for id in &secret.ids {
            let event = &self.json(&format!("get marina {id} --no-touch"), &[])?["events"][0];
            let empty = event["text"] == ""
                && event["attributes"].is_null()
                && event["flags"][0] == "erased";
            let stub = empty && event["created_at"].is_string();
            check!(stage, "event {id} is still there, empty, and says that it was erased" => stub);
        }
        Ok(())
    }

    /// Every way to ask the daemon for the secret, and whether its word is in the answer.
    fn answers(&self, secret: &Secret) -> Result<[(&'static str, bool); 5], Failure> {
        let then = v1::GetEventsRequest {
            event_ids: secret.ids.clone(),
            as_of: Some(v1::AsOf {
                moment: Some(v1::as_of::Moment::Lsn(secret.after)),
            }),
            include_forgotten: true,
            touch: Some(false),
            ..Default::default()
        };
        let mut commits = self.brain.follow_with(v1::SubscribeRequest {
            after_lsn: Some(secret.before),
            instance: self.view()?.instance().to_string(),
            include_forgotten: true,
            ..Default::default()
        });
        let is_replayed = loop {
            let commit = self.ask(commits.next())?;
            let is_last = commit.moment.unwrap_or_default().lsn >= secret.after;
            if is_last || says(&commit.changes) {
                break says(&commit.changes);
            }
        };
        let export = v1::ExportBrainRequest {
            brain: BRAIN.into(),
            form: v1::ExportForm::Native.into(),
        };
        let mut parts = self
            .remote
            .call(self.remote.client.brains().export_brain(export))?;
        let mut file = Vec::new();
        while let Some(part) = self.remote.next(&mut parts)? {
            file.extend(part.data);
        }
        Ok([
            (
                "by searching for its word",
                says(&self.ask(self.brain.search(WORD, 10))?),
            ),
            (
                "by asking for the moment when it was there",
                says(&self.ask(self.brain.ask(then))?),
            ),
            (
                "by asking for a context about it",
                says(&self.ask(self.brain.context(WORD, 2000))?),
            ),
            ("by asking for the commits that brought it", is_replayed),
            ("by exporting the brain", contains(&file, WORD.as_bytes())),
        ])
    }
}

/// Whether the word is anywhere in a message.
fn says(message: &impl std::fmt::Debug) -> bool {
    format!("{message:?}").contains(WORD)
}

fn texts_with_word(reader: &Reader) -> Result<u64, Failure> {
    let (view, mut found) = (reader.view()?, 0);
    for id in 0..view.nodes() {
        found += u64::from(view.node(NodeId(id))?.text()?.contains(WORD));
    }
    Ok(found)
}

impl Scan {
    fn of(folder: &Path, traces: &[Vec<u8>]) -> Result<Self, Failure> {
        let mut scan = Self::default();
        scan.read(folder, traces)
            .map_err(|e| Failure::io("read", folder, &e))?;
        Ok(scan)
    }

    fn read(&mut self, folder: &Path, traces: &[Vec<u8>]) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, file_type) = (entry.path(), entry.file_type()?);
            if file_type.is_dir() {
                self.read(&path, traces)?;
            }
            if !file_type.is_file() {
                continue;
            }
            let content = match fs::read(&path) {
                // It was removed since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                content => content?,
            };
            self.files += 1;
            self.bytes += content.len() as u64;
            let found = traces
                .iter()
                .filter(|trace| contains(&content, trace))
                .count();
            if found > 0 {
                self.hits.push((path, found));
            }
        }
        Ok(())
    }
}

/// Waits until a process holds no brain that has been removed: a call that was given up may hold one for a moment.
fn lets_go(pid: u32) -> Result<bool, Failure> {
    let (began, process) = (Instant::now(), PathBuf::from(format!("/proc/{pid}")));
    while holds_removed(&process).map_err(|e| Failure::io("read", &process, &e))? {
        if began.elapsed() > PATIENCE {
            return Ok(false);
        }
        thread::sleep(POLL_EVERY);
    }
    Ok(true)
}

/// Whether a process maps a removed brain, or has it open. False where the kernel has no `/proc`.
fn holds_removed(process: &Path) -> io::Result<bool> {
    if !process.exists() {
        return Ok(false);
    }
    let is_removed = |name: &str| name.contains(".amem") && name.ends_with(" (deleted)");
    if fs::read_to_string(process.join("maps"))?
        .lines()
        .any(is_removed)
    {
        return Ok(true);
    }
    // A descriptor may be closed while we look at it.
    let open = fs::read_dir(process.join("fd"))?.flatten();
    let mut targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    Ok(targets.any(|target| is_removed(&target.to_string_lossy())))
}

/// Whether `content` has the bytes of `trace`, one after the other.
fn contains(content: &[u8], trace: &[u8]) -> bool {
    let (first, mut left) = (trace.first(), content);
    while let Some(at) = left.iter().position(|byte| Some(byte) == first) {
        if left[at..].starts_with(trace) {
            return true;
        }
        left = &left[at + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_found_wherever_it_stands_and_only_whole() {
        let has = |text: &&str| contains(text.as_bytes(), b"xyz");
        assert!(["xyz", "axyz", "xyzb", "xxyz", "xyxyz"].iter().all(has));
        assert!(!["", "xy", "yz", "xyyz", "x yz"].iter().any(has));
    }

    #[test]
    fn every_file_below_a_folder_is_searched() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("brains/.amemd")).unwrap();
        let hidden = folder.path().join("brains/.amemd/.hidden");
        fs::write(&hidden, "so xyz it is").unwrap();
        fs::write(folder.path().join("other"), "nothing").unwrap();
        let scan = Scan::of(folder.path(), &[b"xyz".to_vec(), b"w".to_vec()]).unwrap();
        assert_eq!(
            (scan.files, scan.bytes, scan.hits),
            (2, 19, vec![(hidden, 1)])
        );
    }
}
