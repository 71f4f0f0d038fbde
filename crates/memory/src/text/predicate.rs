//! The verb of a clause: behind auxiliaries, adverbs and negation.

use crate::text::tokens::Token;

use super::verbs::{VerbForm, base_form};

/// Words between a subject and its verb that do not change it.
const ADVERBS: [&str; 58] = [
    "really",
    "also",
    "just",
    "always",
    "usually",
    "currently",
    "still",
    "now",
    "only",
    "recently",
    "often",
    "sometimes",
    "actually",
    "definitely",
    "totally",
    "already",
    "finally",
    "mostly",
    "mainly",
    "normally",
    "generally",
    "rarely",
    "especially",
    "absolutely",
    "truly",
    "simply",
    "even",
    "ever",
    "once",
    "soon",
    "then",
    "typically",
    "regularly",
    "occasionally",
    "frequently",
    "first",
    "originally",
    "recently",
    "lately",
    "probably",
    "basically",
    "honestly",
    "personally",
    "genuinely",
    "seriously",
    "particularly",
    "primarily",
    "officially",
    "eventually",
    "almost",
    "quite",
    "much",
    "all",
    "both",
    "so",
    "very",
    "too",
    "tentatively",
];

/// How a clause speaks of its verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It is, or was, so.
    Plain,
    /// It will be, or is wanted: "going to", "will", "want to", "would love to".
    Ahead,
    /// It could, should or would be.
    Unreal,
}

/// The verb of a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Predicate {
    /// Where the verb is.
    pub(crate) at: usize,
    /// The verb in its base form.
    pub(crate) base: String,
    pub(crate) form: VerbForm,
    pub(crate) mood: Mood,
    pub(crate) is_negated: bool,
    /// "used to", "no longer", "stopped".
    pub(crate) is_over: bool,
}

pub(crate) fn is_adverb(token: &Token) -> bool {
    token.is_any(&ADVERBS)
}

/// The predicate from `start` on, `None` if there is no word.
pub(crate) fn predicate(tokens: &[Token], start: usize) -> Option<Predicate> {
    let mut at = start;
    let (mut mood, mut is_negated, mut is_over) = (Mood::Plain, false, false);
    loop {
        let token = tokens.get(at)?;
        let word = token.lower.as_str();
        let after = next_word(tokens, at + 1);
        match word {
            "" => {}
            "not" | "never" => is_negated = true,
            "no" if after.is_some_and(|t| t.is("longer")) => {
                is_over = true;
                at += 1;
            }
            _ if is_adverb(token) => {}
            "will" | "shall" => mood = Mood::Ahead,
            "would" | "could" | "should" | "might" | "may" | "must" => {
                mood = match (word, after) {
                    ("would", Some(next)) if next.is_any(&["love", "like", "prefer", "rather"]) => {
                        Mood::Ahead
                    }
                    _ => Mood::Unreal,
                };
            }
            "cannot"
                if !after.is_some_and(|t| {
                    t.is_any(&["stand", "eat", "drink", "swim", "drive", "cook", "have"])
                }) =>
            {
                mood = Mood::Unreal;
                is_negated = true;
            }
            "cannot" => is_negated = true,
            "used"
                if tokens.get(at + 1).is_some_and(|t| t.is("to"))
                    && at > start.saturating_sub(1) =>
            {
                let is_accustomed =
                    at > start && tokens[at - 1].is_any(&["am", "is", "are", "get", "getting"]);
                if is_accustomed {
                    return Some(found(tokens, at, mood, is_negated, is_over));
                }
                is_over = true;
                at += 1;
            }
            "do" | "does" | "did"
                if after.is_some_and(|t| {
                    t.is("not")
                        || base_form(&t.lower).1 == VerbForm::Present
                            && !t.is_any(&["a", "the", "my", "some", "it", "that", "this", "yoga"])
                }) => {}
            "have" | "has" | "had" if is_perfect(tokens, at) => {}
            "am" | "is" | "are" | "was" | "were" | "be" | "been" if is_progressive(tokens, at) => {
                let next = word_at(tokens, at + 1)?;
                if tokens[next].is("going")
                    && tokens.get(next + 1).is_some_and(|t| t.is("to"))
                    && tokens
                        .get(next + 2)
                        .is_some_and(|t| !t.is_capital() && !t.is_any(&["the", "a", "my", "an"]))
                {
                    mood = Mood::Ahead;
                    at = next + 1;
                }
            }
            _ => return Some(found(tokens, at, mood, is_negated, is_over)),
        }
        at += 1;
    }
}

fn found(tokens: &[Token], at: usize, mood: Mood, is_negated: bool, is_over: bool) -> Predicate {
    let (base, form) = base_form(&tokens[at].lower);
    // "is not", "is no longer": behind a plain "be" the negation follows.
    let behind = tokens.iter().skip(at + 1).take(2).filter(|_| base == "be");
    let (mut negates, mut ends) = (false, false);
    for (word, token) in behind.enumerate() {
        negates |= token.is("not") || token.is("never");
        ends |= token.is("no")
            && tokens
                .get(at + word + 2)
                .is_some_and(|next| next.is("longer"));
    }
    Predicate {
        at,
        base,
        form,
        mood,
        is_negated: is_negated || negates,
        is_over: is_over || ends,
    }
}

/// The next word that is no adverb.
fn word_at(tokens: &[Token], mut at: usize) -> Option<usize> {
    while let Some(token) = tokens.get(at) {
        if !is_adverb(token) && !token.is("not") && !token.is("never") && !token.text.is_empty() {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn next_word(tokens: &[Token], at: usize) -> Option<&Token> {
    word_at(tokens, at).map(|at| &tokens[at])
}

/// True if "have" is an auxiliary: a participle follows.
fn is_perfect(tokens: &[Token], at: usize) -> bool {
    let Some(next) = next_word(tokens, at + 1) else {
        return false;
    };
    if tokens[at].breaks() || next.is_any(&["a", "an", "the", "my", "no", "two", "three"]) {
        return false;
    }
    let (base, form) = base_form(&next.lower);
    matches!(form, VerbForm::Past)
        || matches!(form, VerbForm::Either)
        || matches!(&*base, "become" | "come" | "run" | "overcome")
}

/// True if a form of "be" is an auxiliary: "-ing" follows.
fn is_progressive(tokens: &[Token], at: usize) -> bool {
    // "My favourite tea is Darjeeling": a name is no verb.
    next_word(tokens, at + 1)
        .is_some_and(|next| !next.is_capital() && base_form(&next.lower).1 == VerbForm::Progressive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::tokens;

    fn of(text: &str) -> String {
        let p = predicate(&tokens(text), 1).unwrap();
        let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
        let mood = match p.mood {
            Mood::Plain => "",
            Mood::Ahead => ">",
            Mood::Unreal => "?",
        };
        format!(
            "{mood}{}{}{}",
            mark(p.is_negated, "!"),
            mark(p.is_over, "x"),
            p.base
        )
    }

    #[test]
    fn the_verb_is_found_behind_auxiliaries() {
        for (text, expected) in [
            ("I live here", "live"),
            ("I've been living here", "live"),
            ("I am not working today", "!work"),
            ("I don't drink coffee", "!drink"),
            ("I do yoga", "do"),
            ("I have a dog", "have"),
            ("I've got a dog", "get"),
            ("I used to smoke", "xsmoke"),
            ("I no longer smoke", "xsmoke"),
            ("I am going to move to Rome", ">move"),
            ("I'm going to the gym", "go"),
            ("I will really visit Rome", ">visit"),
            ("I'd love to paint", ">love"),
            ("I would go", "?go"),
            ("I am a nurse", "be"),
            ("I can't stand jazz", "!stand"),
            ("I was born in Rome", "be"),
            ("I also just moved", "move"),
            ("I'm currently planning a trip", "plan"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
