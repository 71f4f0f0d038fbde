//! The tokens of callers by TCP: each has a name and a role, and is kept as a hash.
//!
//! Promises: a token is told once, to who had it made, and is nowhere after that; what is shown is compared in the same
//! time whatever it is and whatever there is; the file is replaced whole, and one that does not do changes nothing.
//! Not here: who may make them (`access`), when a change is in force (`control`).

mod list;
mod token;

mod file;

pub use list::Tokens;
pub(crate) use token::Token;
