//! Steps: remember, search, why, correct, as of, compress, decay.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use amem_client::v1;
use amem_format::base::history::Before;
use amem_format::base_builder::changes_of;
use amem_format::journal::op::Op;
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, Lsn, Micros, NodeId};
use amem_query::{Why, time};

use super::sandbox::BRAIN;
use super::transcript::{Stage, wrong};
use super::state::{Correction, Demo};
use crate::failure::Failure;
use crate::when::clock;

/// The sessions of the sample: two agents help to build a booking service for a marina. Marina and agents are invented.
const PLANNING: (&str, &str) = ("planner", include_str!("planning.jsonl"));
const LAUNCH: (&str, &str) = ("keeper", include_str!("launch.jsonl"));
/// The beliefs that the second agent corrects: what the chain begins with, when, and what is true.
const CORRECTIONS: [(u64, &str, &str); 3] = [
    (
        0,
        "08:33",
        "Since April the marina has 86 berths: 60 for residents and 26 for visitors.",
    ),
    (
        BACKUP,
        "08:45",
        "The nightly backup starts at 03:30 UTC, after the tide import.",
    ),
    (
        BACKUP,
        "08:51",
        "The nightly backup starts at 03:45 UTC, when the tide import has ended.",
    ),
];
/// Edges between the sessions, and those of the corrections.
const LINKS: [&str; 7] = [
    "24 supports 9",
    "26 related-to 11",
    "36 related-to 17",
    "37 caused-by 18",
    "40 caused-by 24",
    "40 part-of 38",
    "41 caused-by 25",
];
/// When the backup starts, as it was believed first; and what the newest corrections are.
pub(super) const BACKUP: u64 = 10;
pub(super) const BERTHS: [u64; 2] = [0, 39];
const CHAIN: [u64; 3] = [BACKUP, 40, 41];
/// The decision to explain, and all that it rests on.
const DECISION: u64 = 7;
const EVIDENCE: [u64; 4] = [5, 1, 2, 3];

const QUESTION: &str = "At what time does the nightly backup start?";
/// What an agent learns while the demo runs, and why.
pub(super) const CORRECTION: &str =
    "The nightly backup starts at 04:15 UTC, because the tide import ends at 04:00.";
const REASON: &str = "the backup of 4 May began while tides were still being imported";
const SUMMARY: &str = "March, planning: bookings are kept in SQLite by one process, free berths are public, \
                       names of guests are not, and the backup runs at night.";
/// How long the two notes take to lose half of their strength. Real ones take weeks.
const HALF_LIFE: Duration = Duration::from_millis(50);
/// The later time at which strengths are shown.
const LATER_DAYS: i64 = 90;

impl Demo {
    pub(super) fn remember(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let (mut edges, file) = (0, self.sandbox.folder().join("session.jsonl"));
        let number = |of: &serde_json::Value| of.as_u64().unwrap_or_default();
        for (agent, events) in [PLANNING, LAUNCH] {
            fs::write(&file, events).map_err(|e| Failure::io("write", &file, &e))?;
            let command = format!("import --format events --agent {agent}");
            edges += number(&self.json(&command, &[&file.to_string_lossy(), BRAIN])?["edges"]);
        }
        for (id, clock, text) in CORRECTIONS {
            let happened =
                format!("--session marina/after-launch --happened 2026-04-13T{clock}:00Z");
            self.json(
                &format!(
                    "correct marina {id} --to-head --confidence 0.9 --agent keeper {happened}"
                ),
                &[text],
            )?;
        }
        for link in LINKS {
            self.json(&format!("link marina {link} --agent keeper"), &[])?;
        }
        edges += (CORRECTIONS.len() + LINKS.len()) as u64;
        self.json(
            "sessions close marina marina/planning --outcome",
            &["planned: an embedded database, one writer"],
        )?;
        let last = self.json(
            "sessions close marina marina/after-launch --outcome",
            &["fixed: backups, double bookings"],
        )?;
        let (view, lsn) = (self.view()?, number(&last["commit"]["lsn"]));
        let counts = type_counts(&view)?;
        for (what, counts) in ["events", "edges"].iter().zip(&counts) {
            let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
            stage.show(format_args!(
                "{what}: {}",
                each.collect::<Vec<_>>().join(", ")
            ))?;
        }
        let in_file = view.nodes() == 42 && view.edges() == edges;
        check!(stage, "the file has the 42 events and {edges} edges" => in_file);
        let all = counts.iter().flatten().all(|(_, count)| *count > 0);
        check!(stage, "all six kinds of events are among them, and all seven kinds of edges" => all);
        check!(stage, "it is at commit {lsn}, the last that was answered" => view.lsn().0 == lsn);
        Ok(())
    }

    pub(super) fn search(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let hits = self.search_hits(stage)?;
        let is_sum = |hit: &v1::SearchHit| {
            let own = hit.text_score + hit.vector_score;
            (own + hit.neighbour_score + hit.session_score - hit.score).abs() < 1e-5
        };
        check!(stage, "each score is the sum of its parts" => hits.iter().all(is_sum) && hits.len() == 3);
        check!(stage, "what is believed now comes first" => first_id(&hits) == Some(CHAIN[2]));
        Ok(())
    }

    /// The three events that answer the question best.
    fn search_hits(&self, stage: &mut Stage<'_>) -> Result<Vec<v1::SearchHit>, Failure> {
        stage.show(format_args!("{QUESTION:?}"))?;
        self.show(stage, "search marina --limit 3", QUESTION)?;
        self.ask(self.brain.search(QUESTION, 3))
    }

    pub(super) fn why(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        self.show(stage, &format!("why marina {DECISION}"), "")?;
        let called = self.reasons()?;
        let all = EVIDENCE.iter().all(|id| called.contains(id));
        check!(stage, "its cause and both levels of its evidence are there" => all);
        let why = Why {
            event: NodeId(DECISION),
            ..Why::default()
        };
        let read = why.run(&self.view()?)?.steps;
        let same = read.iter().map(|step| step.id.0).eq(called);
        check!(stage, "read from the file by this process, it is what the daemon answers" => same);
        Ok(())
    }

    /// What the decision rests on, as the daemon answers it.
    fn reasons(&self) -> Result<Vec<u64>, Failure> {
        let steps = self.ask(self.brain.why(DECISION))?.steps;
        Ok(steps
            .into_iter()
            .filter_map(|step| Some(step.event?.id))
            .collect())
    }

    pub(super) fn correct(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let before = self.resolve(BACKUP)?.head.unwrap_or_default();
        stage.row(format_args!("before: {}", line(&before)))?;
        let done = self.replace("keeper", BACKUP, CORRECTION, REASON)?;
        let after = self.resolve(BACKUP)?;
        let head = after.head.clone().unwrap_or_default();
        stage.row(format_args!("after:  {}", line(&head)))?;
        let last = done.old == before.id && done.old == CHAIN[2];
        check!(stage, "what was believed last is what was replaced" => last);
        let agreed = head.id == done.new && !after.contested;
        check!(stage, "two agents do not disagree: there is one newest belief" => agreed);
        self.chain(stage, &after.chain, done.new)?;
        let first = first_id(&self.search_hits(stage)?) == Some(done.new);
        check!(stage, "asked again, the correction comes first, and nothing that it replaced" => first);
        self.correction = done;
        Ok(())
    }

    /// Shows what was believed one after the other, and who changed that when: from the file alone.
    fn chain(
        &self,
        stage: &mut Stage<'_>,
        chain: &[v1::Event],
        newest: u64,
    ) -> Result<(), Failure> {
        let (view, mut in_order) = (self.view()?, true);
        stage.show("what was believed, the oldest first, and who changed it when:")?;
        for (at, event) in chain.iter().enumerate() {
            let (made, changes) = (
                commit_of(&view, event.id)?,
                confidence_changes(&view, event.id)?,
            );
            stage.row(line(event))?;
            stage.row(format_args!("    remembered {made}"))?;
            for (before, by) in &changes {
                let now = event.confidence;
                stage.row(format_args!("    confidence {before:.2} → {now:.2} {by}"))?;
            }
            in_order &= match chain.get(at + 1) {
                // The commit of the next belief took this one's confidence.
                Some(next) => {
                    event.confidence == 0.0
                        && changes.len() == 1
                        && changes[0].1 == commit_of(&view, next.id)?
                }
                None => {
                    event.confidence > 0.9 && changes.is_empty() && made.starts_with("by keeper")
                }
            };
        }
        let four = chain
            .iter()
            .map(|event| event.id)
            .eq(CHAIN.into_iter().chain([newest]));
        check!(stage, "four beliefs, of which the last holds" => four);
        check!(stage, "each was replaced by the commit of the next one" => in_order);
        let attributes = view.node(NodeId(newest))?.attributes()?.unwrap_or_default();
        let reason = attributes
            .get("amem.reason")
            .and_then(|value| value.as_str());
        check!(stage, "the reason is kept: {}", reason.unwrap_or("none") => reason == Some(REASON));
        Ok(())
    }

    pub(super) fn as_of(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let (done, before) = (&self.correction, self.correction.lsn - 1);
        let then = self.ask(self.brain.ask(v1::ResolveRequest {
            event_id: BACKUP,
            as_of: Some(v1::AsOf {
                moment: Some(v1::as_of::Moment::Lsn(before)),
            }),
            ..Default::default()
        }))?;
        let (then, now) = (
            then.head.unwrap_or_default(),
            self.resolve(BACKUP)?.head.unwrap_or_default(),
        );
        for (moment, event) in [(format!("at commit {before}"), &then), ("now".into(), &now)] {
            stage.row(format_args!(
                "{moment:<12} {:.2} {}",
                event.confidence,
                line(event)
            ))?;
        }
        let held = then.id == done.old && then.confidence > 0.8;
        check!(stage, "then the old belief held, as firmly as it was held" => held);
        check!(stage, "now the new one holds" => now.id == done.new);
        Ok(())
    }

    pub(super) fn compress(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let before = self.listed("")?;
        let done = self.json(
            "compress marina marina/planning --agent planner",
            &[SUMMARY],
        )?;
        let episode = done["id"].as_u64().unwrap_or(u64::MAX);
        self.show(stage, &format!("get marina {episode} --no-touch"), "")?;
        let view = self.view()?;
        let mut parts = HashSet::new();
        for edge in view.ties(NodeId(episode), Direction::Incoming)?.iter() {
            parts.extend((edge.edge_type == EdgeType::PART_OF).then_some(edge.other.0));
        }
        let tied = done["edges"] == parts.len() as u64 && !parts.is_empty();
        let tied = tied && view.node(NodeId(episode))?.text()? == SUMMARY;
        check!(stage, "{} events are part of it, each by an edge", parts.len() => tied);
        let (after, all) = (self.listed("")?, self.listed(" --compressed")?);
        let left = after.is_disjoint(&parts) && after.contains(&episode);
        let (many, few) = (before.len(), after.len());
        let left = left && many + 1 == few + parts.len();
        check!(stage, "a listing had {many} events, and has {few} now, unless it asks for all" => left);
        let whole = parts.is_subset(&all) && all.len() == many + 1;
        check!(stage, "asked for all of them, it has {}", all.len() => whole);
        let reasons = self.reasons()?;
        let whole = EVIDENCE.iter().all(|id| reasons.contains(id))
            && reasons.iter().all(|id| parts.contains(id));
        check!(stage, "the graph is whole: the decision still rests on its evidence, though all of it stepped back" => whole);
        Ok(())
    }

    /// The events of a listing.
    fn listed(&self, option: &str) -> Result<HashSet<u64>, Failure> {
        let listed = self.json(&format!("query marina --limit 1000{option}"), &[])?;
        let events = listed["events"].as_array().into_iter().flatten();
        Ok(events.filter_map(|event| event["id"].as_u64()).collect())
    }

    pub(super) fn decay(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let per_day = Micros::DAY as f64 / HALF_LIFE.as_micros() as f64 * std::f64::consts::LN_2;
        let add = format!("add marina --confidence 0.8 --lambda {per_day} --agent planner");
        let pinned = self.json(&add, &["Pier B is closed until further notice."])?["id"].take();
        self.json(&format!("pin marina {pinned}"), &[])?;
        let loose = self.json(&add, &["A swan sits on pier A."])?["id"].take();
        std::thread::sleep(HALF_LIFE);
        let run = self.json("decay marina --agent planner", &[])?;
        let after = self.json(&format!("get marina {pinned} {loose} --no-touch"), &[])?;
        let (pinned, loose) = (&after["events"][0], &after["events"][1]);
        let at = |time: &serde_json::Value| time::parse(time.as_str().unwrap_or_default());
        let age = (at(&run["commit"]["time"])?.0 - at(&loose["created_at"])?.0) as f64;
        let half = HALF_LIFE.as_millis();
        stage.show(format_args!(
            "two notes, made to halve every {half} ms; {:.0} ms later:",
            age / 1000.0
        ))?;
        for (name, event) in [("pinned", pinned), ("not pinned", loose)] {
            let strength = event["strength"].as_f64().unwrap_or_default();
            stage.show(format_args!("{name:<10} strength 0.80 → {strength:.2}"))?;
        }
        let expected = 0.8 * (-age / HALF_LIFE.as_micros() as f64).exp2();
        let strength = loose["strength"].as_f64().unwrap_or(1.0);
        let faded = (strength - expected).abs() < 1e-4 && strength < 0.8 / 1.9;
        check!(stage, "one has faded, by the formula" => faded);
        let is_noted = |value: &serde_json::Value| {
            value
                .as_f64()
                .is_some_and(|value| (value - 0.8).abs() < 1e-6)
        };
        let kept = is_noted(&pinned["strength"]) && pinned["flags"][0] == "pinned";
        check!(stage, "the pinned one has not" => kept);
        let same = is_noted(&pinned["confidence"]) && is_noted(&loose["confidence"]);
        check!(stage, "what is believed of them is the same" => same);
        let (view, mut shown, mut kept) = (self.view()?, Vec::new(), Vec::new());
        let later = Micros(view.time().0 + LATER_DAYS * Micros::DAY);
        for (name, id) in [("skill", 11), ("fact", 2), ("inference", 15)] {
            let node = view.node(NodeId(id))?;
            let (now, then) = (node.confidence(), node.strength_at(later)?);
            shown.push(format!("{name} {now:.2} → {then:.2}"));
            kept.push(then / now);
        }
        stage.show(format_args!(
            "and after {LATER_DAYS} days without use: {}",
            shown.join(", ")
        ))?;
        let sorted = kept.is_sorted_by(|longer, shorter| longer > shorter);
        check!(stage, "skills last longer than facts, and facts longer than conclusions" => sorted);
        Ok(())
    }

    /// Replaces the newest belief of a chain.
    pub(super) fn replace(
        &self,
        agent: &str,
        target_id: u64,
        text: &str,
        reason: &str,
    ) -> Result<Correction, Failure> {
        let event = v1::NewEvent {
            text: text.into(),
            confidence: Some(0.95),
            ..Default::default()
        };
        let request = v1::CorrectRequest {
            target_id,
            to_head: true,
            event: Some(event),
            reason: reason.into(),
            ..Default::default()
        };
        let answer = self.write(agent, request)?;
        let lsn = answer.commit.unwrap_or_default().lsn;
        Ok(Correction {
            lsn,
            new: answer.event_id,
            old: answer.target_id,
        })
    }
}

type TypeCounts = Vec<(String, u64)>;

/// Events and edges by type.
fn type_counts(view: &View) -> Result<[TypeCounts; 2], Failure> {
    let mut events = Vec::new();
    for event_type in EventType::ALL {
        events.push((
            event_type.to_string(),
            view.of_type(event_type)?.len() as u64,
        ));
    }
    let mut edges: TypeCounts = EdgeType::ALL
        .map(|edge_type| (edge_type.to_string(), 0))
        .into();
    for id in 0..view.nodes() {
        for edge in view.ties(NodeId(id), Direction::Outgoing)?.iter() {
            edges[usize::from(edge.edge_type.0)].1 += 1;
        }
    }
    Ok([events, edges])
}

fn first_id(hits: &[v1::SearchHit]) -> Option<u64> {
    hits.first()?.event.as_ref().map(|event| event.id)
}

/// An event in one line.
fn line(event: &v1::Event) -> String {
    let event_type = EventType((event.r#type - 1).clamp(0, 255) as u8);
    format!("[{}] {event_type}: {}", event.id, event.text)
}

/// The commit that made an event, in words. The brain is young: all of its commits are there.
fn commit_of(view: &View, event: u64) -> Result<String, Failure> {
    let mut lsn = Lsn(0);
    while let Some(committed) = view.commit_after(lsn)? {
        let commit = &committed.commit;
        lsn = commit.lsn;
        for op in committed.ops() {
            if matches!(op?, Op::Event(node) if node.id.0 == event) {
                let actor = view.actor(commit.actor)?;
                return Ok(by(actor.agent, actor.principal, commit.time, lsn));
            }
        }
    }
    Err(wrong(format!("the file has the commit of event {event}")))
}

/// Every change of an event's confidence, the oldest first: the value before, and the commit in words.
fn confidence_changes(view: &View, event: u64) -> Result<Vec<(f32, String)>, Failure> {
    let mut changes = Vec::new();
    for change in changes_of(view, NodeId(event))? {
        let change = change?;
        if let Before::Confidence(before) = change.before {
            let actor = view.actor(change.actor)?;
            changes.push((
                before,
                by(actor.agent, actor.principal, change.time, change.lsn),
            ));
        }
    }
    Ok(changes)
}

fn by(agent: &str, principal: &str, time: Micros, lsn: Lsn) -> String {
    format!(
        "by {agent} ({principal}) at {} UTC, commit {lsn}",
        clock(time)
    )
}
