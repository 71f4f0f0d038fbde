//! The person of a sentence: "I like my dog" → "User likes their dog".
//!
//! A fact is read without its conversation: "I" becomes the speaker's name, or `User`; "we" becomes the speaker and
//! others, because the text does not say who they are.

use crate::text::tokens::{Token, capital, join};

use crate::text::predicate::is_adverb;
use crate::text::verbs::{VerbForm, base_form, third_person};

/// The name of a speaker that has none.
pub(crate) const DEFAULT_SPEAKER: &str = "User";

/// Words for others than the speaker.
const OTHERS: [&str; 5] = ["they", "their", "them", "theirs", "people"];

/// The sentence with the speaker's name for the first person, as text: no full stop at its end.
pub(crate) fn rewritten(tokens: &[Token], speaker: &str) -> String {
    let mut out = tokens.to_vec();
    let (mut is_named, mut is_plural) = (false, false);
    // Where others are spoken of, "their" would be theirs.
    let has_others = tokens.iter().any(|token| token.is_any(&OTHERS));
    for at in 0..out.len() {
        match out[at].lower.as_str() {
            "i" => {
                out[at].set(speaker);
                conjugate(&mut out, at + 1);
                is_named = true;
            }
            "we" => {
                let name = if is_plural {
                    "they".to_owned()
                } else {
                    format!("{speaker} and others")
                };
                out[at].set(&name);
                (is_named, is_plural) = (true, true);
            }
            "my" if is_named && !has_others => out[at].set("their"),
            "my" | "our" if !is_named || has_others => {
                out[at].set(&format!("{speaker}'s"));
                is_named = true;
            }
            "our" => out[at].set("their"),
            "mine" | "ours" => out[at].set("theirs"),
            "me" => out[at].set(speaker),
            "us" if is_plural => out[at].set("them"),
            "us" => out[at].set(&format!("{speaker} and others")),
            "myself" | "ourselves" => out[at].set("themselves"),
            _ => {}
        }
    }
    finished(&mut out)
}

/// A sentence that leaves out its subject, behind the speaker's name.
pub(crate) fn with_subject(tokens: &[Token], verb: usize, speaker: &str) -> String {
    let mut all = vec![Token::new("I")];
    all.extend_from_slice(tokens);
    if let Some(first) = all.get_mut(1) {
        let lower = first.lower.clone();
        first.set(&lower);
    }
    // "been volunteering", "going to move": an auxiliary is missing as well.
    let verb = verb + 1;
    let form = base_form(&all[verb].lower).1;
    if all[verb].is("been") {
        all.insert(verb, Token::new("have"));
    } else if form == VerbForm::Progressive {
        all.insert(verb, Token::new("am"));
    }
    rewritten(&all, speaker)
}

/// Makes the verb behind a subject that was "I" one of the third person.
fn conjugate(tokens: &mut [Token], from: usize) {
    let Some(verb) = tokens[from..].iter().position(|token| {
        !is_adverb(token) && !token.is("never") && !token.is("no") && !token.is("longer")
    }) else {
        return;
    };
    let token = &mut tokens[from + verb];
    if token.text.is_empty() {
        return;
    }
    let lower = token.lower.clone();
    let (base, form) = base_form(&lower);
    let is_base = form == VerbForm::Present
        && (base == lower
            || lower == "am"
            || lower == "are"
            || base == "miss"
            || lower == "focus"
            || lower == "discuss");
    if !is_base {
        return;
    }
    token.set(&third_person(&lower));
    // "I practice and train": the second verb has no subject of its own.
    let is_plain = !token.breaks() && !matches!(&*base, "be" | "have" | "do");
    let joined = tokens
        .get(from + verb + 1)
        .is_some_and(|next| next.is("and") || next.is("or"));
    if let Some(second) = tokens
        .get_mut(from + verb + 2)
        .filter(|_| is_plain && joined)
    {
        let (base, form) = base_form(&second.lower);
        let next = second.lower.clone();
        if form == VerbForm::Present && base == next && !second.is_capital() {
            second.set(&third_person(&next));
        }
    }
}

/// Joins tokens and cuts what ends no fact.
pub(super) fn finished(tokens: &mut Vec<Token>) -> String {
    while let Some(last) = tokens.last() {
        if !last.text.is_empty()
            && !last.is_any(&[
                "and", "but", "so", "or", "though", "haha", "lol", "btw", "too", "because", "plus",
            ])
        {
            break;
        }
        tokens.pop();
    }
    let text = join(tokens);
    let text = text.trim_end_matches(|c: char| {
        !c.is_alphanumeric()
            && !matches!(
                c,
                '%' | ')' | '"' | '+' | '#' | '\'' | '\u{201d}' | '°' | '€'
            )
    });
    let text = text.trim_start_matches([',', ';', ':', '-', '.', ' ']);
    let opens = text.matches('"').count();
    let text = if opens % 2 == 1 {
        text.replace('"', "")
    } else {
        text.to_owned()
    };
    capital(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens::tokens;

    #[test]
    fn the_first_person_becomes_the_speaker() {
        for (text, expected) in [
            ("I like my dog.", "User likes their dog"),
            ("My name is Bob!", "User's name is Bob"),
            ("I'm a nurse", "User is a nurse"),
            ("I've moved to Porto", "User has moved to Porto"),
            ("I don't drink coffee.", "User does not drink coffee"),
            ("I never eat meat", "User never eats meat"),
            (
                "We use Postgres for our app",
                "User and others use Postgres for their app",
            ),
            ("I moved when I was ten", "User moved when User was ten"),
            ("My friend gave me advice", "User's friend gave User advice"),
            ("I can speak French", "User can speak French"),
            ("I studied art, and", "User studied art"),
            ("I was born in 1990", "User was born in 1990"),
            ("I no longer smoke", "User no longer smokes"),
            (
                "I told my sons about their dog",
                "User told User's sons about their dog",
            ),
            (
                "I practice and train daily",
                "User practices and trains daily",
            ),
        ] {
            assert_eq!(
                rewritten(&tokens(text), DEFAULT_SPEAKER),
                expected,
                "{text}"
            );
        }
        assert_eq!(
            rewritten(&tokens("I love my cat"), "Mia"),
            "Mia loves their cat"
        );
        assert_eq!(
            with_subject(&tokens("Just moved to Rome"), 1, "User"),
            "User just moved to Rome"
        );
        assert_eq!(
            with_subject(&tokens("Gonna learn Rust"), 0, "User"),
            "User is going to learn Rust"
        );
    }
}
