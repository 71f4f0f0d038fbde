//! Pages as rows: what is shown of a message, and how.

use super::page::TextPage;
use super::table::{Align, TextTable};

/// A column of a table: its header, its side, and the cell of an item.
pub(crate) type Column<T> = (&'static str, Align, fn(&T) -> String);

/// A field of a page: its name, and its value; none is shown if the value is empty.
pub(crate) type Detail<T> = (&'static str, fn(&T) -> String);

impl TextPage {
    /// A table with a row for each item; nothing if there is none.
    pub(crate) fn rows<'t, T: 't>(
        &mut self,
        columns: &[Column<T>],
        items: impl IntoIterator<Item = &'t T>,
    ) {
        let header: Vec<(&'static str, Align)> = columns
            .iter()
            .map(|(header, align, _)| (*header, *align))
            .collect();
        let mut table = TextTable::new(&header);
        for item in items {
            table.row(columns.iter().map(|(_, _, cell)| cell(item)).collect());
        }
        table.write(self);
    }

    pub(crate) fn details<T>(&mut self, details: &[Detail<T>], item: &T) {
        for (name, value) in details {
            let value = value(item);
            if !value.is_empty() {
                self.field(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Style;

    const COLUMNS: [Column<(u32, &str)>; 2] = [
        ("id", Align::Right, |one| one.0.to_string()),
        ("text", Align::Left, |one| one.1.to_owned()),
    ];

    #[test]
    fn a_table_has_a_row_for_each_item_and_none_without_items() {
        let mut page = TextPage::new(Style::of(false));
        page.rows(&COLUMNS, &[]);
        assert_eq!(page.as_str(), "");
        page.rows(&COLUMNS, &[(7, "short"), (12, "x")]);
        assert_eq!(page.as_str(), "id  text\n 7  short\n12  x\n");
    }

    #[test]
    fn an_empty_value_has_no_field() {
        let details: [Detail<(u32, &str)>; 2] = [
            ("id", |one| one.0.to_string()),
            ("text", |one| one.1.to_owned()),
        ];
        let mut page = TextPage::new(Style::of(false));
        page.details(&details, &(7, ""));
        assert_eq!(page.as_str(), "id            7\n");
    }
}
