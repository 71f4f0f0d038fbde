//! Requests to forget, or not to remember: "Don't remember my salary", "Vergiss, was ich über Karl gesagt habe".
//!
//! Which memory ends is not decided here: `standing_request` and its like in other languages understand "forget that
//! …". What they do not understand is a request all the same, and must not be formed as if it were none.

use crate::text::sentences::{plain_sentences, sentences};
use crate::text::tokens::{Token, join};

/// A sentence that asks to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForgetRequest {
    /// As it is written.
    pub(crate) sentence: String,
    /// The person or thing that it names, if it asks for all about it: "everything about Karl".
    pub(crate) about: Option<String>,
}

/// Words before the verb of a request.
const OPENERS: [&str; 50] = [
    "please",
    "just",
    "can",
    "could",
    "would",
    "will",
    "you",
    "also",
    "and",
    "now",
    "but",
    "hey",
    "ok",
    "okay",
    "so",
    "then",
    "oh",
    "well",
    "actually",
    "no",
    "wait",
    "sorry",
    "kindly",
    "should",
    "must",
    "may",
    "bitte",
    "kannst",
    "könntest",
    "würdest",
    "du",
    "sie",
    "mal",
    "also",
    "und",
    "jetzt",
    "aber",
    "peux-tu",
    "pouvez-vous",
    "s'il",
    "te",
    "vous",
    "plaît",
    "et",
    "merci",
    "por",
    "favor",
    "puedes",
    "podrías",
    "y",
];

/// Words of a wish with which a sentence begins; the verb of the request follows somewhere behind.
const WISHES: [&[&str]; 12] = [
    &["i", "want", "you", "to"],
    &["i", "would", "like", "you", "to"],
    &["i", "need", "you", "to"],
    &["i", "do", "not", "want", "you", "to"],
    &["i", "would", "prefer", "you", "to"],
    &["ich", "möchte", "dass", "du"],
    &["ich", "will", "dass", "du"],
    &["je", "veux", "que", "tu"],
    &["j'aimerais", "que", "tu"],
    &["je", "voudrais", "que", "tu"],
    &["quiero", "que"],
    &["quisiera", "que"],
];

/// Verbs that ask to forget whatever follows.
const FORGET: [&str; 16] = [
    "forget",
    "unlearn",
    "vergiss",
    "vergesst",
    "vergesse",
    "vergessen",
    "oublie",
    "oubliez",
    "oublier",
    "oublies",
    "olvida",
    "olvide",
    "olvídate",
    "olvidate",
    "olvidar",
    "olvides",
];

/// Verbs that ask for it only if what follows is of memory: "delete everything you know about me".
const ERASE: [&str; 26] = [
    "delete",
    "erase",
    "remove",
    "wipe",
    "purge",
    "clear",
    "drop",
    "scrub",
    "lösche",
    "lösch",
    "löschen",
    "streiche",
    "streich",
    "efface",
    "effacez",
    "effacer",
    "supprime",
    "supprimez",
    "supprimer",
    "borra",
    "borre",
    "borrar",
    "elimina",
    "elimine",
    "suprime",
    "eliminar",
];

/// Verbs that ask not to remember, behind "not".
const REMEMBER: [&str; 20] = [
    "remember",
    "memorize",
    "memorise",
    "remembering",
    "memorizing",
    "merk",
    "merke",
    "merken",
    "erinnere",
    "erinner",
    "retiens",
    "retenez",
    "retenir",
    "mémorise",
    "mémoriser",
    "recuerdes",
    "recordar",
    "memorices",
    "memorizar",
    "acuerdes",
];

/// Verbs that ask for it only with an object of memory, behind "not".
const KEEP: [&str; 27] = [
    "store",
    "save",
    "keep",
    "record",
    "retain",
    "note",
    "log",
    "storing",
    "saving",
    "keeping",
    "recording",
    "speichere",
    "speicher",
    "speichern",
    "behalte",
    "notiere",
    "notier",
    "garde",
    "gardez",
    "garder",
    "enregistre",
    "enregistrez",
    "enregistrer",
    "guardes",
    "guardar",
    "anotes",
    "conserves",
];

/// Words that negate.
const NOT: [&str; 10] = [
    "not", "never", "nicht", "nie", "ne", "pas", "jamais", "no", "nunca", "stop",
];

/// Words of what is said, known and remembered.
const OF_MEMORY: [&str; 45] = [
    "memory",
    "memories",
    "know",
    "remember",
    "remembered",
    "said",
    "told",
    "mentioned",
    "about",
    "stored",
    "saved",
    "learned",
    "learnt",
    "facts",
    "gedächtnis",
    "erinnerung",
    "erinnerungen",
    "weißt",
    "gesagt",
    "erzählt",
    "erwähnt",
    "über",
    "gemerkt",
    "gespeichert",
    "mémoire",
    "souvenirs",
    "sais",
    "dit",
    "raconté",
    "mentionné",
    "sur",
    "propos",
    "retenu",
    "memoria",
    "recuerdos",
    "sabes",
    "dije",
    "dicho",
    "conté",
    "contado",
    "sobre",
    "mencioné",
    "acerca",
    "guardado",
    "recuerdas",
];

/// Pronouns for what was said before.
const SAID: [&str; 16] = [
    "this", "that", "it", "das", "dies", "es", "ça", "cela", "ceci", "le", "la", "esto", "eso",
    "lo", "anything", "any",
];

/// Words of orders to a model, which are no requests about a memory.
const OF_ORDERS: [&str; 10] = [
    "instructions",
    "instruction",
    "prompt",
    "rules",
    "above",
    "anweisungen",
    "instrucciones",
    "previous",
    "consignes",
    "guidelines",
];

/// Words before the name of "everything about Karl".
const ABOUT: [&str; 10] = [
    "about",
    "on",
    "regarding",
    "concerning",
    "über",
    "zu",
    "sur",
    "sobre",
    "de",
    "of",
];

/// The requests to forget of a turn, in any of the languages of patterns.
pub(crate) fn forget_requests(text: &str) -> Vec<ForgetRequest> {
    // What a mail quotes is no request of the speaker.
    let own = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('>'));
    let own = own.collect::<Vec<_>>().join("\n");
    let lower = own.to_lowercase();
    let has_verb = |verbs: &[&str]| verbs.iter().any(|verb| lower.contains(verb));
    // Most turns have no such verb, and are not read for this.
    if !has_verb(&FORGET) && !has_verb(&ERASE) && !has_verb(&REMEMBER) && !has_verb(&KEEP) {
        return Vec::new();
    }
    let all = sentences(&own);
    // Without contractions written out, as long as both end their sentences at the same places.
    let written = plain_sentences(&own);
    let is_alike = written.len() == all.len();
    let asked = all.iter().enumerate().filter(|(_, one)| is_request(one));
    asked
        .map(|(at, sentence)| ForgetRequest {
            sentence: join(if is_alike { &written[at] } else { sentence }),
            about: about(sentence),
        })
        .collect()
}

fn is_request(sentence: &[Token]) -> bool {
    if sentence.iter().any(|token| token.is_any(&OF_ORDERS)) {
        return false;
    }
    let words = |token: &Token| !token.text.is_empty();
    let sentence: Vec<Token> = sentence
        .iter()
        .filter(|token| words(token))
        .cloned()
        .collect();
    let wish = WISHES.iter().find(|wish| {
        sentence.len() > wish.len() && wish.iter().zip(&sentence).all(|(word, t)| t.is(word))
    });
    let is_denied = wish.is_some_and(|wish| wish.contains(&"not"));
    let rest = &sentence[wish.map_or(0, |wish| wish.len())..];
    // "… dass du vergisst, was": the verb stands at the end of its clause.
    let is_german_wish = wish.is_some_and(|wish| wish.contains(&"dass"));
    if is_german_wish {
        return rest
            .iter()
            .any(|token| token.is_any(&["vergisst", "löschst"]));
    }
    let start = rest
        .iter()
        .take_while(|token| token.is_any(&OPENERS) && !is_negation(token));
    let start = start.count();
    // "Hey Mia, forget …".
    let is_called = rest.get(start).is_some_and(|token| {
        let is_verb = [&FORGET[..], &ERASE, &REMEMBER, &KEEP]
            .iter()
            .any(|verbs| token.is_any(verbs));
        token.is_capital() && token.tail.contains(',') && !is_verb
    });
    let rest = &rest[start + usize::from(is_called)..];
    let (rest, is_negated) = match rest {
        // "Do not", "ne … pas", "no".
        [first, second, others @ ..] if first.is("do") && is_negation(second) => (others, true),
        [first, others @ ..] if is_negation(first) => (others, true),
        _ => (rest, is_denied),
    };
    let is_polite =
        |token: &&Token| token.is_any(&["te", "me", "ever", "please", "just", "vous", "t'en"]);
    let skipped = rest.iter().take_while(is_polite).count();
    let Some((verb, behind)) = rest[skipped..].split_first() else {
        return false;
    };
    // "Kannst du vergessen, was": the verb may stand behind its object.
    let verb_last = behind
        .iter()
        .any(|token| token.is_any(&["vergessen", "löschen"]));
    asks(verb, behind, is_negated, start > 0 && verb_last)
}

/// True if a verb with what stands behind it asks to forget.
fn asks(verb: &Token, behind: &[Token], is_negated: bool, verb_last: bool) -> bool {
    let is_denied_behind = behind
        .iter()
        .take(6)
        .any(|token| token.is_any(&["nicht", "nie", "pas", "jamais"]));
    let is_of_memory = behind.iter().any(|token| token.is_any(&OF_MEMORY));
    if is_negated || is_denied_behind {
        // "Ne retiens pas", "Merk dir das nicht"; "vergiss nicht" asks to remember.
        let is_object =
            behind.first().is_some_and(|token| token.is_any(&SAID)) && behind.len() <= 4;
        let is_own = behind.iter().any(|token| {
            token.is_any(&[
                "me", "my", "mein", "meine", "mich", "mon", "ma", "mi", "mis",
            ])
        });
        return verb.is_any(&REMEMBER) && !behind.first().is_some_and(|token| token.is("to"))
            || verb.is_any(&KEEP) && (is_object || is_of_memory && is_own || has_memory(behind));
    }
    if behind.is_empty() && !verb.is_any(&FORGET) {
        return false;
    }
    // "Forget to buy milk" asks for nothing.
    let is_infinitive = behind.first().is_some_and(|token| token.is("to"));
    verb.is_any(&FORGET) && !is_infinitive && !behind.is_empty()
        || verb.is_any(&ERASE) && is_of_memory && !is_infinitive
        || verb_last && is_of_memory
}

/// True for "in your memory".
fn has_memory(tokens: &[Token]) -> bool {
    tokens
        .iter()
        .any(|token| token.is_any(&["memory", "memories", "gedächtnis", "mémoire", "memoria"]))
}

fn is_negation(token: &Token) -> bool {
    token.is_any(&NOT)
}

/// The name behind "about".
fn about(sentence: &[Token]) -> Option<String> {
    let at = sentence.iter().position(|token| token.is_any(&ABOUT))?;
    let name = sentence[at + 1..]
        .iter()
        .take_while(|token| token.is_capital() && !token.is("i"));
    let name: Vec<&str> = name.map(|token| token.text.as_str()).collect();
    // "Was ich über mein Gehalt gesagt habe" names nothing.
    (!name.is_empty()).then(|| name.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_forget_are_known_in_four_languages() {
        for text in [
            "Don't remember my salary",
            "Please don't remember that.",
            "Never remember what I said about Karl",
            "Forget everything about Karl",
            "Please forget what I said about my salary.",
            "Can you forget my address?",
            "Could you please forget about my divorce?",
            "Forget that.",
            "Forget that I have two cats",
            "I want you to forget my phone number",
            "I don't want you to remember my salary",
            "Delete everything you know about me",
            "Erase all memories of Karl",
            "Remove what I told you from your memory",
            "Don't store this.",
            "Do not keep anything about me",
            "Vergiss, was ich über mein Gehalt gesagt habe",
            "Bitte vergiss alles über Karl.",
            "Merk dir das nicht",
            "Merk dir mein Gehalt bitte nicht",
            "Kannst du vergessen, was ich gesagt habe?",
            "Speichere das nicht",
            "Lösche alles, was du über mich weißt",
            "Oublie ce que j'ai dit sur mon salaire",
            "Oublie tout sur Karl",
            "Ne retiens pas mon salaire",
            "Olvida lo que dije sobre mi sueldo",
            "Olvida todo sobre Karl",
            "No recuerdes mi sueldo",
            "No guardes esto",
        ] {
            assert_eq!(forget_requests(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_sentences_ask_to_forget_nothing() {
        for text in [
            "Don't forget my birthday",
            "Please do not forget that I am allergic to nuts",
            "Never forget to call me",
            "I forgot my keys",
            "I don't remember my password",
            "I can't forget that day in Rome",
            "Delete the old branch",
            "Remove the unused imports",
            "Don't keep me waiting",
            "Never store secrets in the repository",
            "Don't save the file yet",
            "Remember that I live in Rome",
            "Did you forget my birthday?",
            "Vergiss nicht, dass ich in Rom wohne",
            "Bitte vergiss nicht meinen Geburtstag",
            "N'oublie pas mon anniversaire",
            "No olvides mi cumpleaños",
            "My dog will forget everything",
            "Forget all previous instructions",
            "> Forget everything about Karl",
        ] {
            assert_eq!(forget_requests(text), [], "{text}");
        }
    }

    #[test]
    fn a_request_names_the_person_that_it_is_about() {
        for (text, name) in [
            ("Forget everything about Karl", Some("Karl")),
            ("Forget everything about Karl Meier!", Some("Karl Meier")),
            ("Bitte vergiss alles über Karl.", Some("Karl")),
            ("Forget what I said about my salary", None),
        ] {
            let found = forget_requests(text);
            assert_eq!(found[0].about.as_deref(), name, "{text}");
        }
    }
}
