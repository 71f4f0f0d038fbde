//! What each scheduled job does, and what it says of it: `None` if there was nothing to do.
//!
//! Promises: reading is done beside the calls, on the heavy threads; writes come in portions of few requests, each of
//! which is looked at again before it is made.

use std::sync::Arc;
use std::time::Instant;

use amem_core::event::Attributes;
use amem_core::query::time;
use amem_core::summary::{SUMMARY_BYTES, summary};
use amem_core::verify;
use amem_core::view::View;
use amem_core::{EventType, Micros, NodeId, SessionId};
use amem_proto::v1::JobKind;
use amem_store::Mutation;
use amem_store::mutation::Request;

use crate::heavy::Heavy;
use crate::limits::{COMPRESSED_MIN, PORTION};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};

/// Who the daemon is where it acts for itself.
const PRINCIPAL: &str = "amemd";
/// When an event is to be forgotten: an RFC 3339 time.
pub(super) const EXPIRES_AT: &str = "expires_at";

/// Does it.
pub(super) async fn run(
    kind: JobKind,
    brain: &Arc<OpenBrain>,
    scans: &Heavy,
) -> Result<Option<String>> {
    match kind {
        JobKind::Decay => decay(brain, scans).await,
        JobKind::Expiry => expire(brain, scans).await,
        JobKind::CloseSessions => close_sessions(brain, scans).await,
        JobKind::Compression => compress(brain, scans).await,
        JobKind::Scrub => scrub(brain, scans).await,
        _ => Ok(None),
    }
}

/// A request of the daemon's own.
fn request(mutation: Mutation, job: &str) -> Request {
    Request::new(mutation).by(PRINCIPAL, job)
}

/// Computes strengths as of now, and counts what has faded since the last time.
async fn decay(brain: &Arc<OpenBrain>, scans: &Heavy) -> Result<Option<String>> {
    let view = brain.view();
    if view.nodes() == 0 {
        return Ok(None);
    }
    let before = scans.run(move || fading(&view)).await?;
    let began = Instant::now();
    brain.write(request(Mutation::Decay, "decay"), 0).await?;
    let (took, view) = (began.elapsed(), brain.view());
    let count = view.nodes();
    let after = scans.run(move || fading(&view)).await?;
    let more = after.saturating_sub(before);
    Ok(Some(format!(
        "{count} strengths in {} ms; {after} events are fading, {more} more than before",
        took.as_millis()
    )))
}

/// Events below the mark of their brain.
fn fading(view: &View) -> Result<u64> {
    let mark = view.settings()?.fading_below;
    let mut count = 0;
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id)?;
        if !node.is_forgotten() && node.strength() < mark {
            count += 1;
        }
    }
    Ok(count)
}

/// Forgets what has expired.
async fn expire(brain: &Arc<OpenBrain>, scans: &Heavy) -> Result<Option<String>> {
    let view = brain.view();
    let now = super::now();
    let expired = scans.run(move || expired(&view, now)).await?;
    let mut forgotten = 0;
    for portion in expired.chunks(PORTION) {
        let view = brain.view();
        let mut answers = Vec::with_capacity(portion.len());
        for &id in portion {
            // It may have been given more time meanwhile.
            if has_expired(&view, id, now)? {
                answers.push(
                    brain
                        .write_when_free(request(Mutation::Forget(id), "expiry"), 0)
                        .await?,
                );
            }
        }
        for answer in answers {
            answer
                .await
                .unwrap_or_else(|_| Err(Refusal::outcome_unknown()))?;
            forgotten += 1;
        }
    }
    Ok((forgotten > 0).then(|| format!("{forgotten} events had expired and are forgotten")))
}

fn expired(view: &View, now: Micros) -> Result<Vec<NodeId>> {
    let mut found = Vec::new();
    for id in (0..view.nodes()).map(NodeId) {
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
    // What is no time never comes.
    Ok(at
        .and_then(|at| time::parse(at).ok())
        .is_some_and(|at| at <= now))
}

/// Closes sessions in which nothing has happened for a while: their agent may be gone.
async fn close_sessions(brain: &Arc<OpenBrain>, scans: &Heavy) -> Result<Option<String>> {
    let view = brain.view();
    let seconds = view.settings()?.jobs.session_idle_seconds()?;
    let before = Micros(super::now().0.saturating_sub(seconds as i64 * 1_000_000));
    let idle = scans.run(move || idle(&view, before)).await?;
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
                answers.push(brain.write_when_free(request(close, "sessions"), 0).await?);
            }
        }
        for answer in answers {
            // Its agent may have closed it in this moment.
            if answer
                .await
                .unwrap_or_else(|_| Err(Refusal::outcome_unknown()))
                .is_ok()
            {
                closed += 1;
            }
        }
    }
    Ok((closed > 0).then(|| format!("{closed} sessions were idle and are closed")))
}

fn idle(view: &View, before: Micros) -> Result<Vec<SessionId>> {
    let is_idle = |session: &amem_core::base::sessions::Session<'_>| {
        session.explicit && session.closed.is_none() && session.last_event <= before
    };
    let sessions = view.sessions()?;
    Ok(sessions
        .iter()
        .filter(|session| is_idle(session))
        .map(|session| session.id)
        .collect())
}

/// Summarises sessions that ended a while ago.
async fn compress(brain: &Arc<OpenBrain>, scans: &Heavy) -> Result<Option<String>> {
    let view = brain.view();
    let seconds = view.settings()?.jobs.compress_after_seconds()?;
    let before = Micros(super::now().0.saturating_sub(seconds as i64 * 1_000_000));
    let ended = scans.run(move || ended(&view, before)).await?;
    let (mut sessions, mut events) = (0, 0);
    for session in ended {
        let view = brain.view();
        let made = scans
            .run(move || Ok(summary(&view, session, SUMMARY_BYTES)?))
            .await?;
        let Some(text) = made else { continue };
        let compress = Mutation::Compress {
            session,
            text,
            vector: None,
        };
        let written = brain.write(request(compress, "compression"), 0).await?;
        sessions += 1;
        events += written.answer.edges;
    }
    Ok((sessions > 0).then(|| format!("{sessions} sessions of {events} events have summaries")))
}

/// Closed sessions with events that nothing summarises.
fn ended(view: &View, before: Micros) -> Result<Vec<SessionId>> {
    let mut found = Vec::new();
    for session in view.sessions()? {
        if session.closed.is_none_or(|closed| closed > before) {
            continue;
        }
        let mut open = 0;
        for id in view.of_session(session.id)?.iter() {
            let node = view.node(id)?;
            let is_episode = node.event_type() == EventType::EPISODE;
            open += usize::from(!is_episode && !node.is_forgotten() && !node.is_compressed());
        }
        if open >= COMPRESSED_MIN {
            found.push(session.id);
        }
    }
    Ok(found)
}

/// Holds every byte of the file against its checksums.
async fn scrub(brain: &Arc<OpenBrain>, scans: &Heavy) -> Result<Option<String>> {
    let path = brain.path.clone();
    let report = scans.run(move || Ok(verify::file(path)?)).await?;
    match report.findings.first() {
        None => Ok(Some(format!("{} bytes are whole", report.bytes))),
        Some(finding) => {
            let more = report.findings.len() as u64 - 1 + report.more;
            let message = format!(
                "{finding}, and {more} more: `amemctl verify {}` shows them",
                brain.name
            );
            Err(Refusal::new(tonic::Code::DataLoss, "CORRUPT", message))
        }
    }
}
