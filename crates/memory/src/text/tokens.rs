//! A sentence as tokens: words with the punctuation around them.
//!
//! Contractions are written out ("I'm" → "I am"), so that a rule has one form to match and a fact one form to be found
//! by. `join` writes tokens back as text.

/// One word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Punctuation before the word.
    pub(crate) lead: String,
    /// The word; empty where punctuation stands alone.
    pub(crate) text: String,
    /// The word in lower case, with straight apostrophes.
    pub(crate) lower: String,
    /// Punctuation behind the word.
    pub(crate) tail: String,
}

impl Token {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            lead: String::new(),
            text: text.to_owned(),
            lower: text.to_lowercase(),
            tail: String::new(),
        }
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        self.lower == word
    }

    pub(crate) fn is_any(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    pub(crate) fn is_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    pub(crate) fn has_digit(&self) -> bool {
        self.text.contains(|c: char| c.is_ascii_digit())
    }

    /// True if a clause ends behind the token.
    pub(crate) fn breaks(&self) -> bool {
        self.tail
            .contains([',', ';', ':', '.', '!', '?', '\u{2013}', '\u{2014}', ')'])
            || self.tail.ends_with('-')
            || self.is_dash()
    }

    /// True if the token is a dash with spaces around it.
    pub(crate) fn is_dash(&self) -> bool {
        self.text.is_empty()
            && self
                .tail
                .chars()
                .all(|c| matches!(c, '-' | '\u{2013}' | '\u{2014}'))
    }

    /// Replaces the word; a capital stays one.
    pub(crate) fn set(&mut self, word: &str) {
        word.clone_into(&mut self.text);
        self.lower = word.to_lowercase();
    }
}

/// Where the next long dash is, and its bytes. One pass: a run of hyphens may be as long as a message.
fn next_dash(text: &str) -> Option<(usize, usize)> {
    let mut chars = text.char_indices();
    chars.find_map(|(at, c)| match c {
        '\u{2013}' | '\u{2014}' => Some((at, c.len_utf8())),
        '-' if text[at..].starts_with("--") => Some((at, 2)),
        _ => None,
    })
}

/// The tokens of a text, contractions written out.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut out = split(text, write_out);
    perfect(&mut out);
    out
}

/// The tokens of a text in another language than English: "im" is no contraction there.
pub(crate) fn plain_tokens(text: &str) -> Vec<Token> {
    split(text, |word, lower, out| out.push(one_token(word, lower)))
}

/// The words of a text; `write_out` adds the tokens of one word.
fn split(text: &str, write_out: fn(&str, String, &mut Vec<Token>)) -> Vec<Token> {
    let mut out = Vec::with_capacity(text.len() / 5 + 1);
    for run in text.split_whitespace() {
        // A long dash joins two clauses without spaces.
        let mut rest = run;
        while let Some((at, dash)) = next_dash(rest) {
            // A range of numbers is one word.
            let is_range = rest[..at].ends_with(|c: char| c.is_ascii_digit())
                && rest[at + dash..].starts_with(|c: char| c.is_ascii_digit());
            if is_range {
                break;
            }
            push(&rest[..at], write_out, &mut out);
            push("\u{2013}", write_out, &mut out);
            rest = &rest[at + dash..];
        }
        push(rest, write_out, &mut out);
    }
    out
}

/// "it's been" is "it has been".
fn perfect(tokens: &mut [Token]) {
    for at in 1..tokens.len().saturating_sub(1) {
        let is_short = tokens[at].is("is") && tokens[at - 1].is_any(&BEFORE_IS);
        if is_short
            && tokens[at + 1..]
                .iter()
                .take(2)
                .any(|next| next.is("been") || next.is("gotten"))
        {
            tokens[at].set("has");
        }
    }
}

/// Punctuation that belongs to a word at its end (C++, C#, 50%) or start (@ada, #9, $5, .NET).
fn is_part(c: char, at_end: bool) -> bool {
    c.is_alphanumeric()
        || if at_end {
            matches!(c, '+' | '#' | '%' | '°' | '€')
        } else {
            matches!(c, '@' | '#' | '$' | '€' | '£')
        }
}

fn push(run: &str, write_out: fn(&str, String, &mut Vec<Token>), out: &mut Vec<Token>) {
    if run.is_empty() {
        return;
    }
    let start = run.find(|c| is_part(c, false)).unwrap_or(run.len());
    let start = if run[..start].ends_with('.')
        && run[start..].starts_with(|c: char| c.is_ascii_uppercase())
    {
        // ".NET"; an ellipsis before a word is punctuation.
        if run[..start].ends_with("..") {
            start
        } else {
            start - 1
        }
    } else {
        start
    };
    let end = run[start..]
        .char_indices()
        .rev()
        .find(|(_, c)| is_part(*c, true))
        .map_or(start, |(at, c)| start + at + c.len_utf8());
    let (lead, word, tail) = if start == run.len() {
        ("", "", run)
    } else {
        (&run[..start], &run[start..end], &run[end..])
    };
    let lower = word.to_lowercase().replace(['\u{2019}', '`'], "'");
    let first = out.len();
    write_out(word, lower, out);
    let last = out.len() - 1;
    lead.clone_into(&mut out[first].lead);
    tail.clone_into(&mut out[last].tail);
}

/// Whole words that are contractions.
const WHOLE: [(&str, &[&str]); 17] = [
    ("can't", &["cannot"]),
    ("cant", &["cannot"]),
    ("won't", &["will", "not"]),
    ("shan't", &["shall", "not"]),
    ("ain't", &["is", "not"]),
    ("gonna", &["going", "to"]),
    ("wanna", &["want", "to"]),
    ("gotta", &["have", "to"]),
    ("i'm", &["I", "am"]),
    ("im", &["I", "am"]),
    ("i've", &["I", "have"]),
    ("ive", &["I", "have"]),
    ("dont", &["do", "not"]),
    ("didnt", &["did", "not"]),
    ("doesnt", &["does", "not"]),
    ("let's", &["let", "us"]),
    ("y'all", &["you"]),
];

/// Words behind which "'s" is "is".
const BEFORE_IS: [&str; 11] = [
    "it", "that", "he", "she", "what", "there", "here", "who", "where", "how", "this",
];

fn write_out(word: &str, lower: String, out: &mut Vec<Token>) {
    let is_capital = word.starts_with(char::is_uppercase);
    let mut put = |text: &str, keep_capital: bool| {
        let mut token = Token::new(text);
        if keep_capital && is_capital && text != "I" {
            token.text = capital(text);
        }
        out.push(token);
    };
    if let Some((_, words)) = WHOLE.iter().find(|(short, _)| *short == lower) {
        for (at, word) in words.iter().enumerate() {
            put(word, at == 0);
        }
        return;
    }
    if let Some(at) = lower.rfind('\'').filter(|_| lower.is_ascii()) {
        let (front, back) = (&lower[..at], &lower[at + 1..]);
        let full = match back {
            "re" => Some("are"),
            "ve" => Some("have"),
            "ll" => Some("will"),
            "d" if !front.is_empty() => Some("would"),
            "m" => Some("am"),
            "t" if front.ends_with('n') && front.len() > 2 => {
                put(&front[..front.len() - 1], true);
                put("not", false);
                return;
            }
            "s" if BEFORE_IS.contains(&front) => Some("is"),
            _ => None,
        };
        // The word may be shorter than its lower form only if it is not ASCII.
        if let Some(full) = full {
            put(front_of(word, front), false);
            put(full, false);
            return;
        }
    }
    out.push(one_token(word, lower));
}

fn one_token(word: &str, lower: String) -> Token {
    Token {
        lead: String::new(),
        text: word.replace('\u{2019}', "'"),
        lower,
        tail: String::new(),
    }
}

/// The part of a word before its apostrophe, as it is written.
fn front_of<'w>(word: &'w str, front: &'w str) -> &'w str {
    word.get(..front.len()).unwrap_or(front)
}

pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Tokens as text.
pub(crate) fn join(tokens: &[Token]) -> String {
    let mut out = String::with_capacity(tokens.len() * 6);
    for token in tokens {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&token.lead);
        out.push_str(&token.text);
        out.push_str(&token.tail);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_hyphens_alone_is_read_once() {
        assert!(tokens(&"-".repeat(1 << 20)).len() <= 1 << 20);
        assert_eq!(next_dash("a-b--c"), Some((3, 2)));
        assert_eq!(next_dash("a--b\u{2014}c"), Some((1, 2)));
        assert_eq!(next_dash("a-b"), None);
    }

    #[test]
    fn contractions_are_written_out_and_punctuation_stays() {
        for (text, expected) in [
            ("I'm Bob.", "I am Bob."),
            (
                "I\u{2019}ve \"moved\", haven't I?",
                "I have \"moved\", have not I?",
            ),
            ("We can't, won't, don't", "We cannot, will not, do not"),
            (
                "It's Bob's C++ (and .NET) code!",
                "It is Bob's C++ (and .NET) code!",
            ),
            ("She'd go, they'll stay", "She would go, they will stay"),
            ("it's really been fun", "it has really been fun"),
            (
                "Gonna write 50% of it \u{2013} maybe",
                "Going to write 50% of it \u{2013} maybe",
            ),
            ("forms\u{2014}I like it", "forms \u{2013} I like it"),
            ("from 2010\u{2013}2012", "from 2010\u{2013}2012"),
            ("", ""),
        ] {
            assert_eq!(join(&tokens(text)), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}|(I|'|n't|\u{2019}|s|--|\u{2014}|\\.|[A-Z]| ){0,20}") {
            let tokens = tokens(&text);
            let _ = join(&tokens);
        }
    }
}
