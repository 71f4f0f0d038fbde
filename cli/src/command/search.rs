//! `amemctl search`: events that answer a question, by words, by meaning and by their neighbours.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::args::text::TextArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::command::hits::{HitTable, ask_and_print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::EventJson;
use crate::listing::TimeAxis;
use crate::output::context::CommandContext;
use crate::render::TextPage;
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl search work what database do we use
  amemctl search work \"why did the build fail\" --type decision --since \"30 days ago\"
  git log -1 --format=%s | amemctl search work -
  amemctl search work backups --vector-weight 0     by words alone

A score is the sum of its parts: words, meaning (the vector), a share of the scores of the events before and
after it in time (near), and a share of the best score of its session. It counts more if the question names who spoke
(who) or a time near which it happened (when). A replaced event is found as the event that
replaced it, unless --superseded is given.

{}", when::HELP))]
pub(crate) struct SearchArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    #[command(flatten)]
    question: TextArgs,
    /// The time that --since and --until filter.
    #[arg(long, value_enum, default_value_t = TimeAxis::Recorded)]
    axis: TimeAxis,
    /// At most this many.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// The weight of words [default: fits the brain's vectors]
    #[arg(long, value_name = "0..", hide_short_help = true)]
    text_weight: Option<f32>,
    /// The weight of meaning [default: fits the brain's vectors]
    #[arg(long, value_name = "0..", hide_short_help = true)]
    vector_weight: Option<f32>,
    /// The share of its score that a neighbour adds [default: fits the brain's vectors]
    #[arg(long, value_name = "0..1", hide_short_help = true, value_parser = crate::args::text::parse_unit)]
    neighbour_share: Option<f32>,
    /// The share of its score that the best event of a session adds to the others [default: fits the brain's vectors]
    #[arg(long, value_name = "0..1", hide_short_help = true, value_parser = crate::args::text::parse_unit)]
    session_share: Option<f32>,
    /// The share of its score that a short question adds to the event behind it [default: 0.25]
    #[arg(long, value_name = "0..1", hide_short_help = true, value_parser = crate::args::text::parse_unit)]
    question_share: Option<f32>,
    /// What is added to 1 for events of a speaker whom the question names or means [default: 0.5]
    #[arg(long, value_name = "0..10", hide_short_help = true)]
    speaker_boost: Option<f32>,
    /// What is added to 1 for events near a time that the question names [default: 0.5]
    #[arg(long, value_name = "0..10", hide_short_help = true)]
    time_boost: Option<f32>,
    /// Show replaced events themselves, not what replaced them.
    #[arg(long, visible_alias = "include-superseded")]
    superseded: bool,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

#[derive(Serialize)]
struct SearchOutput {
    as_of_lsn: Option<u64>,
    hits: Vec<SearchHitJson>,
}

#[derive(Serialize)]
struct SearchHitJson {
    score: f32,
    text: f32,
    vector: f32,
    neighbours: f32,
    session: f32,
    /// Factors of who spoke and when.
    speaker: f32,
    time: f32,
    /// The event that matched, if this event replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    /// It belongs to a belief with several heads.
    contested: bool,
    /// Another event replaces it.
    superseded: bool,
    event: EventJson,
}

impl SearchArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let text = self.question.required("question")?;
        let opened = BrainHandle::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let request = v1::SearchRequest {
            text,
            selection: Some(selection),
            limit: self.limit,
            text_weight: self.text_weight,
            vector_weight: self.vector_weight,
            neighbour_share: self.neighbour_share,
            session_share: self.session_share,
            question_share: self.question_share,
            speaker_boost: self.speaker_boost,
            time_boost: self.time_boost,
            include_superseded: self.superseded,
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let output = |answer: &v1::SearchResponse, moment: Option<&v1::Moment>| {
            Ok(SearchOutput {
                as_of_lsn: self.looking.answered(moment),
                hits: answer.hits.iter().map(hit).collect::<Result<_, _>>()?,
            })
        };
        ask_and_print(cx, opened, request, output, write)
    }
}

fn hit(hit: &v1::SearchHit) -> Result<SearchHitJson, Failure> {
    let event = EventJson::of(&hit.event.clone().unwrap_or_default())?;
    Ok(SearchHitJson {
        score: hit.score,
        text: hit.text_score,
        vector: hit.vector_score,
        neighbours: hit.neighbour_score,
        session: hit.session_score,
        speaker: hit.speaker_factor,
        time: hit.time_factor,
        found: Some(hit.found_id).filter(|found| *found != event.id),
        contested: hit.contested,
        superseded: hit.superseded,
        event,
    })
}

/// What precedes the text of a hit.
fn marks(hit: &SearchHitJson) -> String {
    let found = hit.found.map(|found| format!("instead of {found}"));
    let marks = [
        found,
        hit.contested.then(|| "contested".to_owned()),
        hit.superseded.then(|| "superseded".to_owned()),
    ];
    let marks: Vec<String> = marks.into_iter().flatten().collect();
    match marks.is_empty() {
        true => String::new(),
        false => format!("({}) ", marks.join(", ")),
    }
}

fn write(output: &SearchOutput, page: &mut TextPage) {
    // A factor that no hit has is no column.
    let has_speaker = output.hits.iter().any(|hit| hit.speaker != 1.0);
    let has_time = output.hits.iter().any(|hit| hit.time != 1.0);
    let scores = ["score", "= words", "+ meaning", "+ near", "+ session"];
    let factors = [(has_speaker, "x who"), (has_time, "x when")];
    let factors = factors.into_iter().filter(|(is_shown, _)| *is_shown);
    let mut table = HitTable::new(scores.into_iter().chain(factors.map(|(_, name)| name)));
    for hit in &output.hits {
        let mut scores = vec![hit.score, hit.text, hit.vector, hit.neighbours, hit.session];
        scores.extend(has_speaker.then_some(hit.speaker));
        scores.extend(has_time.then_some(hit.time));
        table.row(&scores, &marks(hit), &hit.event);
    }
    table.write(page);
    if !output.hits.is_empty() && output.hits.iter().all(|hit| hit.text == 0.0) {
        page.aside("no words in common: found by meaning and neighbourhood alone");
    }
    if output.hits.is_empty() {
        page.aside("nothing found: use other words, or fewer conditions");
    }
}
