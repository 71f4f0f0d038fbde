//! What is given any bytes: one function for each kind of them, for a fuzzer and for the corpus of `tests/corpus.rs`.
//!
//! A target must not panic, hang, or take memory that is out of proportion, whatever the bytes. Those of files put
//! checksums right first, so that changed bytes come past them, and then read everything.
//!
//! Not here: where bytes come from. The crate `fuzz` gives them to a fuzzer that follows coverage; `mutate` makes some
//! from a seed.

mod cursors;
mod files;
mod mend;
mod messages;
mod mutate;
mod requests;
mod texts;

pub use mend::mend;
pub use mutate::mutate;
pub use requests::requests_read;

/// One kind of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Does what is done with such bytes.
    pub run: fn(&[u8]),
    /// Bytes that make sense, from which others are made.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every kind.
pub const TARGETS: [Target; 16] = [
    target("base", files::base, files::bases),
    target("sections", files::sections, files::section_edits),
    target("journal", files::journal, files::payloads),
    target("text", files::text, files::texts),
    target("spec1", files::spec1, files::spec1_files),
    target("foreign", files::foreign, files::foreign_files),
    target("changes", messages::changes, messages::change_messages),
    target(
        "questions",
        messages::questions,
        messages::question_messages,
    ),
    target("requests", requests::requests, requests::request_messages),
    target("cursors", cursors::cursors, cursors::cursor_edits),
    target("filters", texts::filters, texts::filter_seeds),
    target("settings", texts::settings, texts::settings_seeds),
    target("config", texts::config, texts::config_seeds),
    target("tokens", texts::tokens, texts::token_seeds),
    target("headers", texts::headers, texts::header_seeds),
    target("replies", texts::replies, texts::reply_seeds),
];

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}

/// The target of a name.
///
/// # Panics
/// If there is none.
pub fn named(name: &str) -> Target {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("there is no target {name:?}"))
}

/// Gives bytes to the target of a name.
pub fn run(name: &str, data: &[u8]) {
    (named(name).run)(data);
}

/// Puts the seeds of a target into the folder `AMEM_SEEDS`, if there is one, for a fuzzer to begin with.
///
/// # Panics
/// If they cannot be written.
pub fn plant(name: &str) {
    let Some(folder) = std::env::var_os("AMEM_SEEDS") else {
        return;
    };
    for (at, seed) in (named(name).seeds)().iter().enumerate() {
        let path = std::path::Path::new(&folder).join(format!("seed-{at}"));
        std::fs::write(&path, seed).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}
