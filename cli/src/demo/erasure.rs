//! The step that erases: afterwards no file of the demo and no answer has what was erased.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use amem_client::{Reader, v1};
use amem_format::NodeId;

use super::demo_state::{Demo, number};
use super::sandbox::poll;
use super::transcript::Transcript;
use super::write_load::BRAIN;
use crate::failure::Failure;
use crate::render::{bytes, plural};

/// Texts to erase. The first goes into the file's base, the second into its journal.
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
    /// Bytes to look for: the texts, the word, the vectors.
    traces: Vec<Vec<u8>>,
}

pub(super) fn erase(demo: &mut Demo, page: &mut Transcript<'_>) -> Result<(), Failure> {
    let reader = Reader::open(&demo.file)?;
    let secret = add_secret(demo)?;
    for (id, text) in secret.ids.iter().zip(SECRETS) {
        page.row(format_args!("[{id}] fact: {text}"))?;
    }
    let file = fs::read(&demo.file).map_err(|e| Failure::io("read", &demo.file, &e))?;
    let has_all =
        secret.traces.iter().all(|trace| contains(&file, trace)) && secret.traces.len() == 5;
    check!(page, "before: the file has both texts and both vectors" => has_all);
    let is_known = answers(demo, &secret)?.iter().all(|(_, has)| *has);
    let is_known = is_known && texts_with_word(&reader)? == 2;
    check!(page, "before: search, history and this process find it" => is_known);
    let ids = format!("{} {}", secret.ids[0], secret.ids[1]);
    demo.json(
        &format!("erase marina {ids} --yes --wait 0 --agent planner"),
        &[],
    )?;
    let folder = &demo.sandbox.folder;
    let files = files_below(folder).map_err(|e| Failure::io("read", folder, &e))?;
    for (file, content) in &files {
        if secret.traces.iter().any(|trace| contains(content, trace)) {
            check!(page, "{} has nothing of what was erased", file.display() => false);
        }
    }
    let size = bytes(files.iter().map(|(_, content)| content.len() as u64).sum());
    let number = plural(files.len() as u64, "file");
    check!(page, "after: nothing of it is in any of the demo's {number} ({size})" => !files.is_empty());
    for (answer, has) in answers(demo, &secret)? {
        check!(page, "{answer}: nothing" => !has);
    }
    for id in &secret.ids {
        let event = &demo.json(&format!("get marina {id} --no-touch"), &[])?["events"][0];
        let is_empty = event["text"].is_null() && event["attributesJson"].is_null();
        let is_stub = is_empty && event["erased"] == true && event["createdAt"].is_string();
        check!(page, "event {id} is still there, empty, and marked as erased" => is_stub);
    }
    check!(page, "this process, which follows the file, finds nothing" => texts_with_word(&reader)? == 0);
    // The client's reader releases the old file at its next view.
    if let Some(reader) = demo.brain.reader() {
        drop(reader.view()?);
    }
    let claim = "neither it nor the daemon holds the old file any more";
    for pid in [std::process::id(), demo.sandbox.pid(demo.daemon)] {
        // A call that was cancelled may hold the file for a moment.
        let holds = || holds_removed(pid).map_err(|e| Failure::io("read", Path::new("/proc"), &e));
        poll(claim, || Ok((!holds()?).then_some(())))?;
    }
    check!(page, "{claim}" => true);
    page.show(
        "What stays is that something was remembered, when and by whom. A copy that was made while the secret was in \
         the file is another file, which amemd cannot reach; the copies of this demo are older.",
    )
}

fn add_secret(demo: &Demo) -> Result<Secret, Failure> {
    let (before, mut ids) = (demo.view()?.lsn().0, Vec::new());
    let add = format!("add marina --attribute code={WORD} --agent planner");
    for text in SECRETS {
        ids.push(number(&demo.json(&add, &[text])?["eventIds"][0]));
        if ids.len() == 1 {
            demo.json("checkpoint marina", &[])?;
        }
    }
    let view = demo.view()?;
    let texts = SECRETS.into_iter().chain([WORD]);
    let mut traces: Vec<Vec<u8>> = texts.map(|text| text.as_bytes().to_vec()).collect();
    for &id in &ids {
        let vector = view.node(NodeId(id))?.vector()?.unwrap_or_default();
        traces.push(vector.iter().flat_map(|x| x.to_le_bytes()).collect());
    }
    let after = view.lsn().0;
    Ok(Secret {
        ids,
        before,
        after,
        traces,
    })
}

/// The ways to ask the daemon for the secret, and whether its word is in the answer.
fn answers(demo: &Demo, secret: &Secret) -> Result<Vec<(&'static str, bool)>, Failure> {
    let (first, second, lsn) = (secret.ids[0], secret.ids[1], secret.after);
    let past = format!("get marina {first} {second} --no-touch --forgotten --as-of {lsn}");
    let mut answers = Vec::new();
    for (way, command, texts) in [
        ("by searching for its word", "search marina", &[WORD][..]),
        ("by asking for the moment when it was there", &past, &[]),
        (
            "by asking for a context about it",
            "context marina",
            &[WORD],
        ),
    ] {
        answers.push((way, has_word(&demo.json(command, texts)?)));
    }
    let mut commits = demo.brain.follow_with(v1::SubscribeRequest {
        after_lsn: Some(secret.before),
        instance: demo.view()?.instance().to_string(),
        include_forgotten: true,
        ..Default::default()
    });
    let (mut is_there, mut lsn) = (false, 0);
    while !is_there && lsn < secret.after {
        let commit = demo.ask(commits.next())?;
        is_there = has_word(&commit.changes);
        lsn = commit.moment.unwrap_or_default().lsn;
    }
    answers.push(("by asking for the commits that brought it", is_there));
    let export = v1::ExportBrainRequest {
        brain: BRAIN.into(),
        form: v1::ExportForm::Native.into(),
    };
    let mut parts = (demo.remote).call(demo.remote.client.brains().export_brain(export))?;
    let mut file = Vec::new();
    while let Some(part) = demo.remote.next(&mut parts)? {
        file.extend(part.data);
    }
    let is_there = contains(&file, WORD.as_bytes());
    answers.push(("by exporting the brain", is_there));
    Ok(answers)
}

/// Whether the word is anywhere in a message.
fn has_word(message: &impl std::fmt::Debug) -> bool {
    format!("{message:?}").contains(WORD)
}

fn texts_with_word(reader: &Reader) -> Result<u64, Failure> {
    let (view, mut found) = (reader.view()?, 0);
    for id in 0..view.nodes() {
        found += u64::from(view.node(NodeId(id))?.text()?.contains(WORD));
    }
    Ok(found)
}

/// The files below a folder, hidden ones included, with their bytes.
fn files_below(folder: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, file_type) = (entry.path(), entry.file_type()?);
        if file_type.is_dir() {
            files.extend(files_below(&path)?);
        } else if file_type.is_file() {
            match fs::read(&path) {
                Ok(content) => files.push((path, content)),
                // It was removed since it was listed.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(files)
}

/// Whether a process maps a removed brain, or has it open. False where the system has no `/proc`.
fn holds_removed(pid: u32) -> io::Result<bool> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    if !process.exists() {
        return Ok(false);
    }
    let is_removed = |name: &str| name.contains(".amem") && name.ends_with(" (deleted)");
    let maps = fs::read_to_string(process.join("maps"))?;
    // A descriptor may be closed before its link is read.
    let open = fs::read_dir(process.join("fd"))?.flatten();
    let mut targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    Ok(maps.lines().any(is_removed) || targets.any(|to| is_removed(&to.to_string_lossy())))
}

/// Whether `content` has the bytes of `trace` in a row.
fn contains(content: &[u8], trace: &[u8]) -> bool {
    let (first, mut rest) = (trace.first(), content);
    while let Some(at) = rest.iter().position(|byte| Some(byte) == first) {
        if rest[at..].starts_with(trace) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_found_anywhere_and_only_whole() {
        let has = |text: &&str| contains(text.as_bytes(), b"xyz");
        assert!(["xyz", "axyz", "xyzb", "xxyz", "xyxyz"].iter().all(has));
        assert!(!["", "xy", "yz", "xyyz", "x yz"].iter().any(has));
    }

    #[test]
    fn every_file_below_a_folder_is_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("brains/.amemd")).unwrap();
        let hidden = folder.path().join("brains/.amemd/.hidden");
        fs::write(&hidden, "so xyz it is").unwrap();
        fs::write(folder.path().join("other"), "nothing").unwrap();
        let mut files = files_below(folder.path()).unwrap();
        files.sort();
        let other = folder.path().join("other");
        let expected = [
            (hidden, b"so xyz it is".to_vec()),
            (other, b"nothing".to_vec()),
        ];
        assert_eq!(files, expected);
    }
}
