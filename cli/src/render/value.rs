//! Values for people.

use amem_format::display::is_terminal_control;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Escapes control characters and characters that change the direction of writing; the result is one line.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_terminal_control(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Escapes as `printable` does, and keeps line ends.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(printable).collect();
    lines.join("\n")
}

/// Columns of a text: two for wide characters such as 漢, none for combining ones.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// At most `max` columns; ends with an ellipsis if clipped.
pub(crate) fn clipped(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let mut used = 0;
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or_default();
        used <= room
    });
    kept.chain(['…']).collect()
}

/// Replaces line-drawing characters, arrows and the ellipsis.
pub(crate) fn in_ascii(text: &str) -> String {
    let plain = |c| match c {
        '├' => '|',
        '└' => '`',
        '─' => '-',
        '│' => '|',
        '→' => '>',
        '←' => '<',
        '…' => '~',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// Up to three decimals, without trailing zeros; an exponent for smaller numbers.
pub(crate) fn float(value: f32) -> String {
    if value != 0.0 && value.abs() < 0.0005 {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// With thousands separators.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// "1 event", "2 events".
pub(crate) fn plural(value: u64, one: &str) -> String {
    format!("{} {one}{}", count(value), agree(value, "", "s"))
}

/// "is" or "are", to go with a count.
pub(crate) fn agree<'a>(value: u64, one: &'a str, more: &'a str) -> &'a str {
    if value == 1 { one } else { more }
}

pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{value} B")
    } else {
        format!("{scaled:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_printable_moves_the_cursor() {
        assert_eq!(
            printable("a\nb\t\x1b[2J\u{202e}ü"),
            "a\\nb\\t\\u{1b}[2J\\u{202e}ü"
        );
        assert!(
            !printable(&(0..=255).map(char::from).collect::<String>()).contains(char::is_control)
        );
    }

    #[test]
    fn values_are_short() {
        let floats = [0.0, 1.0, 0.5, 1.0 / 3.0, -0.0, 12.0, 0.0001].map(float);
        assert_eq!(floats, ["0", "1", "0.5", "0.333", "0", "12", "1e-4"]);
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0, 1023, 1024, 5 << 30].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "5.0 GiB"]
        );
        assert_eq!(clipped("äöüß", 4), "äöüß");
        assert_eq!(clipped("äöüßx", 4), "äöü…");
        assert_eq!((clipped("漢字だ", 5), width("漢字だ")), ("漢字…".into(), 6));
        assert_eq!(
            (plural(1, "edge"), plural(2, "edge")),
            ("1 edge".into(), "2 edges".into())
        );
        assert_eq!(
            [0, 1, 2].map(|n| agree(n, "is", "are")),
            ["are", "is", "are"]
        );
    }
}
