//! Invisible characters: they split words, hide orders, and turn what follows around.

use std::borrow::Cow;

/// The text without characters that are not seen, and without controls. Line breaks and tabs stay, and so do joiners
/// and selectors between characters that need them, as in emoji and Persian.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.bytes().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut before = ' ';
    let is_shown = |c: &char| {
        let is_shown = match *c {
            '\u{200c}' | '\u{200d}' => !before.is_ascii() && !is_invisible(before),
            '\u{fe0e}' | '\u{fe0f}' => !before.is_whitespace() && !is_selector(before),
            c => !is_invisible(c) && (!c.is_control() || c.is_whitespace()),
        };
        before = *c;
        is_shown
    };
    Cow::Owned(text.chars().filter(is_shown).collect())
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !byte.is_ascii_whitespace()
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// True if a character is not seen where it stands: those without width, those that set the direction, fillers, tags.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_and_selectors_stay_where_they_are_needed() {
        for (text, shown) in [
            ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("1\u{fe0f}\u{20e3} ❤\u{fe0f}", "1\u{fe0f}\u{20e3} ❤\u{fe0f}"),
            ("I li\u{200d}ke tea", "I like tea"),
            ("é\u{200b}a", "éa"),
            ("a\u{fe0f}\u{fe0f}b\u{e0101}", "a\u{fe0f}b"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn what_turns_text_around_and_controls_go_and_lines_stay() {
        for (text, shown) in [
            ("pay \u{202e}eno\u{202c} now", "pay eno now"),
            ("\u{2066}a\u{2069}\u{061c}", "a"),
            ("a\u{1b}[31mb\u{7}", "a[31mb"),
            ("one\n\ttwo\r\n", "one\n\ttwo\r\n"),
            ("\u{e0049}\u{e0067}x", "x"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
