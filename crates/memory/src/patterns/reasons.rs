//! What follows from what: reasons of decisions, conclusions, and how something is done.
//!
//! "We chose SQLite because it is one file" is a decision and its reason; "the build fails on Mondays, that means the
//! job is broken" is an observation and what is concluded from it. Both are memories of their own, tied by `because`.

use crate::text::predicate::{is_adverb, predicate};
use crate::text::tokens::{Token, capital, join};
use crate::text::verbs::is_plain_verb;

use super::clauses::without_openers;
use super::content::{has_content, is_content};
use super::families::{self, Family};
use super::guards::{refuses_clause, refuses_sentence};
use super::person::rewritten;

/// Families whose facts have reasons that are worth a memory: what was chosen, what is planned, what is used.
const REASONED: [&str; 4] = ["decision", "plan", "tool", "correction"];
/// Words of a thing that a pronoun stands for.
const THING_WORDS_MAX: usize = 4;
/// Tokens among which the verb of a statement is looked for.
const VERB_WITHIN: usize = 9;

/// A statement, and where its words stand in the sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// In the third person.
    pub(crate) text: String,
    /// As it was written.
    pub(crate) source: String,
    pub(crate) family: Family,
}

/// A sentence, and what it says of reasons.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReasonedSentence<'t> {
    /// The clause that has a reason.
    pub(crate) main: &'t [Token],
    /// The clause that is the reason.
    pub(crate) reason: &'t [Token],
}

/// True if the facts of a family have reasons that are kept.
pub(crate) fn is_reasoned(family: Family) -> bool {
    REASONED.contains(&family.name)
}

/// "X because Y", "because Y, X"; `since` only where no time follows.
pub(crate) fn reasoned(body: &[Token]) -> Option<ReasonedSentence<'_>> {
    let names_reason = |at: usize| {
        let next = body.get(at + 1);
        body[at].is("because") && next.is_some_and(|next| !next.is("of"))
            || body[at].is("since") && begins_statement(&body[at + 1..])
    };
    if names_reason(0) {
        let end = body.iter().position(|token| token.tail.contains(','))? + 1;
        return (end < body.len() && end > 2).then_some(ReasonedSentence {
            main: &body[end..],
            reason: &body[1..end],
        });
    }
    let at = (2..body.len()).find(|at| names_reason(*at))?;
    Some(ReasonedSentence {
        main: &body[..at],
        reason: &body[at + 1..],
    })
}

/// True for "the team knows it", "it is fast", "we need JSON", and not for "2016" or "last week".
fn begins_statement(tokens: &[Token]) -> bool {
    let is_time = tokens.first().is_none_or(|first| {
        first.has_digit()
            || first.is_any(&["then", "last", "yesterday", "monday", "childhood", "birth"])
    });
    !is_time && has_verb(tokens)
}

fn has_verb(tokens: &[Token]) -> bool {
    const DETERMINERS: [&str; 6] = ["the", "our", "my", "a", "an", "every"];
    let is_phrase = tokens
        .first()
        .is_some_and(|first| first.is_any(&DETERMINERS));
    let found = tokens.iter().enumerate().take(VERB_WITHIN).skip(1);
    found.into_iter().any(|(at, token)| {
        // Behind "the build", what ends in "s" is most often what it does.
        let is_third = is_phrase
            && at >= 2
            && token.lower.len() > 3
            && token.lower.ends_with('s')
            && !token.lower.ends_with("ss")
            && !token.lower.ends_with("'s")
            && !tokens[at - 1].is_any(&["of", "and", "for", "in", "on", "with", "to"]);
        is_third
            || is_plain_verb(&token.lower)
            || token.is_any(&[
                "can", "cannot", "must", "should", "needs", "has", "had", "does",
            ])
    })
}

/// The statement of a reason. A pronoun at its beginning becomes the thing that the main clause speaks of; one that
/// cannot be resolved makes it no memory.
pub(crate) fn reason_of(sentence: &ReasonedSentence<'_>, speaker: &str) -> Option<Statement> {
    let reason = without_openers(sentence.reason);
    let first = reason.first()?;
    if !first.is_any(&["it", "they", "that", "this", "these", "those"]) {
        return statement(reason, speaker, families::REASON);
    }
    let thing = object_of(sentence.main)?;
    let mut told = thing.to_vec();
    if let Some(last) = told.last_mut() {
        last.tail.clear();
    }
    told.extend_from_slice(&reason[1..]);
    statement(&told, speaker, families::REASON)
}

/// What a clause is about: the words behind its verb, up to the next preposition.
fn object_of(main: &[Token]) -> Option<&[Token]> {
    let subject = main.iter().position(|token| token.is_any(&["i", "we"]))?;
    let verb = predicate(main, subject + 1)?;
    let mut from = verb.at + 1;
    // "went with Redis", "decided to use Vite", "switched to yarn".
    while let Some(token) = main.get(from)
        && (token.is_any(&[
            "with", "to", "on", "for", "a", "an", "use", "using", "go", "take",
        ]) || is_adverb(token))
    {
        from += 1;
    }
    let rest = &main[from..];
    let end = rest.iter().position(|token| {
        token.is_any(&[
            "for", "over", "to", "in", "on", "at", "with", "instead", "as", "from", "and", "or",
            "of", "when", "now", "again", "rather", "than",
        ])
    });
    let mut thing = &rest[..end.unwrap_or(rest.len())];
    if let Some(at) = thing.iter().position(Token::breaks) {
        thing = &thing[..=at];
    }
    let is_named = (1..=THING_WORDS_MAX).contains(&thing.len()) && has_content(thing);
    is_named.then_some(thing)
}

/// A clause that stands by itself: certain, about something named, not a question.
fn statement(tokens: &[Token], speaker: &str, family: Family) -> Option<Statement> {
    let first = tokens.first()?;
    let is_vague = first.is_any(&[
        "he", "she", "it", "they", "that", "this", "these", "those", "there", "what", "who",
        "which", "how", "why", "to", "and", "or",
    ]);
    let points = tokens.iter().any(|token| token.is_any(&["there", "here"]));
    if is_vague || points || refuses_sentence(tokens) || refuses_clause(tokens) || !has_verb(tokens)
    {
        return None;
    }
    let words = tokens.iter().filter(|token| is_content(token)).count();
    (words >= 2).then(|| Statement {
        text: rewritten(tokens, speaker),
        source: join(tokens),
        family,
    })
}

/// Words that lead from an observation to what is concluded.
const CONCLUSIONS: [&[&str]; 12] = [
    &["that", "means", "that"],
    &["that", "means"],
    &["this", "means", "that"],
    &["this", "means"],
    &["which", "means", "that"],
    &["which", "means"],
    &["it", "turned", "out", "that"],
    &["turns", "out", "that"],
    &["it", "follows", "that"],
    &["we", "concluded", "that"],
    &["i", "conclude", "that"],
    &["therefore"],
];

/// An observation, if the sentence has it, and the conclusion.
pub(crate) fn conclusion(body: &[Token]) -> Option<(&[Token], &[Token])> {
    let begins = |at: usize, words: &[&str]| {
        let fits = body.len() > at + words.len()
            && words
                .iter()
                .zip(&body[at..])
                .all(|(word, token)| token.is(word));
        // Within a sentence it begins a clause.
        fits && (at == 0 || body[at - 1].breaks() || body[at - 1].is("and"))
    };
    for at in 0..body.len() {
        if let Some(words) = CONCLUSIONS.iter().find(|words| begins(at, words)) {
            let premise = match at.checked_sub(1) {
                Some(last) if body[last].is("and") => &body[..last],
                _ => &body[..at],
            };
            return Some((premise, without_openers(&body[at + words.len()..])));
        }
    }
    None
}

/// The conclusion as a memory.
pub(crate) fn inference(tokens: &[Token], speaker: &str) -> Option<Statement> {
    statement(tokens, speaker, families::INFERENCE)
}

/// What was observed, as a memory.
pub(crate) fn observation(tokens: &[Token], speaker: &str) -> Option<Statement> {
    statement(without_openers(tokens), speaker, families::REASON)
}

/// Verbs of what is done again and again, the same way.
const TASKS: [&str; 30] = [
    "deploy",
    "build",
    "test",
    "release",
    "install",
    "start",
    "stop",
    "restart",
    "lint",
    "format",
    "migrate",
    "publish",
    "connect",
    "login",
    "reset",
    "seed",
    "debug",
    "roll",
    "set",
    "regenerate",
    "generate",
    "update",
    "upgrade",
    "back",
    "restore",
    "sync",
    "log",
    "run",
    "ship",
    "rebuild",
];
/// Verbs of an order that says how.
const STEPS: [&str; 21] = [
    "run", "use", "call", "execute", "type", "open", "set", "export", "ssh", "press", "click",
    "push", "merge", "tag", "start", "do", "go", "copy", "edit", "source", "invoke",
];

/// "To deploy, run make release": the sentence as it is. "To fix this, change the function" is an order to the reader.
pub(crate) fn procedure(body: &[Token]) -> Option<Statement> {
    let [to, task, rest @ ..] = body else {
        return None;
    };
    if !to.is("to") || !task.is_any(&TASKS) || rest.is_empty() {
        return None;
    }
    let comma = body.iter().position(|token| token.tail.contains(','))?;
    let steps = without_openers(body.get(comma + 1..)?);
    let first = steps.first()?;
    let rest = body.get(2..=comma).unwrap_or_default();
    let is_this = rest
        .iter()
        .any(|token| token.is_any(&["this", "that", "it", "these"]));
    let is_how = first.is_any(&STEPS) && steps.len() > 1 && has_content(&steps[1..]);
    if is_this || !is_how || refuses_sentence(body) || refuses_clause(steps) {
        return None;
    }
    let text = join(body);
    let text = text.trim_end_matches(['.', '!', ' ']);
    Some(Statement {
        text: capital(text),
        source: join(body),
        family: families::SKILL,
    })
}

/// "No, use pnpm": what is used is another tool.
pub(crate) fn corrected_use(body: &[Token], speaker: &str) -> Option<Statement> {
    let [order, tool, rest @ ..] = body else {
        return None;
    };
    let is_vague = tool.is_any(&[
        "the", "this", "that", "it", "a", "an", "your", "my", "them", "these",
    ]);
    let ends = rest.iter().all(|token| {
        token.is_any(&["instead", "please", "here", "for", "now"]) || token.text.is_empty()
    });
    if !order.is("use") || is_vague || !is_content(tool) || !ends || refuses_sentence(body) {
        return None;
    }
    let said = [Token::new("we"), Token::new("use"), {
        let mut tool = tool.clone();
        tool.tail.clear();
        tool
    }];
    Some(Statement {
        text: rewritten(&said, speaker),
        source: join(body),
        family: families::TOOL,
    })
}
