//! Standing instructions and preferences in English.

use std::ops::Range;

use super::kind::StandingKind;
use super::words::SentenceWords;
use crate::text::verbs::{VerbForm, base_form};

/// What stands before an instruction and says nothing of it.
const OPENERS: &[&str] = &[
    "please",
    "and",
    "also",
    "so",
    "ok",
    "okay",
    "oh",
    "hey",
    "hi",
    "just",
    "but",
    "well",
    "then",
    "again",
    "finally",
    "reminder",
    "note",
    "by the way",
    "btw",
    "one more thing",
    "in general",
    "generally",
    "for the record",
    "fyi",
    "as a rule",
    "to be clear",
    "remember to",
    "remember that you",
    "remember",
    "make sure to",
    "make sure you",
    "make sure that you",
    "be sure to",
    "try to",
    "you should",
    "you must",
    "you have to",
    "you need to",
    "you can",
    "can you please",
    "can you",
    "could you please",
    "could you",
    "will you",
    "would you",
    "i want you to",
    "i need you to",
    "i would like you to",
    "i'd like you to",
    "i expect you to",
    "i ask you to",
    "we",
    "i",
];
/// Among them those behind which a question is a request.
const ASKING: &[&str] = &["can you", "could you", "will you", "would you"];
/// Words behind "always" and "never" that begin no instruction.
const NO_ORDER: &[&str] = &[
    "mind",
    "ending",
    "again",
    "happy",
    "good",
    "nice",
    "glad",
    "great",
    "fun",
    "interesting",
    "sure",
    "ready",
    "the",
    "a",
    "an",
    "my",
    "your",
    "his",
    "her",
    "their",
    "our",
    "this",
    "that",
    "i",
    "you",
    "he",
    "she",
    "it",
    "we",
    "they",
    "there",
    "in",
    "on",
    "at",
    "of",
    "for",
    "from",
    "with",
    "about",
    "as",
    "before",
    "ever",
    "really",
    "quite",
    "thought",
    "wondered",
    "too",
    "so",
    "more",
    "less",
    "better",
    "worse",
    "late",
    "been",
    "had",
    "heard",
    "fails",
];
/// From when on an instruction holds.
const FROM_NOW: &[&str] = &[
    "from now on",
    "from here on",
    "from this point on",
    "from today on",
    "going forward",
    "in future",
    "in the future",
    "henceforth",
];
/// When an instruction with a condition holds.
const WHEN: &[&str] = &[
    "when",
    "whenever",
    "if",
    "every time",
    "any time",
    "anytime",
    "each time",
    "everytime",
];
/// What a person does then.
const ASKED: &[&str] = &[
    "i ask",
    "i'm asking",
    "i am asking",
    "i say",
    "i tell",
    "i request",
    "i mention",
    "i share",
    "i paste",
    "i send",
    "i type",
    "i post",
    "i talk",
    "i refer",
    "i write",
    "i want",
    "i need",
    "i give",
    "i use",
    "i show",
    "i bring",
    "we talk",
    "we discuss",
    "you answer",
    "you reply",
    "you respond",
    "you write",
    "you suggest",
    "you explain",
    "you give",
    "you show",
    "you recommend",
    "you mention",
    "you generate",
    "you review",
    "you commit",
    "you edit",
];
/// What addresses an assistant behind a condition.
const TOLD: &[&str] = &[
    "you should",
    "you must",
    "you need to",
    "you have to",
    "i want you to",
    "i'd like you to",
    "i would like you to",
    "please",
    "always",
    "never",
    "i want",
    "i'd like",
    "i expect",
    "i prefer",
    "then",
];
/// Verbs of instructions to an assistant, in their base form.
const ORDERS: &[&str] = &[
    "add",
    "address",
    "answer",
    "ask",
    "avoid",
    "call",
    "check",
    "cite",
    "commit",
    "confirm",
    "consider",
    "deploy",
    "describe",
    "document",
    "do",
    "explain",
    "follow",
    "format",
    "give",
    "highlight",
    "include",
    "keep",
    "limit",
    "lint",
    "list",
    "log",
    "make",
    "mention",
    "merge",
    "name",
    "note",
    "prefix",
    "prioritize",
    "provide",
    "push",
    "put",
    "quote",
    "recommend",
    "remind",
    "reply",
    "report",
    "respond",
    "return",
    "round",
    "run",
    "send",
    "show",
    "sign",
    "skip",
    "speak",
    "specify",
    "squash",
    "start",
    "state",
    "stick",
    "suggest",
    "summarise",
    "summarize",
    "tell",
    "test",
    "translate",
    "treat",
    "update",
    "use",
    "validate",
    "verify",
    "warn",
    "wrap",
    "write",
];
/// What an assistant gives.
const ANSWERS: &[&str] = &[
    "answers",
    "responses",
    "replies",
    "explanations",
    "summaries",
    "messages",
    "outputs",
    "comments",
    "suggestions",
    "examples",
    "snippets",
    "commits",
    "recommendations",
    "reviews",
];
/// Negations at the beginning of an instruction.
const NOT: &[&str] = &["don't", "dont", "do not", "never"];
/// Verbs behind them that forbid nothing.
const NOT_FORBIDDEN: &[&str] = &[
    "know",
    "worry",
    "forget",
    "think",
    "have",
    "need",
    "want",
    "see",
    "understand",
    "get",
    "mind",
    "believe",
    "care",
    "like",
    "feel",
    "remember",
    "bother",
    "be",
];
/// What makes it hold for more than this time.
const LASTING: &[&str] = &[
    "unless", "without", "until", "ever", "anymore", "any more", "again", "except", "before",
    "when", "in any", "in your", "any", "on", "to",
];
/// What makes it hold for this time only.
const ONCE: &[&str] = &[
    "this time",
    "just once",
    "for now",
    "right now",
    "this once",
    "for today",
    "for this one",
    "for this file",
    "for this task",
    "for this question",
    "for the moment",
    "in this case",
    "until then",
];
/// Preferences, wherever they stand in a sentence.
const PREFERRED: &[&str] = &[
    "i prefer",
    "i really prefer",
    "i strongly prefer",
    "i generally prefer",
    "i usually prefer",
    "i always prefer",
    "i still prefer",
    "i much prefer",
    "i personally prefer",
    "i'd prefer",
    "i would prefer",
    "we prefer",
    "my preference is",
    "i'd rather you",
    "i would rather you",
    "i like my",
    "i like it when you",
    "i like when you",
    "i like your",
    "i like answers",
    "i like responses",
    "i like explanations",
    "i like short",
    "i like concise",
    "i want my answers",
    "i want your answers",
    "i want answers",
    "i want short answers",
    "i don't like it when you",
    "i don't like when you",
    "i don't like long",
    "i hate it when you",
    "i hate when you",
    "i dislike it when you",
    "i'd appreciate it if you",
    "i would appreciate it if you",
    "i appreciate it when you",
];
/// Words that stand for something else.
const POINTERS: &[&str] = &["it", "this", "that", "them", "these", "those", "one"];
/// What makes a preference a supposition.
const SUPPOSED: &[&str] = &[
    "if", "whether", "unless", "when", "suppose", "do", "should", "would", "what", "why",
];
/// Behind a comma: a question, which belongs to the preference no more.
const QUESTIONS: &[&str] = &[
    "can", "could", "would", "will", "do", "does", "did", "how", "what", "which", "where", "why",
    "who", "is", "are", "should", "any",
];
/// Behind a comma: a doubt.
const DOUBTS: &[&str] = &[
    "but i'm",
    "but i am",
    "but i don't",
    "but i wonder",
    "and i wonder",
    "i'm wondering",
    "so can",
    "so could",
    "so how",
    "so what",
    "and can",
    "and could",
    "and how",
    "you know",
];

/// The words of a sentence that are to be kept to.
pub(super) fn stated(words: &SentenceWords<'_>) -> Option<Range<usize>> {
    instruction(words).or_else(|| preference(words))
}

/// When it holds.
pub(super) fn kind(words: &SentenceWords<'_>) -> StandingKind {
    let asked = |at: usize| {
        let count = words.phrase(at, WHEN);
        count.is_some_and(|count| words.phrase(at + count, ASKED).is_some())
    };
    match instruction(words) {
        None => StandingKind::Preference,
        Some(_) if (0..words.len()).any(asked) => StandingKind::Conditional,
        Some(_) => StandingKind::Every,
    }
}

fn instruction(words: &SentenceWords<'_>) -> Option<Range<usize>> {
    if words.has(0, ONCE) {
        return None;
    }
    let mut at = 0;
    let mut is_request = false;
    while let Some(count) = words.phrase(at, OPENERS) {
        is_request |= words.phrase(at, ASKING).is_some();
        at += count;
    }
    let is_asked = words.asks() && !is_request;
    let is_addressed = at == 0 || !words.is(at - 1, &["i", "we"]);
    let found = is_lasting(words, at, is_addressed)
        || is_addressed
            && (is_from_now(words, at)
                || is_conditional(words, at)
                || is_forbidden(words, at)
                || is_about_answers(words, at));
    let begins = at > 0 && words.is(at - 1, &["i", "we"]);
    let start = if begins { at - 1 } else { 0 };
    (found && !is_asked).then(|| start..end_of(words, at))
}

/// True for a verb in its base form, as far as its ending tells.
fn is_order(word: &str) -> bool {
    if ORDERS.contains(&word) {
        return true;
    }
    let (base, form) = base_form(word);
    let is_base = matches!(form, VerbForm::Present | VerbForm::Either) && base == word;
    is_base && !word.is_empty() && !word.ends_with("ly") && !NO_ORDER.contains(&word)
}

/// "Always use pnpm", "never push to main", "we never deploy on Fridays".
fn is_lasting(words: &SentenceWords<'_>, at: usize, is_addressed: bool) -> bool {
    let is_it = words.is(at, &["always", "never"]) && is_order(words.at(at + 1));
    // Of oneself only what is a rule of work: "we never deploy on Fridays", and not "I never eat meat".
    is_it && (is_addressed || ORDERS.contains(&words.at(at + 1)))
}

/// "From now on use tabs", "use tabs from now on".
fn is_from_now(words: &SentenceWords<'_>, at: usize) -> bool {
    if let Some(count) = words.phrase(at, FROM_NOW) {
        let next = at + count;
        let is_addressed =
            words.phrase(next, TOLD).is_some() || words.is(next, &["we", "you", "all"]);
        return is_addressed || is_order(words.at(next)) || words.phrase(next, NOT).is_some();
    }
    ORDERS.contains(&words.at(at)) && words.has(at + 1, &FROM_NOW[..6])
}

/// "When I ask about dates, write them out", "write dates out whenever I ask for them".
fn is_conditional(words: &SentenceWords<'_>, at: usize) -> bool {
    let asked = |at: usize| {
        let count = words.phrase(at, WHEN);
        count.filter(|count| words.phrase(at + count, ASKED).is_some())
    };
    if asked(at).is_some() {
        return (at + 2..words.len()).any(|next| {
            words.is_clause(next)
                && (words.phrase(next, TOLD).is_some()
                    || words.phrase(next, NOT).is_some()
                    || ORDERS.contains(&words.at(next)))
        });
    }
    let is_ordered = ORDERS.contains(&words.at(at)) || words.phrase(at, NOT).is_some();
    is_ordered && (at + 1..words.len()).any(|at| !words.is(at, &["if"]) && asked(at).is_some())
}

/// "Don't commit unless the tests pass", "please don't use emojis in your answers".
fn is_forbidden(words: &SentenceWords<'_>, at: usize) -> bool {
    let Some(count) = words.phrase(at, NOT) else {
        return false;
    };
    let verb = words.at(at + count);
    let is_polite = at > 0 && words.has(0, &["please"]);
    !NOT_FORBIDDEN.contains(&verb)
        && (words.has(at + count + 1, LASTING) && (is_polite || words.has(at, &LASTING[..8]))
            || is_polite && ORDERS.contains(&verb))
}

/// "Keep your answers short", "please keep the changelog up to date", "reply in German".
fn is_about_answers(words: &SentenceWords<'_>, at: usize) -> bool {
    let is_polite = at > 0 && words.has(0, &["please"]);
    if is_polite && words.is(at, &["keep"]) {
        let is_passing = words.is(
            at + 1,
            &["it", "going", "that", "me", "us", "in", "this", "up", "on"],
        ) || words.at(at + 1).ends_with("ing");
        return !is_passing && words.len() > at + 3;
    }
    let is_speech = words.is(at, &["reply", "answer", "respond", "speak", "talk"]);
    let is_manner =
        |at: usize| words.is(at, &["in", "with"]) && !words.is(at + 1, &["the", "this"]);
    if is_speech && (is_manner(at + 1) || is_manner(at + 2)) {
        return true;
    }
    let is_given = words.is(
        at,
        &[
            "keep",
            "make",
            "write",
            "give",
            "format",
            "limit",
            "structure",
        ],
    );
    let near = at + 1..at + 5;
    is_given
        && near
            .into_iter()
            .any(|at| words.is(at, ANSWERS) && words.is(at - 1, &["your", "all", "the", "my"]))
}

/// "…, so I prefer few dependencies, how can I …?": the preference, without what is asked about it.
fn preference(words: &SentenceWords<'_>) -> Option<Range<usize>> {
    let (at, count) = (0..words.len()).find_map(|at| Some((at, words.phrase(at, PREFERRED)?)))?;
    let is_supposed = at
        .checked_sub(1)
        .is_some_and(|before| words.is(before, SUPPOSED));
    let said = at + count;
    let end = end_of(words, said);
    if is_supposed || end <= said || words.asks() && end == words.len() {
        return None;
    }
    // "I use Bootstrap and prefer it to Foundation": what it is stands before.
    let start = match words.is(said, POINTERS) {
        true => 0,
        false => at,
    };
    Some(start..end)
}

/// Where a statement ends: before a question or a doubt behind a comma.
fn end_of(words: &SentenceWords<'_>, from: usize) -> usize {
    let ends = |at: usize| {
        words.is_clause(at) && (words.is(at, QUESTIONS) || words.phrase(at, DOUBTS).is_some())
    };
    (from + 1..words.len())
        .find(|at| ends(*at))
        .unwrap_or_else(|| words.len())
}
