//! `amemctl pipeline`: sources and stages composed in one question.

use std::str::FromStr;

use amem_client::v1;
use amem_client::v1::pipeline_source::Source;
use amem_client::v1::pipeline_stage::Stage;
use clap::Args;

use crate::args::event_id::EventId;
use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{edge_name, is_stub, type_name};
use crate::listing::{self, TimeAxis};
use crate::output::context::CommandContext;
use crate::render::{Align, Column, TextPage, float};
use crate::types::{edge_type_number, event_type_number, parse_edge_type, parse_event_type};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl pipeline work --search \"staging database\" --then traverse:depth=2 --then resolve
  amemctl pipeline work --event 12 --then traverse:types=supports+caused-by,follow=incoming
  amemctl pipeline work --text deploy --similar 12 --then rank:found=1,recency=0.5 --then limit:5

Sources: --search, --text, --similar, --event, --newest; at least one. Stages, in order:
  traverse  appends what can be reached: types=A+B depth=N limit=N follow=outgoing|incoming|both
  resolve   replaces each event by what replaced it
  filter    keeps events: type=A+B keyword=WORD min_confidence=0..1 min_strength=0..1
  rank      sorts by a weighted sum: found confidence strength recency nearness half_life (days)
  limit     keeps the first, as in limit:5

Conditions such as --type and --since apply to --search, --text, --similar and --newest.")]
pub(crate) struct PipelineArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// Events that answer a question; may be repeated, as may the other sources.
    #[arg(long, value_name = "QUESTION", allow_hyphen_values = true)]
    search: Vec<String>,
    /// Events with the words of a question.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    text: Vec<String>,
    /// Events similar to this one.
    #[arg(long, value_name = "ID")]
    similar: Vec<EventId>,
    /// This event.
    #[arg(long = "event", value_name = "ID")]
    events: Vec<EventId>,
    /// The newest events.
    #[arg(long)]
    newest: bool,
    /// A stage; may be repeated.
    #[arg(long = "then", value_name = "STAGE[:KEY=VALUE,...]")]
    stages: Vec<StageArg>,
    /// At most this many from each source.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// The time that --since and --until filter.
    #[arg(long, value_enum, default_value_t = TimeAxis::Recorded)]
    axis: TimeAxis,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

#[derive(Debug, Clone, PartialEq)]
struct StageArg(Stage);

impl PipelineArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let request = v1::PipelineRequest {
            sources: self.sources(cx, &opened, &selection)?,
            stages: self
                .stages
                .iter()
                .map(|stage| v1::PipelineStage {
                    stage: Some(stage.0.clone()),
                })
                .collect(),
            scope: selection.scope.clone(),
            include_forgotten: self.looking.include_forgotten,
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            write(&answer, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }

    fn sources(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        selection: &v1::Selection,
    ) -> Result<Vec<v1::PipelineSource>, Failure> {
        let (limit, as_of) = (self.limit, self.looking.as_of());
        let selection = || Some(selection.clone());
        let mut sources = Vec::new();
        let search = |text: &String| {
            Source::Search(v1::SearchSource {
                text: text.clone(),
                selection: selection(),
                limit,
                ..Default::default()
            })
        };
        sources.extend(self.search.iter().map(search));
        let text = |text: &String| {
            Source::Text(v1::TextSource {
                text: text.clone(),
                selection: selection(),
                limit,
            })
        };
        sources.extend(self.text.iter().map(text));
        for id in &self.similar {
            let id = id.number_at(cx, opened, as_of)?;
            sources.push(Source::Similar(v1::SimilarSource {
                like: Some(v1::similar_source::Like::EventId(id)),
                selection: selection(),
                limit,
                min_similarity: None,
            }));
        }
        if !self.events.is_empty() {
            sources.push(Source::Events(v1::EventsSource {
                event_ids: EventId::numbers(&self.events, cx, opened, as_of)?,
            }));
        }
        if self.newest {
            sources.push(Source::Pattern(v1::PatternSource {
                selection: selection(),
                order: v1::Order::Newest.into(),
                axis: self.axis.axis().into(),
                limit,
            }));
        }
        if sources.is_empty() {
            return Err(Failure::argument(
                "the pipeline has no source",
                "give --search, --text, --similar, --event or --newest",
            ));
        }
        let source = |source| v1::PipelineSource {
            source: Some(source),
        };
        Ok(sources.into_iter().map(source).collect())
    }
}

impl FromStr for StageArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let stage = match name {
            "resolve" if rest.is_empty() => Stage::Resolve(v1::ResolveStage {}),
            "limit" => Stage::Limit(v1::LimitStage {
                count: number(name, rest)?,
            }),
            "traverse" => Stage::Traverse(traverse(rest)?),
            "filter" => Stage::Filter(filter(rest)?),
            "rank" => Stage::Rank(rank(rest)?),
            _ => {
                return Err(
                    "a stage is traverse, resolve, filter, rank or limit, as in traverse:depth=2"
                        .to_owned(),
                );
            }
        };
        Ok(Self(stage))
    }
}

/// The options behind the colon.
fn options(text: &str) -> impl Iterator<Item = Result<(&str, &str), String>> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts.map(|part| {
        part.split_once('=')
            .ok_or_else(|| format!("{part:?} has no value: write it as KEY=VALUE"))
    })
}

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("{key}: {value:?} is not such a number"))
}

fn unknown<T>(key: &str, known: &str) -> Result<T, String> {
    Err(format!("unknown key {key:?}: this stage takes {known}"))
}

fn traverse(text: &str) -> Result<v1::TraverseStage, String> {
    let mut stage = v1::TraverseStage::default();
    for option in options(text) {
        match option? {
            ("types", names) => {
                let types = names.split('+').map(parse_edge_type);
                let types: Vec<_> = types.collect::<Result<_, _>>()?;
                stage.types = types.into_iter().map(edge_type_number).collect();
            }
            ("depth", value) => stage.depth = number("depth", value)?,
            ("limit", value) => stage.limit = number("limit", value)?,
            ("follow", way) => {
                stage.follow = match way {
                    "outgoing" => v1::Follow::Outgoing,
                    "incoming" => v1::Follow::Incoming,
                    "both" => v1::Follow::Both,
                    _ => return Err("follow is outgoing, incoming or both".to_owned()),
                }
                .into();
            }
            (key, _) => return unknown(key, "types, depth, limit and follow"),
        }
    }
    Ok(stage)
}

fn filter(text: &str) -> Result<v1::Selection, String> {
    // What earlier stages brought stays visible; forgotten events never become rows unless they are asked for.
    let mut selection = v1::Selection {
        include_compressed: true,
        include_forgotten: true,
        ..Default::default()
    };
    let at_least = |min| {
        Some(v1::Bounds {
            min: Some(min),
            max: None,
        })
    };
    for option in options(text) {
        match option? {
            ("type", names) => {
                let types = names.split('+').map(parse_event_type);
                let types: Vec<_> = types.collect::<Result<_, _>>()?;
                selection.types = types.into_iter().map(event_type_number).collect();
            }
            ("keyword", words) => selection.keyword = words.to_owned(),
            ("min_confidence", value) => {
                selection.confidence = at_least(number("min_confidence", value)?)
            }
            ("min_strength", value) => {
                selection.strength = at_least(number("min_strength", value)?)
            }
            (key, _) => return unknown(key, "type, keyword, min_confidence and min_strength"),
        }
    }
    Ok(selection)
}

fn rank(text: &str) -> Result<v1::RankStage, String> {
    let mut stage = v1::RankStage::default();
    for option in options(text) {
        let (key, value) = option?;
        let weight = match key {
            "found" => &mut stage.found_weight,
            "confidence" => &mut stage.confidence_weight,
            "strength" => &mut stage.strength_weight,
            "recency" => &mut stage.recency_weight,
            "nearness" => &mut stage.nearness_weight,
            "half_life" => &mut stage.half_life_days,
            _ => {
                return unknown(
                    key,
                    "found, confidence, strength, recency, nearness and half_life",
                );
            }
        };
        *weight = Some(number(key, value)?);
    }
    Ok(stage)
}

const ROWS: [Column<(v1::PipelineRow, v1::Event, String)>; 6] = [
    ("score", Align::Right, |(row, ..)| float(row.score)),
    ("id", Align::Right, |(_, event, _)| event.id.to_string()),
    ("type", Align::Left, |(_, event, _)| match is_stub(event) {
        true => "-".to_owned(),
        false => type_name(event.r#type),
    }),
    ("when", Align::Left, |(_, event, _)| match is_stub(event) {
        true => "-".to_owned(),
        false => TimeAxis::Happened.short(event),
    }),
    ("from", Align::Left, |(.., from)| from.clone()),
    ("text", Align::Left, |(_, event, _)| match is_stub(event) {
        true => "(forgotten)".to_owned(),
        false => listing::text(event),
    }),
];

fn write(answer: &v1::PipelineResponse, page: &mut TextPage) {
    let all: Vec<_> = answer.rows.iter().chain(&answer.origins).collect();
    let id_of = |row: &v1::PipelineRow| row.event.as_ref().map_or(0, |event| event.id);
    let rows = answer.rows.iter().map(|row| {
        let before = row.from.and_then(|at| all.get(at as usize));
        let from = match (before.map(|row| id_of(row)), edge_name(row.r#type)) {
            (None, _) => "-".to_owned(),
            (Some(before), None) => format!("instead of {before}"),
            (Some(before), Some(edge)) if row.incoming => format!("{edge} to {before}"),
            (Some(before), Some(edge)) => format!("{edge} from {before}"),
        };
        (row.clone(), row.event.clone().unwrap_or_default(), from)
    });
    page.rows(&ROWS, &rows.collect::<Vec<_>>());
    if answer.rows.is_empty() {
        page.aside("nothing found");
    }
    if answer.truncated {
        page.aside("a traversal reached its limit: more can be reached");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_a_name_and_its_options() {
        let of = |text: &str| text.parse::<StageArg>().map(|stage| stage.0);
        let expected = Stage::Traverse(v1::TraverseStage {
            types: vec![v1::EdgeType::Supports.into(), v1::EdgeType::CausedBy.into()],
            follow: v1::Follow::Incoming.into(),
            depth: 2,
            limit: 50,
        });
        let text = "traverse:types=supports+caused-by,depth=2,limit=50,follow=incoming";
        assert_eq!(of(text), Ok(expected));
        assert_eq!(of("limit:5"), Ok(Stage::Limit(v1::LimitStage { count: 5 })));
        assert_eq!(of("resolve"), Ok(Stage::Resolve(v1::ResolveStage {})));
        for (wrong, told) in [
            ("sort", "a stage is"),
            ("limit:x", "is not such a number"),
            ("traverse:deep=2", "takes types, depth"),
            ("rank:found", "has no value"),
            ("traverse:types=nonsense", "no such type"),
        ] {
            let refused = of(wrong).unwrap_err();
            assert!(refused.contains(told), "{wrong}: {refused}");
        }
    }
}
