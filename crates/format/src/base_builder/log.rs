//! The log of a new base: times of commits, stored requests, recent commits.

use std::borrow::Cow;

use crate::base::commits::StoredFrame;
use crate::base::requests::{FORGOTTEN, StoredRequest};
use crate::error::Result;
use crate::journal::frame::Kind;
use crate::journal::op::{self, Op, Ops};
use crate::limits;
use crate::types::{Lsn, Micros, NodeId};
use crate::view::View;

/// LSN and time of the delta's commits.
pub(super) fn clock(view: &View) -> Vec<(Lsn, Micros)> {
    let log = &view.brain().delta().log;
    (0..view.delta_commits())
        .filter_map(|at| log.get(at))
        .map(|e| (e.commit.lsn, e.commit.time))
        .collect()
}

/// The last commit of the delta that erased something.
fn last_erase(view: &View) -> Option<Lsn> {
    let log = &view.brain().delta().log;
    let entries = (0..view.delta_commits()).rev().filter_map(|at| log.get(at));
    let mut erases = entries.filter(|entry| entry.commit.kind == Kind::Erase);
    erases.next().map(|entry| entry.commit.lsn)
}

/// The last commit that the window of requests no longer holds, by the clock of the writer.
fn last_expired(view: &View, now: Micros) -> Result<Lsn> {
    let oldest = now.0.saturating_sub(limits::REQUEST_WINDOW_MICROS);
    let log = &view.brain().delta().log;
    let entries = (0..view.delta_commits()).rev().filter_map(|at| log.get(at));
    let mut expired = entries.filter(|entry| entry.commit.time.0 < oldest);
    if let Some(entry) = expired.next() {
        return Ok(entry.commit.lsn);
    }
    let clock = view.brain().base().clock()?;
    let last = clock.at_time(Micros(oldest.saturating_sub(1)));
    Ok(last.map_or(Lsn(0), |(lsn, _)| lsn))
}

/// The LSN from which on requests are stored: those after `expired`, but at least the newest `min` and at most the
/// newest `max`.
fn first_stored(mut lsns: Vec<u64>, expired: Lsn, (min, max): (usize, usize)) -> u64 {
    let within = lsns.iter().filter(|lsn| **lsn > expired.0).count();
    let kept = within.max(min).min(max);
    match lsns.len().checked_sub(kept) {
        None | Some(0) => 0,
        Some(dropped) if dropped == lsns.len() => u64::MAX,
        Some(dropped) => *lsns.select_nth_unstable(dropped).1,
    }
}

/// The stored requests by id.
pub(super) fn requests(view: &View, now: Micros) -> Result<Vec<StoredRequest<'_>>> {
    let brain = view.brain();
    let base = brain.base().requests()?;
    let mut all = (0..base.len())
        .map(|at| base.at(at))
        .collect::<Result<Vec<_>>>()?;
    for r in brain
        .delta()
        .requests
        .iter()
        .take_while(|r| r.lsn <= view.lsn())
    {
        all.push(StoredRequest {
            id: r.id,
            body: r.body,
            lsn: r.lsn,
            answer: brain.span(r.answer)?,
        });
    }
    if let Some(erase) = last_erase(view) {
        let before = all.iter_mut().filter(|r| r.lsn <= erase);
        before.for_each(|r| r.body = FORGOTTEN);
    }
    // The list is two sorted runs, which a stable sort merges in linear time.
    all.sort_by_key(|r| r.id);
    let lsns = all.iter().map(|r| r.lsn.0).collect();
    let bounds = (limits::REQUESTS_MIN, limits::REQUESTS_MAX);
    let first = first_stored(lsns, last_expired(view, now)?, bounds);
    all.retain(|r| r.lsn.0 >= first);
    Ok(all)
}

/// The newest frames, within the limits for a base of `before` bytes.
pub(super) fn recent(view: &View, before: u64) -> Result<Vec<StoredFrame<'_>>> {
    let room = (before / limits::RECENT_COMMITS_SHARE) as usize;
    let bytes_max = room.clamp(
        limits::RECENT_COMMITS_BYTES_MIN,
        limits::RECENT_COMMITS_BYTES_MAX,
    );
    let brain = view.brain();
    let (log, count) = (&brain.delta().log, view.delta_commits());
    let (mut frames, mut bytes) = (0usize, 0usize);
    let mut first = count;
    // From the newest commit back to the limits.
    while let Some(entry) = first.checked_sub(1).and_then(|at| log.get(at)) {
        let size = (entry.end - entry.position) as usize;
        if frames == limits::RECENT_COMMITS_MAX || bytes + size > bytes_max {
            break;
        }
        (frames, bytes, first) = (frames + 1, bytes + size, first - 1);
    }
    let mut out = Vec::new();
    if first == 0 {
        let base = brain.base().commits()?;
        let mut from = base.len();
        while let Some(at) = from.checked_sub(1) {
            let size = base.at(at)?.payload.len();
            if frames == limits::RECENT_COMMITS_MAX || bytes + size > bytes_max {
                break;
            }
            (frames, bytes, from) = (frames + 1, bytes + size, at);
        }
        // Transactions are retained whole or dropped whole.
        while from > 0 && from < base.len() && base.at(from - 1)?.header.more {
            from += 1;
        }
        out = (from..base.len())
            .map(|at| base.at(at))
            .collect::<Result<_>>()?;
    }
    for entry in (first..count).filter_map(|at| log.get(at)) {
        let frames = brain.frames_at(entry.position, entry.end)?;
        out.extend(frames.iter().map(|f| StoredFrame {
            header: f.header,
            payload: Cow::Borrowed(f.payload),
        }));
    }
    Ok(out)
}

/// Replaces vectors if the view is of another space; removes the values of erased events, and the request hashes that
/// could reveal them. Origins of merged events stay:
/// the base retains them too, and subscribers must see the same.
pub(super) fn scrub<'a>(
    view: &View,
    frames: Vec<StoredFrame<'a>>,
    erased: &[u32],
) -> Result<Vec<StoredFrame<'a>>> {
    let frames = in_space(view, frames)?;
    if erased.is_empty() {
        return Ok(frames);
    }
    let erase = last_erase(view);
    frames
        .into_iter()
        .map(|frame| {
            let is_before = erase.is_some_and(|erase| frame.header.lsn <= erase);
            scrub_frame(frame, erased, is_before)
        })
        .collect()
}

/// The frames with vectors of the view's space.
fn in_space<'a>(view: &View, frames: Vec<StoredFrame<'a>>) -> Result<Vec<StoredFrame<'a>>> {
    let Some(other) = view.other_space() else {
        return Ok(frames);
    };
    let replaced = frames.into_iter().map(|frame| {
        let payload = op::with_vectors(&frame.payload, other)
            .map_err(|e| e.or_corrupt("recent commits", 0))?;
        Ok(match payload {
            Some(payload) => StoredFrame {
                header: frame.header,
                payload: Cow::Owned(payload),
            },
            None => frame,
        })
    });
    replaced.collect()
}

fn scrub_frame<'a>(
    frame: StoredFrame<'a>,
    erased: &[u32],
    is_before: bool,
) -> Result<StoredFrame<'a>> {
    let is_erased =
        |id: NodeId| u32::try_from(id.0).is_ok_and(|id| erased.binary_search(&id).is_ok());
    let mut payload = Vec::new();
    let mut touched = false;
    for op in Ops::new(&frame.payload, 0) {
        let mut op = op.map_err(|e| e.or_corrupt("recent commits", 0))?;
        touched |= op.event().is_some_and(is_erased) && op.erase();
        if let Op::Request { body, .. } = &mut op
            && is_before
        {
            *body = FORGOTTEN;
            touched = true;
        }
        op::encode(&mut payload, &op);
    }
    Ok(if touched {
        StoredFrame {
            header: frame.header,
            payload: Cow::Owned(payload),
        }
    } else {
        frame
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_requests_stay_by_lsn_within_their_bounds() {
        let first = |count: u64, expired, bounds| {
            // In the order of ids, which says nothing about their commits.
            let lsns: Vec<u64> = (1..=count).map(|i| i * 7 % (count + 1)).collect();
            first_stored(lsns, Lsn(expired), bounds)
        };
        // Nothing expired: all, up to the most.
        assert_eq!(first(10, 0, (2, 100)), 0);
        assert_eq!(first(10, 0, (2, 4)), 7);
        // What expired goes, but for the newest few.
        assert_eq!(first(10, 5, (2, 100)), 6);
        assert_eq!(first(10, 5, (2, 3)), 8);
        assert_eq!(first(10, 10, (2, 100)), 9);
        assert_eq!(first(10, 99, (20, 100)), 0);
        assert_eq!(first(10, 99, (0, 100)), u64::MAX);
        assert_eq!(first(0, 0, (2, 4)), 0);
    }
}
