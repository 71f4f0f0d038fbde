//! `amemctl search`: events that answer a question, by words, by meaning and by their neighbours.

use amem_client::v1;
use amem_query::search::LIKELY_RELEVANCE;
use clap::Args;

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::args::text::TextArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::command::hits::{HitTable, ask_and_print};
use crate::exit::Exit;
use crate::failure::Failure;
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
        ask_and_print(cx, opened, request, write)
    }
}

/// What precedes the text of a hit.
fn marks(hit: &v1::SearchHit) -> String {
    let id = hit.event.as_ref().map_or(0, |event| event.id);
    let found = (hit.found_id != id).then(|| format!("instead of {}", hit.found_id));
    let marks = [
        found,
        hit.contested.then(|| "contested".to_owned()),
        hit.superseded.then(|| "superseded".to_owned()),
        (hit.equal_texts > 1).then(|| format!("{} times", hit.equal_texts)),
        hit.newer_value_id.map(|id| format!("newer: {id}")),
    ];
    let marks: Vec<String> = marks.into_iter().flatten().collect();
    match marks.is_empty() {
        true => String::new(),
        false => format!("({}) ", marks.join(", ")),
    }
}

fn write(answer: &v1::SearchResponse, page: &mut TextPage) {
    let relevance = |hit: &v1::SearchHit| hit.relevance.unwrap_or_default();
    // A factor that no hit has is no column.
    let has_speaker = answer.hits.iter().any(|hit| hit.speaker_factor != 1.0);
    let has_time = answer.hits.iter().any(|hit| hit.time_factor != 1.0);
    let has_age = answer.hits.iter().any(|hit| hit.recency_factor != 1.0);
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
    for hit in &answer.hits {
        let mut scores = vec![
            relevance(hit).value,
            hit.score,
            hit.text_score,
            hit.vector_score,
            hit.neighbour_score,
            hit.session_score,
        ];
        scores.extend(has_speaker.then_some(hit.speaker_factor));
        scores.extend(has_time.then_some(hit.time_factor));
        scores.extend(has_age.then_some(hit.recency_factor));
        table.row(&scores, &marks(hit), hit.event.as_ref());
    }
    table.write(page);
    let is_any = !answer.hits.is_empty();
    if is_any && answer.hits.iter().all(|hit| relevance(hit).weak) {
        page.aside("no words in common: found by meaning and neighbourhood alone");
    } else if is_any
        && answer
            .hits
            .iter()
            .all(|hit| relevance(hit).value < LIKELY_RELEVANCE)
    {
        page.aside("no hit answers much of the question: this brain may not know it");
    }
    if answer.hits.is_empty() {
        page.aside("nothing found: use other words, or fewer conditions");
    }
}
