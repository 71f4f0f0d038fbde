//! All that a view of a brain shows, as bytes that are equal if nothing differs, and as lines for people.

use std::sync::Arc;

use amem_doctor::verify;
use amem_format::Result;
use amem_format::event::Graph;
use amem_format::journal::frame::Header;
use amem_format::view::{Direction, View};
use amem_format::{ActorId, EventType, NodeId, SessionId};
use amem_store::disk::File;

/// Appends what a view shows of its events and edges.
pub(super) fn graph(view: &View, out: &mut Vec<u8>) -> Result<()> {
    number(out, view.nodes());
    let (lsn, time) = view.moment();
    number(out, lsn.0);
    number(out, time.0 as u64);
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id)?;
        out.extend([node.event_type().0, node.flags().0]);
        number(out, node.created_at().0 as u64);
        number(out, node.event_time()?.map_or(u64::MAX, |t| t.0 as u64));
        out.extend(node.session().0.to_le_bytes());
        for value in [node.confidence(), node.strength(), node.lambda()] {
            out.extend(value.to_le_bytes());
        }
        out.extend(node.access_count().to_le_bytes());
        number(out, node.last_accessed().0 as u64);
        text(out, &node.text()?);
        let vector = node.vector()?;
        number(out, vector.map_or(u64::MAX, |v| v.len() as u64));
        for x in vector.unwrap_or_default() {
            out.extend(x.to_le_bytes());
        }
        text(out, &node.attributes_json()?.unwrap_or_default());
        for direction in [Direction::Outgoing, Direction::Incoming] {
            let ties = view.edges_of(id, direction)?;
            number(out, ties.len() as u64);
            for tie in ties.iter() {
                let edge = view.edge(id, direction, &tie)?;
                number(out, edge.source.0);
                number(out, edge.target.0);
                out.push(edge.edge_type.0);
                out.extend(edge.weight.to_le_bytes());
                number(out, edge.created_at.0 as u64);
            }
        }
    }
    Ok(())
}

/// Appends what a view shows besides: indexes, sessions, actors, settings, the log.
pub(super) fn rest(view: &View, out: &mut Vec<u8>) -> Result<()> {
    number(out, view.edges());
    for event_type in EventType::ALL {
        let ids = view.of_type(event_type)?;
        number(out, ids.len() as u64);
        ids.iter().for_each(|id| number(out, id.0));
    }
    let sessions = view.sessions()?;
    number(out, sessions.len() as u64);
    for s in sessions {
        out.extend(s.id.0.to_le_bytes());
        for part in [s.key, s.agent, s.outcome] {
            text(out, part);
        }
        out.push(u8::from(s.explicit));
        for at in [s.opened, s.last_event, s.closed.unwrap_or_default()] {
            number(out, at.0 as u64);
        }
        let found = view.session_by_key(s.key)?;
        number(out, u64::from(found.unwrap_or_default().0));
        let ids = view.of_session(s.id)?;
        number(out, ids.len() as u64);
        ids.iter().for_each(|id| number(out, id.0));
    }
    number(out, u64::from(view.next_session()?.0));
    for actor in (1..).map(ActorId) {
        let actor = view.actor(actor)?;
        text(out, actor.principal);
        text(out, actor.agent);
        if actor.principal.is_empty() && actor.agent.is_empty() {
            break;
        }
    }
    text(out, &view.settings()?.to_json());
    if let Some(run) = view.decay_run() {
        number(out, run.lsn.0);
        number(out, run.at.0 as u64);
        run.rates
            .iter()
            .for_each(|rate| out.extend(rate.to_le_bytes()));
    }
    for frame in frames(view)? {
        number(out, frame.lsn.0);
        number(out, frame.time.0 as u64);
        out.extend(frame.actor.0.to_le_bytes());
        out.extend([frame.kind as u8, u8::from(frame.more)]);
    }
    Ok(())
}

/// The frames of all that was ever committed (as long as few enough to be kept).
fn frames(view: &View) -> Result<Vec<Header>> {
    let brain = view.brain();
    let kept = brain.base().commits()?;
    let mut out = Vec::new();
    for at in 0..kept.len() {
        out.push(kept.at(at)?.header);
    }
    for at in 0..view.delta_commits() {
        if let Some(entry) = brain.delta().log.get(at) {
            let frames = brain.frames_at(entry.position, entry.end)?;
            out.extend(frames.iter().map(|frame| frame.header));
        }
    }
    Ok(out)
}

/// The same as lines, to show where two views differ.
pub(super) fn lines(view: &View) -> Result<Vec<String>> {
    let mut out = vec![format!(
        "{} events, {} edges at {:?}",
        view.nodes(),
        view.edges(),
        view.moment()
    )];
    for position in 0..view.nodes() {
        out.push(format!("{:?}", view.event_at(position)?));
        let edges = view.edges_at(position)?;
        out.extend(edges.iter().map(|edge| format!("{edge:?}")));
        let incoming = view.edges_of(NodeId(position), Direction::Incoming)?;
        let from = incoming.iter();
        out.extend(from.map(|tie| format!("{} from {}", tie.edge_type, tie.other)));
    }
    for session in view.sessions()? {
        let ids: Vec<_> = view.of_session(session.id)?.iter().collect();
        out.push(format!("{session:?}: {ids:?}"));
    }
    let nobody = view.of_session(SessionId(0))?;
    out.push(format!("in no session: {}", nobody.len()));
    let actors = (1..4).map(|id| view.actor(ActorId(id)));
    out.push(format!("{:?}", actors.collect::<Result<Vec<_>>>()?));
    out.push(format!("{:?} {:?}", view.settings()?, view.decay_run()));
    let frames = frames(view)?;
    out.extend(frames.iter().map(|header| format!("{header:?}")));
    Ok(out)
}

/// Where the lines of two views differ first.
pub(super) fn difference(found: &View, expected: &View) -> String {
    let (found, expected) = match (lines(found), lines(expected)) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(e), _) | (_, Err(e)) => return e.to_string(),
    };
    for at in 0..found.len().max(expected.len()) {
        let (found, expected) = (found.get(at), expected.get(at));
        if found != expected {
            return format!("found {found:?}, expected {expected:?}");
        }
    }
    "in what no line shows".into()
}

/// Every byte of a file against its checksums, every part of it against the others, and nothing torn behind it.
pub(super) fn verify(file: &dyn File) -> std::result::Result<(), String> {
    let map = file.len().and_then(|len| file.map(len));
    let map = map.map_err(|e| e.to_string())?;
    let report = verify::native(Arc::new(map), None).map_err(|e| e.to_string())?;
    if report.is_whole() {
        return Ok(());
    }
    Err(format!("{:?}, {:?}", report.findings, report.tail))
}

fn number(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend(text.as_bytes());
}
