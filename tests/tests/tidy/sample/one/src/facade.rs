//! Shows what its child defines, which is no import.

mod page;

pub use page::Page;

pub(super) struct Twice;
