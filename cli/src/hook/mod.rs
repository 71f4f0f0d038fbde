//! `amemctl hook`: a moment of an agent's session.
//!
//! Promises: the exit code is 0 and nothing is printed but context, whatever goes wrong: a client must not be held up
//! or broken by its memory. What takes long happens behind: a process of its own starts a daemon, reads the transcript
//! and stores what is new.

mod request;

mod transcript;

mod behind;

mod moment;

pub(crate) use moment::{HookOptions, run};
