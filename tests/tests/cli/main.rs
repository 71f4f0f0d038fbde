//! The program `amemctl` run on files and against daemons: its output, errors and exit codes.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod answers;
mod authors;
mod bad_input;
mod brains;
mod changed;
mod connected;
mod daemon;
mod damage;
mod first_contact;
mod forms;
mod guide;
mod imports;
mod moved;
mod named_files;
mod notes;
mod overwritten;
mod own_daemon;
mod persons;
mod reached;
mod round_trips;
mod served;
mod shell;
mod strays;
mod talks;
mod terminal;
mod tool;
mod transcripts;
mod vaults;
mod verdicts;
