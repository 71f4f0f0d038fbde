//! Damage to a brain of 128 KiB: every bit, every cut, every page.
//!
//! Damage is refused at open, or reported by verify with its offset, or in bytes without meaning; no query shows it,
//! and nothing panics. A share is tried, chosen by `AMEM_SEED`; `AMEM_DAMAGE=all` tries all, `AMEM_DAMAGE=10` one in
//! ten bits and cuts.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod bits;
mod cuts;
mod pages;
mod repairs;
mod stores;
mod trials;

use std::sync::LazyLock;

use amem_tests::damaged::{IntactBrain, brain};

/// The seed of the brain: its bytes are the same each time.
const BRAIN: u64 = 1;

/// The brain that is damaged.
static KNOWN: LazyLock<IntactBrain> = LazyLock::new(|| IntactBrain::new(brain(BRAIN)));

/// True if everything is to be tried.
fn all() -> bool {
    share() == Some(1)
}

/// One in how many bits and cuts is to be tried, if `AMEM_DAMAGE` is set.
fn share() -> Option<u64> {
    let asked = std::env::var("AMEM_DAMAGE").ok()?;
    match asked.as_str() {
        "all" => Some(1),
        number => Some(number.parse().expect("AMEM_DAMAGE is all or a number")),
    }
}

/// Which share is tried.
fn seed() -> u64 {
    let asked = std::env::var("AMEM_SEED").ok();
    let seed = asked.map_or(1, |n| n.parse().expect("AMEM_SEED is a number"));
    println!("AMEM_SEED={seed}");
    seed
}

#[test]
fn the_brain_has_everything_in_it() {
    let names: Vec<_> = KNOWN.parts().map(|(name, _)| name).collect();
    let sections = [
        "identity",
        "settings",
        "sessions",
        "spans",
        "actors",
        "authors",
        "attributes",
        "event times",
        "history",
        "change stamps",
        "clock",
        "requests",
        "recent commits",
        "adjacency",
        "kinds",
        "codes",
        "terms",
        "vector lengths",
        "strengths",
        "conflicts",
        "attribute values",
        "checksums",
    ];
    for section in sections {
        assert!(names.contains(&section), "{section} in {names:?}");
    }
    assert!(KNOWN.commits() > 20, "{} commits", KNOWN.commits());
    let view = amem_tests::damaged::open(KNOWN.bytes()).unwrap();
    let base = view.brain().base();
    let texts = (0..base.nodes()).map(|id| base.record(amem_format::NodeId(id)).unwrap());
    let lent = texts.map(|record| {
        let text = base.text(&record).unwrap();
        (matches!(text, std::borrow::Cow::Borrowed(_)), text.len())
    });
    let lent: Vec<_> = lent.collect();
    assert!(lent.contains(&(true, 0)), "a text that was erased");
    assert!(
        lent.iter().any(|(lent, len)| *lent && *len > 256),
        "a long text as it is"
    );
    assert!(
        lent.iter().any(|(lent, _)| !lent),
        "a text that is compressed"
    );
    assert!(base.requests().unwrap().len() > 3);
    assert!(base.history().unwrap().len() > 10);
}
