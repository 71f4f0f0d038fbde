//! In which way a store broke its word.

use std::fmt;

/// The way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// A transaction that was answered is gone.
    Lost,
    /// A transaction is there that was not requested, or one returns that a reader had seen to be gone.
    Unasked,
    /// What the crash left can't be opened.
    Unopened,
    /// What was erased is in a file.
    Unerased,
    /// A reader of an old file gets no hint at the later one.
    Untold,
    /// Another way.
    Other,
    /// A panic: of the store, or of what examines it.
    Panicked,
}

impl Breach {
    /// All but a panic, which may be an accident of the examiner's.
    pub const CLEAR: [Self; 6] = [
        Self::Lost,
        Self::Unasked,
        Self::Unopened,
        Self::Unerased,
        Self::Untold,
        Self::Other,
    ];

    /// With words for people.
    pub fn of(self, what: impl Into<String>) -> Violation {
        let what = what.into();
        Violation { breach: self, what }
    }
}

/// What is wrong with a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// In which way.
    pub breach: Breach,
    /// What, in words.
    pub what: String,
}

impl From<String> for Violation {
    fn from(what: String) -> Self {
        Breach::Other.of(what)
    }
}

impl From<&str> for Violation {
    fn from(what: &str) -> Self {
        Breach::Other.of(what)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
