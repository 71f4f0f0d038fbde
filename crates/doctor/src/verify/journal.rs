//! The check of the journal: head, chain of frames, their values, and the zeros after them.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use super::finding::{Findings, RANGE};
use super::report::{Tail, VerifyReport};
use amem_format::attributes;
use amem_format::brain::Brain;
use amem_format::bytes;
use amem_format::error::{Error, Result};
use amem_format::journal::head::{Head, PAGE};
use amem_format::limits::{LSN_MAX, TIME_MICROS_MAX};
use amem_format::mapping::Map;
use amem_format::reader::boot_id;
use amem_format::types::NodeId;

/// Every brain has a journal, so a base without one is a truncated file.
pub(crate) const MISSING: &str = "the journal is missing: the file was cut off before it";

/// True if a daemon of this boot owns the file.
pub(crate) fn is_live(brain: &Brain, meta: &Metadata) -> bool {
    let boot = boot_id();
    brain.live().is_some_and(|live| {
        boot != [0, 0] && live.owner.cells() == [boot[0], boot[1], meta.dev(), meta.ino()]
    })
}

/// Checks the journal of a file whose base can be opened.
///
/// # Errors
/// `Newer`, which is no damage.
pub(super) fn check(
    map: Arc<Map>,
    committed: Option<u64>,
    report: &mut VerifyReport,
    findings: &mut Findings,
) -> Result<()> {
    let Some(brain) = findings.take(Brain::open(map.clone())).map(Arc::new) else {
        return Ok(());
    };
    let Some((head, start)) = brain.head().zip(brain.start()) else {
        return Ok(());
    };
    check_head_page(head, &map, start.at - 2 * PAGE, findings);
    let until = committed.unwrap_or(map.len());
    let replayed = match brain.replay(start, until) {
        Err(newer @ Error::Newer { .. }) => return Err(newer),
        replayed => replayed,
    };
    report.commits = brain.delta().log.applied().into();
    let Some(replayed) = findings.take(replayed) else {
        return Ok(());
    };
    let view = brain.view();
    (report.events, report.edges) = (view.nodes(), view.edges());
    check_last(&brain, findings);
    check_values(&brain, findings);
    let end = replayed.position.at;
    if let Some(committed) = committed {
        if end != committed {
            let why = replayed.torn.unwrap_or_else(|| "no frame found".into());
            findings.add(
                "journal",
                end,
                format!("a committed frame is missing: {why}"),
            );
        }
        return Ok(());
    }
    let durable = brain.durable();
    if durable > end {
        let why = replayed.torn.unwrap_or_else(|| "the file ends here".into());
        let why = format!("commits up to byte {durable} are missing: {why}");
        findings.add("journal", end, why);
        return Ok(());
    }
    let rest = map.slice(end, map.len() - end).unwrap_or_default();
    if let Some(last) = bytes::last_set(rest) {
        report.tail = Some(Tail {
            offset: end,
            bytes: last as u64 + 1,
            why: replayed
                .torn
                .unwrap_or_else(|| "bytes after the end of the journal".into()),
        });
    }
    Ok(())
}

/// The last commit must leave room for others.
fn check_last(brain: &Arc<Brain>, findings: &mut Findings) {
    let view = brain.view();
    let (lsn, time) = (view.lsn(), view.time());
    let is_within = lsn.0 <= LSN_MAX && (0..=TIME_MICROS_MAX).contains(&time.0);
    if view.delta_commits() > 0 && !is_within {
        let why = format!("its last commit has LSN {lsn} and time {time}, out of range");
        findings.add(RANGE, brain.start().map_or(0, |start| start.at), why);
    }
}

/// Everything after the head must be zero, up to the end of its page.
fn check_head_page(head: &Head, map: &Map, at: u64, findings: &mut Findings) {
    if map.slice(at, PAGE) != Some(&head.encode()) {
        findings.add("journal head", at, "the rest of its page is not zero");
    }
}

/// Checks that vectors and attributes in the journal decode.
fn check_values(brain: &Arc<Brain>, findings: &mut Findings) {
    let view = brain.view();
    let changed = brain.delta().events.states.iter().map(|s| s.node);
    let new = (brain.base().nodes()..view.nodes()).map(NodeId);
    let ids: BTreeSet<NodeId> = changed.chain(new).collect();
    for id in ids {
        let node = view.node(id);
        let value = node.and_then(|node| {
            node.vector()?;
            match node.attributes_json()? {
                Some(json) => attributes::parse(&json).map(drop).map_err(|e| {
                    Error::corrupt("journal", 0, format!("attributes of event {id}: {e}"))
                }),
                None => Ok(()),
            }
        });
        findings.take(value);
    }
}
