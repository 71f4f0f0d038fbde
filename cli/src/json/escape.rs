//! JSON that is safe on a terminal.

use std::fmt::Write as _;
use std::io;

use amem_format::display::is_terminal_control;
use serde::Serialize;

/// A line of JSON. Characters that a terminal could obey are escaped as `\u….`; a reader of JSON gets them back.
pub(crate) fn to_line<T: Serialize>(value: &T) -> io::Result<String> {
    let json = serde_json::to_string(value)?;
    let mut line = if json.contains(is_terminal_control) {
        escaped(&json)
    } else {
        json
    };
    line.push('\n');
    Ok(line)
}

/// In JSON without spaces between its tokens, such a character stands in a string only.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_terminal_control(c) {
            // All of them are below U+10000: one unit of UTF-16. Writing to a string never fails.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_controls_are_escaped_in_json_without_loss() {
        let all: String = (0..=0x2100).filter_map(char::from_u32).collect();
        let line = to_line(&(&all, "plain")).unwrap();
        assert!(!line.trim_end_matches('\n').contains(is_terminal_control));
        let back: (String, String) = serde_json::from_str(&line).unwrap();
        assert_eq!(back, (all, "plain".to_owned()));
    }
}
