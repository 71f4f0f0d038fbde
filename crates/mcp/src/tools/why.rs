//! `why`: what a memory rests on, or what rests on it, as a tree.

use std::collections::HashSet;

use amem_format::Micros;
use amem_proto::v1;

use super::parameters::tokens;
use crate::answer::{Answer, day, id_of, line, one_line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::{LINE_CHARS_MAX, TREE_DEPTH_MAX, TREE_SIZE_MAX};
use crate::memories::{AskedMemory, Memories, in_words};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Reasons,
    Consequences,
}

const WAYS: [(&str, Way); 2] = [
    ("reasons", Way::Reasons),
    ("consequences", Way::Consequences),
];

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let id = arguments.needed("id")?;
    let way = arguments
        .choice("direction", &WAYS)?
        .unwrap_or(Way::Reasons);
    let at = arguments.time("as_of", &memories.clock())?;
    let tokens = tokens(&mut arguments)?;
    let fact = memories.readable(&id, at).await?;
    let mut answer = Answer::within(tokens);
    let mut left = walk(memories, &fact, way, at, &mut answer).await?;
    if way == Way::Reasons && at.is_none() {
        for text in history(memories, &fact).await? {
            left += usize::from(!answer.push(&text));
        }
    }
    let head = line(&fact, &[], memories.place, LINE_CHARS_MAX);
    let head = match (way, fact.because_ids.is_empty()) {
        (Way::Reasons, true) => format!("{head}\nno reasons were given for it"),
        _ => head,
    };
    let end = match left {
        0 => String::new(),
        left => format!("{left} lines left out for max_tokens"),
    };
    Ok(answer.finish(&head, &end))
}

/// Writes the tree below a memory; returns how many lines had no room.
async fn walk<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    root: &v1::Fact,
    way: Way,
    at: Option<Micros>,
    answer: &mut Answer,
) -> Words<usize> {
    let mut left = 0;
    let mut seen = HashSet::from([root.id.clone()]);
    // The next to write is on top.
    let mut open = children(memories, root, way, at, 1).await?;
    while let Some(Branch { depth, child }) = open.pop() {
        let indent = "  ".repeat(depth);
        let arrow = match way {
            Way::Reasons => '←',
            Way::Consequences => '→',
        };
        let text = match &child {
            Child::Gone => format!("{indent}{arrow} a reason that was forgotten"),
            Child::Memory(fact, note) => {
                let known = if seen.contains(&fact.id) {
                    " (see above)"
                } else {
                    ""
                };
                let shown = line(fact, &[], memories.place, 300);
                format!("{indent}{arrow} {shown}{note}{known}")
            }
        };
        left += usize::from(!answer.push(&text));
        if let Child::Memory(fact, _) = child
            && seen.insert(fact.id.clone())
            && depth < TREE_DEPTH_MAX
            && seen.len() < TREE_SIZE_MAX
        {
            open.extend(children(memories, &fact, way, at, depth + 1).await?);
        }
    }
    if way == Way::Consequences && seen.len() == 1 {
        answer.push("nothing rests on it");
    }
    Ok(left)
}

struct Branch {
    depth: usize,
    child: Child,
}

enum Child {
    Gone,
    /// A memory, and what happened to it since.
    Memory(Box<v1::Fact>, String),
}

/// The next level of the tree, the last one first.
async fn children<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    fact: &v1::Fact,
    way: Way,
    at: Option<Micros>,
    depth: usize,
) -> Words<Vec<Branch>> {
    let mut out = Vec::new();
    match way {
        Way::Consequences => {
            for child in memories.resting_on(&fact.id, at).await? {
                out.push(Child::Memory(Box::new(child), String::new()));
            }
        }
        Way::Reasons => {
            for id in fact.because_ids.iter().take(TREE_SIZE_MAX) {
                let found = memories.find(&AskedMemory::Id(id.clone()), at).await;
                out.push(match found.map_err(in_words)? {
                    None => Child::Gone,
                    Some(cause) => {
                        let is_later =
                            |time: &v1::Fact| time.updated_at.map(|t| (t.seconds, t.nanos));
                        let note = if is_later(&cause) > is_later(fact) {
                            format!(
                                " (corrected since, on {})",
                                day(cause.updated_at, memories.place)
                            )
                        } else {
                            String::new()
                        };
                        Child::Memory(Box::new(cause), note)
                    }
                });
            }
        }
    }
    out.reverse();
    Ok(out
        .into_iter()
        .map(|child| Branch { depth, child })
        .collect())
}

/// Earlier versions, and what was said.
async fn history<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    fact: &v1::Fact,
) -> Words<Vec<String>> {
    let request = v1::GetFactHistoryRequest {
        brain: memories.brain(),
        id: fact.id.clone(),
        page_size: 100,
        ..v1::GetFactHistoryRequest::default()
    };
    let history = memories
        .calls
        .get_fact_history(request)
        .await
        .map_err(in_words)?;
    let mut out = Vec::new();
    let mut before: Option<u64> = None;
    for record in &history.records {
        if record.event() == v1::FactEvent::Update {
            let reason = match record.reason.as_str() {
                "" => String::new(),
                reason => format!(" ({})", shortened(&one_line(reason), 200)),
            };
            let old = record.old_memory.as_deref().unwrap_or_default();
            out.push(format!(
                "  was until {} [{}]: {}{reason}",
                day(record.time, memories.place),
                id_of(before.unwrap_or_default()),
                shortened(&one_line(old), 300),
            ));
        }
        if matches!(record.event(), v1::FactEvent::Add | v1::FactEvent::Update) {
            before = Some(record.event_id);
        }
        let said = record.sources.iter().filter(|source| {
            !source.text.is_empty() && Some(&source.text) != record.new_memory.as_ref()
        });
        out.extend(said.take(3).map(|source| {
            format!(
                "  said by the {} on {}: \"{}\"",
                source.role,
                day(source.time, memories.place),
                shortened(&one_line(&source.text), 300)
            )
        }));
    }
    Ok(out)
}
