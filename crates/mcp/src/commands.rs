//! What commands and routes share with the tools: the lines of a recall, statements, and searches with what was said.

pub use crate::answer::entry_line;
pub use crate::entries::{EntryLines, nothing_found};
pub use crate::memory_place::Reach;
pub use crate::said_hits::with_said;
pub use crate::standing_part::{ENTRIES_TITLE, STANDING_TITLE, StandingPart};
pub use crate::tools::{RememberedStatement, STATEMENT_KINDS, Statement, StatementError, remember};
