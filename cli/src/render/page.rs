//! Lines of text in the style of the output.

use std::fmt::Display;

use super::value::{clipped, in_ascii, printable};

/// Without a terminal.
const COLUMNS: usize = 120;
/// Width of field names.
const NAME_COLUMNS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colour: bool,
    unicode: bool,
    columns: usize,
    /// Suppresses `aside`.
    quiet: bool,
}

impl Style {
    pub(crate) fn of(is_terminal: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let columns = is_terminal
            .then(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok())
            .flatten()
            .map(|size| usize::from(size.ws_col))
            .filter(|&columns| columns > 0);
        Self {
            colour: is_terminal && wanted,
            // Files and pipes are always UTF-8.
            unicode: !is_terminal || is_utf8(),
            columns: columns.unwrap_or(COLUMNS),
            quiet: false,
        }
    }

    pub(crate) fn quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }

    pub(crate) fn columns(self) -> usize {
        self.columns
    }

    pub(crate) fn is_unicode(self) -> bool {
        self.unicode
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Bold, for titles.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Dim, for headers and hints.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Whether the locale is UTF-8; the first variable that is set decides (POSIX).
fn is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[derive(Debug)]
pub(crate) struct TextPage {
    style: Style,
    text: String,
}

impl TextPage {
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    pub(crate) fn line(&mut self, text: impl Display) {
        let text = printable(&text.to_string());
        self.push(&text);
    }

    /// Unescaped: may contain our control sequences.
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A line in bold.
    pub(crate) fn title(&mut self, text: impl Display) {
        let text = self.style.strong(&printable(&text.to_string()));
        self.push(&text);
    }

    /// A dim line: headers, counts, hints. Suppressed by --quiet.
    pub(crate) fn aside(&mut self, text: impl Display) {
        if self.style.quiet {
            return;
        }
        let text = self.style.faint(&printable(&text.to_string()));
        self.push(&text);
    }

    pub(crate) fn field(&mut self, name: &str, value: impl Display) {
        let name = self.style.faint(&format!("{name:<NAME_COLUMNS$}"));
        let value = printable(&value.to_string());
        self.push(&format!("{name}  {value}"));
    }

    /// A field whose value keeps its lines; tabs become spaces.
    pub(crate) fn field_lines(&mut self, name: &str, value: &str) {
        let mut lines = value.lines();
        self.field(name, lines.next().unwrap_or_default().replace('\t', "    "));
        for line in lines {
            self.field("", line.replace('\t', "    "));
        }
    }

    /// A field whose value has line-drawing characters.
    pub(crate) fn field_drawn(&mut self, name: &str, value: &str) {
        if self.style.unicode {
            self.field(name, value)
        } else {
            self.field(name, in_ascii(value))
        }
    }

    /// Lines clipped to the width of the page.
    pub(crate) fn tree(&mut self, lines: &[String]) {
        for line in lines {
            self.drawn(&clipped(line, self.style.columns()));
        }
    }

    /// A line with line-drawing characters; ASCII if needed.
    pub(crate) fn drawn(&mut self, line: &str) {
        if self.style.unicode {
            self.line(line)
        } else {
            self.line(in_ascii(line))
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}
