//! Imports a text into a brain: opens its sessions, writes its batches one by one, sets pins and forgets at the end.
//!
//! A batch is sent only after the one before is answered: a batch that is refused, or whose outcome is unknown, ends
//! the import, so that no event of a session is written before its predecessor.

use std::collections::{HashMap, HashSet};

use amem_client::v1;
use amem_format::attributes;
use amem_importing::{AppendBatch, BatchEntry, BatchRequest, RunId};
use serde::Serialize;

use super::begun::{self, RunLookup};
use super::contents::Contents;
use super::existing::{KnownEvents, KnownLine};
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::entries::{EntrySession, ImportText, TextEntry, TextFormat};
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::json::loss::LossCount;
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};
use crate::types::edge_type_number;

/// Part of the run id; changes when texts are cut into requests differently.
const WAY: &str = "1";

pub(crate) struct TextImport<'a> {
    /// Created if missing.
    pub(crate) brain: &'a str,
    pub(crate) text: &'a ImportText,
    /// The run to repeat; `None` for the run that follows from the text.
    pub(crate) run: Option<RunId>,
}

/// What was written.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub(crate) struct TextImportOutput {
    pub(crate) brain: String,
    pub(crate) format: &'static str,
    /// The brain was created for this.
    pub(crate) made: bool,
    pub(crate) events: u64,
    pub(crate) sessions: u64,
    /// Including temporal-next.
    pub(crate) edges: u64,
    pub(crate) pinned: u64,
    pub(crate) forgotten: u64,
    /// Events that an earlier attempt of the same run had written.
    pub(crate) already_there: u64,
    /// Lines of an export whose events the brain has: nothing of them was written.
    pub(crate) known: u64,
    /// Those of them that say something else than the event: the brain's event stays as it is.
    pub(crate) changed: u64,
    /// The first of those lines, at most `CHANGED_LINES_MAX`.
    pub(crate) changed_lines: Vec<u64>,
    /// What an event of a brain cannot hold.
    pub(crate) lost: Vec<LossCount>,
    pub(crate) lsn: u64,
    pub(crate) run: String,
}

/// Changed lines that the answer names.
const CHANGED_LINES_MAX: usize = 20;

/// An import under way.
struct Import<'a> {
    of: &'a TextImport<'a>,
    contents: Contents,
    /// Of our own export: what the brain has of it.
    known: Option<KnownLines>,
    brain: Writable,
    agent: String,
    run: RunId,
    batch: AppendBatch,
    index: u64,
    done: TextImportOutput,
    pinned: Vec<u64>,
    forgotten: Vec<u64>,
    /// Pinned and forgotten, by position in the batch.
    marks: Vec<(bool, bool)>,
}

impl TextImport<'_> {
    pub(crate) fn run(
        &self,
        cx: &mut CommandContext,
    ) -> Result<(BrainName, TextImportOutput), Failure> {
        let mut contents = Contents::of(self.text)?;
        let made = self.make_brain(cx, &contents)?;
        let brain = Writable::open(cx, &BrainTarget::Name(self.brain.to_owned()))?;
        let agent = cx.reach().agent.clone();
        // With --again, and a run by its id, all lines are written as they are.
        let known = match self.run {
            None if !contents.times.is_empty() => self.known(cx, &mut contents, &brain)?,
            _ => None,
        };
        let run = match self.run {
            Some(run) => run,
            // What the brain has tells what is left to write.
            None if known.is_some() => RunId::new(),
            None => self.own_run(cx, &contents, &brain, &agent)?,
        };
        let mut lost: Vec<_> = contents.lost.iter().collect();
        lost.sort();
        let done = TextImportOutput {
            brain: self.brain.into(),
            format: self.text.form.name(),
            made,
            sessions: contents
                .sessions
                .iter()
                .filter(|s| **s != EntrySession::Absent)
                .count() as u64,
            lost: lost
                .iter()
                .map(|&(&what, &count)| LossCount { what, count })
                .collect(),
            run: run.id().to_string(),
            ..TextImportOutput::default()
        };
        let mut running = Import {
            of: self,
            contents,
            known,
            brain,
            agent,
            run,
            batch: AppendBatch::default(),
            index: 0,
            done,
            pinned: Vec::new(),
            forgotten: Vec::new(),
            marks: Vec::new(),
        };
        running.write(cx)?;
        Ok((running.brain.named, running.done))
    }

    fn make_brain(&self, cx: &mut CommandContext, contents: &Contents) -> Result<bool, Failure> {
        if exists(cx, self.brain)? {
            return Ok(false);
        }
        let remote = cx.daemon()?;
        // Vectors in the text need a brain of their space.
        let vectors = contents
            .vectors
            .clone()
            .map(|(dimension, space)| v1::VectorOptions {
                dimension,
                kind: if space.is_empty() {
                    None
                } else {
                    Some(v1::vector_options::Kind::Space(space))
                },
            });
        let create = v1::CreateBrainRequest {
            brain: self.brain.into(),
            vectors,
            ..Default::default()
        };
        remote.call(remote.client.brains().create_brain(create))?;
        Ok(true)
    }

    /// What the brain has of an export. Sessions of known events alone are not opened.
    fn known(
        &self,
        cx: &mut CommandContext,
        contents: &mut Contents,
        brain: &Writable,
    ) -> Result<Option<KnownLines>, Failure> {
        let instance = brain.named.instance;
        let events = KnownEvents::read(cx, &brain.opened, instance, &contents.times)?;
        let (mut lines, mut sessions) = (HashMap::new(), HashSet::new());
        for entry in self.text.entries()? {
            let entry = entry?;
            match (entry.number, events.find(&entry)) {
                (Some(number), Some(line)) => drop(lines.insert(number, line)),
                _ if entry.is_erased => {}
                _ => drop(sessions.insert(entry.session)),
            }
        }
        contents
            .sessions
            .retain(|session| sessions.contains(session));
        Ok(Some(KnownLines { events, lines }))
    }

    /// The run to complete or repeat, or a new one.
    fn own_run(
        &self,
        cx: &mut CommandContext,
        contents: &Contents,
        brain: &Writable,
        agent: &str,
    ) -> Result<RunId, Failure> {
        let (Some(first), Some(instance)) = (&contents.first, brain.named.instance) else {
            return Ok(RunId::new());
        };
        // Notes record their file's name; other texts are the same under any name.
        let path = match self.text.form {
            TextFormat::Markdown => Some(self.text.input.path()),
            TextFormat::Conversation | TextFormat::Events => None,
        };
        let of = format!(
            "{WAY}\n{}\n{}\n{:?}\n{:?}\n{:x}",
            self.text.form.name(),
            agent,
            path,
            self.text.session,
            self.text.input.hash()?
        );
        let question = RunLookup {
            brain: self.brain,
            instance,
            of: of.as_bytes(),
            first,
            name: &self.text.input.name(),
        };
        question.run(cx, &brain.opened)
    }
}

pub(crate) fn exists(cx: &mut CommandContext, name: &str) -> Result<bool, Failure> {
    let remote = cx.daemon()?;
    let request = v1::OpenBrainRequest { brain: name.into() };
    match remote.call(remote.client.brains().open_brain(request)) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == tonic::Code::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// What the brain has of an export.
struct KnownLines {
    events: KnownEvents,
    /// By number.
    lines: HashMap<u64, KnownLine>,
}

impl KnownLines {
    /// True if an entry is an event that the brain hides: it takes no edges.
    fn is_hidden(&self, number: u64) -> bool {
        let line = self.lines.get(&number);
        line.is_some_and(|line| self.events.is_hidden(line.id))
    }
}

/// Writes the origin of an event into its attributes, so that a later import recognises it.
fn name_origin(entry: &mut TextEntry) -> Result<(), Failure> {
    let Some(of) = entry.origin else {
        return Ok(());
    };
    let json = match entry.event.attributes_json.as_str() {
        "" => "{}",
        json => json,
    };
    let mut attributes = attributes::parse(json)?;
    if !attributes.contains_key(attributes::ORIGIN) {
        attributes.insert(attributes::ORIGIN.into(), of.origin.attribute(of.time));
        entry.event.attributes_json = attributes::to_json(&attributes)?;
    }
    Ok(())
}

impl Import<'_> {
    fn write(&mut self, cx: &mut CommandContext) -> Result<(), Failure> {
        let mut progress = Progress::new(cx, Unit::Things(self.of.text.form.things().1));
        let all = self.contents.entries;
        let sessions = self.open_sessions(cx)?;
        for entry in self.of.text.entries()? {
            let entry = entry?;
            if entry.is_erased {
                continue;
            }
            if let Some(line) = self.known_line(&entry) {
                self.push_known(entry, line);
                continue;
            }
            while !self.batch.has_room() {
                self.send(cx)?;
                progress.show(self.done.events, all);
            }
            self.push(entry, &sessions)?;
        }
        while self.send(cx)? {
            progress.show(self.done.events, all);
        }
        drop(progress);
        self.mark(cx)
    }

    fn open_sessions(
        &mut self,
        cx: &mut CommandContext,
    ) -> Result<HashMap<EntrySession, u32>, Failure> {
        let mut sessions = HashMap::new();
        for session in std::mem::take(&mut self.contents.sessions) {
            let (key, step) = match &session {
                EntrySession::Absent => continue,
                EntrySession::Key(key) => (key.clone(), format!("session {key}")),
                EntrySession::Unnamed(number) => {
                    (String::new(), format!("unnamed session {number}"))
                }
            };
            let request = v1::OpenSessionRequest {
                options: Some(self.run.options(&self.agent, &step)),
                key,
                ..Default::default()
            };
            let opened = self.brain.write(cx, request);
            let opened = opened.map_err(|failure| self.repeatable(failure))?;
            sessions.insert(session, opened.session_id);
        }
        Ok(sessions)
    }

    fn known_line(&self, entry: &TextEntry) -> Option<KnownLine> {
        let lines = &self.known.as_ref()?.lines;
        lines.get(&entry.number?).copied()
    }

    /// Counts a known event, and adds those of its edges that the brain lacks. An event that was recorded in this very
    /// brain adds none: an edge that is not there was retracted.
    fn push_known(&mut self, mut entry: TextEntry, line: KnownLine) {
        let (Some(number), Some(known)) = (entry.number, &self.known) else {
            return;
        };
        self.done.known += 1;
        if line.is_changed {
            self.done.changed += 1;
            if self.done.changed_lines.len() < CHANGED_LINES_MAX {
                self.done.changed_lines.push(entry.line);
            }
        }
        entry.ties.retain(|tie| match known.lines.get(&tie.to) {
            None => self.contents.numbers.contains(&tie.to),
            Some(target) => {
                let edge_type = edge_type_number(tie.edge_type);
                !line.is_of_here && !known.events.has_edge(line.id, target.id, edge_type)
            }
        });
        let numbers = &self.contents.numbers;
        let is_there = |number| numbers.contains(&number);
        self.batch
            .push_known((number, line.id), entry.ties, is_there);
    }

    fn push(
        &mut self,
        mut entry: TextEntry,
        sessions: &HashMap<EntrySession, u32>,
    ) -> Result<(), Failure> {
        entry.event.session_id = match (&entry.session, sessions.get(&entry.session)) {
            (EntrySession::Absent, _) => None,
            (_, Some(session)) => Some(*session),
            (_, None) => {
                let input = &self.of.text.input;
                return Err(Failure::refused(
                    "changed",
                    format!("{} changed while it was read", input.name()),
                    "import it again when it no longer changes",
                ));
            }
        };
        // Supersedes edges lower the confidence again.
        let left = entry
            .number
            .and_then(|number| self.contents.left.get(&number));
        if let (Some(confidence), Some(left)) = (&mut entry.event.confidence, left)
            && *left > 0.0
        {
            *confidence = (*confidence / left).min(1.0);
        }
        if self.known.is_some() {
            name_origin(&mut entry)?;
        }
        self.marks.push((entry.is_pinned, entry.is_forgotten));
        let numbers = &self.contents.numbers;
        let mut left_out = 0;
        entry.ties.retain(|tie| {
            let is_hidden = self
                .known
                .as_ref()
                .is_some_and(|known| known.is_hidden(tie.to));
            let is_there = numbers.contains(&tie.to) && Some(tie.to) != entry.number && !is_hidden;
            left_out += u64::from(!is_there);
            is_there
        });
        let entry = BatchEntry {
            line: entry.line,
            number: entry.number,
            event: entry.event,
            edges: entry.ties,
        };
        self.batch.push(entry, |number| numbers.contains(&number));
        if left_out > 0 {
            self.lose(
                "edges to what is not in the text or hidden in the brain, or to themselves",
                left_out,
            );
        }
        Ok(())
    }

    fn lose(&mut self, what: &'static str, count: u64) {
        match self.done.lost.iter_mut().find(|lost| lost.what == what) {
            Some(lost) => lost.count += count,
            None => self.done.lost.push(LossCount { what, count }),
        }
    }

    /// Writes the next batch; false if there is none.
    fn send(&mut self, cx: &mut CommandContext) -> Result<bool, Failure> {
        let Some(BatchRequest { request, lines }) = self.batch.take_next() else {
            return Ok(false);
        };
        let request = v1::IngestRequest {
            options: Some(self.run.options(&self.agent, &begun::batch(self.index))),
            // Events of JSON lines bring temporal-next edges themselves.
            follow: self.of.text.form != TextFormat::Events,
            ..request
        };
        let written = self.brain.write(cx, request);
        let answer = written.map_err(|failure| {
            let failure = self.repeatable(failure);
            let what = match lines {
                Some((first, last)) => format!("lines {first} to {last}"),
                None => "edges between what was written".to_owned(),
            };
            Failure {
                message: format!("{what} were refused: {}", failure.message),
                ..failure
            }
        })?;
        self.index += 1;
        self.batch.done(&answer.event_ids);
        for (id, (pinned, forgotten)) in answer.event_ids.iter().zip(self.marks.drain(..)) {
            self.pinned.extend(pinned.then_some(id));
            self.forgotten.extend(forgotten.then_some(id));
        }
        let events = answer.event_ids.len() as u64;
        self.done.events += events;
        self.done.edges += answer.edges;
        let is_replayed = answer.commit.as_ref().is_some_and(|commit| commit.replayed);
        self.done.already_there += if is_replayed { events } else { 0 };
        self.saw(answer.commit);
        Ok(true)
    }

    /// At the end, because a forgotten event can neither be corrected nor linked.
    fn mark(&mut self, cx: &mut CommandContext) -> Result<(), Failure> {
        for id in std::mem::take(&mut self.pinned) {
            let request = v1::PinRequest {
                options: Some(self.run.options(&self.agent, &format!("pin {id}"))),
                event_id: id,
                ..Default::default()
            };
            let pinned = self.brain.write(cx, request);
            let pinned = pinned.map_err(|failure| self.repeatable(failure))?;
            self.saw(pinned.commit);
            self.done.pinned += 1;
        }
        for id in std::mem::take(&mut self.forgotten) {
            let request = v1::ForgetRequest {
                options: Some(self.run.options(&self.agent, &format!("forget {id}"))),
                event_id: id,
                ..Default::default()
            };
            let forgotten = self.brain.write(cx, request);
            let forgotten = forgotten.map_err(|failure| self.repeatable(failure))?;
            self.saw(forgotten.commit);
            self.done.forgotten += 1;
        }
        Ok(())
    }

    fn saw(&mut self, commit: Option<v1::Commit>) {
        let lsn = commit.map_or(0, |commit| commit.lsn);
        self.done.lsn = self.done.lsn.max(lsn);
    }

    /// Adds how to repeat the run.
    fn repeatable(&self, failure: Failure) -> Failure {
        let run = self.run.id();
        let remedy = match failure.code {
            "outcome_unknown" => {
                format!("repeat the command with --run-id {run}: nothing is written twice")
            }
            _ => format!(
                "{}; then repeat with --run-id {run}: nothing is written twice",
                failure.remedy
            ),
        };
        Failure { remedy, ..failure }
    }
}
