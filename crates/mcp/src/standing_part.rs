//! The standing instructions of a recall as a part of their own, within a share of its budget.
//!
//! The part has what concerns the question first. What it shows is not shown again by the entries below it.

use std::collections::HashSet;

use amem_proto::v1;

use crate::answer::{Answer, standing_line};
use crate::limits::{
    CHARS_PER_TOKEN, STANDING_PERCENT, STANDING_REST_PERCENT, STANDING_TOKENS_MAX,
};
use crate::memory_place::MemoryPlace;

/// The title of the part.
pub const STANDING_TITLE: &str = "asked for, in every session:";
/// The title of the entries below it.
pub const ENTRIES_TITLE: &str = "about the question:";

/// Words of an entry that say nothing beside its instruction: less is the instruction again.
const OWN_WORDS_MIN: usize = 3;
/// An entry says what an instruction of its turn says if it has this share of the words.
const SAME_SHARE: f32 = 0.75;
/// What a memory says of a person that the person does not say.
const OF_PERSONS: [&str; 5] = ["user", "asks", "prefers", "wants", "likes"];

/// Standing instructions that have room.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StandingPart {
    /// A line for each.
    pub lines: Vec<String>,
    shown: Vec<v1::RecallEntry>,
}

impl StandingPart {
    /// The first ones that fit into their share of a budget of tokens; what concerns something else has a smaller
    /// share.
    #[must_use]
    pub fn within(tokens_max: u64, standing: &[v1::RecallEntry], place: &MemoryPlace) -> Self {
        let share = |percent: u64| {
            let tokens = (tokens_max.saturating_mul(percent) / 100).min(STANDING_TOKENS_MAX);
            usize::try_from(tokens).unwrap_or(usize::MAX) * CHARS_PER_TOKEN
        };
        let (mut part, mut chars) = (Self::default(), STANDING_TITLE.len() + ENTRIES_TITLE.len());
        for entry in standing {
            let room = match entry.relevance > 0.0 {
                true => share(STANDING_PERCENT),
                false => share(STANDING_REST_PERCENT),
            };
            let line = standing_line(entry, place);
            let with_line = chars + line.chars().count() + 1;
            if with_line <= room {
                chars = with_line;
                part.lines.push(line);
                part.shown.push(entry.clone());
            }
        }
        part
    }

    /// Its tokens, with the titles.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let chars = |line: &String| line.chars().count() + 1;
        match self.lines.iter().map(chars).sum::<usize>() {
            0 => 0,
            own => {
                let titles = STANDING_TITLE.len() + ENTRIES_TITLE.len() + 2;
                (own + titles).div_ceil(CHARS_PER_TOKEN) as u64
            }
        }
    }

    /// The instructions of the lines.
    #[must_use]
    pub fn shown(&self) -> &[v1::RecallEntry] {
        &self.shown
    }

    /// Entries without what the part shows.
    #[must_use]
    pub fn without_doubles(&self, entries: Vec<v1::RecallEntry>) -> Vec<v1::RecallEntry> {
        let entries = entries.into_iter();
        entries.filter_map(|entry| self.without(entry)).collect()
    }

    /// An entry without what the part shows; `None` if nothing is left of it.
    fn without(&self, mut entry: v1::RecallEntry) -> Option<v1::RecallEntry> {
        for shown in &self.shown {
            if !is_same_turn(shown, &entry) {
                continue;
            }
            if entry.text.contains(&shown.text) {
                entry.text = entry.text.replacen(&shown.text, "…", 1);
                entry.passage = true;
                if words_of(&entry.text).len() < OWN_WORDS_MIN {
                    return None;
                }
            } else if is_said_by(&entry.text, &shown.text) {
                return None;
            }
        }
        Some(entry)
    }

    /// Adds the part to an answer, before its entries.
    pub(crate) fn push(&self, answer: &mut Answer) {
        if self.lines.is_empty() {
            return;
        }
        answer.push(STANDING_TITLE);
        for line in &self.lines {
            answer.push(line);
        }
        answer.push(ENTRIES_TITLE);
    }
}

/// True if an entry is the turn of an instruction, or a memory that is from it.
pub(crate) fn is_same_turn(standing: &v1::RecallEntry, entry: &v1::RecallEntry) -> bool {
    let fact = entry.fact.as_ref();
    entry.event_id == standing.event_id
        || entry.double_ids.contains(&standing.event_id)
        || fact.is_some_and(|fact| fact.source_ids.contains(&standing.id))
}

/// True if the words of a text are those of an instruction.
pub(crate) fn is_said_by(text: &str, standing: &str) -> bool {
    let (own, said) = (words_of(text), words_of(standing));
    let same = own.iter().filter(|word| said.contains(*word)).count();
    same as f32 >= SAME_SHARE * own.len() as f32
}

fn words_of(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let mut words: HashSet<String> = words.map(str::to_lowercase).collect();
    words.retain(|word| !OF_PERSONS.contains(&word.as_str()));
    words
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn entry(event: u64, text: &str, relevance: f32) -> v1::RecallEntry {
        v1::RecallEntry {
            source: v1::RecallSource::Said.into(),
            event_id: event,
            id: format!("turn {event}"),
            text: text.to_owned(),
            relevance,
            ..v1::RecallEntry::default()
        }
    }

    fn place() -> MemoryPlace {
        MemoryPlace {
            brain: String::new(),
            project: None,
            user: "ada".to_owned(),
            zone: TimeZone::UTC,
            naming: None,
            notice: None,
        }
    }

    #[test]
    fn instructions_have_a_share_of_the_budget_and_those_of_other_things_a_smaller_one() {
        let of = |relevance: f32| -> Vec<v1::RecallEntry> {
            (0..40)
                .map(|event| entry(event, "Always reply in German, whatever I ask", relevance))
                .collect()
        };
        for (tokens, relevance, room) in [
            (500, 0.5, 500 * STANDING_PERCENT / 100),
            (500, 0.0, 500 * STANDING_REST_PERCENT / 100),
            (8_000, 0.5, STANDING_TOKENS_MAX),
        ] {
            let part = StandingPart::within(tokens, &of(relevance), &place());
            let chars: usize = part.lines.iter().map(String::len).sum();
            let room = usize::try_from(room).unwrap() * CHARS_PER_TOKEN;
            assert!(
                !part.lines.is_empty() && chars <= room,
                "{tokens}: {chars} of {room}"
            );
        }
    }

    #[test]
    fn what_the_part_shows_is_not_shown_again_below_it() {
        let said = [entry(1, "Always reply in German.", 0.5)];
        let part = StandingPart::within(500, &said, &place());
        let formed = v1::RecallEntry {
            event_id: 2,
            text: "User asks: always reply in German".to_owned(),
            fact: Some(v1::Fact {
                source_ids: vec!["turn 1".to_owned()],
                ..v1::Fact::default()
            }),
            ..v1::RecallEntry::default()
        };
        let left = part.without_doubles(vec![
            entry(1, "Always reply in German.", 0.9),
            formed,
            entry(3, "The lessons are in German.", 0.7),
            entry(
                1,
                "Always reply in German. The port of staging is 5433.",
                0.9,
            ),
        ]);
        let texts: Vec<&str> = left.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "The lessons are in German.",
                "… The port of staging is 5433."
            ]
        );
    }
}
