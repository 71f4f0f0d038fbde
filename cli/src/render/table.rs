//! Tables: columns as wide as needed, the last clipped to the line.

use super::page::TextPage;
use super::value::{clipped, printable, width};

const GAP: usize = 2;
/// Minimum width of the last column.
const LAST_MIN: usize = 20;
/// Maximum width of the others.
const CELL_MAX: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

#[derive(Debug)]
pub(crate) struct TextTable {
    header: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(crate) fn new(header: &[(&'static str, Align)]) -> Self {
        Self {
            header: header.to_vec(),
            rows: Vec::new(),
        }
    }

    /// One cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        // Width is measured on what is shown.
        self.rows
            .push(cells.iter().map(|cell| printable(cell)).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes nothing if it has no rows.
    pub(crate) fn write(&self, page: &mut TextPage) {
        if self.is_empty() {
            return;
        }
        let widths = self.widths(page);
        let header: Vec<&str> = self.header.iter().map(|(name, _)| *name).collect();
        page.aside(self.line(&header, &widths));
        self.write_with(&widths, page);
    }

    /// Without the header.
    pub(crate) fn write_rows(&self, page: &mut TextPage) {
        self.write_with(&self.widths(page), page);
    }

    fn write_with(&self, widths: &[usize], page: &mut TextPage) {
        for row in &self.rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            let line = self.line(&cells, widths);
            page.drawn(&line);
        }
    }

    /// The width of each column: of its widest cell; for the last, what is left of the line.
    fn widths(&self, page: &TextPage) -> Vec<usize> {
        let last = self.header.len().saturating_sub(1);
        let mut widths: Vec<usize> = (0..self.header.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                let widest = cells.map(|cell| width(cell)).max();
                let most = if column == last { usize::MAX } else { CELL_MAX };
                widest
                    .unwrap_or(0)
                    .min(most)
                    .max(self.header[column].0.len())
            })
            .collect();
        let before: usize = widths[..last].iter().map(|w| w + GAP).sum();
        let room = page.style().columns().saturating_sub(before).max(LAST_MIN);
        if let Some(last) = widths.last_mut() {
            *last = (*last).min(room);
        }
        widths
    }

    fn line(&self, cells: &[&str], widths: &[usize]) -> String {
        let mut out = String::new();
        for (column, cell) in cells.iter().enumerate() {
            if column > 0 {
                out.push_str(&" ".repeat(GAP));
            }
            let cell = clipped(cell, widths[column]);
            let fill = " ".repeat(widths[column].saturating_sub(width(&cell)));
            match self.header[column].1 {
                Align::Right => out.push_str(&format!("{fill}{cell}")),
                Align::Left => out.push_str(&format!("{cell}{fill}")),
            }
        }
        out.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Style;

    #[test]
    fn columns_are_as_wide_as_they_need_and_the_last_is_clipped() {
        let mut table = TextTable::new(&[
            ("id", Align::Right),
            ("type", Align::Left),
            ("text", Align::Left),
        ]);
        table.row(vec!["7".into(), "fact".into(), "short".into()]);
        table.row(vec!["1234".into(), "inference".into(), "x".repeat(200)]);
        let mut page = TextPage::new(Style::of(false));
        table.write(&mut page);
        let lines: Vec<&str> = page.as_str().lines().collect();
        assert_eq!(lines[0], "  id  type       text");
        assert_eq!(lines[1], "   7  fact       short");
        assert_eq!(lines[2].chars().count(), 120);
        assert!(lines[2].ends_with('…'));
    }
}
