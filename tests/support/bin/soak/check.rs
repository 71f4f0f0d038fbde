//! The brains once all is over: every byte, and everything that was answered.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use amem_client::Reader;
use amem_doctor::verify;
use amem_format::{EventType, NodeId};
use amem_tests::ledger::{Receipt, Verdict};

use crate::world::{Failure, LEDGERS, MIXED, SEED_EVENTS, World, brought};

/// The digits of the last part of a UUID.
const DIGITS: usize = 12;

/// Checks all of them: notes faults in the world, reports what was done. Gives the bytes of their files.
pub(crate) fn brains(
    world: &World,
    ledgers: &[Vec<Vec<Receipt>>],
    said: &mut String,
) -> Result<u64, Failure> {
    let mut bytes = 0;
    for (what, count) in world.counts() {
        write!(said, ", {count} {what}")?;
    }
    for file in files(world.place.folder())? {
        if file.extension().is_some_and(|ending| ending == "amem") {
            bytes += file.metadata()?.len();
            match verify::file(&file) {
                Ok(report) if report.is_whole() => {}
                Ok(report) => world.wrong(format!("{}: {report:?}", file.display())),
                Err(why) => world.wrong(format!("{}: {why}", file.display())),
            }
        }
    }
    for (brain, ledgers) in LEDGERS.iter().zip(ledgers) {
        let view = Reader::open(world.place.folder().join(format!("{brain}.amem")))?.view()?;
        let verdict = Verdict::of(&view, ledgers)?;
        write!(said, "\n{brain}: {verdict}")?;
        if !verdict.is_right() {
            world.wrong(format!("{brain}: {verdict:?}"));
        }
    }
    mixed(world, said)?;
    Ok(bytes)
}

fn mixed(world: &World, said: &mut String) -> Result<(), Failure> {
    let noted = world.noted();
    let file = world.place.folder().join(format!("{MIXED}.amem"));
    let view = Reader::open(&file)?.view()?;
    for (id, text) in &noted.kept {
        let there = *id < view.nodes() && view.node(NodeId(*id))?.text()? == *text;
        if !there {
            world.wrong(format!("{MIXED}: event {id} {text:?} is not there"));
        }
    }
    let mut times: HashMap<String, u64> = HashMap::new();
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id)?;
        // A summary may say what one event did.
        if node.event_type() != EventType::EPISODE {
            *times.entry(node.text()?.into_owned()).or_default() += 1;
        }
    }
    let merged: Vec<_> = match world.count("merges") {
        0 => Vec::new(),
        _ => (0..SEED_EVENTS).map(brought).collect(),
    };
    for text in noted.kept.iter().map(|(_, text)| text).chain(&merged) {
        match times.get(text) {
            Some(1) => {}
            Some(times) => world.wrong(format!("{MIXED}: {text:?} is there {times} times")),
            None => world.wrong(format!("{MIXED}: {text:?} is not there")),
        }
    }
    for (id, text) in &noted.erased {
        if *id >= view.nodes() || !view.node(NodeId(*id))?.text()?.is_empty() {
            world.wrong(format!(
                "{MIXED}: event {id} {text:?} was erased and is shown"
            ));
        }
    }
    // Each text ends with digits that no other has, and that the index of words has, too.
    let last = |text: &str| text.as_bytes().last_chunk::<DIGITS>().copied();
    let erased: HashSet<_> = noted.erased.iter().filter_map(|(_, t)| last(t)).collect();
    for file in files(world.place.folder())? {
        let bytes = fs::read(&file)?;
        for found in numbers(&bytes).filter(|digits| erased.contains(digits)) {
            let digits = String::from_utf8_lossy(&found);
            world.wrong(format!("{}: {digits:?} was erased", file.display()));
        }
    }
    write!(
        said,
        "\n{MIXED}: {} events noted and there, {} erased and in no file",
        noted.kept.len(),
        noted.erased.len()
    )?;
    Ok(())
}

/// So many hexadecimal digits in a row, wherever they stand.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = [u8; DIGITS]> {
    let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    let runs = bytes.split(move |b| !is_digit(b));
    runs.flat_map(|run| {
        run.windows(DIGITS)
            .filter_map(|digits| digits.try_into().ok())
    })
}

/// Every file of a folder, and of those below.
fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, Failure> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            all.extend(files(&entry.path())?)
        } else {
            all.push(entry.path())
        }
    }
    Ok(all)
}
