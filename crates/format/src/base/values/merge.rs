//! Writes the section: copies the lists of an older base, except those that gain or lose events.
//!
//! Promises: the bytes are a function of the events' values, with or without an older section.

use std::ops::Range;

use super::list::encode;
use super::{VALUES_VERSION, ValueIndex};
use crate::base::image::Body;
use crate::base::merge::edited;
use crate::error::{Error, Result};

/// Changes to an older section: distinct pairs of hash and event, in any order.
#[derive(Debug, Default)]
pub struct IndexEdits {
    /// Values that events lost.
    pub removed: Vec<(u64, u32)>,
    /// Values that events gained.
    pub added: Vec<(u64, u32)>,
    /// Events that were unlisted and no longer are, or have other attributes now.
    pub relisted: Vec<u32>,
    /// Events that are unlisted now.
    pub unlisted: Vec<u32>,
}

/// A part of the new lists: copied ones, or one that was encoded again.
enum ListRun {
    Copied(Range<usize>),
    Encoded(u64, Range<usize>),
}

/// Writes the section: an older one with the edits applied.
pub fn write(
    body: &mut Body<'_>,
    older: Option<ValueIndex<'_>>,
    mut edits: IndexEdits,
) -> Result<()> {
    edits.removed.sort_unstable();
    edits.added.sort_unstable();
    edits.relisted.sort_unstable();
    edits.unlisted.sort_unstable();
    let unlisted = edited(
        older.map_or(&[][..], |o| o.unlisted()),
        &edits.relisted,
        &edits.unlisted,
    );
    let (pieces, made) = pieces(older, &edits)?;
    let (mut hashes, mut starts, mut end) = (Vec::new(), vec![0u64], 0u64);
    for piece in &pieces {
        match (piece, older) {
            (ListRun::Copied(places), Some(older)) => {
                hashes.extend_from_slice(&older.hashes()[places.clone()]);
                let moved = older.starts(places.clone())?;
                let first = moved[0];
                let moved = moved[1..].iter();
                starts.extend(moved.map(|at| at.wrapping_sub(first).wrapping_add(end)));
            }
            (ListRun::Copied(_), None) => {}
            (ListRun::Encoded(hash, bytes), _) => {
                hashes.push(*hash);
                starts.push(end + bytes.len() as u64);
            }
        }
        end = starts[starts.len() - 1];
    }
    Error::check_limit("events", unlisted.len() as u64, u64::from(u32::MAX))?;
    body.u32(VALUES_VERSION)?;
    body.u32(unlisted.len() as u32)?;
    body.u64(hashes.len() as u64)?;
    body.array(&hashes)?;
    body.array(&starts)?;
    body.array(&unlisted)?;
    for piece in &pieces {
        match (piece, older) {
            (ListRun::Copied(places), Some(older)) => body.bytes(older.bytes(places.clone())?)?,
            (ListRun::Copied(_), None) => {}
            (ListRun::Encoded(_, bytes), _) => body.bytes(&made[bytes.clone()])?,
        }
    }
    Ok(())
}

/// The parts by hash, and the bytes of the encoded lists.
fn pieces(older: Option<ValueIndex<'_>>, edits: &IndexEdits) -> Result<(Vec<ListRun>, Vec<u8>)> {
    let hashes_before = older.map_or(&[][..], |o| o.hashes());
    let (mut pieces, mut made) = (Vec::new(), Vec::new());
    let (mut removed, mut added) = (&edits.removed[..], &edits.added[..]);
    let (mut from, mut ids) = (0, Vec::new());
    while let Some(hash) = [removed.first(), added.first()].into_iter().flatten().min() {
        let hash = hash.0;
        let to = from + hashes_before[from..].partition_point(|&old| old < hash);
        if from < to {
            pieces.push(ListRun::Copied(from..to));
        }
        from = to;
        ids.clear();
        if let Some(older) = older.filter(|_| hashes_before.get(to) == Some(&hash)) {
            older.append_all(&older.list(to)?, &mut ids)?;
            from += 1;
        }
        let left = edited(
            &ids,
            &take_events(&mut removed, hash),
            &take_events(&mut added, hash),
        );
        if !left.is_empty() {
            let start = made.len();
            encode(&left, &mut made);
            pieces.push(ListRun::Encoded(hash, start..made.len()));
        }
    }
    if from < hashes_before.len() {
        pieces.push(ListRun::Copied(from..hashes_before.len()));
    }
    Ok((pieces, made))
}

/// Takes the events of `hash` from the front of the sorted pairs.
fn take_events(pairs: &mut &[(u64, u32)], hash: u64) -> Vec<u32> {
    let count = pairs.iter().take_while(|(of, _)| *of == hash).count();
    let (these, rest) = pairs.split_at(count);
    *pairs = rest;
    these.iter().map(|(_, id)| *id).collect()
}
