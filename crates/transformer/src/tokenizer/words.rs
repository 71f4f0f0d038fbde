//! From a text to words: clean, decompose, strip accents, lower-case, split at spaces and punctuation.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;

use super::ranges::{IDEOGRAPHS, NONSPACING_MARKS, PUNCTUATION, REMOVED};

/// How a text is split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordRules {
    /// Control characters are removed.
    pub(crate) clean: bool,
    /// Ideographs are words of their own.
    pub(crate) ideographs: bool,
    /// Accents are removed.
    pub(crate) strip_accents: bool,
    /// Words are in lower case.
    pub(crate) lower_case: bool,
}

impl WordRules {
    /// Calls `f` with each word until it breaks. Of a word with more than `chars_max` characters it gets one more than
    /// that.
    pub(super) fn each(
        &self,
        text: &str,
        chars_max: usize,
        mut f: impl FnMut(&str) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut word, mut chars) = (String::new(), 0);
        for c in self.chars(text) {
            let is_end = c.is_whitespace();
            let is_alone = !is_end && is_punctuation(c);
            if is_end || is_alone {
                if chars > 0 {
                    f(&word)?;
                    word.clear();
                    chars = 0;
                }
                if is_alone {
                    f(c.encode_utf8(&mut [0; 4]))?;
                }
            } else if chars <= chars_max {
                word.push(c);
                chars += 1;
            }
        }
        if chars > 0 {
            f(&word)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// The characters of a text after every rule but the splitting.
    fn chars(self, text: &str) -> Box<dyn Iterator<Item = char> + '_> {
        let clean = text
            .chars()
            .filter(move |c| !(self.clean && is_removed(*c)));
        let spaced = clean.flat_map(move |c| {
            let space = (self.ideographs && is_in(&IDEOGRAPHS, c)).then_some(' ');
            [space, Some(c), space].into_iter().flatten()
        });
        let lower = move |c: char| {
            let (lower, same) = if self.lower_case {
                (Some(c.to_lowercase()), None)
            } else {
                (None, Some(c))
            };
            lower.into_iter().flatten().chain(same)
        };
        if self.strip_accents {
            let is_kept = |c: &char| c.is_ascii() || !is_in(&NONSPACING_MARKS, *c);
            Box::new(spaced.nfd().filter(is_kept).flat_map(lower))
        } else {
            Box::new(spaced.flat_map(lower))
        }
    }
}

fn is_in(ranges: &[(u32, u32)], c: char) -> bool {
    let c = u32::from(c);
    let after = ranges.partition_point(|(first, _)| *first <= c);
    after > 0 && c <= ranges[after - 1].1
}

fn is_removed(c: char) -> bool {
    !matches!(c, ' '..='~') && is_in(&REMOVED, c)
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        is_in(&PUNCTUATION, c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNCASED: WordRules = WordRules {
        clean: true,
        ideographs: true,
        strip_accents: true,
        lower_case: true,
    };

    fn check(rules: WordRules, text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        let flow = rules.each(text, 100, |word| {
            found.push(word.to_owned());
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn texts_become_words() {
        check(UNCASED, "", &[]);
        check(UNCASED, " \t\r\n\u{a0}\u{3000}", &[]);
        check(UNCASED, "Hello,  World!", &["hello", ",", "world", "!"]);
        check(UNCASED, "don't", &["don", "'", "t"]);
        check(UNCASED, "a$b`c~d", &["a", "$", "b", "`", "c", "~", "d"]);
        check(
            UNCASED,
            "Héllo na\u{ef}ve Ångström",
            &["hello", "naive", "angstrom"],
        );
        check(UNCASED, "e\u{301}\u{327}te", &["ete"]);
        check(UNCASED, "İstanbul ΣΑΣ ẞ", &["istanbul", "σασ", "ß"]);
        check(UNCASED, "東京tower", &["東", "京", "tower"]);
        // Korean syllables are decomposed, and no words of their own.
        check(UNCASED, "a한", &["a\u{1112}\u{1161}\u{11ab}"]);
        check(UNCASED, "a\0b\u{fffd}c\u{200b}d\u{7f}e\u{e000}", &["abcde"]);
        check(UNCASED, "“so”—he…", &["“", "so", "”", "—", "he", "…"]);
        check(UNCASED, "👍🏽 ok", &["👍🏽", "ok"]);
    }

    #[test]
    fn rules_are_applied_as_they_are_set() {
        let rules = |ideographs, strip_accents, lower_case, clean| WordRules {
            clean,
            ideographs,
            strip_accents,
            lower_case,
        };
        let text = "Ébène 東京\u{1}";
        check(rules(true, false, true, true), text, &["ébène", "東", "京"]);
        check(rules(false, true, false, true), text, &["Ebene", "東京"]);
        check(
            rules(false, false, false, false),
            text,
            &["Ébène", "東京\u{1}"],
        );
    }

    #[test]
    fn a_long_word_is_cut_past_the_limit() {
        let text = "ü".repeat(1000);
        let mut lengths = Vec::new();
        let flow = UNCASED.each(&format!("{text} {text}x"), 100, |word| {
            lengths.push(word.chars().count());
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!(lengths, [101, 101]);
    }

    #[test]
    fn ranges_are_in_order() {
        for ranges in [&REMOVED[..], &PUNCTUATION, &NONSPACING_MARKS, &IDEOGRAPHS] {
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.windows(2).all(|two| two[0].1 < two[1].0));
        }
    }
}
