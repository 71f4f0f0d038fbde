//! `amemctl search`: events that answer a question, by words, by meaning and by their neighbours.

use amem_client::v1;
use amem_query::search::LIKELY_RELEVANCE;
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

Relevance says how well an event answers the question, from 0 to 1, and can be compared with that of other questions:
0.6 times the share of the question's words that the event and those beside it have, plus 0.4 times the share that
the brain has, plus 0.2 if the question names who spoke. Scores order the hits of one question.
A score is the sum of its parts: words, meaning (the vector), a share of the scores of the events before and
after it in time (near), and a share of the best score of its session. It counts more if the question names who spoke
(who) or a time near which it happened (when). A replaced event is found as the event that replaced it, unless
--superseded is given. Equal texts are one hit, the newest; near ties, and texts that differ in one value only, come
newest first.

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
    /// The share of its score that a neighbour adds [default: 0.25]
    #[arg(long, value_name = "0..1", hide_short_help = true, value_parser = crate::args::text::parse_unit)]
    neighbour_share: Option<f32>,
    /// The share of its score that the best event of a session adds to the others [default: 0.25]
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
    /// Only hits of at least this relevance, on a scale that is the same for every question.
    #[arg(long, value_name = "0..1", default_value_t = 0.0, hide_default_value = true, value_parser = crate::args::text::parse_unit)]
    min_relevance: f32,
    /// Days after which an event counts half as much [default: age does not count]
    #[arg(long, value_name = "DAYS", hide_short_help = true)]
    half_life: Option<f32>,
    /// The share of a score within which the newest comes first [default: 0.03]
    #[arg(long, value_name = "0..1", hide_short_help = true, value_parser = crate::args::text::parse_unit)]
    tie_margin: Option<f32>,
    /// Show every event, also where its text is that of another.
    #[arg(long)]
    duplicates: bool,
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
    relevance: RelevanceJson,
    score: f32,
    text: f32,
    vector: f32,
    neighbours: f32,
    session: f32,
    /// Factors of who spoke and when.
    speaker: f32,
    time: f32,
    /// The factor of age.
    recency: f32,
    /// How many events with this text were found.
    equal_texts: u32,
    /// A newer hit of another value.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer_value: Option<u64>,
    /// The event that matched, if this event replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u64>,
    /// It belongs to a belief with several heads.
    contested: bool,
    /// Another event replaces it.
    superseded: bool,
    event: EventJson,
}

#[derive(Serialize)]
struct RelevanceJson {
    value: f32,
    /// The share of the question's words that it has, with the events beside it.
    covered: f32,
    /// The share of them that the brain has.
    known: f32,
    /// The question names who spoke.
    named: bool,
    /// By its vector.
    meaning: f32,
    /// It has none of the words.
    weak: bool,
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
            min_relevance: self.min_relevance,
            recency_half_life_days: self.half_life,
            tie_margin: self.tie_margin,
            include_duplicates: self.duplicates,
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
    let relevance = hit.relevance.unwrap_or_default();
    Ok(SearchHitJson {
        relevance: RelevanceJson {
            value: relevance.value,
            covered: relevance.covered,
            known: relevance.known,
            named: relevance.named,
            meaning: relevance.meaning,
            weak: relevance.weak,
        },
        score: hit.score,
        text: hit.text_score,
        vector: hit.vector_score,
        neighbours: hit.neighbour_score,
        session: hit.session_score,
        speaker: hit.speaker_factor,
        time: hit.time_factor,
        recency: hit.recency_factor,
        equal_texts: hit.equal_texts,
        newer_value: hit.newer_value_id,
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
        (hit.equal_texts > 1).then(|| format!("{} times", hit.equal_texts)),
        hit.newer_value.map(|id| format!("newer: {id}")),
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
    let has_age = output.hits.iter().any(|hit| hit.recency != 1.0);
    let scores = [
        "relevance",
        "score",
        "= words",
        "+ meaning",
        "+ near",
        "+ session",
    ];
    let factors = [
        (has_speaker, "x who"),
        (has_time, "x when"),
        (has_age, "x age"),
    ];
    let factors = factors.into_iter().filter(|(is_shown, _)| *is_shown);
    let mut table = HitTable::new(scores.into_iter().chain(factors.map(|(_, name)| name)));
    for hit in &output.hits {
        let mut scores = vec![
            hit.relevance.value,
            hit.score,
            hit.text,
            hit.vector,
            hit.neighbours,
            hit.session,
        ];
        scores.extend(has_speaker.then_some(hit.speaker));
        scores.extend(has_time.then_some(hit.time));
        scores.extend(has_age.then_some(hit.recency));
        table.row(&scores, &marks(hit), &hit.event);
    }
    table.write(page);
    let is_any = !output.hits.is_empty();
    if is_any && output.hits.iter().all(|hit| hit.relevance.weak) {
        page.aside("no words in common: found by meaning and neighbourhood alone");
    } else if is_any
        && output
            .hits
            .iter()
            .all(|hit| hit.relevance.value < LIKELY_RELEVANCE)
    {
        page.aside("no hit answers much of the question: this brain may not know it");
    }
    if output.hits.is_empty() {
        page.aside("nothing found: use other words, or fewer conditions");
    }
}
