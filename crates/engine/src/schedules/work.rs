//! What each scheduled job does; it returns what it did, or none if there was nothing to do.
//!
//! Promises: reads run on the blocking pool; writes come in portions of few requests, and the view is read again before
//! each.
//! Not here: summaries (`summaries`).

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use amem_doctor::verify;
use amem_format::event::Attributes;
use amem_format::view::View;
use amem_format::{Micros, NodeId, SessionId};
use amem_query::time_phrase::{Clock, parse_phrase};
use amem_store::{Error as StoreError, Mutation};
use jiff::tz::TimeZone;

use super::requests::{commit, request};
use super::summaries::Summaries;
use super::{report, summaries};
use crate::blocking_pool::CallerPool;
use crate::error::{Error, Result};
use crate::jobs::JobKind;
use crate::limits::{EVENTS_PER_THREAD_MIN, PORTION};
use crate::open_brain::OpenBrain;
use crate::tasks::DEFECT;

/// The attribute that says when an event is forgotten: an RFC 3339 time.
const EXPIRES_AT: &str = "expires_at";

/// Does a job; `now` is what the clock says.
pub(super) async fn run(
    kind: JobKind,
    brain: &Arc<OpenBrain>,
    scans: CallerPool<'_>,
    now: Micros,
    made: &Summaries,
) -> Result<Option<String>> {
    match kind {
        JobKind::Decay => decay(brain, scans).await,
        JobKind::Expiry => expire(brain, scans, now).await,
        JobKind::CloseSessions => close_sessions(brain, scans, now).await,
        JobKind::Compression => summaries::compress(brain, scans, now, made).await,
        JobKind::Scrub => scrub(brain, scans).await,
        JobKind::Checkpoint => checkpoint(brain).await,
        _ => Ok(None),
    }
}

/// Commits a decay run, computes all strengths, and counts what has faded since the last one.
///
/// The commit is a time and rates, from which every reader has the same strengths: the writer computes none.
async fn decay(brain: &Arc<OpenBrain>, scans: CallerPool<'_>) -> Result<Option<String>> {
    let before = brain.view();
    if before.nodes() == 0 {
        return Ok(None);
    }
    commit(brain, request(Mutation::Decay, "decay")).await?;
    let after = brain.view();
    let count = after.nodes();
    let counted = scans.run(move || {
        let began = Instant::now();
        let threads = threads_for(count);
        let parts = in_parts(count, threads, |ids| fading(&before, &after, ids))?;
        let sum = |(a, b), (c, d)| (a + c, b + d);
        Ok::<_, Error>((
            parts.into_iter().fold((0, 0), sum),
            threads,
            began.elapsed(),
        ))
    });
    let ((were, are), threads, took) = counted.await??;
    let report = report::decayed(count, took, threads as u64, are, were);
    Ok(Some(report))
}

/// How many events are below the mark of their brain: before, and now.
fn fading(before: &View, after: &View, ids: Range<u64>) -> Result<(u64, u64)> {
    let (mark, mark_now) = (
        before.settings()?.fading_below,
        after.settings()?.fading_below,
    );
    let (mut were, mut are) = (0, 0);
    for id in ids {
        let node = after.node(NodeId(id))?;
        are += u64::from(!node.is_forgotten() && node.strength() < mark_now);
        if id < before.nodes() {
            let node = before.node(NodeId(id))?;
            were += u64::from(!node.is_forgotten() && node.strength() < mark);
        }
    }
    Ok((were, are))
}

/// How many threads pay off.
fn threads_for(events: u64) -> usize {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let most = usize::try_from(events / EVENTS_PER_THREAD_MIN).unwrap_or(cpus);
    most.clamp(1, cpus)
}

/// Goes through all events in as many parts as there are threads, which have the priority of the calling thread.
fn in_parts<T: Send>(
    events: u64,
    threads: usize,
    part: impl Fn(Range<u64>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let each = events.div_ceil(threads as u64);
    let range = |at: usize| (at as u64 * each).min(events)..((at as u64 + 1) * each).min(events);
    thread::scope(|scope| {
        let part = &part;
        let beside: Vec<_> = (1..threads)
            .map(|at| {
                let ids = range(at);
                let started = thread::Builder::new()
                    .name("blocking part".into())
                    .spawn_scoped(scope, move || part(ids));
                started.map_err(|_| at)
            })
            .collect();
        let mut done = vec![part(range(0))?];
        for beside in beside {
            done.push(match beside {
                Ok(beside) => beside.join().map_err(|_| DEFECT)??,
                // There is no thread for it: this one does it.
                Err(at) => part(range(at))?,
            });
        }
        Ok(done)
    })
}

/// Forgets what has expired.
async fn expire(
    brain: &Arc<OpenBrain>,
    scans: CallerPool<'_>,
    now: Micros,
) -> Result<Option<String>> {
    let view = brain.view();
    let found = scans.run(move || {
        let threads = threads_for(view.nodes());
        in_parts(view.nodes(), threads, |ids| expired(&view, ids, now))
    });
    let expired = found.await??.concat();
    let mut forgotten = 0;
    for portion in expired.chunks(PORTION) {
        let view = brain.view();
        let mut answers = Vec::with_capacity(portion.len());
        for &id in portion {
            // Its time may have been changed meanwhile.
            if has_expired(&view, id, now)? {
                answers.push(
                    brain
                        .commit_when_free(request(Mutation::Forget(id), "expiry"), 0)
                        .await?,
                );
            }
        }
        for answer in answers {
            answer
                .await
                .unwrap_or_else(|_| Err(Error::outcome_unknown()))?;
            forgotten += 1;
        }
    }
    Ok(report::forgotten(forgotten))
}

fn expired(view: &View, ids: Range<u64>, now: Micros) -> Result<Vec<NodeId>> {
    let mut found = Vec::new();
    for id in ids.map(NodeId) {
        if has_expired(view, id, now)? {
            found.push(id);
        }
    }
    Ok(found)
}

fn has_expired(view: &View, id: NodeId, now: Micros) -> Result<bool> {
    let node = view.node(id)?;
    if node.is_forgotten() {
        return Ok(false);
    }
    let Some(json) = node
        .attributes_json()?
        .filter(|json| json.contains(EXPIRES_AT))
    else {
        return Ok(false);
    };
    let Ok(attributes) = serde_json::from_str::<Attributes>(&json) else {
        return Ok(false);
    };
    let at = attributes
        .get(EXPIRES_AT)
        .and_then(serde_json::Value::as_str);
    // An invalid time never comes, nor does a relative one: the attribute does not say from when.
    let utc = Clock::known(None, Some(TimeZone::UTC));
    Ok(at
        .and_then(|at| parse_phrase(at, &utc).ok())
        .is_some_and(|named| named.at <= now))
}

/// Closes idle sessions: their agents may be gone.
async fn close_sessions(
    brain: &Arc<OpenBrain>,
    scans: CallerPool<'_>,
    now: Micros,
) -> Result<Option<String>> {
    let view = brain.view();
    let seconds = view.settings()?.jobs.session_idle_seconds()?;
    let before = Micros(now.0.saturating_sub(seconds as i64 * 1_000_000));
    let idle = scans.run(move || idle(&view, before)).await??;
    let mut closed = 0;
    for portion in idle.chunks(PORTION) {
        let view = brain.view();
        let mut answers = Vec::with_capacity(portion.len());
        for &session in portion {
            let is_idle = view
                .session(session)?
                .is_some_and(|s| s.closed.is_none() && s.last_event <= before);
            if is_idle {
                let close = Mutation::CloseSession {
                    session,
                    outcome: "idle".into(),
                };
                answers.push(
                    brain
                        .commit_when_free(request(close, "sessions"), 0)
                        .await?,
                );
            }
        }
        for answer in answers {
            let answer = answer
                .await
                .unwrap_or_else(|_| Err(Error::outcome_unknown()));
            closed += u64::from(has_closed(answer)?);
        }
    }
    Ok(report::closed(closed))
}

/// True if the job closed a session, false if its agent had closed it in this very moment.
fn has_closed<T>(answer: Result<T>) -> Result<bool> {
    match answer {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.store(), Some(StoreError::SessionClosed { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

fn idle(view: &View, before: Micros) -> Result<Vec<SessionId>> {
    let is_idle = |session: &amem_format::base::sessions::Session<'_>| {
        session.explicit && session.closed.is_none() && session.last_event <= before
    };
    let sessions = view.sessions()?;
    Ok(sessions
        .iter()
        .filter(|session| is_idle(session))
        .map(|session| session.id)
        .collect())
}

/// Checks every byte of the file against its checksums.
async fn scrub(brain: &Arc<OpenBrain>, scans: CallerPool<'_>) -> Result<Option<String>> {
    let path = brain.path.clone();
    let report = scans.run(move || verify::file(path)).await??;
    match report.findings.first() {
        None => Ok(Some(format!("{} bytes are whole", report.bytes))),
        Some(finding) => {
            let more = report.findings.len() as u64 - 1 + report.more;
            Err(Error::Damaged {
                name: brain.name.clone(),
                finding: finding.to_string(),
                more,
            })
        }
    }
}

/// Makes a checkpoint, unless the journal is empty or one is being made.
async fn checkpoint(brain: &Arc<OpenBrain>) -> Result<Option<String>> {
    let bytes = brain.journal_bytes();
    if bytes == 0 || brain.is_checkpointing() {
        return Ok(None);
    }
    let generation = brain.checkpoint().await?;
    Ok(Some(format!(
        "{bytes} bytes of journal are in the base of generation {generation}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_it_once_and_in_order_however_many_there_are() {
        for events in [0, 1, 2, 7, 100] {
            for threads in [1, 2, 3, 8] {
                let parts = in_parts(events, threads, |ids| Ok(ids.collect::<Vec<_>>()));
                let all = parts.unwrap().concat();
                assert_eq!(all, (0..events).collect::<Vec<_>>(), "{threads}");
            }
        }
        let failed = in_parts(10, 2, |ids| match ids.start {
            0 => Ok(()),
            _ => panic!("on purpose"),
        });
        assert!(failed.is_err());
    }

    #[test]
    fn a_session_that_its_agent_has_closed_is_no_failure_and_a_disk_that_is_full_is_one() {
        let id = SessionId(1);
        let closed = Error::from(StoreError::SessionClosed { id });
        assert!(has_closed(Ok(())).unwrap());
        assert!(!has_closed::<()>(Err(closed)).unwrap());
        let full = StoreError::Disk {
            action: "write",
            name: "b.amem".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        };
        for error in [full.into(), Error::outcome_unknown()] {
            let message = error.to_string();
            let failed = has_closed::<()>(Err(error)).unwrap_err();
            assert_eq!(failed.to_string(), message);
        }
    }
}
