//! The log carried through a fold: times of commits, requests, recent commits.

use std::borrow::Cow;

use crate::base::commits::Kept;
use crate::base::requests::{FORGOTTEN, Request, millis};
use crate::error::Result;
use crate::journal::frame::Kind;
use crate::journal::op::{self, Op, Ops};
use crate::limits;
use crate::types::{Lsn, Micros, NodeId};
use crate::view::View;

/// LSN and time of every commit of the delta.
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

/// The requests still remembered, by id, and the newest that is not.
pub(super) fn requests(view: &View, now: Micros) -> Result<(Vec<Request<'_>>, u64)> {
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
        all.push(Request {
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
    // Two sorted runs, mostly: the stable sort merges them.
    all.sort_by_key(|r| r.id);
    let oldest = now.0.saturating_sub(limits::REQUEST_WINDOW_MICROS).max(0) as u64 / 1000;
    let expired = all.partition_point(|r| millis(&r.id) < oldest);
    let surplus = all.len().saturating_sub(limits::REQUESTS_MAX);
    let kept = all.split_off(expired.max(surplus));
    let floor = all.last().map_or(0, |r| millis(&r.id)).max(base.floor());
    Ok((kept, floor))
}

/// The newest frames, within the limits of a base that has `before` bytes in front of them.
pub(super) fn recent(view: &View, before: u64) -> Result<Vec<Kept<'_>>> {
    let room = (before / limits::RECENT_COMMITS_SHARE) as usize;
    let bytes_max = room.clamp(
        limits::RECENT_COMMITS_BYTES_MIN,
        limits::RECENT_COMMITS_BYTES_MAX,
    );
    let brain = view.brain();
    let (log, count) = (&brain.delta().log, view.delta_commits());
    let (mut frames, mut bytes) = (0usize, 0usize);
    let mut first = count;
    // From the newest back, to where the limits are reached.
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
        // A transaction is kept whole or not at all.
        while from > 0 && from < base.len() && base.at(from - 1)?.header.more {
            from += 1;
        }
        out = (from..base.len())
            .map(|at| base.at(at))
            .collect::<Result<_>>()?;
    }
    for entry in (first..count).filter_map(|at| log.get(at)) {
        let frames = brain.frames_at(entry.position, entry.end)?;
        out.extend(frames.iter().map(|f| Kept {
            header: f.header,
            payload: Cow::Borrowed(f.payload),
        }));
    }
    Ok(out)
}

/// The frames without the values of erased events, and without hashes of the requests that may have brought them.
/// Where one was merged from stays: the base has it, too, and who follows the commits is to have the same.
pub(super) fn scrub<'a>(
    view: &View,
    frames: Vec<Kept<'a>>,
    erased: &[u32],
) -> Result<Vec<Kept<'a>>> {
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

fn scrub_frame<'a>(frame: Kept<'a>, erased: &[u32], is_before: bool) -> Result<Kept<'a>> {
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
        Kept {
            header: frame.header,
            payload: Cow::Owned(payload),
        }
    } else {
        frame
    })
}
