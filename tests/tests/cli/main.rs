//! amemctl as people and scripts meet it: the program is run on files, and what it prints is held against what
//! it should.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod answers;
mod bad_input;
mod brains;
mod changed;
mod daemon;
mod damage;
mod forms;
mod guide;
mod moved;
mod notes;
mod reached;
mod served;
mod strays;
mod terminal;
mod tool;
