//! One line of a conversation in text: a time in some form, a speaker, and what was said.

/// The parts of a line that begins a turn.
#[derive(Debug, PartialEq)]
pub(crate) struct PlainTurn<'t> {
    /// As it is written; empty if the line has none.
    pub(crate) time: &'t str,
    pub(crate) speaker: &'t str,
    pub(crate) said: &'t str,
}

const SPEAKER_BYTES_MAX: usize = 60;
const SPEAKER_WORDS_MAX: usize = 4;
/// Words that stand before a colon in prose.
const NO_SPEAKERS: [&str; 12] = [
    "http", "https", "note", "todo", "warning", "error", "info", "example", "ps", "re", "subject",
    "date",
];

/// Divides `[time] speaker: text`, `time - speaker: text`, `speaker (time): text`, and without the time.
pub(crate) fn split_turn(line: &str) -> Option<PlainTurn<'_>> {
    // Some clients begin lines with invisible marks of direction.
    let line = line.trim_start_matches(['\u{200e}', '\u{200f}', '\u{feff}', ' ', '\t']);
    if let Some((time, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && has_digits(time)
    {
        return spoken(rest, time.trim());
    }
    if line.starts_with(|c: char| c.is_ascii_digit()) {
        // The time ends before the dash, or with the last word that has a digit before the speaker.
        if let Some((time, rest)) = line.split_once(" - ")
            && has_digits(time)
            && time.len() <= 40
        {
            return spoken(rest, time.trim());
        }
        let mut at = 0;
        for word in line.split_inclusive(' ').take(4) {
            let is_time = word.contains(|c: char| c.is_ascii_digit());
            let is_half = matches!(word.trim().to_ascii_lowercase().as_str(), "am" | "pm");
            if !is_time && !is_half {
                break;
            }
            at += word.len();
        }
        let (time, rest) = line.split_at(at);
        return spoken(rest, time.trim()).filter(|_| at > 0);
    }
    let turn = spoken(line, "")?;
    let behind = turn
        .speaker
        .strip_suffix(')')
        .and_then(|front| front.rsplit_once('('));
    match behind.filter(|(_, time)| has_digits(time)) {
        Some((speaker, time)) => Some(PlainTurn {
            time: time.trim(),
            speaker: speaker.trim(),
            ..turn
        }),
        None => Some(turn),
    }
}

fn has_digits(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= 3
}

fn spoken<'t>(rest: &'t str, time: &'t str) -> Option<PlainTurn<'t>> {
    let rest = rest.trim_start_matches(['\u{200e}', '\u{200f}', ' ', '\t', '-']);
    // A time behind the name has colons of its own.
    let from = rest
        .find('(')
        .zip(rest.find("):"))
        .filter(|(open, close)| open < close);
    let from = from.map_or(0, |(_, close)| close);
    let colon = from + rest[from..].find(':')?;
    let (speaker, said) = (rest[..colon].trim(), &rest[colon + 1..]);
    let speaker = speaker.trim_matches('*').trim();
    let is_apart = said.is_empty() || said.starts_with([' ', '\t', '*']);
    let words = speaker.split_whitespace().count();
    let is_name = speaker.starts_with(|c: char| c.is_alphabetic() || matches!(c, '+' | '~' | '@'))
        && !speaker.contains(['"', '`', '/', '=', '{', '<', '#', '|'])
        && speaker.len() <= SPEAKER_BYTES_MAX
        && (1..=SPEAKER_WORDS_MAX).contains(&words);
    let is_word = NO_SPEAKERS.contains(&speaker.to_ascii_lowercase().as_str());
    (is_apart && is_name && !is_word).then(|| PlainTurn {
        time,
        speaker,
        said: said.trim_start_matches('*').trim(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_told_from_prose() {
        let turn = |time, speaker, said| {
            Some(PlainTurn {
                time,
                speaker,
                said,
            })
        };
        for (line, expected) in [
            ("Ada: hello", turn("", "Ada", "hello")),
            (
                "[2026-03-02 09:00] Ada: a: b",
                turn("2026-03-02 09:00", "Ada", "a: b"),
            ),
            (
                "[02/03/26, 09:00:12] Ada Low: x",
                turn("02/03/26, 09:00:12", "Ada Low", "x"),
            ),
            (
                "\u{200e}02/03/2026, 09:00 - Ada: x",
                turn("02/03/2026, 09:00", "Ada", "x"),
            ),
            (
                "2026-03-02 09:00 Ada: x",
                turn("2026-03-02 09:00", "Ada", "x"),
            ),
            (
                "2026-03-02T09:00:00Z Ada: x",
                turn("2026-03-02T09:00:00Z", "Ada", "x"),
            ),
            (
                "3/2/26, 9:00 pm - +49 12 34: x",
                turn("3/2/26, 9:00 pm", "+49 12 34", "x"),
            ),
            (
                "Ada (2026-03-02 09:00): x",
                turn("2026-03-02 09:00", "Ada", "x"),
            ),
            ("**Ada:** x", turn("", "Ada", "x")),
            ("User:", turn("", "User", "")),
            ("https://a.b/c", None),
            ("Note: this", None),
            ("we all went to see the town: it rained", None),
            ("a line of prose", None),
            ("10:30", None),
            ("key=value: x", None),
        ] {
            assert_eq!(split_turn(line), expected, "{line}");
        }
    }
}
