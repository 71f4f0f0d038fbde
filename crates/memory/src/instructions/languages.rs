//! Standing instructions and preferences in the other languages whose sentences patterns read.

use std::ops::Range;

use super::kind::StandingKind;
use super::words::SentenceWords;

/// How a language states them.
struct StandingWords {
    /// What stands before an instruction and says nothing of it.
    openers: &'static [&'static str],
    /// Words that begin an instruction.
    lasting: &'static [&'static str],
    /// Verbs of an instruction, behind which one of `lasting` stands.
    orders: &'static [&'static str],
    /// Beginnings of a condition; the instruction follows behind a comma.
    when: &'static [&'static str],
    /// Preferences, wherever they stand.
    preferred: &'static [&'static str],
}

const LANGUAGES: [StandingWords; 3] = [
    // German.
    StandingWords {
        openers: &[
            "bitte",
            "und",
            "also",
            "ok",
            "übrigens",
            "außerdem",
            "du sollst",
            "denk daran",
        ],
        lasting: &[
            "immer",
            "stets",
            "nie",
            "niemals",
            "ab jetzt",
            "ab sofort",
            "von nun an",
            "in zukunft",
            "künftig",
            "grundsätzlich",
        ],
        orders: &[
            "antworte",
            "schreib",
            "schreibe",
            "verwende",
            "benutze",
            "benutz",
            "nutze",
            "nenne",
            "gib",
            "zeig",
            "zeige",
            "formatiere",
            "erkläre",
            "füge",
            "halte",
            "mach",
            "mache",
            "nimm",
            "sprich",
            "sag",
            "sage",
            "frag",
            "frage",
            "committe",
            "teste",
            "prüfe",
            "erwähne",
            "vermeide",
            "lass",
            "führe",
            "starte",
            "pushe",
            "deploye",
        ],
        when: &[
            "wenn ich",
            "immer wenn ich",
            "jedes mal wenn ich",
            "sobald ich",
            "falls ich",
        ],
        preferred: &[
            "ich bevorzuge",
            "ich ziehe",
            "mir ist lieber",
            "mir sind lieber",
            "ich mag es lieber",
            "ich hätte lieber",
            "ich möchte lieber",
            "ich mag es wenn du",
            "wir bevorzugen",
        ],
    },
    // French.
    StandingWords {
        openers: &[
            "s'il te plaît",
            "s'il vous plaît",
            "merci de",
            "et",
            "alors",
            "tu dois",
            "n'oublie pas de",
        ],
        lasting: &[
            "toujours",
            "jamais",
            "désormais",
            "dorénavant",
            "à partir de maintenant",
            "à l'avenir",
            "systématiquement",
        ],
        orders: &[
            "réponds",
            "répondez",
            "utilise",
            "utilisez",
            "n'utilise",
            "écris",
            "écrivez",
            "n'écris",
            "donne",
            "donnez",
            "montre",
            "explique",
            "ajoute",
            "inclus",
            "garde",
            "fais",
            "ne fais",
            "mentionne",
            "cite",
            "vérifie",
            "évite",
            "commence",
            "ne pousse",
            "ne commite",
            "ne mets",
            "ne réponds",
            "ne déploie",
        ],
        when: &["quand je", "lorsque je", "chaque fois que je", "si je"],
        preferred: &[
            "je préfère",
            "je préférerais",
            "nous préférons",
            "j'aime mieux",
            "j'aime que tu",
        ],
    },
    // Spanish.
    StandingWords {
        openers: &[
            "por favor",
            "y",
            "entonces",
            "debes",
            "tienes que",
            "recuerda",
        ],
        lasting: &[
            "siempre",
            "nunca",
            "jamás",
            "a partir de ahora",
            "de ahora en adelante",
            "en adelante",
            "en el futuro",
        ],
        orders: &[
            "responde",
            "contesta",
            "usa",
            "utiliza",
            "escribe",
            "da",
            "dame",
            "muestra",
            "explica",
            "añade",
            "incluye",
            "mantén",
            "haz",
            "menciona",
            "cita",
            "comprueba",
            "evita",
            "pon",
            "di",
            "no uses",
            "no escribas",
            "no hagas",
        ],
        when: &[
            "cuando yo",
            "cuando te",
            "cuando pregunte",
            "cuando pida",
            "cada vez que",
            "si te",
        ],
        preferred: &[
            "prefiero",
            "preferiría",
            "preferimos",
            "me gusta más",
            "me gusta que",
        ],
    },
];

/// Words between the verb of an instruction and what makes it a standing one.
const REACH: usize = 4;

/// The words of a sentence that are to be kept to: all of them.
pub(super) fn stated(words: &SentenceWords<'_>) -> Option<Range<usize>> {
    let is_one = !words.asks() && LANGUAGES.iter().any(|language| language.is_in(words));
    is_one.then(|| 0..words.len())
}

/// When it holds.
pub(super) fn kind(words: &SentenceWords<'_>) -> StandingKind {
    let begins = |phrases: &[&str]| (0..words.len()).any(|at| words.phrase(at, phrases).is_some());
    let mut languages = LANGUAGES.iter().filter(|language| language.is_in(words));
    match languages.next() {
        Some(language) if begins(language.preferred) => StandingKind::Preference,
        Some(language) if begins(language.when) => StandingKind::Conditional,
        _ => StandingKind::Every,
    }
}

impl StandingWords {
    fn is_in(&self, words: &SentenceWords<'_>) -> bool {
        let mut at = 0;
        while let Some(count) = words.phrase(at, self.openers) {
            at += count;
        }
        let order = |at: usize| words.phrase(at, self.orders);
        let lasts = |at: usize| words.phrase(at, self.lasting);
        if let Some(count) = lasts(at) {
            // "Immer auf Deutsch antworten", "ab jetzt antworte auf Deutsch": the verb stands at once, or last.
            let is_infinitive =
                words.at(words.len() - 1).ends_with("en") && at + count < words.len();
            return order(at + count).is_some()
                || is_infinitive && !words.is(at + count, &["ich", "wir", "er", "sie", "es"]);
        }
        if let Some(count) = order(at) {
            return (at + count..at + count + REACH).any(|at| lasts(at).is_some());
        }
        if words.phrase(at, self.when).is_some() {
            return (at + 2..words.len()).any(|next| {
                let begin = next
                    + words
                        .phrase(next, &["dann", "bitte", "alors", "entonces"])
                        .unwrap_or(0);
                words.is_clause(next) && order(begin).is_some()
            });
        }
        (0..words.len()).any(|at| words.phrase(at, self.preferred).is_some())
    }
}
