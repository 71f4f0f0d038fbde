//! From a turn in one of the languages to facts.

use crate::patterns::content::has_content;
use crate::patterns::extract::{PatternFact, first_person, is_origin, name_of, possessive};
use crate::patterns::families::{self, Family};
use crate::patterns::guards::refuses_clause as refuses_glossed;
use crate::text::sentences::plain_sentences;
use crate::text::tokens::{Token, join};

use super::clauses::{clauses, main_part, named, opened};
use super::elision::with_elisions_apart;
use super::gloss::{Gloss, gloss};
use super::pairs::has;
use super::reading::{ClauseReading, SubjectKind, read};
use super::rewrite::rewritten;
use super::table::{LanguageTable, WordOrder};

/// Words of a quotation that is a name or a title, not what a person says.
const QUOTED_WORDS_MAX: usize = 2;

/// The facts of a turn. `speaker` is the name for "I".
pub(crate) fn facts_in(
    table: &'static LanguageTable,
    text: &str,
    speaker: &str,
) -> Vec<PatternFact> {
    let mut out: Vec<PatternFact> = Vec::new();
    for sentence in plain_sentences(&without_quotations(text)) {
        let sentence = with_elisions_apart(sentence, table);
        let (body, is_correcting) = opened(table, &sentence);
        if body.is_empty() {
            continue;
        }
        let (body, family) = match named(table, body) {
            Some((named, is_forgotten)) => (named, is_forgotten.then_some(families::RETRACTION)),
            None => (body.to_vec(), None),
        };
        if refuses_sentence(table, &body) {
            continue;
        }
        let is_greeting = sentence
            .iter()
            .take(3)
            .any(|token| has(table.greetings, &token.lower));
        for clause in clauses(table, &body) {
            let fact = introduction(table, &clause, speaker).filter(|_| is_greeting);
            let Some(fact) = fact.or_else(|| fact_of(table, &clause, speaker)) else {
                continue;
            };
            let is_new = out.iter().all(|known| known.text != fact.text);
            if is_new {
                out.push(PatternFact {
                    family: family.unwrap_or(fact.family),
                    is_correcting,
                    ..fact
                });
            }
        }
    }
    out
}

/// The text with a question mark for each quotation: what others say, or what is to be translated, is no fact, and
/// neither is the sentence around it.
fn without_quotations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['"', '\u{201e}', '\u{201c}', '\u{00ab}']) {
        let mark = rest[open..].chars().next().unwrap_or('"');
        let inner = &rest[open + mark.len_utf8()..];
        let Some(close) = inner.find(['"', '\u{201c}', '\u{201d}', '\u{00bb}']) else {
            break;
        };
        let end = open + mark.len_utf8() + close;
        let closing = rest[end..].chars().next().map_or(0, char::len_utf8);
        let is_said = inner[..close].split_whitespace().count() > QUOTED_WORDS_MAX;
        out.push_str(&rest[..open]);
        match is_said {
            true => out.push_str(" ? "),
            false => out.push_str(&rest[open..end + closing]),
        }
        rest = &rest[end + closing..];
    }
    out.push_str(rest);
    out
}

fn refuses_sentence(table: &'static LanguageTable, tokens: &[Token]) -> bool {
    let asks = |token: &Token| token.tail.contains('?') || token.lead.contains('\u{bf}');
    tokens.iter().any(asks)
        || tokens
            .iter()
            .any(|token| has(table.refused_in_sentence, &token.lower))
        || tokens
            .first()
            .is_some_and(|first| has(table.refused_first, &first.lower))
}

/// True if the clause speaks to the reader; a polite "Sie" has a capital inside the sentence.
fn refuses_clause(table: &'static LanguageTable, tokens: &[Token]) -> bool {
    let polite = tokens.iter().skip(1).any(|token| {
        table.order == WordOrder::VerbSecond
            && matches!(&*token.text, "Sie" | "Ihr" | "Ihnen" | "Ihre" | "Ihren")
    });
    polite
        || tokens
            .iter()
            .any(|token| has(table.refused_in_clause, &token.lower))
}

/// The fact of a clause, or none.
fn fact_of(table: &'static LanguageTable, clause: &[Token], speaker: &str) -> Option<PatternFact> {
    let (clause, _) = opened(table, clause);
    if clause.len() < 2 || refuses_clause(table, clause) {
        return None;
    }
    let clause = main_part(table, &read(table, clause)?, clause)?;
    let reading = read(table, clause)?;
    let glossed = gloss(&reading)?;
    let family = family_of(&reading, &glossed)?;
    let text = rewritten(&reading, speaker)?;
    Some(PatternFact::of(text, family, join(&glossed.tokens)))
}

/// Endings of German nouns that say what a person is: "Anfänger", "Studentin".
const NOUN_ENDS: [&str; 12] = [
    "er", "in", "ling", "ent", "ist", "ant", "or", "eur", "nde", "aie", "ege", "rte",
];

/// "Hallo, ich bin Jule": a name behind a greeting. Other nouns have a capital in German, so that an ending decides.
fn introduction(
    table: &'static LanguageTable,
    clause: &[Token],
    speaker: &str,
) -> Option<PatternFact> {
    let (clause, _) = opened(table, clause);
    let reading = read(table, clause)?;
    let rest = &clause[reading.verb + 1..];
    let is_plain = reading.base == "be" && reading.kind == SubjectKind::One && reading.front == 0;
    let name = name_of(rest);
    let words = name.split(' ').filter(|word| !word.is_empty()).count();
    if !is_plain || words == 0 || words > 2 {
        return None;
    }
    let first = rest[0].lower.as_str();
    let dictionary = &table.compiled().dictionary;
    let is_noun =
        table.has_compounds && words == 1 && NOUN_ENDS.iter().any(|end| first.ends_with(end));
    let is_known = dictionary.word(first).is_some() || dictionary.profession(first).is_some();
    let ends = rest
        .get(words)
        .is_none_or(|next| next.text.is_empty() || has(table.joiners, &next.lower));
    let is_name = !is_noun && !is_known && !is_origin(first) && (ends || rest[words - 1].breaks());
    is_name.then(|| {
        PatternFact::of(
            format!("{speaker} {} {name}", table.is_called),
            families::NAME,
            String::new(),
        )
    })
}

/// What one does at the moment is gone with the moment.
const MOMENTARY: &str = "eat drink cook bake smoke play";

/// The family of a glossed clause, by the rules of English.
fn family_of(reading: &ClauseReading<'_>, gloss: &Gloss) -> Option<Family> {
    let glossed = &gloss.tokens;
    if refuses_glossed(glossed) {
        return None;
    }
    let is_named = glossed.first().is_some_and(|first| first.is("my"));
    if reading.kind == SubjectKind::Owned || is_named {
        return possessive(glossed, 0);
    }
    let family = first_person(glossed, 0)?;
    let any = |words: &str| glossed.iter().any(|token| has(words, &token.lower));
    // "Ich bin ein Idiot": only known professions are some.
    let is_noun = any("a an the") && reading.base == "be" && family == families::PROFESSION;
    if is_noun && !gloss.has_profession {
        return None;
    }
    let is_moment = has(MOMENTARY, reading.base) && any("today currently now")
        || family == families::EVENT && any("ate drank cooked baked smoked");
    (!is_moment && has_content(&glossed[1..])).then_some(family)
}

#[cfg(test)]
mod tests {
    use super::super::gloss::gloss_of_fact;
    use super::super::tables::TABLES;
    use super::*;

    #[test]
    fn every_fact_fills_the_slots_of_its_turn() {
        for table in TABLES {
            let text = match &table.code {
                b"deu" => "Ich wohne seit 2016 in Porto",
                b"fra" => "J'habite à Porto depuis 2016",
                _ => "Vivo en Porto desde 2016",
            };
            let found = facts_in(table, text, "Mia");
            assert_eq!(found.len(), 1, "{text}");
            let glossed = join(&gloss_of_fact(&found[0].text).unwrap_or_default());
            assert_eq!(glossed, "Mia lives in Porto since 2016", "{text}");
        }
    }

    #[test]
    fn negations_and_hedges_are_kept_or_refused() {
        for (at, text, expected) in [
            (
                0,
                "Nein, ich wohne in Bonn, nicht in Köln.",
                "User lives in Bonn",
            ),
            (
                0,
                "Meine Schwester ist nicht verheiratet.",
                "User's sister is not married",
            ),
            (
                0,
                "Ich mag weder Bier noch Wein.",
                "User not likes Bier still Wein",
            ),
            (
                0,
                "Ich arbeite bald bei Bosch.",
                "User will work soon at Bosch",
            ),
            (0, "Nehmen wir an, ich wohne in Rom.", ""),
            (0, "Als ob ich in Rom wohnte.", ""),
            (
                1,
                "Je ne suis pas encore marié.",
                "User is not still married",
            ),
            (1, "Je me suis installé à Lyon.", "User moved to Lyon"),
            (1, "Je n'utilise que vim.", ""),
            (1, "Disons que je suis médecin.", ""),
            (
                2,
                "Ya no usamos Docker.",
                "User and others no longer use Docker",
            ),
            (2, "Nunca he fumado.", ""),
            (2, "Viviría en Roma.", ""),
            (2, "No vivo en Madrid, sino en Getafe.", ""),
        ] {
            let found = facts_in(TABLES[at], text, "User");
            let glosses = found.iter().filter_map(|fact| gloss_of_fact(&fact.text));
            let glosses: Vec<String> = glosses.map(|gloss| join(&gloss)).collect();
            assert_eq!(glosses.join("|"), expected, "{text}: {found:?}");
        }
    }

    #[test]
    fn facts_in_english_have_no_gloss() {
        for text in [
            "User will visit Rome in May",
            "User will start with the coin toss problem",
            "User lives in Berlin",
            "User's name is Bob",
            "Red hat is a company",
            "User will sail",
        ] {
            assert_eq!(gloss_of_fact(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}|((Ich|ich|wir|habe|bin|nicht|mein|Hund|in|Rom|seit|3\\.|März|gezogen|um|und|,|„|“|zu|User|User's|J'|j'ai|je|ne|pas|plus|on|a|mon|chien|est|de|d'|en|train|que|me|mudé|vivo|yo|no|mi|perro|es|le|gusta|A|y|otros|\\.) ?){0,14}") {
            for table in TABLES {
                for fact in facts_in(table, &text, "User") {
                    proptest::prop_assert!(!fact.text.is_empty());
                    let _ = gloss_of_fact(&fact.text);
                }
            }
            let _ = gloss_of_fact(&text);
        }
    }
}
