//! Scores of every event, in double precision.

use std::collections::BTreeMap;

use amem_format::analyzer::{
    Analyzer, CHARACTER, STOP_WORD, Scratch, UNIT, WITH_E, is_aside, is_stop_word,
};
use amem_format::{EdgeType, Flags};
use amem_query::search::Hit;
use amem_query::text::{is_foreign, is_request};
use amem_query::time_phrase::{ProseTime, times_in};
use amem_query::{Scope, Search};

use super::graph::resolve;
use super::history::ViewState;
use super::listing::is_in_scope;
use super::state::Event;

fn counts(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    Analyzer::new().for_each_term(text, &mut Scratch::default(), |term| {
        *counts.entry(term.to_owned()).or_insert(0) += 1;
    });
    counts
}

/// The terms of a text that are no asides; 1 if there are only asides.
fn length(text: &str) -> u32 {
    let all = counts(text);
    let counted = all.iter().filter(|(term, _)| !is_aside(term));
    counted
        .map(|(_, tf)| tf)
        .sum::<u32>()
        .max(u32::from(!all.is_empty()))
}

/// What a question asks about: spellings that are one word, and its weight. Of questions whose stop words are English.
fn question_terms(question: &str) -> Vec<(Vec<String>, f64)> {
    let mut all: Vec<(Vec<String>, f64)> = Vec::new();
    let mut last = None;
    Analyzer::new().for_each_term(question, &mut Scratch::default(), |term| {
        let body = term
            .trim_start_matches([CHARACTER, STOP_WORD, WITH_E])
            .to_owned();
        let (spellings, weight) = match term.chars().next() {
            Some(WITH_E) => {
                let at: usize = last.expect("a spelling follows its word");
                return all[at].0.push(body);
            }
            Some(CHARACTER) => (vec![term.to_owned()], 0.4),
            Some(STOP_WORD) => (vec![term.to_owned(), body], 1.0),
            Some(UNIT) => (vec![body.clone(), format!("{UNIT}{body}")], 0.5),
            _ if term.chars().count() == 1 && !term.is_ascii() => {
                let marked = [UNIT, CHARACTER].map(|mark| format!("{mark}{term}"));
                (
                    vec![term.to_owned(), marked[0].clone(), marked[1].clone()],
                    1.0,
                )
            }
            _ => (vec![term.to_owned(), format!("{UNIT}{term}")], 1.0),
        };
        last = all.iter().position(|(known, _)| known[0] == spellings[0]);
        match last {
            Some(at) => all[at].1 += weight,
            None => {
                last = Some(all.len());
                all.push((spellings, weight));
            }
        }
    });
    let has_words = all.iter().any(|(spellings, _)| !is_aside(&spellings[0]));
    all.retain(|(spellings, _)| !has_words || !spellings[0].starts_with(STOP_WORD));
    all
}

/// True if a fifth of the words are English stop words.
fn is_english(question: &str) -> bool {
    let lower = question.to_lowercase();
    let words: Vec<_> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    let stop_words = words.iter().filter(|word| is_stop_word(word)).count();
    !words.is_empty() && stop_words * 5 >= words.len()
}

/// True if a question may be English although it has no stop word of it.
fn is_open(question: &str) -> bool {
    question.chars().all(|c| c.is_ascii() || !c.is_alphabetic())
}

/// True if one edit behind the first letter makes `b` of `a`.
fn is_typo(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let same_end = |a: &[char], b: &[char]| a == b;
    let (x, y) = (&a[same..], &b[same..]);
    same > 0
        && match (x, y) {
            ([], []) => false,
            ([], [_]) | ([_], []) => true,
            ([], _) | (_, []) => false,
            ([p, xs @ ..], [q, ys @ ..]) => {
                same_end(xs, ys)
                    || same_end(xs, y)
                    || same_end(x, ys)
                    || xs.first() == Some(q)
                        && ys.first() == Some(p)
                        && same_end(&xs[1..], &ys[1..])
            }
        }
}

/// What is added to a term, from how many texts have each term.
fn additions(
    term: &str,
    is_known: bool,
    known: &BTreeMap<&str, u32>,
    english: bool,
    open: bool,
) -> Vec<(String, f64)> {
    let letters: Vec<char> = term.chars().collect();
    let mut added: Vec<(String, f64)> = Vec::new();
    if !letters.iter().all(|c| c.is_alphabetic()) {
        return added;
    }
    // A letter that English lacks tells another language; the questions of worlds have no other sign of one.
    let (letters_min, weight) = if open { (5, 0.5) } else { (4, 0.7) };
    if !english && letters.len() >= letters_min {
        let start: String = letters[..(letters.len() - 1).clamp(4, 5)].iter().collect();
        for form in known.keys().filter(|k| k.starts_with(&start)) {
            if form.chars().count().abs_diff(letters.len()) <= 5 {
                added.push(((*form).to_owned(), weight));
            } else if form.starts_with(term) {
                added.push(((*form).to_owned(), 0.5));
            }
        }
    }
    if !english && letters.len() >= 6 {
        let longer = |k: &&&str| k.ends_with(term) && k.chars().count() >= letters.len() + 3;
        added.extend(known.keys().filter(longer).map(|k| ((*k).to_owned(), 0.5)));
        let (mut start, mut end) = (None, None);
        for at in 4..=letters.len() - 4 {
            let part: String = letters[at..].iter().collect();
            if end.is_none() && known.contains_key(part.as_str()) {
                end = Some(part);
            }
        }
        for at in (4..=letters.len() - 4).rev() {
            let part: String = letters[..at].iter().collect();
            for link in ["", "s", "es", "n", "en", "e"] {
                let part = part
                    .strip_suffix(link)
                    .filter(|part| part.chars().count() >= 4);
                if let Some(part) = part.filter(|part| start.is_none() && known.contains_key(part))
                {
                    start = Some(part.to_owned());
                }
            }
        }
        added.extend(start.into_iter().chain(end).map(|part| (part, 0.5)));
    }
    if !is_known && letters.len() >= 4 {
        let mut typos: Vec<_> = known.iter().filter(|(k, _)| is_typo(term, k)).collect();
        typos.sort_by_key(|&(k, count)| (std::cmp::Reverse(count), k));
        added.extend(
            typos
                .into_iter()
                .take(3)
                .map(|(k, _)| ((*k).to_owned(), 0.8)),
        );
    }
    added
}

/// The BM25 score of every event of a scope that says a word of a question and was not erased.
pub fn bm25(known: &ViewState, question: &str, scope: &Scope) -> BTreeMap<u64, f64> {
    let events = known.state.events.iter();
    let events: Vec<_> = events.filter(|e| is_in_scope(e, scope)).collect();
    let texts: Vec<_> = events.iter().map(|event| counts(&event.indexed)).collect();
    let lengths: Vec<u32> = events.iter().map(|event| length(&event.indexed)).collect();
    let n = texts.len() as f64;
    let mean = f64::from(lengths.iter().sum::<u32>()) / n;
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let quarter = sorted.get(sorted.len().div_ceil(4).wrapping_sub(1));
    let mean = mean.min(f64::from(quarter.copied().unwrap_or(0).max(16)));
    let mut said: BTreeMap<&str, u32> = BTreeMap::new();
    for term in texts.iter().flat_map(BTreeMap::keys) {
        *said.entry(term).or_insert(0) += 1;
    }
    let mut scores = BTreeMap::new();
    for (spellings, weight) in question_terms(question) {
        let is_known = spellings
            .iter()
            .any(|term| said.contains_key(term.as_str()));
        let mut group: BTreeMap<String, f64> = BTreeMap::new();
        let added = additions(
            &spellings[0],
            is_known,
            &said,
            is_english(question),
            is_open(question),
        );
        let exact = spellings.iter().map(|term| (term.clone(), 1.0));
        for (term, weight) in exact.chain(added) {
            group.entry(term).or_insert(weight);
        }
        let tf_of = |text: &BTreeMap<String, u32>| {
            let tf =
                |(term, weight): (&String, &f64)| text.get(term).map(|tf| weight * f64::from(*tf));
            let sum: f64 = group.iter().filter_map(tf).sum();
            let is_exact = spellings.iter().any(|term| text.contains_key(term));
            if is_exact { sum } else { sum.min(0.9) }
        };
        let df = texts.iter().filter(|text| tf_of(text) > 0.0).count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for ((event, text), &length) in events.iter().zip(&texts).zip(&lengths) {
            let tf = tf_of(text);
            if tf == 0.0 || event.flags.has(Flags::ERASED) {
                continue;
            }
            let length = f64::from(length).max(mean);
            let saturated = tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean));
            *scores.entry(event.id).or_insert(0.0) += weight * idf * saturated;
        }
    }
    scores
}

/// Cosines whose greatest is no further above their mean are alike.
const ALIKE: f64 = 1e-3;

/// The cosine between a vector and that of every event.
pub fn cosines(known: &ViewState, vector: &[f32]) -> BTreeMap<u64, f64> {
    let wide = |v: &[f32]| -> Vec<f64> { v.iter().map(|&x| f64::from(x)).collect() };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let question = wide(vector);
    let mut cosines = BTreeMap::new();
    for event in &known.state.events {
        let Some(vector) = &event.made.vector else {
            continue;
        };
        let own = wide(vector);
        let lengths = (dot(&question, &question) * dot(&own, &own)).sqrt();
        if lengths > 0.0 {
            cosines.insert(event.id, dot(&question, &own) / lengths);
        }
    }
    cosines
}

/// The cosines of the events of a search's scope, and their mean. Worlds are of no embedder's space.
fn scoped_cosines(known: &ViewState, search: &Search) -> (BTreeMap<u64, f64>, f64) {
    if search.vector.is_empty() {
        return (BTreeMap::new(), 0.0);
    }
    let is_in = |id: &u64| is_in_scope(&known.state.events[*id as usize], &search.selection.scope);
    let unit = |vector: &[f32]| -> Option<Vec<f64>> {
        let length = vector
            .iter()
            .map(|&x| f64::from(x).powi(2))
            .sum::<f64>()
            .sqrt();
        (length > 0.0).then(|| vector.iter().map(|&x| f64::from(x) / length).collect())
    };
    let mut question = search.vector.clone();
    let events = known.state.events.iter().filter(|event| is_in(&event.id));
    let units = events.filter_map(|event| unit(event.made.vector.as_ref()?));
    // The worlds have fewer events than are sampled at most: means are those of all.
    let units: Vec<Vec<f64>> = units.collect();
    if search.centred
        && !units.is_empty()
        && let Some(own) = unit(&question)
    {
        let mean = |at: usize| units.iter().map(|unit| unit[at]).sum::<f64>() / units.len() as f64;
        let centred: Vec<f64> = own.iter().enumerate().map(|(at, x)| x - mean(at)).collect();
        if centred.iter().map(|x| x * x).sum::<f64>().sqrt() > 1e-3 {
            question = centred.iter().map(|&x| x as f32).collect();
        }
    }
    let cosines = cosines(known, &question);
    let cosines: BTreeMap<_, _> = cosines.into_iter().filter(|(id, _)| is_in(id)).collect();
    let mean = cosines.values().sum::<f64>() / cosines.len().max(1) as f64;
    (cosines, mean)
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreParts {
    /// Of words.
    pub text: f64,
    /// Of the vector.
    pub vector: f64,
    /// Of neighbours.
    pub neighbours: f64,
    /// Of the session.
    pub session: f64,
    /// What is added to 1 for who spoke.
    pub speaker: f64,
    /// What is added to 1 for the time.
    pub time: f64,
    /// What is taken from 1 for the age.
    pub aged: f64,
}

impl ScoreParts {
    /// All of it.
    pub fn score(&self) -> f64 {
        (self.text + self.vector + self.neighbours + self.session)
            * (1.0 + self.speaker)
            * (1.0 + self.time)
            * (1.0 - self.aged)
    }
}

impl ViewState {
    /// True if a search finds an event: it is wanted itself, or what replaced it is.
    fn finds(&self, event: &Event, search: &Search) -> bool {
        let wanted = &search.selection;
        let is_shown = wanted.include_forgotten || !event.flags.has(Flags::FORGOTTEN);
        self.wants(event, wanted)
            || !search.include_superseded
                && is_shown
                && is_in_scope(event, &wanted.scope)
                && shown_as(self, search, event.id).is_some()
    }

    /// What every event has of its own, wanted or not. Worlds are of no embedder's space.
    fn own(&self, search: &Search) -> BTreeMap<u64, ScoreParts> {
        let scope = &search.selection.scope;
        let is_in = |id: &u64| is_in_scope(&self.state.events[*id as usize], scope);
        let (cosines, mean) = scoped_cosines(self, search);
        let greatest = cosines.values().copied().fold(f64::NEG_INFINITY, f64::max);
        let scaled = |cosine: f64| {
            let part = (cosine - mean) / (greatest - mean);
            if part > 0.0 {
                0.1 + 0.9 * part
            } else {
                0.1 / (1.0 - part)
            }
        };
        let scores = bm25(self, &search.question, scope);
        let most = scores.values().copied().fold(0.0, f64::max);
        let has_words = !counts(&search.question).is_empty();
        let text = if has_words {
            f64::from(search.text_weight.unwrap_or(0.6))
        } else {
            0.0
        };
        let has_cosines = greatest - mean > ALIKE;
        let vector = if has_cosines {
            f64::from(search.vector_weight.unwrap_or(0.4))
        } else {
            0.0
        };
        let mut own: BTreeMap<u64, ScoreParts> = BTreeMap::new();
        for (id, score) in scores {
            own.entry(id).or_default().text = text / (text + vector) * score / most;
        }
        for event in self.state.events.iter().filter(|event| is_in(&event.id)) {
            let vector_part = match cosines.get(&event.id) {
                Some(cosine) if has_cosines => vector / (text + vector) * scaled(*cosine),
                // Nothing but vectors was asked about, and they are all alike.
                _ if !has_cosines && !has_words && is_somewhere(event, search) => 1.0,
                _ => continue,
            };
            own.entry(event.id).or_default().vector = vector_part;
        }
        own
    }
}

/// True if an event asks something in few words.
fn is_short_question(event: &Event) -> bool {
    let terms = length(&event.indexed);
    let text = event.made.text.trim_end();
    !event.flags.has(Flags::ERASED) && terms <= 12 && text.ends_with(['?', '？', '؟'])
}

/// Who spoke, in lower case; nothing if that is not said.
fn spoke(event: &Event) -> Option<String> {
    let attributes = event.made.attributes.as_ref()?;
    Some(attributes.get("speaker")?.as_str()?.to_lowercase())
}

fn has(search: &Search, words: &str) -> bool {
    let question = format!(" {} ", search.question.to_lowercase());
    question.replace("?", " ").contains(&format!(" {words} "))
}

/// True if a question names who spoke.
fn is_named(search: &Search, event: &Event) -> bool {
    spoke(event).is_some_and(|name| has(search, &name))
}

/// What is added for who spoke.
fn speaker(search: &Search, event: &Event) -> f64 {
    let asks_assistant = ["did you", "you said"];
    let role = if asks_assistant.iter().any(|words| has(search, words)) {
        "assistant"
    } else if ["i", "my", "me", "we"].iter().any(|word| has(search, word)) {
        "user"
    } else {
        ""
    };
    let is_meant = spoke(event).as_deref() == Some(role) || is_named(search, event);
    f64::from(search.speaker_boost) * f64::from(u8::from(is_meant))
}

/// What is added for the time that a question names.
fn time(search: &Search, event: &Event) -> f64 {
    const DAY: f64 = 86_400e6;
    let happened = event.happened() as f64;
    let near = |time: ProseTime| {
        let (start, end) = (time.start.0 as f64, time.end.map(|end| end.0 as f64));
        match end {
            _ if happened < start => 1.0 - (start - happened) / DAY,
            Some(end) if happened >= end => 1.0 - (happened - end) / (14.0 * DAY),
            _ => 1.0,
        }
    };
    let times = times_in(&search.question, &search.clock.or_utc());
    f64::from(search.time_boost) * times.into_iter().map(near).fold(0.0, f64::max)
}

/// What is taken for the age: days count from the moment, as no search of these gives a present.
fn aged(known: &ViewState, search: &Search, event: &Event) -> f64 {
    if search.recency_half_life == 0.0 {
        return 0.0;
    }
    let age = (known.time as f64 - event.happened() as f64).max(0.0) / 86_400e6;
    1.0 - 0.5f64.powf(age / f64::from(search.recency_half_life))
}

/// How well a hit answers a question.
#[derive(Debug, Default)]
pub struct Fit {
    /// All of it.
    pub value: f64,
    /// The share of the question's words that the event has, by rarity.
    pub own: f64,
    /// The share that it has with its neighbours.
    pub covered: f64,
    /// The share that the scope has.
    pub known: f64,
    /// Whether the question names who spoke.
    pub is_named: bool,
    /// Of the vector.
    pub meaning: f64,
}

/// True if a question says a term itself, and not as a part of another.
fn said_by(question: &str, wanted: &str) -> bool {
    let is_said = |term: &str| !is_aside(term) || term.starts_with(STOP_WORD);
    counts(question)
        .keys()
        .any(|term| term == wanted && is_said(term))
}

/// How well some events answer a question by their words, the first `own` of them being the event itself.
pub fn relevance(
    known: &ViewState,
    question: &str,
    scope: &Scope,
    events: &[&Event],
    own: usize,
    is_named: bool,
) -> Fit {
    let in_scope = known.state.events.iter().filter(|e| is_in_scope(e, scope));
    let in_scope: Vec<_> = in_scope.map(|event| counts(&event.indexed)).collect();
    let mut said: BTreeMap<&str, u32> = BTreeMap::new();
    for term in in_scope.iter().flat_map(BTreeMap::keys) {
        *said.entry(term).or_insert(0) += 1;
    }
    let texts: Vec<Option<BTreeMap<String, u32>>> = events
        .iter()
        .map(|event| (!event.flags.has(Flags::ERASED)).then(|| counts(&event.indexed)))
        .collect();
    let n = in_scope.len() as f64;
    let (mut asked, mut found, mut near_nats, mut own_nats) = (0.0, 0.0, 0.0, 0.0);
    for (exact, _) in question_terms(question) {
        if !said_by(question, &exact[0]) || is_request(&exact[0]) {
            continue;
        }
        let is_known = exact.iter().any(|term| said.contains_key(term.as_str()));
        let forms = |is_known: bool| -> Vec<String> {
            let added = additions(
                &exact[0],
                is_known,
                &said,
                is_english(question),
                is_open(question),
            );
            added.into_iter().map(|(form, _)| form).collect()
        };
        // A word that no text has in any form may have a typo.
        let is_guess = !is_known && forms(true).is_empty();
        let any: Vec<String> = exact.iter().cloned().chain(forms(is_known)).collect();
        let has = |text: &BTreeMap<String, u32>, terms: &[String]| {
            terms.iter().any(|term| text.contains_key(term))
        };
        let df = in_scope.iter().filter(|text| has(text, &any)).count() as f64;
        let rarity = (1.0 + (n + 100.0 - df + 0.5) / (df + 0.5)).ln();
        let expanded = if is_guess { 0.7 } else { 0.8 };
        asked += rarity;
        if df > 0.0 {
            found += rarity * if is_guess { 0.7 } else { 1.0 };
        }
        let nats = |texts: &[Option<BTreeMap<String, u32>>]| {
            let mut texts = texts.iter().flatten();
            match texts.clone().any(|text| has(text, &exact)) {
                true => rarity,
                false if texts.any(|text| has(text, &any)) => expanded * rarity,
                false => 0.0,
            }
        };
        near_nats += nats(&texts);
        own_nats += nats(&texts[..own]);
    }
    let share = |nats: f64| if asked > 0.0 { nats / asked } else { 0.0 };
    let (covered, known) = (share(near_nats), share(found));
    let letters = question.chars().filter(|c| c.is_alphabetic());
    let script = letters.map(|c| match u32::from(c) {
        ..0x80 => 0.0,
        ..0x250 | 0x1e00..0x1f00 => 0.4,
        0x2e80..0xa4d0 | 0xac00..0xd7a4 | 0xf900..0xfb00 | 0x20000.. => 1.4,
        _ => 0.75,
    });
    let is_there = texts.first().is_some_and(Option::is_some);
    let length = if is_there {
        f64::from(length(&events[0].indexed))
    } else {
        0.0
    };
    let size = n.max(1.0).ln() + 1.3 * (n.max(1.0) / 100.0).ln().min(0.0);
    let x = 4.1 * covered + 1.8 * known + 0.13 * own_nats
        - 0.27 * size
        - 2.4
        - (length / 30.0).max(1.0).ln()
        + if is_named { 2.25 } else { 0.0 }
        + script.fold(if is_foreign(question) { 0.4 } else { 0.0 }, f64::max);
    Fit {
        value: if covered > 0.0 {
            1.0 / (1.0 + (-x).exp())
        } else {
            0.0
        },
        own: share(own_nats),
        covered,
        known,
        ..Fit::default()
    }
}

/// How well a hit of a search answers its question.
pub fn fit(known: &ViewState, search: &Search, hit: &Hit) -> Fit {
    let event = |id: u64| &known.state.events[id as usize];
    let next = known.state.edges.keys();
    let next = next.filter(|(.., t)| EdgeType(*t) == EdgeType::TEMPORAL_NEXT);
    let (mut after, mut before) = (Vec::new(), Vec::new());
    for &(source, target, _) in next {
        if source == hit.found.0 {
            after.push(target);
        }
        if target == hit.found.0 {
            before.push(source);
        }
    }
    let mut near = vec![event(hit.found.0), event(hit.id.0)];
    for mut beside in [after, before] {
        beside.sort_unstable();
        let beside = beside.into_iter().take(8).map(event);
        near.extend(beside.filter(|event| known.finds(event, search)));
    }
    let is_named = is_named(search, event(hit.found.0));
    let words = relevance(
        known,
        &search.question,
        &search.selection.scope,
        &near,
        2,
        is_named,
    );
    let (cosines, mean) = scoped_cosines(known, search);
    let greatest = cosines.values().copied().fold(f64::NEG_INFINITY, f64::max);
    let meaning = match cosines.get(&hit.found.0) {
        Some(cosine) if greatest - mean > ALIKE => ((cosine - mean) / (1.0 - mean)).clamp(0.0, 1.0),
        _ => 0.0,
    };
    Fit {
        value: words.value.max(meaning),
        is_named,
        meaning,
        ..words
    }
}

/// A hit as it is shown.
#[derive(Debug, PartialEq)]
pub struct ShownHit {
    /// The event.
    pub id: u64,
    /// The event that has the score.
    pub found: u64,
    /// How many have its text.
    pub equal_texts: u32,
    /// A newer one of another value.
    pub newer_value: Option<u64>,
}

/// The hits that are shown, from all hits (event, what was found, score), the best first.
pub fn arranged(known: &ViewState, search: &Search, all: &[(u64, u64, f32)]) -> Vec<ShownHit> {
    let event = |id: u64| &known.state.events[id as usize];
    let newness = |id: u64| (event(id).happened(), id);
    let plain = |text: &str| -> Vec<String> {
        let words = text.split_whitespace();
        let words = words.map(|w| w.trim_matches(['.', ',', ';', ':', '!', '"', '(', ')']));
        words
            .filter(|w| !w.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let form = |id: u64| -> Vec<String> {
        let words = plain(&event(id).made.text).into_iter();
        words
            .filter(|w| !["a", "an", "the"].contains(&&**w))
            .collect()
    };
    let extra = if search.tie_margin > 0.0 { 16 } else { 0 };
    let mut groups: Vec<Vec<(ShownHit, f32)>> = Vec::new();
    for &(id, found, score) in all {
        let count: usize = groups.iter().map(Vec::len).sum();
        let leader = groups.last().map_or(f32::INFINITY, |group| group[0].1);
        let is_tied = score >= leader * (1.0 - search.tie_margin) && !groups.is_empty();
        if count >= search.limit + extra || count >= search.limit && !is_tied {
            break;
        }
        let has_text = !form(id).is_empty();
        let same = |hit: &&mut (ShownHit, f32)| form(hit.0.id) == form(id);
        if has_text
            && !search.include_duplicates
            && let Some((first, _)) = groups.iter_mut().flatten().find(same)
        {
            first.equal_texts += 1;
            if newness(id) > newness(first.id) {
                first.id = id;
            }
            continue;
        }
        let hit = ShownHit {
            id,
            found,
            equal_texts: 1,
            newer_value: None,
        };
        match groups.last_mut().filter(|_| is_tied) {
            Some(group) => group.push((hit, score)),
            None => groups.push(vec![(hit, score)]),
        }
    }
    let mut hits: Vec<ShownHit> = Vec::new();
    for mut group in groups {
        if search.tie_margin > 0.0 {
            group.sort_by_key(|(hit, _)| std::cmp::Reverse(newness(hit.id)));
        }
        hits.extend(group.into_iter().map(|(hit, _)| hit));
    }
    if search.tie_margin > 0.0 {
        let texts: Vec<_> = hits
            .iter()
            .map(|hit| event(hit.id).made.text.clone())
            .collect();
        values_by_time(&mut hits, &texts, &plain(&search.question), &plain, newness);
    }
    hits.truncate(search.limit);
    hits
}

/// Hits of texts that differ in one value, in the order of their time.
fn values_by_time(
    hits: &mut [ShownHit],
    texts: &[String],
    asked: &[String],
    plain: &dyn Fn(&str) -> Vec<String>,
    newness: impl Fn(u64) -> (i64, u64),
) {
    let values = |text: &String| -> Vec<(usize, Vec<String>)> {
        let words = plain(text);
        if !(3..=64).contains(&words.len()) {
            return Vec::new();
        }
        let is_value = |at: &usize| {
            let is_last = at + 1 == words.len();
            let word = &words[*at];
            (is_last || word.contains(|c: char| c.is_ascii_digit())) && !asked.contains(word)
        };
        let without = |at: usize| {
            let mut words = words.clone();
            words[at].clear();
            (at, words)
        };
        (0..words.len()).filter(is_value).map(without).collect()
    };
    let keys: Vec<_> = texts.iter().map(values).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in 0..hits.len() {
        // A key belongs to the group of the first that has it.
        let first = keys[at]
            .iter()
            .find_map(|key| (0..at).find(|&other| keys[other].contains(key)));
        match first.and_then(|first| groups.iter().position(|group| group.contains(&first))) {
            Some(group) => groups[group].push(at),
            None => groups.push(vec![at]),
        }
    }
    for group in groups.iter().filter(|group| group.len() > 1) {
        let mut moved: Vec<ShownHit> = Vec::new();
        for &at in group {
            let gone = ShownHit {
                id: 0,
                found: 0,
                equal_texts: 0,
                newer_value: None,
            };
            moved.push(std::mem::replace(&mut hits[at], gone));
        }
        moved.sort_by_key(|hit| std::cmp::Reverse(newness(hit.id)));
        let newest = moved[0].id;
        for (&at, hit) in group.iter().zip(moved) {
            let newer_value = (hit.id != newest).then_some(newest);
            hits[at] = ShownHit { newer_value, ..hit };
        }
    }
}

/// True if a search has a vector, and an event one that is not of zeros.
fn is_somewhere(event: &Event, search: &Search) -> bool {
    let vector = event.made.vector.as_ref();
    !search.vector.is_empty() && vector.is_some_and(|vector| vector.iter().any(|x| *x != 0.0))
}

/// The score of every wanted event that has one, whatever replaced it.
pub fn fused(known: &ViewState, search: &Search) -> BTreeMap<u64, ScoreParts> {
    let own = known.own(search);
    let wanted: BTreeMap<u64, &Event> = known
        .state
        .events
        .iter()
        .filter(|event| known.finds(event, search))
        .map(|event| (event.id, event))
        .collect();
    let has = |id: u64| own.get(&id).map_or(0.0, |parts| parts.text + parts.vector);
    // Pairs of wanted events of which the second is one step from the first.
    let after: Vec<(u64, u64)> = known
        .state
        .edges
        .keys()
        .filter(|(.., t)| EdgeType(*t) == EdgeType::TEMPORAL_NEXT)
        .map(|&(source, target, _)| (source, target))
        .filter(|(source, target)| wanted.contains_key(source) && wanted.contains_key(target))
        .collect();
    let before: Vec<(u64, u64)> = after.iter().map(|&(a, b)| (b, a)).collect();
    let most = |ids: &[u64]| ids.iter().map(|&id| has(id)).fold(0.0, f64::max);
    let mut all = BTreeMap::new();
    for (&id, event) in &wanted {
        let mut lent = 0.0;
        for steps in [&after, &before] {
            let beyond = |from: &[u64]| -> Vec<u64> {
                let steps = steps.iter().filter(|step| from.contains(&step.0));
                steps.map(|step| step.1).collect()
            };
            let first = beyond(&[id]);
            lent += most(&first) + most(&beyond(&first)) / 2.0;
        }
        let questions = before.iter().filter(|step| step.0 == id);
        let questions = questions
            .map(|step| step.1)
            .filter(|id| is_short_question(wanted[id]));
        let asked = f64::from(search.question_share) * most(&questions.collect::<Vec<_>>());
        let session: Vec<u64> = match event.made.session {
            0 => vec![id],
            session => {
                let same = wanted.values().filter(|e| e.made.session == session);
                same.map(|e| e.id).collect()
            }
        };
        let mut own = own.get(&id).copied().unwrap_or_default();
        if search.question_share > 0.0 && is_short_question(event) {
            own.text *= 0.8;
            own.vector *= 0.8;
        }
        let neighbours = f64::from(search.neighbour_share) * lent + asked;
        if own.text + own.vector + neighbours > 0.0 {
            let session = f64::from(search.session_share) * most(&session);
            all.insert(
                id,
                ScoreParts {
                    neighbours,
                    session,
                    speaker: speaker(search, event),
                    time: time(search, event),
                    aged: aged(known, search, event),
                    ..own
                },
            );
        }
    }
    all
}

/// What a search shows in place of an event that it finds; none if the selection does not want that.
pub fn shown_as(known: &ViewState, search: &Search, id: u64) -> Option<u64> {
    if search.include_superseded {
        return Some(id);
    }
    let (scope, all) = (&search.selection.scope, search.selection.include_forgotten);
    let head = resolve(known, id, scope, all)?.heads.first()?.0;
    let is_wanted = known.wants(&known.state.events[head as usize], &search.selection);
    is_wanted.then_some(head)
}
