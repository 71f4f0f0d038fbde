//! Whether a view shows what the model has, and nothing else: every event, every edge from both ends, every list.

use std::collections::BTreeMap;
use std::fmt::Debug;

use amem_format::view::{Direction, View};
use amem_format::{ActorId, EventType, Flags, Lsn, NodeId, SessionId};

use super::account::{Account, CommitRecord};
use super::history::ViewState;
use super::state::Event;

/// Says where two things differ.
fn same<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is {found:?}, not {expected:?}"))
}

fn read<T>(what: &str, found: amem_format::Result<T>) -> Result<T, String> {
    found.map_err(|e| format!("{what}: {e}"))
}

/// Holds a view, perhaps of an earlier moment, against what is known of it.
pub fn likeness(view: &View, known: &ViewState) -> Result<(), String> {
    same("the newest commit", view.lsn().0, known.now)?;
    same("the moment", view.moment().0.0, known.moment)?;
    let state = &known.state;
    same(
        "the number of events",
        view.nodes(),
        state.events.len() as u64,
    )?;
    for event in &state.events {
        like_event(view, event).map_err(|why| format!("event {}: {why}", event.id))?;
    }
    edges(view, known)?;
    if known.moment == known.now {
        same(
            "the number of edges",
            view.edges(),
            state.edges.len() as u64,
        )?;
    }
    for event_type in EventType::ALL {
        let ids: Vec<u64> = read("a type", view.of_type(event_type))?
            .iter()
            .map(|id| id.0)
            .collect();
        let of = state
            .events
            .iter()
            .filter(|e| e.made.event_type == event_type);
        same(&format!("{event_type}"), ids, of.map(|e| e.id).collect())?;
    }
    sessions(view, known)?;
    let settings = read("settings", view.settings())?;
    same("the rates", settings.decay.by_type(), state.rates)
}

fn like_event(view: &View, event: &Event) -> Result<(), String> {
    let node = read("it", view.node(NodeId(event.id)))?;
    let (found, made) = (read("it", node.to_event())?, &event.made);
    let flags = event
        .flags
        .set(Flags::VECTOR, made.vector.is_some())
        .set(Flags::ATTRIBUTES, made.attributes.is_some());
    same("the flags", found.flags, flags)?;
    same("the type", found.event_type, made.event_type)?;
    same("the text", &found.text, &made.text)?;
    same("the session", found.session.0, made.session)?;
    same(
        "what happened when",
        found.event_time.map(|t| t.0),
        made.event_time,
    )?;
    same("the recorded time", found.created_at.0, event.created_at)?;
    same("the confidence", found.confidence, made.confidence)?;
    same("the rate", found.lambda, made.lambda)?;
    same("the attributes", &found.attributes, &made.attributes)?;
    same("the vector", &found.vector, &made.vector)?;
    same("the uses", found.access_count, event.accesses)?;
    same("the last use", found.last_accessed.0, event.accessed)?;
    same("the strength", found.decay_score, event.strength)
}

/// From each end, edges are in the order of the other end and the type.
fn edges(view: &View, known: &ViewState) -> Result<(), String> {
    type EdgeRow = (u64, u8, f32, i64);
    let mut expected: BTreeMap<(bool, u64), Vec<EdgeRow>> = BTreeMap::new();
    for (&(source, target, edge_type), &(weight, at)) in &known.state.edges {
        let tie = |other| (other, edge_type, weight, at);
        expected
            .entry((true, source))
            .or_default()
            .push(tie(target));
        expected
            .entry((false, target))
            .or_default()
            .push(tie(source));
    }
    for id in 0..view.nodes() {
        for direction in [Direction::Outgoing, Direction::Incoming] {
            let is_outgoing = direction == Direction::Outgoing;
            let mut found = Vec::new();
            for tie in read("edges", view.edges_of(NodeId(id), direction))?.iter() {
                let edge = read("an edge", view.edge(NodeId(id), direction, &tie))?;
                let (own, other) = if is_outgoing {
                    (edge.source, edge.target)
                } else {
                    (edge.target, edge.source)
                };
                same("the end of an edge", own.0, id)?;
                found.push((other.0, edge.edge_type.0, edge.weight, edge.created_at.0));
            }
            let expected = expected.remove(&(is_outgoing, id)).unwrap_or_default();
            same(&format!("{direction:?} edges of {id}"), found, expected)?;
        }
    }
    same("edges of events that are not there", expected.len(), 0)
}

fn sessions(view: &View, known: &ViewState) -> Result<(), String> {
    let all = &known.state.sessions;
    let found = read("sessions", view.sessions())?;
    let numbers = found.iter().map(|session| session.id.0).collect::<Vec<_>>();
    same("the sessions", numbers, all.keys().copied().collect())?;
    for session in &found {
        let (id, expected) = (session.id, &all[&session.id.0]);
        let words = [session.key, session.agent, session.outcome];
        let own = [&*expected.key, &*expected.agent, &*expected.outcome];
        same(&format!("session {id}"), words, own)?;
        let times = (
            session.opened.0,
            session.last_event.0,
            session.closed.map(|t| t.0),
        );
        let own = (expected.opened, expected.last_event, expected.closed);
        same(
            &format!("when session {id} was opened, used, closed"),
            times,
            own,
        )?;
        same(
            "whether it was opened by a client",
            session.explicit,
            expected.explicit,
        )?;
        let spans = read("its spans", view.session_spans(id))?;
        let spans = spans.iter().map(|span| {
            let closed = span.closed.map(|t| t.0);
            (
                span.explicit,
                span.opened.0,
                closed,
                span.outcome.to_owned(),
            )
        });
        same(
            &format!("the spans of session {id}"),
            spans.collect(),
            expected.spans(),
        )?;
        if !session.key.is_empty() {
            let by_key = read("a key", view.session_by_key(session.key))?;
            same(
                &format!("the session of {:?}", session.key),
                by_key,
                Some(id),
            )?;
        }
        of_session(view, known, id)?;
    }
    Ok(())
}

fn of_session(view: &View, known: &ViewState, id: SessionId) -> Result<(), String> {
    let found = read("a session", view.of_session(id))?;
    let ids: Vec<u64> = found.iter().map(|id| id.0).collect();
    let of = known.state.events.iter().filter(|e| e.made.session == id.0);
    same(
        &format!("the events of session {id}"),
        ids,
        of.map(|e| e.id).collect(),
    )
}

/// Holds the commits of a view, one by one, against those that were done by then, and who did them.
pub fn commits(view: &View, account: &Account) -> Result<(), String> {
    let done = account
        .done
        .iter()
        .take_while(|done| done.lsn <= view.lsn());
    let mut at = read("commits", view.commits_held_after())?;
    same("the oldest commit's predecessor", at, Lsn(0))?;
    for expected in done {
        let commit = read("a commit", view.commit_after(at))?;
        let Some(commit) = commit.map(|found| found.commit) else {
            return Err(format!("after {at} there is no commit, but {expected:?}"));
        };
        let found = CommitRecord {
            lsn: commit.lsn,
            time: commit.time,
            kind: commit.kind,
            actor: commit.actor.0,
        };
        same("a commit", found, *expected)?;
        if let Some(at) = expected.actor.checked_sub(1) {
            let known = read("who", view.actor(ActorId(expected.actor)))?;
            let (principal, agent) = &account.actors[at as usize];
            same(
                "who asked",
                [known.principal, known.agent],
                [principal, agent],
            )?;
        }
        at = commit.lsn;
    }
    let more = read("a commit", view.commit_after(at))?;
    same(
        "the commit after the last",
        more.map(|found| found.commit.lsn),
        None,
    )
}
