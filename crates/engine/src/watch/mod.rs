//! Watches the folder: files that other programs put there become brains once they are whole, and files of ours that
//! are removed or displaced are noticed.
//!
//! Names come from events of the system, from callers that ask for a brain that is not ours yet, and from rescans,
//! which find what was missed. Each name is checked: nothing to do, a file to adopt, one to wait for, or a brain to
//! rescue.
//! Promises: a file is adopted only at rest and whole; a rejected file stays as it is and is listed with its reason,
//! once; few files are worked on at a time, however many there are; a panic ends one round, and a rescan finds what it
//! left.
//! Not here: adopting and rescuing (`brains`).

mod watcher;

mod arrivals;
mod events;

pub use watcher::watch;
