//! The log of a new base: times of commits, stored requests, recent commits.

use std::borrow::Cow;

use crate::base::commits::StoredFrame;
use crate::base::requests::{FORGOTTEN, StoredRequest, millis};
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

/// The stored requests by id, and the milliseconds of the newest dropped id.
pub(super) fn requests(view: &View, now: Micros) -> Result<(Vec<StoredRequest<'_>>, u64)> {
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
    let oldest = now.0.saturating_sub(limits::REQUEST_WINDOW_MICROS).max(0) as u64 / 1000;
    let expired = all.partition_point(|r| millis(&r.id) < oldest);
    let surplus = all.len().saturating_sub(limits::REQUESTS_MAX);
    let kept = all.split_off(expired.max(surplus));
    let floor = all.last().map_or(0, |r| millis(&r.id)).max(base.floor());
    Ok((kept, floor))
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

/// Removes the values of erased events, and the request hashes that could reveal them. Origins of merged events stay:
/// the base retains them too, and subscribers must see the same.
pub(super) fn scrub<'a>(
    view: &View,
    frames: Vec<StoredFrame<'a>>,
    erased: &[u32],
) -> Result<Vec<StoredFrame<'a>>> {
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
        let mut op = op?;
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
