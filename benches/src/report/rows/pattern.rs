//! Patterns: the newest 50 of a type within a window, by confidence, by time alone, the strongest 50.
//!
//! Sixteen windows and types in turn. Compared: the ids in order, with the reference and with SQLite; of the strongest
//! the strengths, since equals come in different orders. "Fields read" reads every field of each event found, the bytes
//! of its text and the first line of its vector. After forgetting, the answers are compared with the data itself, and
//! the reference is the one that never removed anything: it is a thousand times slower once it has.

use agentic_memory::{CognitiveEvent, MemoryGraph, PatternParams, PatternSort, QueryEngine};
use amem_format::view::View;
use amem_format::{EventType, Micros, NodeId};
use amem_query::{Order, Pattern, Selection, ValueRange, Window};
use rusqlite::params;

use super::super::corpus::{Corpus, Vectors};
use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::reference;
use super::super::sqlite::{self, Sqlite};
use super::super::table::{Findings, Measurement};
use super::super::world::{BenchBrain, FORGOTTEN_EVERY, World};
use super::read;

const LIMIT: usize = 50;
const QUESTIONS: u64 = 16;

/// A query: a type, a window `from..until`, a minimum confidence.
#[derive(Clone, Copy)]
struct Question {
    event_type: u8,
    from: Micros,
    until: Micros,
    least: f32,
}

/// What a question is about.
#[derive(Clone, Copy, PartialEq)]
enum PatternKind {
    TypeTime,
    TypeConfidence,
    Time,
    Strength,
}

fn questions(corpus: &Corpus) -> Vec<Question> {
    let question = |n| Question {
        event_type: (n % 6) as u8,
        from: corpus.recorded(corpus.nodes * (10 + 2 * n) / 100),
        until: corpus.recorded(corpus.nodes * (40 + 3 * n) / 100),
        least: 0.5 + 0.02 * n as f32,
    };
    (0..QUESTIONS).map(question).collect()
}

/// The queries in a cycle.
fn in_turn(corpus: &Corpus) -> impl FnMut() -> Question + use<> {
    let all = questions(corpus);
    let mut at = 0;
    move || {
        at = (at + 1) % all.len();
        all[at]
    }
}

/// The rows of brains without forgotten events.
pub(super) fn all(world: &World, findings: &mut Findings) -> Outcome<()> {
    for (row, by) in [
        (list::TYPE_TIME, PatternKind::TypeTime),
        (list::TYPE_CONFIDENCE, PatternKind::TypeConfidence),
        (list::TIME_ONLY, PatternKind::Time),
        (list::BY_STRENGTH, PatternKind::Strength),
    ] {
        findings.add(ids(world, row, by)?);
    }
    let held = world.clustered()?;
    let graph = world.graph()?;
    findings.add(fields(world, list::TYPE_TIME_FIELDS, held, graph)?);
    Ok(())
}

/// The rows of a brain with forgotten events.
pub(super) fn forgotten(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.forgetful()?;
    let (corpus, graph) = (held.corpus, world.graph()?);
    let view = held.reader.view()?;
    for question in questions(&corpus) {
        let wanted = |&id: &u64| {
            let event = corpus.bare(id);
            let within = event.created_at >= question.from && event.created_at < question.until;
            within && event.event_type.0 == question.event_type && id % FORGOTTEN_EVERY != 0
        };
        let naive: Vec<u64> = (0..corpus.nodes).rev().filter(wanted).take(LIMIT).collect();
        same(
            "pattern after forgetting",
            &ours(&view, PatternKind::TypeTime, question)?,
            &naive,
        )?;
    }
    let (mut next, mut again) = (in_turn(&corpus), in_turn(&corpus));
    let medians = Contest::new()
        .again("ours", || {
            ours(&held.reader.view()?, PatternKind::TypeTime, next())
        })
        .again("reference", || {
            theirs(graph, PatternKind::TypeTime, again())
        })
        .run()?;
    findings.add(Measurement {
        row: list::FORGOTTEN,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        note: format!(
            "{} of {} events forgotten; the reference forgot none",
            corpus.nodes / FORGOTTEN_EVERY,
            corpus.nodes
        ),
        ..Measurement::default()
    });
    findings.add(fields(world, list::FORGOTTEN_FIELDS, held, graph)?);
    Ok(())
}

fn ids(world: &World, row: &'static str, by: PatternKind) -> Outcome<Measurement> {
    let (held, graph, sqlite) = (world.clustered()?, world.graph()?, world.sqlite()?);
    let corpus = world.corpus(Vectors::Clustered);
    let mut statement = sqlite.connection.prepare(match by {
        PatternKind::TypeTime => sqlite::TYPE_TIME,
        PatternKind::TypeConfidence => sqlite::TYPE_CONFIDENCE,
        PatternKind::Time => sqlite::TIME_ONLY,
        PatternKind::Strength => sqlite::BY_STRENGTH,
    })?;
    let view = held.reader.view()?;
    for question in questions(&corpus) {
        let found = [
            ours(&view, by, question)?,
            theirs(graph, by, question)?
                .iter()
                .map(|event| event.id)
                .collect(),
            peer(&mut statement, by, question)?,
        ];
        for other in &found[1..] {
            match by {
                PatternKind::Strength => same(
                    row,
                    &strengths(&corpus, &found[0]),
                    &strengths(&corpus, other),
                )?,
                _ => same(row, &found[0], other)?,
            }
        }
    }
    let [mut a, mut b, mut c] = [(); 3].map(|()| in_turn(&corpus));
    let medians = Contest::new()
        .again("ours", || ours(&held.reader.view()?, by, a()))
        .again("reference", || theirs(graph, by, b()))
        .again("SQLite", || peer(&mut statement, by, c()))
        .run()?;
    Ok(Measurement {
        row,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        peers: medians
            .of("SQLite")
            .map(|time| ("SQLite", time))
            .into_iter()
            .collect(),
        ..Measurement::default()
    })
}

fn fields(
    world: &World,
    row: &'static str,
    held: &BenchBrain,
    graph: &MemoryGraph,
) -> Outcome<Measurement> {
    let sqlite = world.sqlite()?;
    let mut statement = sqlite.connection.prepare(sqlite::TYPE_TIME_FIELDS)?;
    let corpus = held.corpus;
    let [mut a, mut b, mut c] = [(); 3].map(|()| in_turn(&corpus));
    let medians = Contest::new()
        .again("ours", || {
            let view = held.reader.view()?;
            let mut sum = 0u64;
            for id in ours(&view, PatternKind::TypeTime, a())? {
                sum = sum.wrapping_add(read::ours(&view, NodeId(id))?);
            }
            Ok(sum)
        })
        .again("reference", || {
            let events = theirs(graph, PatternKind::TypeTime, b())?;
            let sums = events.iter().map(|event| read::theirs(event));
            Ok(sums.fold(0u64, u64::wrapping_add))
        })
        .again("SQLite", || peer_fields(&mut statement, c()))
        .run()?;
    Ok(Measurement {
        row,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        peers: medians
            .of("SQLite")
            .map(|time| ("SQLite", time))
            .into_iter()
            .collect(),
        ..Measurement::default()
    })
}

fn ours(view: &View, by: PatternKind, question: Question) -> Outcome<Vec<u64>> {
    let types = vec![EventType(question.event_type)];
    let recorded = Window {
        from: Some(question.from),
        until: Some(question.until),
    };
    let confidence = ValueRange {
        min: Some(question.least),
        max: None,
    };
    let default = Selection::default;
    let selection = match by {
        PatternKind::TypeTime => Selection {
            types,
            recorded,
            ..default()
        },
        PatternKind::TypeConfidence => Selection {
            types,
            confidence,
            ..default()
        },
        PatternKind::Time => Selection {
            recorded,
            ..default()
        },
        PatternKind::Strength => default(),
    };
    let order = match by {
        PatternKind::Strength => Order::Strongest,
        _ => Order::default(),
    };
    let pattern = Pattern {
        selection,
        order,
        limit: LIMIT,
        cursor: None,
    };
    Ok(pattern.run(view)?.ids.into_iter().map(|id| id.0).collect())
}

fn theirs(
    graph: &MemoryGraph,
    by: PatternKind,
    question: Question,
) -> Outcome<Vec<&CognitiveEvent>> {
    let is_timed = matches!(by, PatternKind::TypeTime | PatternKind::Time);
    let is_typed = matches!(by, PatternKind::TypeTime | PatternKind::TypeConfidence);
    let event_type = reference::event_type(question.event_type)?;
    let params = PatternParams {
        event_types: is_typed.then_some(event_type).into_iter().collect(),
        min_confidence: (by == PatternKind::TypeConfidence).then_some(question.least),
        max_confidence: None,
        session_ids: Vec::new(),
        created_after: is_timed.then_some(question.from.0 as u64),
        // Their window has its end in it.
        created_before: is_timed.then_some(question.until.0 as u64 - 1),
        min_decay_score: None,
        max_results: LIMIT,
        sort_by: match by {
            PatternKind::Strength => PatternSort::MostImportant,
            _ => PatternSort::MostRecent,
        },
    };
    Ok(QueryEngine::new().pattern(graph, params)?)
}

fn peer(
    statement: &mut rusqlite::Statement<'_>,
    by: PatternKind,
    question: Question,
) -> Outcome<Vec<u64>> {
    let Question {
        event_type,
        from,
        until,
        least,
    } = question;
    match by {
        PatternKind::TypeTime => Sqlite::ids(statement, params![event_type, from.0, until.0]),
        PatternKind::TypeConfidence => Sqlite::ids(statement, params![event_type, least]),
        PatternKind::Time => Sqlite::ids(statement, params![from.0, until.0]),
        PatternKind::Strength => Sqlite::ids(statement, params![]),
    }
}

/// Every field that SQLite finds, in a sum.
fn peer_fields(statement: &mut rusqlite::Statement<'_>, question: Question) -> Outcome<u64> {
    let mut rows = statement.query(params![
        question.event_type,
        question.from.0,
        question.until.0
    ])?;
    let mut sum = 0u64;
    while let Some(row) = rows.next()? {
        for at in 0..4 {
            sum = sum.wrapping_add(row.get::<_, i64>(at)? as u64);
        }
        for at in 4..6 {
            sum = sum.wrapping_add(row.get::<_, f64>(at)?.to_bits());
        }
        let text = row.get_ref(6)?.as_bytes()?;
        let vector = row.get_ref(7)?.as_blob()?;
        let line = vector.iter().take(read::LINE);
        sum = text
            .iter()
            .chain(line)
            .fold(sum, |sum, &byte| sum.wrapping_add(byte.into()));
    }
    Ok(sum)
}

fn strengths(corpus: &Corpus, ids: &[u64]) -> Vec<f32> {
    ids.iter().map(|&id| corpus.bare(id).decay_score).collect()
}
