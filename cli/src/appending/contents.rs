//! The contents of a text, from a first pass, so that bad lines are found before anything is written.

use std::collections::{BTreeMap, HashMap, HashSet};

use amem_format::event::{Edge, MemoryGraph};
use amem_format::{EdgeType, Micros, NodeId};

use crate::brain::convert;
use crate::entries::{EntrySession, ImportText, TextEntry};
use crate::failure::Failure;

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Entries to write.
    pub(super) entries: u64,
    pub(super) first: Option<TextEntry>,
    /// In order of appearance.
    pub(super) sessions: Vec<EntrySession>,
    pub(super) numbers: HashSet<u64>,
    /// The share of the confidence that corrections leave to an entry, by number: the least.
    pub(super) left: HashMap<u64, f32>,
    /// Dimension and space.
    pub(super) vectors: Option<(u32, String)>,
    /// When the events of our own exports were first recorded.
    pub(super) times: HashSet<i64>,
    /// What an event of a brain cannot hold, and how often.
    pub(super) lost: BTreeMap<&'static str, u64>,
}

impl Contents {
    pub(super) fn of(text: &ImportText) -> Result<Self, Failure> {
        let mut contents = Self::default();
        let mut known = HashSet::new();
        let mut corrections = MemoryGraph::default();
        for entry in text.entries()? {
            let entry = entry?;
            let bad = |why: &str| text.input.bad_line(entry.line, why, "correct the line");
            if entry.is_erased {
                *contents.lost.entry("erased events").or_default() += 1;
                continue;
            }
            if let Some(number) = entry.number
                && !contents.numbers.insert(number)
            {
                return Err(bad(&format!("event {number} appears twice")));
            }
            if known.insert(entry.session.clone()) {
                contents.sessions.push(entry.session.clone());
            }
            contents.times.extend(entry.origin.map(|of| of.time.0));
            contents.corrections(&entry, &mut corrections);
            contents.vector(&entry).map_err(|why| bad(&why))?;
            for what in &entry.lost {
                *contents.lost.entry(what).or_default() += 1;
            }
            contents.entries += 1;
            contents.first.get_or_insert(entry);
        }
        if contents.entries == 0 {
            return Err(Failure::refused(
                "empty",
                format!(
                    "{} has no {} in it",
                    text.input.name(),
                    text.form.things().0
                ),
                "nothing was written",
            ));
        }
        let circle = convert::in_cycles(&corrections);
        if let Some(first) = circle.first() {
            return Err(Failure::refused(
                "cycle",
                format!(
                    "{} events of {} supersede each other in cycles, event {first} among them",
                    circle.len(),
                    text.input.name()
                ),
                "remove a supersedes edge; or import it as a new brain: `amemctl import --format jsonl`",
            ));
        }
        Ok(contents)
    }

    fn corrections(&mut self, entry: &TextEntry, all: &mut MemoryGraph) {
        let Some(number) = entry.number else { return };
        for tie in &entry.ties {
            if tie.edge_type != EdgeType::SUPERSEDES || tie.to == number {
                continue;
            }
            all.edges.push(Edge {
                source: NodeId(number),
                target: NodeId(tie.to),
                edge_type: tie.edge_type,
                weight: tie.weight,
                created_at: Micros(0),
            });
            // A forgotten correction does not lower confidence.
            if !entry.is_forgotten {
                let left = self.left.entry(tie.to).or_insert(1.0);
                *left = left.min(1.0 - tie.weight);
            }
        }
    }

    fn vector(&mut self, entry: &TextEntry) -> Result<(), String> {
        let Some(vector) = &entry.event.vector else {
            return Ok(());
        };
        let own = (vector.values.len() as u32, vector.space.clone());
        match &self.vectors {
            None => self.vectors = Some(own),
            Some(others) if others.0 != own.0 => {
                return Err(format!(
                    "a vector of {} numbers, others have {}",
                    own.0, others.0
                ));
            }
            Some(others) if *others != own => {
                return Err("a vector of another space than the others".to_owned());
            }
            Some(_) => {}
        }
        Ok(())
    }
}
