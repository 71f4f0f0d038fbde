//! Which characters of a text may be shown.

/// Whether a terminal could obey this character instead of showing it: the control characters C0, DEL and C1, line
/// and paragraph separators, and the controls of direction (Unicode, UAX #9).
pub fn is_terminal_control(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}
