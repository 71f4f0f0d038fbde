//! The keys of `amemctl top`, as a terminal sends them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenKey {
    Quit,
    Up,
    Down,
    PageUp,
    PageDown,
    Sort,
    Pause,
    Help,
}

/// The keys in bytes that were read; others are ignored.
pub(super) fn parse(mut bytes: &[u8]) -> Vec<ScreenKey> {
    let mut keys = Vec::new();
    while !bytes.is_empty() {
        let (key, len) = match bytes {
            [0x1b, b'[' | b'O', b'A', ..] => (Some(ScreenKey::Up), 3),
            [0x1b, b'[' | b'O', b'B', ..] => (Some(ScreenKey::Down), 3),
            [0x1b, b'[', b'5', b'~', ..] => (Some(ScreenKey::PageUp), 4),
            [0x1b, b'[', b'6', b'~', ..] => (Some(ScreenKey::PageDown), 4),
            [b'q' | b'Q', ..] => (Some(ScreenKey::Quit), 1),
            [b'k', ..] => (Some(ScreenKey::Up), 1),
            [b'j', ..] => (Some(ScreenKey::Down), 1),
            [b's', ..] => (Some(ScreenKey::Sort), 1),
            [b'p' | b' ', ..] => (Some(ScreenKey::Pause), 1),
            [b'h' | b'?', ..] => (Some(ScreenKey::Help), 1),
            _ => (None, 1),
        };
        keys.extend(key);
        bytes = &bytes[len..];
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_and_letters_are_keys() {
        let keys = parse(b"\x1b[A\x1bOBx\x1b[6~ s?q");
        let expected = [
            ScreenKey::Up,
            ScreenKey::Down,
            ScreenKey::PageDown,
            ScreenKey::Pause,
            ScreenKey::Sort,
            ScreenKey::Help,
            ScreenKey::Quit,
        ];
        assert_eq!(keys, expected);
    }
}
