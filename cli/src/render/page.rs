//! A page: lines of text, in the style of where it goes.

use std::fmt::Display;

/// Columns of a text that goes to no terminal.
const COLUMNS: usize = 120;
/// Columns that a field's name takes.
const NAME_COLUMNS: usize = 12;

/// How text looks where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colour: bool,
    columns: usize,
}

impl Style {
    /// The style of stdout.
    pub(crate) fn of(is_terminal: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let columns = is_terminal
            .then(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok())
            .flatten()
            .map(|size| usize::from(size.ws_col))
            .filter(|&columns| columns > 0);
        Self {
            colour: is_terminal && wanted,
            columns: columns.unwrap_or(COLUMNS),
        }
    }

    /// Columns of a line.
    pub(crate) fn columns(self) -> usize {
        self.columns
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

/// Lines of text.
#[derive(Debug)]
pub(crate) struct Page {
    style: Style,
    text: String,
}

impl Page {
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
        self.text.push_str(&text.to_string());
        self.text.push('\n');
    }

    /// A line that is read first.
    pub(crate) fn title(&mut self, text: impl Display) {
        let text = self.style.strong(&text.to_string());
        self.line(text);
    }

    /// A line to look past.
    pub(crate) fn aside(&mut self, text: impl Display) {
        let text = self.style.faint(&text.to_string());
        self.line(text);
    }

    /// A name and its value.
    pub(crate) fn field(&mut self, name: &str, value: impl Display) {
        let name = self.style.faint(&format!("{name:<NAME_COLUMNS$}"));
        self.line(format!("{name}  {value}"));
    }

    /// The text so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}
