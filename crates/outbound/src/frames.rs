//! Messages of a stream: server-sent events, or lines of JSON. Pieces may end anywhere.

/// How messages are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameSyntax {
    /// `data:` lines that an empty line ends.
    Events,
    /// A line each.
    Lines,
}

/// Takes bytes, gives messages.
#[derive(Debug)]
pub struct FrameReader {
    syntax: FrameSyntax,
    /// Bytes of a line without its end.
    line: Vec<u8>,
    /// The data of an event so far.
    data: Option<String>,
}

impl FrameReader {
    /// A reader that has read nothing.
    #[must_use]
    pub fn new(syntax: FrameSyntax) -> Self {
        Self {
            syntax,
            line: Vec::new(),
            data: None,
        }
    }

    /// The messages that end in these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                out.extend(self.line_ends(&line));
            } else {
                self.line.push(*byte);
            }
        }
        out
    }

    /// The last message, if its end is missing.
    pub fn finish(&mut self) -> Vec<String> {
        let line = std::mem::take(&mut self.line);
        let mut out: Vec<String> = self.line_ends(&line).into_iter().collect();
        out.extend(self.data.take());
        out
    }

    fn line_ends(&mut self, line: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        if self.syntax == FrameSyntax::Lines {
            let text = text.trim();
            return (!text.is_empty()).then(|| text.to_owned());
        }
        if text.is_empty() {
            return self.data.take();
        }
        // Names of events, their ids and comments say nothing that the data does not.
        if let Some(data) = text.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            match &mut self.data {
                Some(known) => {
                    known.push('\n');
                    known.push_str(data);
                }
                None => self.data = Some(data.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_the_same_wherever_pieces_end() {
        let events = "event: a\r\ndata: {\"x\":\"ü\"}\r\n\r\n: comment\n\ndata:1\ndata: 2\n\nid: 7\n\ndata: [DONE]";
        let lines = "{\"a\":1}\n\n{\"b\":\"ü\"}\r\n{\"c\":3}";
        for (syntax, text, wanted) in [
            (
                FrameSyntax::Events,
                events,
                vec!["{\"x\":\"ü\"}", "1\n2", "[DONE]"],
            ),
            (
                FrameSyntax::Lines,
                lines,
                vec!["{\"a\":1}", "{\"b\":\"ü\"}", "{\"c\":3}"],
            ),
        ] {
            for size in 1..text.len() {
                let mut reader = FrameReader::new(syntax);
                let mut found = Vec::new();
                for piece in text.as_bytes().chunks(size) {
                    found.extend(reader.feed(piece));
                }
                found.extend(reader.finish());
                assert_eq!(found, wanted, "pieces of {size}");
            }
        }
    }
}
