//! Emphasis: what a question says of who spoke and when multiplies the scores of the events that fit.
//!
//! - A speaker whom the question names: "what did Caroline say".
//! - A role, in conversations with an assistant: "what did you suggest" asks for what the assistant said, "what did I
//!   want" for what the user said.
//! - A time: "in June 2023". An event counts whole within it, and less up to a day before and two weeks after, when
//!   people still talk about it.
//!
//! - Recency: with a half-life, older events count less.
//!
//! Promises: only that of recency is below 1, and an event's factor depends on the question and that event alone.
//! Not here: which words of a question are a time (`time_phrase::times_in`).

use std::collections::HashMap;

use crate::search::request::Search;
use crate::time_phrase::{ProseTime, times_in};
use amem_format::analyzer;
use amem_format::attributes;
use amem_format::error::Result;
use amem_format::types::Micros;
use amem_format::view::{Node, View};

/// How long after a time people still talk about it, and how long before.
const AFTER: i64 = 14 * DAY;
const BEFORE: i64 = DAY;
const DAY: i64 = 86_400_000_000;

/// Words of a question that are compared with speakers.
const WORDS_MAX: usize = 256;

/// What an assistant has done, in the past tense: "would you suggest" and "can you explain" ask for something new.
const ASSISTANT_DID: [&str; 18] = [
    "said",
    "suggested",
    "recommended",
    "told",
    "mentioned",
    "gave",
    "given",
    "explained",
    "provided",
    "advised",
    "listed",
    "showed",
    "shown",
    "wrote",
    "written",
    "described",
    "proposed",
    "answered",
];
/// What an assistant has given.
const ASSISTANT_GAVE: [&str; 5] = [
    "suggestion",
    "suggestions",
    "recommendation",
    "recommendations",
    "advice",
];
/// Words that ask for what the user said.
const ASKS_USER: [&str; 8] = ["i", "my", "me", "we", "our", "mine", "i'm", "i've"];

/// What a question stresses.
#[derive(Debug)]
pub(super) struct Emphasis {
    /// The words of the question as written, and in lower case.
    words: Vec<(String, String)>,
    /// The speaker that stands for the one who asks, or for the one who is asked.
    role: Option<&'static str>,
    times: Vec<ProseTime>,
    speaker_boost: f32,
    time_boost: f32,
    recency: Option<Recency>,
    /// Whether the question means a speaker: few speak, and each in many events.
    meant: HashMap<String, bool>,
}

/// The factors of an event; 1 for none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EmphasisFactors {
    pub(super) speaker: f32,
    pub(super) time: f32,
    pub(super) recency: f32,
}

impl EmphasisFactors {
    pub(super) const NONE: Self = Self {
        speaker: 1.0,
        time: 1.0,
        recency: 1.0,
    };
}

impl Emphasis {
    pub(super) fn new(view: &View, search: &Search) -> Result<Self> {
        let is_letter = |c: char| c.is_alphanumeric() || c == '\'' || c == '\u{2019}';
        let words: Vec<(String, String)> = search
            .question
            .split(|c| !is_letter(c))
            .filter(|word| !word.is_empty())
            .take(WORDS_MAX)
            .map(|word| word.replace('\u{2019}', "'"))
            .map(|word| (word.clone(), word.to_lowercase()))
            .collect();
        let role = role(&words);
        let times = match search.time_boost {
            0.0 => Vec::new(),
            _ => times_in(&search.question, &search.clock.or_utc()),
        };
        let words = match may_speak(view, &words, role)? {
            false => Vec::new(),
            true => words,
        };
        let now = search.clock.present().unwrap_or(view.moment().1);
        let recency = (search.recency_half_life > 0.0).then_some(Recency {
            now,
            half_life: f64::from(search.recency_half_life) * DAY as f64,
        });
        Ok(Self {
            words,
            role,
            times,
            speaker_boost: search.speaker_boost,
            time_boost: search.time_boost,
            recency,
            meant: HashMap::new(),
        })
    }

    /// The greatest factor that an event can have.
    pub(super) fn max(&self) -> f32 {
        let speaker = match self.words.is_empty() || self.speaker_boost == 0.0 {
            true => 1.0,
            false => 1.0 + self.speaker_boost,
        };
        let time = match self.times.is_empty() {
            true => 1.0,
            false => 1.0 + self.time_boost,
        };
        speaker * time
    }

    /// The factors of an event.
    pub(super) fn of(&mut self, node: &Node<'_>) -> Result<EmphasisFactors> {
        let mut factors = EmphasisFactors::NONE;
        if self.speaker_boost > 0.0
            && !self.words.is_empty()
            && let Some(json) = node.attributes_json()?
            && let Some(speaker) = attributes::speaker(&json)
            && self.means(speaker)
        {
            factors.speaker += self.speaker_boost;
        }
        if !self.times.is_empty() {
            let at = node.happened()?;
            let nearness = self.times.iter().map(|time| nearness(*time, at));
            factors.time += self.time_boost * nearness.fold(0.0, f32::max);
        }
        if let Some(recency) = &self.recency {
            factors.recency = recency.of(node.happened()?);
        }
        Ok(factors)
    }

    /// True if the question names who spoke, and not only a role.
    pub(super) fn names(&self, node: &Node<'_>) -> Result<bool> {
        let json = match self.words.is_empty() {
            true => None,
            false => node.attributes_json()?,
        };
        let speaker = json.and_then(|json| attributes::speaker(&json));
        Ok(speaker.is_some_and(|speaker| self.is_named(&speaker.to_lowercase())))
    }

    /// True if no event has another factor than 1.
    pub(super) fn is_none(&self) -> bool {
        self.max() == 1.0 && self.recency.is_none()
    }

    fn means(&mut self, speaker: String) -> bool {
        if let Some(&is_meant) = self.meant.get(&speaker) {
            return is_meant;
        }
        let is_meant = self.is_meant(&speaker);
        self.meant.insert(speaker, is_meant);
        is_meant
    }

    /// True if the question names a speaker, or means that role.
    fn is_meant(&self, speaker: &str) -> bool {
        let lower = speaker.to_lowercase();
        self.role == Some(lower.as_str()) || self.is_named(&lower)
    }

    /// True if the question names a speaker, given in lower case.
    fn is_named(&self, lower: &str) -> bool {
        let names: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|name| !name.is_empty())
            .collect();
        let Some(first) = names.first() else {
            return false;
        };
        let is_whole = names.len() > 1
            && self.words.windows(names.len()).any(|words| {
                words
                    .iter()
                    .zip(&names)
                    .all(|((_, word), name)| possessor(word) == *name)
            });
        // "will" is a speaker only as Will.
        let is_word = analyzer::is_stop_word(first);
        is_whole
            || self.words.iter().any(|(written, word)| {
                possessor(word) == *first && (!is_word || written.starts_with(char::is_uppercase))
            })
    }
}

/// False if the question means none of those who speak in a view. Then no event has a greater factor than 1, and a
/// search ends sooner. True says nothing: the index does not know what the scope and the moment hide.
fn may_speak(view: &View, words: &[(String, String)], role: Option<&str>) -> Result<bool> {
    let (base, delta) = (view.brain().base(), view.brain().delta());
    let values = base.values()?;
    let is_unlisted = match values {
        Some(values) => !values.unlisted().is_empty(),
        None => !base.attributes()?.ids().is_empty(),
    };
    if view.before_base() || is_unlisted {
        return Ok(true);
    }
    let names = words.iter().map(|(_, word)| possessor(word));
    for name in names.chain(role) {
        let hash = attributes::speaker_hash(name);
        let listed = values.map_or(Ok(0), |values| values.count(hash))?;
        if listed > 0 || delta.speakers.get(hash).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A word without a possessive ending.
fn possessor(word: &str) -> &str {
    let word = word.strip_suffix("'s").unwrap_or(word);
    word.trim_matches('\'')
}

/// The role that a question asks for.
fn role(words: &[(String, String)]) -> Option<&'static str> {
    let lower: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
    let asks_assistant = lower.windows(2).any(|pair| match pair {
        ["did", "you"] => true,
        ["you" | "you've", verb] => ASSISTANT_DID.contains(verb),
        ["your", gift] => ASSISTANT_GAVE.contains(gift),
        _ => false,
    }) || lower.windows(3).any(
        |words| matches!(words, ["you", "have" | "had", verb] if ASSISTANT_DID.contains(verb)),
    );
    if asks_assistant {
        return Some("assistant");
    }
    let is_user = lower.iter().any(|word| ASKS_USER.contains(word));
    is_user.then_some("user")
}

/// How age counts.
#[derive(Debug)]
struct Recency {
    now: Micros,
    /// In microseconds.
    half_life: f64,
}

impl Recency {
    /// A half for every half-life; 1 for the future.
    fn of(&self, at: Micros) -> f32 {
        let age = self.now.0.saturating_sub(at.0).max(0) as f64;
        (-age / self.half_life).exp2() as f32
    }
}

/// 1 within a time, falling to 0 over `BEFORE` and `AFTER`.
fn nearness(time: ProseTime, at: Micros) -> f32 {
    let until = |distance: i64, reach: i64| (1.0 - distance as f64 / reach as f64).max(0.0) as f32;
    match time.end {
        _ if at < time.start => until(time.start.0.saturating_sub(at.0), BEFORE),
        Some(end) if at >= end => until(at.0.saturating_sub(end.0), AFTER),
        _ => 1.0,
    }
}
