//! What becomes of memories in time: a session steps back behind its summary, and what is not used fades.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use amem_client::v1;
use amem_format::{EdgeType, Micros, NodeId};

use super::beliefs::by;
use super::run::{BRAIN, Demo};
use super::stage::{Result, Stage};

const SUMMARY: &str = "March, planning: bookings are kept in SQLite by one process, free berths are public, \
                       names of guests are not, and the backup runs at night.";
/// Events of a page of a listing: more than the demo has.
const PAGE: u32 = 10_000;
/// How long the two notes take to lose half of their strength. Real ones take weeks.
const HALF_LIFE: Duration = Duration::from_millis(20);
/// The other time that strengths are told for.
const LATER_DAYS: i64 = 90;
/// The confidence of the two notes.
const NOTED: f32 = 0.8;

impl Demo {
    pub(super) fn compress(&self, stage: &mut Stage<'_>) -> Result<()> {
        stage.step(
            "compress",
            "A long session becomes one summary. Its events step back; nothing of them is lost.",
        )?;
        let before = self.listed(false)?;
        let session_id = self.sample.sessions.first().copied().unwrap_or_default();
        let request = v1::CompressSessionRequest {
            brain: BRAIN.into(),
            options: Some(by("planner")),
            session_id,
            text: SUMMARY.into(),
            vector: None,
        };
        let mut memory = self.remote.client.memory();
        let done = self.remote.call(memory.compress_session(request))?;
        let episode = self.event(done.event_id, true)?;
        let covered: HashSet<u64> = parts(&episode).collect();
        stage.row(format_args!("[{}] episode: {}", episode.id, episode.text))?;
        stage.check(
            format_args!("{} events are part of it, each by an edge", covered.len()),
            covered.len() as u64 == done.edges && !covered.is_empty() && episode.text == SUMMARY,
        )?;
        let (after, all) = (self.listed(false)?, self.listed(true)?);
        let left = after.is_disjoint(&covered) && after.contains(&episode.id);
        stage.check(
            format_args!(
                "a listing had {} events, and has {} now, unless it asks for all",
                before.len(),
                after.len()
            ),
            left && before.len() + 1 == after.len() + covered.len(),
        )?;
        stage.check(
            format_args!("asked for all of them, it has {}", all.len()),
            covered.is_subset(&all) && all.len() == before.len() + 1,
        )?;
        let found = self.rests_on(&self.view()?)?;
        let walked = found.steps.iter().all(|step| covered.contains(&step.id.0));
        stage.check(
            "the graph is whole: the decision still rests on its evidence, though all of it stepped back",
            walked && self.has_evidence(&found)?,
        )
    }

    /// The events that a listing has.
    fn listed(&self, include_compressed: bool) -> Result<HashSet<u64>> {
        let request = v1::PatternRequest {
            brain: BRAIN.into(),
            selection: Some(v1::Selection {
                include_compressed,
                ..Default::default()
            }),
            page_size: PAGE,
            ..Default::default()
        };
        let mut queries = self.remote.client.queries();
        let page = self.remote.call(queries.pattern(request))?;
        Ok(page.events.into_iter().map(|event| event.id).collect())
    }

    /// An event by a call that does not count as a use.
    pub(super) fn event(&self, id: u64, include_edges: bool) -> Result<v1::Event> {
        let request = v1::GetEventsRequest {
            brain: BRAIN.into(),
            event_ids: vec![id],
            include_edges,
            touch: Some(false),
            ..Default::default()
        };
        let mut queries = self.remote.client.queries();
        let answer = self.remote.call(queries.get_events(request))?;
        Ok(answer.events.into_iter().next().unwrap_or_default())
    }

    pub(super) fn decay(&self, stage: &mut Stage<'_>) -> Result<()> {
        stage.step(
            "decay",
            "What is not used loses strength, and can be ranked by it. What is pinned does not.",
        )?;
        let (pinned, loose) = self.notes()?;
        let before = [self.event(pinned, false)?, self.event(loose, false)?];
        thread::sleep(HALF_LIFE);
        let request = v1::DecayRequest {
            brain: BRAIN.into(),
            options: Some(by("planner")),
        };
        let run = self
            .remote
            .call(self.remote.client.memory().decay(request))?;
        let after = [self.event(pinned, false)?, self.event(loose, false)?];
        let age = micros(run.commit.unwrap_or_default().time) - micros(after[1].created_at);
        stage.show(format_args!(
            "two notes, made to halve every {} ms; {:.0} ms later:",
            HALF_LIFE.as_millis(),
            age as f64 / 1000.0
        ))?;
        for (at, name) in ["pinned", "not pinned"].iter().enumerate() {
            stage.show(format_args!(
                "{name:<10} strength {:.2} → {:.2}",
                before[at].strength, after[at].strength
            ))?;
        }
        let expected = f64::from(NOTED) * (-age as f64 / HALF_LIFE.as_micros() as f64).exp2();
        stage.check(
            "one has faded, by the formula",
            (f64::from(after[1].strength) - expected).abs() < 1e-4
                && after[1].strength < before[1].strength / 1.9,
        )?;
        stage.check("the pinned one has not", {
            after[0].pinned && after[0].strength == NOTED && before[0].strength == NOTED
        })?;
        stage.check("what is believed of them is the same", {
            after.iter().all(|event| event.confidence == NOTED)
        })?;
        self.fading(stage)
    }

    /// Two notes of the same kind, of which one is pinned.
    fn notes(&self) -> Result<(u64, u64)> {
        let per_day = Micros::DAY as f64 / HALF_LIFE.as_micros() as f64 * std::f64::consts::LN_2;
        let note = |text: &str| v1::NewEvent {
            text: text.into(),
            confidence: Some(NOTED),
            lambda: Some(per_day as f32),
            ..Default::default()
        };
        let request = v1::IngestRequest {
            brain: BRAIN.into(),
            options: Some(by("planner")),
            events: vec![
                note("Pier B is closed until further notice."),
                note("A swan sits on pier A."),
            ],
            ..Default::default()
        };
        let mut memory = self.remote.client.memory();
        let ids = self.remote.call(memory.ingest(request))?.event_ids;
        let [pinned, loose] = ids[..] else {
            return Ok((u64::MAX, u64::MAX));
        };
        let pin = v1::PinRequest {
            brain: BRAIN.into(),
            options: Some(by("planner")),
            event_id: pinned,
        };
        self.remote.call(memory.pin(pin))?;
        Ok((pinned, loose))
    }

    /// What the sample will be worth if nobody uses it.
    fn fading(&self, stage: &mut Stage<'_>) -> Result<()> {
        let view = self.view()?;
        let later = Micros(view.time().0 + LATER_DAYS * Micros::DAY);
        let (mut told, mut kept) = (Vec::new(), Vec::new());
        for (name, key) in [
            ("skill", "restore"),
            ("fact", "server"),
            ("inference", "website"),
        ] {
            let node = view.node(NodeId(self.id(key)?))?;
            let strength = node.strength_at(later)?;
            told.push(format!("{name} {:.2} → {strength:.2}", node.confidence()));
            kept.push(strength / node.confidence());
        }
        stage.show(format_args!(
            "and after {LATER_DAYS} days without use: {}",
            told.join(", ")
        ))?;
        stage.check(
            "skills last longer than facts, and facts longer than conclusions",
            kept.is_sorted_by(|longer, shorter| longer > shorter),
        )
    }
}

/// The events that are part of another.
fn parts(event: &v1::Event) -> impl Iterator<Item = u64> + '_ {
    let part_of = i32::from(EdgeType::PART_OF.0) + 1;
    let edges = event.edges.iter();
    edges
        .filter(move |edge| edge.r#type == part_of && edge.target == event.id)
        .map(|edge| edge.source)
}

fn micros(time: Option<amem_client::Timestamp>) -> i64 {
    time.map_or(0, |time| {
        time.seconds * 1_000_000 + i64::from(time.nanos) / 1000
    })
}
