//! The languages that have a table.

use super::table::LanguageTable;
use super::{french, german, spanish};

/// The languages that have a table.
pub(crate) static TABLES: [&LanguageTable; 3] =
    [&german::GERMAN, &french::FRENCH, &spanish::SPANISH];

/// The table of a language by its ISO 639-3 code.
pub(crate) fn table_of(code: [u8; 3]) -> Option<&'static LanguageTable> {
    TABLES.into_iter().find(|table| table.code == code)
}
