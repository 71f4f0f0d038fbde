//! Models of what readers learn of a base and tell each other: two that work the same out.

use std::sync::Arc;

use super::head_cache::HeadCache;
use super::summary_cache::SummaryCache;
use crate::spawn;
use crate::types::NodeId;

/// Runs the same beside itself.
fn twice<T: Send + Sync + 'static>(shared: T, work: fn(&T, u64)) -> Arc<T> {
    let shared = Arc::new(shared);
    let theirs = shared.clone();
    let other = spawn(move || work(&theirs, 1));
    work(&shared, 0);
    other.join().expect("a reader that ends");
    shared
}

/// Two threads that cache events of one word at once both see both entries; no thread sees an invented one.
pub(crate) fn summaries() {
    let summaries = SummaryCache::new(100);
    assert_eq!(
        summaries.forgotten().has(NodeId(0)),
        None,
        "nothing is known yet"
    );
    let summaries = twice(summaries, |summaries, who| {
        let known = summaries.forgotten();
        let said = known.has(NodeId(1 - who));
        assert!(
            said.is_none_or(|said| said == (who == 0)),
            "wrong: what is known of another's"
        );
        known.set(NodeId(who), who == 1);
        assert_eq!(
            known.has(NodeId(who)),
            Some(who == 1),
            "wrong: what was said"
        );
    });
    for id in 0..2 {
        let said = summaries.forgotten().has(NodeId(id));
        assert_eq!(said, Some(id == 1), "wrong: event {id} afterwards");
    }
}

/// A cached summary holds for a reader of the same changes, also while another overwrites it.
pub(crate) fn heads() {
    let heads = HeadCache::new(100);
    heads.after(0).set(NodeId(5), Some(NodeId(10)), None);
    let heads = twice(heads, move |heads, who| {
        let right = (Some(NodeId(10 + who)), None);
        let known = heads.after(who as u32);
        let found = known.get(NodeId(5));
        assert!(
            found.is_none_or(|found| found == right),
            "wrong: {found:?} after {who}"
        );
        known.set(NodeId(5), right.0, right.1);
    });
    let found = heads.after(7).get(NodeId(5));
    assert_eq!(found, None, "wrong: nobody knows of so many changes");
}
