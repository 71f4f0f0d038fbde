//! The whole brain, and a damaged copy held against it.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use amem_doctor::verify;
use amem_doctor::verify::VerifyReport;
use amem_format::base::section::{self, HEADER};
use amem_format::brain::Brain;
use amem_format::journal::head::PAGE;
use amem_format::journal::scan::{self, ScanStep};
use amem_format::mapping::Map;
use amem_format::view::View;
use amem_format::{Error, Result};

use super::picture;

/// What came of a damaged copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A reader refuses it.
    AtOpen,
    /// It opens, and verify reports the damage with its offset.
    ByVerify,
    /// It is not reported, and need not be: every answer equals the intact brain's.
    InPadding,
}

/// A part of the file.
#[derive(Debug, Clone)]
struct Part {
    /// As findings call it.
    name: &'static str,
    at: Range<usize>,
}

/// The whole brain.
pub struct IntactBrain {
    bytes: Vec<u8>,
    parts: Vec<Part>,
    /// What it shows after each commit of its journal, that of the base first.
    pictures: Vec<u64>,
}

/// A reader's view of a file's bytes, opened as a copy is: every frame up to the first that does not hold.
pub fn open(bytes: &[u8]) -> Result<View> {
    let brain = Arc::new(Brain::open(Map::owned(bytes))?);
    if let Some(start) = brain.start() {
        brain.replay(start, u64::MAX)?;
    }
    Ok(brain.view())
}

impl IntactBrain {
    /// A brain that is whole.
    ///
    /// # Panics
    /// If it is not.
    pub fn new(bytes: Vec<u8>) -> Self {
        let view = open(&bytes).unwrap_or_else(whole);
        let report = verify::native(Arc::new(Map::owned(&bytes)), None).unwrap_or_else(whole);
        assert!(report.is_whole(), "{report:?}");
        let mut ends = vec![view.brain().start().map_or(0, |start| start.at)];
        let mut parts = base_parts(&view);
        if let Some(start) = view.brain().start() {
            let at = start.at as usize;
            let page = PAGE as usize;
            parts.push(part("journal head", at - 2 * page..at - page));
            parts.push(part("live page", at - page..at));
            let mut position = start;
            while let Ok(ScanStep::Transaction { after, .. }) =
                scan::next(&bytes[position.at as usize..], position)
            {
                parts.push(part("journal", position.at as usize..after.at as usize));
                ends.push(after.at);
                position = after;
            }
            parts.push(part("zeros", position.at as usize..bytes.len()));
        }
        let pictures = ends.iter().map(|&end| {
            let brain = Arc::new(Brain::open(Map::owned(&bytes)).unwrap_or_else(whole));
            if let Some(start) = brain.start() {
                brain.replay(start, end).unwrap_or_else(whole);
            }
            picture(&brain.view())
        });
        Self {
            pictures: pictures.collect(),
            parts,
            bytes,
        }
    }

    /// The file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Names and places of its parts.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, Range<usize>)> {
        self.parts.iter().map(|part| (part.name, part.at.clone()))
    }

    /// Commits in its journal.
    pub fn commits(&self) -> usize {
        self.pictures.len() - 1
    }

    /// Holds a damaged copy against it; `read` says if all is read though verify reports damage. An error says what
    /// is not as it must be.
    ///
    /// # Panics
    /// If a reader or verify does: the caller catches it.
    pub fn judge(&self, damaged: &[u8], read: bool) -> Result<Verdict, String> {
        let view = match open(damaged) {
            Ok(view) => view,
            Err(Error::Foreign) => return no_stranger(damaged),
            Err(_) => return Ok(Verdict::AtOpen),
        };
        let report = verify::native(Arc::new(Map::owned(damaged)), None)
            .map_err(|e| format!("a reader opens it, and verify does not: {e}"))?;
        let untold = report.is_whole();
        if untold || read {
            let shown = picture(&view);
            if untold && self.pictures.last() != Some(&shown) {
                let which = self.pictures.iter().position(|p| *p == shown);
                return Err(match which {
                    Some(commits) => format!("nobody tells that only {commits} commits are left"),
                    None => "nobody tells of it, and it shows something else".into(),
                });
            }
            let earlier = report.findings.is_empty() && !self.pictures.contains(&shown);
            if !untold && earlier {
                return Err(format!(
                    "only a tail is reported, and it shows something else: {report:?}"
                ));
            }
        }
        if untold {
            return self.only_unused(damaged);
        }
        self.is_placed(damaged, &report)?;
        Ok(Verdict::ByVerify)
    }

    /// Damage that is not reported is in bytes without meaning.
    fn only_unused(&self, damaged: &[u8]) -> Result<Verdict, String> {
        let used = self
            .changed(damaged)
            .find(|part| !["live page", "zeros"].contains(&part.name));
        match used {
            Some(part) => Err(format!("nobody tells of damage in {part:?}")),
            None => Ok(Verdict::InPadding),
        }
    }

    /// The first damaged part is reported. What a live page says may mean nothing: it comes last.
    fn is_placed(&self, damaged: &[u8], report: &VerifyReport) -> Result<(), String> {
        let first = self
            .changed(damaged)
            .min_by_key(|part| (part.name == "live page", part.at.start));
        let Some(first) = first else {
            return Err(format!(
                "nothing was changed, and verify tells of {report:?}"
            ));
        };
        let near = |offset: u64| {
            // The end of a part is where the file ends that was cut there.
            (first.at.start..=first.at.end).contains(&(offset as usize))
        };
        let finding = report
            .findings
            .iter()
            .any(|f| f.part == first.name || f.offset.is_some_and(near));
        let tail = report
            .tail
            .as_ref()
            .is_some_and(|t| near(t.offset) || near(t.offset + t.bytes));
        // What the live page says is held against the frames: it is reported where these end.
        let live = first.name == "live page" && report.findings.iter().any(|f| f.part == "journal");
        if finding || tail || live {
            Ok(())
        } else {
            Err(format!("damage in {first:?} is reported as {report:?}"))
        }
    }

    /// The parts of which something is different or gone.
    fn changed<'k>(&'k self, damaged: &'k [u8]) -> impl Iterator<Item = &'k Part> {
        self.parts
            .iter()
            .filter(|part| damaged.get(part.at.clone()) != Some(&self.bytes[part.at.clone()]))
    }
}

fn part(name: &'static str, at: Range<usize>) -> Part {
    Part { name, at }
}

/// Header, tables and sections, each with the padding behind it.
fn base_parts(view: &View) -> Vec<Part> {
    let base = view.brain().base();
    let header = base.header();
    let mut starts = vec![
        (0, "header"),
        (header.node_table, "node table"),
        (header.edge_table, "edge table"),
        (header.content, "texts"),
        (header.vectors, "vectors"),
    ];
    for place in &base.table().places {
        starts.push((place.offset - HEADER, section::name(place.tag)));
    }
    let end = base.journal().unwrap_or(base.map().len());
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([end]);
    let parts = starts.iter().zip(ends);
    parts
        .map(|((at, name), end)| part(name, *at as usize..end as usize))
        .collect()
}

/// A file that is no brain of ours any more must not pass for one of another's: a daemon that adopts it would lose
/// what only our sections say.
fn no_stranger(damaged: &[u8]) -> Result<Verdict, String> {
    let told = tempfile::NamedTempFile::new().and_then(|mut file| {
        file.write_all(damaged)?;
        Ok(verify::file(file.path()))
    });
    match told.map_err(|e| format!("a file for verify: {e}"))? {
        Err(_) => Ok(Verdict::AtOpen),
        Ok(report) if !report.is_whole() => Ok(Verdict::AtOpen),
        Ok(report) => Err(format!("it passes for a whole file of others: {report:?}")),
    }
}

fn whole<T>(e: Error) -> T {
    panic!("the brain is not whole: {e}")
}
