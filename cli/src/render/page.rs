//! A page: lines of text, in the style of where it goes.

use std::fmt::Display;

use super::value::{clipped, in_ascii, printable};

/// Columns of a text that goes to no terminal.
const COLUMNS: usize = 120;
/// Columns that a field's name takes.
const NAME_COLUMNS: usize = 12;

/// How text looks where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colour: bool,
    unicode: bool,
    columns: usize,
    /// Nothing to look past is shown.
    quiet: bool,
}

impl Style {
    /// The style of stdout.
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
            // What goes into a file or a pipe is UTF-8 always.
            unicode: !is_terminal || is_utf8(),
            columns: columns.unwrap_or(COLUMNS),
            quiet: false,
        }
    }

    /// The same, with only what was asked for.
    pub(crate) fn quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }

    /// Columns of a line.
    pub(crate) fn columns(self) -> usize {
        self.columns
    }

    /// True if more than ASCII can be shown.
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

    /// Something to find again.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Something to look past.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// True if the terminal's locale is one of UTF-8; the first of these variables that is set decides (POSIX).
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

/// Lines of text.
#[derive(Debug)]
pub(crate) struct TextPage {
    style: Style,
    text: String,
}

impl TextPage {
    /// An empty page.
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    /// How its text looks.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// A line.
    pub(crate) fn line(&mut self, text: impl Display) {
        let text = printable(&text.to_string());
        self.push(&text);
    }

    /// A line as it is, with our own control sequences in it.
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A line that is read first.
    pub(crate) fn title(&mut self, text: impl Display) {
        let text = self.style.strong(&printable(&text.to_string()));
        self.push(&text);
    }

    /// A line to look past: headers, counts, what else could be asked.
    pub(crate) fn aside(&mut self, text: impl Display) {
        if self.style.quiet {
            return;
        }
        let text = self.style.faint(&printable(&text.to_string()));
        self.push(&text);
    }

    /// A name and its value.
    pub(crate) fn field(&mut self, name: &str, value: impl Display) {
        let name = self.style.faint(&format!("{name:<NAME_COLUMNS$}"));
        let value = printable(&value.to_string());
        self.push(&format!("{name}  {value}"));
    }

    /// A name and a value with drawn parts.
    pub(crate) fn field_drawn(&mut self, name: &str, value: &str) {
        match self.style.unicode {
            true => self.field(name, value),
            false => self.field(name, in_ascii(value)),
        }
    }

    /// The lines of a tree, each clipped to the width of the page.
    pub(crate) fn tree(&mut self, lines: &[String]) {
        for line in lines {
            self.drawn(&clipped(line, self.style.columns()));
        }
    }

    /// A line with drawn parts, in ASCII where the terminal has no others.
    pub(crate) fn drawn(&mut self, line: &str) {
        match self.style.unicode {
            true => self.line(line),
            false => self.line(in_ascii(line)),
        }
    }

    /// The text so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}
