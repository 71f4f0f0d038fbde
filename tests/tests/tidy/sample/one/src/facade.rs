//! Shows what its child defines, which is no import.

mod shown_type;

pub use shown_type::Shown;

pub(super) struct Twice;
