//! The tokens of callers by TCP: each has a name and a role, and is stored as a hash.
//!
//! Promises: a token is in the answer to its creation and nowhere else; tokens are compared in constant time; the file
//! is replaced whole, and an invalid file changes nothing.
//! Not here: which callers may create tokens (`ingress::requirement`), when a change is in force (`control`).

mod list;
mod token;

mod file;

pub use list::Tokens;
pub(crate) use token::{Token, TokenRights};
