//! Commits as messages for subscribers, filtered.

use std::collections::BTreeSet;

use amem_format::attributes::reason;
use amem_format::journal::frame::Kind;
use amem_format::journal::op::{Commit, NewNode, Op};
use amem_format::view::View;
use amem_format::{Error, EventType, Flags, Lsn, Micros, NodeId, SessionId};
use amem_proto::v1;
use amem_proto::v1::change::Change as ChangeKind;
use amem_query::Scope;
use amem_query::planner::{Sight, Visibility};
use prost::Message;

use crate::limits::{
    CHANGES_BYTES, CHANGES_PER_TURN, SUBSCRIBED_SESSIONS_MAX, SUBSCRIBED_TYPES_MAX,
};
use crate::refusal::{Refusal, Result};
use amem_proto::answer::{event_type, timestamp, type_number};

/// The options of a subscription.
#[derive(Debug)]
pub(crate) struct FeedOptions {
    pub(crate) filter: FeedFilter,
    /// True to include vectors.
    pub(crate) vectors: bool,
    /// True to include the content of forgotten events.
    pub(crate) forgotten: bool,
}

/// The events, by type, session and scope, whose changes a subscriber gets.
#[derive(Debug)]
pub struct FeedFilter {
    types: BTreeSet<EventType>,
    sessions: BTreeSet<SessionId>,
    scope: Sight,
    everything: bool,
}

impl FeedFilter {
    /// The filter of a request. LIMIT if a list is too long.
    pub(crate) fn of(request: &v1::SubscribeRequest) -> Result<Self> {
        let limit =
            |what, count: usize, max: usize| Error::check_limit(what, count as u64, max as u64);
        limit("types (count)", request.types.len(), SUBSCRIBED_TYPES_MAX)?;
        let sessions = request.session_ids.len();
        limit("session_ids (count)", sessions, SUBSCRIBED_SESSIONS_MAX)?;
        let scope = request.scope.clone().unwrap_or_default();
        let everything = request.types.is_empty()
            && request.session_ids.is_empty()
            && scope == v1::Scope::default();
        let scope = Scope {
            user: scope.user,
            agent: scope.agent,
            run: scope.run,
            app: scope.app,
        };
        let types = request.types.iter().map(|number| {
            let unsaid = || Refusal::invalid("types", "one of them is not set");
            event_type(*number)?.ok_or_else(unsaid)
        });
        Ok(Self {
            types: types.collect::<Result<_>>()?,
            sessions: request.session_ids.iter().copied().map(SessionId).collect(),
            scope: Sight::new(&scope, true)?,
            everything,
        })
    }

    /// True if every event passes.
    pub(crate) fn is_everything(&self) -> bool {
        self.everything
    }

    /// True if an event passes. An erased event has no scope any more, and passes.
    fn has(&self, view: &View, id: NodeId) -> Result<bool> {
        if self.everything {
            return Ok(true);
        }
        let node = view.node(id)?;
        Ok(
            (self.types.is_empty() || self.types.contains(&node.event_type()))
                && self.has_session(node.session())
                && (node.is_erased() || self.scope.of(&node)? != Visibility::Outside),
        )
    }

    fn has_session(&self, id: SessionId) -> bool {
        self.sessions.is_empty() || self.sessions.contains(&id)
    }

    /// True if an operation is about such an event, or about the whole brain.
    fn shows(&self, view: &View, op: &Op<'_>) -> Result<bool> {
        Ok(match op {
            Op::Event(node) => self.has(view, node.id)?,
            Op::Link { source, target, .. } | Op::Unlink { source, target, .. } => {
                self.has(view, *source)? || self.has(view, *target)?
            }
            Op::Belief { target, .. }
            | Op::Attributes { target, .. }
            | Op::Vector { target, .. }
            | Op::Erase { target } => self.has(view, *target)?,
            Op::OpenSession { session, .. } | Op::CloseSession { session, .. } => {
                self.has_session(*session)
            }
            Op::Touch { .. }
            | Op::Decay { .. }
            | Op::Settings { .. }
            | Op::Actor { .. }
            | Op::Request { .. }
            | Op::Author { .. } => true,
            // They say when a value was changed, and change none.
            Op::Stamp { .. } | Op::StampEdge { .. } | Op::StampSession { .. } => false,
        })
    }
}

/// The position of a stream of commits.
pub(crate) fn position(view: &View, lsn: Lsn, time: Micros) -> v1::SubscribeResponse {
    v1::SubscribeResponse {
        moment: Some(v1::Moment {
            instance: view.instance().to_string(),
            lsn: lsn.0,
            as_of_lsn: lsn.0,
            time: Some(timestamp(time)),
        }),
        ..v1::SubscribeResponse::default()
    }
}

/// A part of a commit's changes.
pub(crate) struct FeedPart {
    /// The message; `more` says whether the commit goes on.
    pub(crate) message: v1::SubscribeResponse,
    /// Operations that were read for it; a touch counts once for each of its events.
    pub(crate) operations: usize,
}

/// Encodes the changes of a commit, part by part.
pub(crate) struct CommitEncoder<'t, I> {
    view: &'t View,
    commit: Commit,
    options: &'t FeedOptions,
    ops: I,
    /// The change that did not fit the last part.
    waiting: Option<v1::Change>,
}

impl<'t, 'o, I: Iterator<Item = amem_format::Result<Op<'o>>>> CommitEncoder<'t, I> {
    pub(crate) fn new(view: &'t View, commit: Commit, ops: I, options: &'t FeedOptions) -> Self {
        Self {
            view,
            commit,
            options,
            ops,
            waiting: None,
        }
    }

    /// The next part. It ends where its message is full, or after `CHANGES_PER_TURN` operations that send nothing.
    pub(crate) fn part(&mut self) -> Result<FeedPart> {
        let (view, options) = (self.view, self.options);
        let actor = view.actor(self.commit.actor)?;
        let mut message = v1::SubscribeResponse {
            kind: kind(self.commit.kind).into(),
            principal: actor.principal.to_owned(),
            agent: actor.agent.to_owned(),
            ..position(view, self.commit.lsn, self.commit.time)
        };
        message.changes.extend(self.waiting.take());
        let mut bytes: usize = message.changes.iter().map(Message::encoded_len).sum();
        let (mut operations, mut skipped) = (0, 0);
        for op in self.ops.by_ref() {
            let op = op?;
            let weight = weight(&op);
            operations += weight;
            let shown = if options.filter.shows(view, &op)? {
                change(view, &op, options)?
            } else {
                None
            };
            let Some(change) = shown else {
                skipped += weight;
                if skipped >= CHANGES_PER_TURN {
                    message.more = true;
                    break;
                }
                continue;
            };
            let change = v1::Change {
                change: Some(change),
            };
            bytes += change.encoded_len();
            if bytes > CHANGES_BYTES && !message.changes.is_empty() {
                self.waiting = Some(change);
                message.more = true;
                break;
            }
            message.changes.push(change);
        }
        Ok(FeedPart {
            message,
            operations,
        })
    }
}

/// Events that an operation looks up.
fn weight(op: &Op<'_>) -> usize {
    match op {
        Op::Touch { entries, .. } => entries.iter().count().max(1),
        _ => 1,
    }
}

/// The change that an operation is for subscribers; `None` if they get none.
fn change(view: &View, op: &Op<'_>, options: &FeedOptions) -> Result<Option<ChangeKind>> {
    // Content that is hidden or erased by now is not sent, however old the commit is.
    let is_hidden = |id: NodeId| -> Result<bool> {
        let flags = view.node(id)?.flags();
        Ok(flags.has(Flags::ERASED) || (flags.has(Flags::FORGOTTEN) && !options.forgotten))
    };
    Ok(Some(match op {
        Op::Event(node) => ChangeKind::Event(event(view, node, is_hidden(node.id)?, options)?),
        Op::Link {
            source,
            target,
            edge_type,
            weight,
            created_at,
        } => ChangeKind::Edge(v1::Edge {
            source: source.0,
            target: target.0,
            r#type: type_number(edge_type.0),
            weight: *weight,
            created_at: Some(timestamp(*created_at)),
        }),
        Op::Unlink {
            source,
            target,
            edge_type,
        } => ChangeKind::RetractedEdge(v1::Edge {
            source: source.0,
            target: target.0,
            r#type: type_number(edge_type.0),
            ..v1::Edge::default()
        }),
        Op::Belief {
            target,
            confidence,
            flags,
            lambda,
        } => ChangeKind::Belief(v1::BeliefChange {
            event_id: target.0,
            confidence: *confidence,
            lambda: *lambda,
            pinned: flags.has(Flags::PINNED),
            forgotten: flags.has(Flags::FORGOTTEN),
            compressed: flags.has(Flags::COMPRESSED),
        }),
        Op::Attributes { target, .. } | Op::Vector { target, .. } if is_hidden(*target)? => {
            return Ok(None);
        }
        Op::Attributes { target, json } => ChangeKind::Attributes(v1::AttributesChange {
            event_id: target.0,
            attributes_json: (*json).to_owned(),
        }),
        Op::Vector { target, vector } => ChangeKind::Vector(v1::VectorChange {
            event_id: target.0,
            vector: options
                .vectors
                .then(|| self::vector(view, vector))
                .flatten(),
        }),
        Op::Touch { at, entries } => return touch(view, *at, entries.iter(), &options.filter),
        Op::Decay { at, .. } => ChangeKind::Decay(v1::DecayChange {
            time: Some(timestamp(*at)),
        }),
        Op::OpenSession { .. } | Op::CloseSession { .. } => return session(view, op),
        Op::Settings { json } => ChangeKind::SettingsJson((*json).to_owned()),
        Op::Erase { target } => ChangeKind::ErasedEventId(target.0),
        // The message and its events name actors; request ids concern only the writer.
        Op::Actor { .. } | Op::Request { .. } | Op::Author { .. } => return Ok(None),
        // Only merges read when a value was changed in another brain.
        Op::Stamp { .. } | Op::StampEdge { .. } | Op::StampSession { .. } => return Ok(None),
    }))
}

/// The touches of events that pass the filter; `None` if none does.
fn touch(
    view: &View,
    at: Micros,
    entries: impl Iterator<Item = (NodeId, u32)>,
    filter: &FeedFilter,
) -> Result<Option<ChangeKind>> {
    let mut touched = Vec::new();
    for (id, count) in entries {
        if filter.has(view, id)? {
            let event_id = id.0;
            touched.push(v1::Touched { event_id, count });
        }
    }
    if touched.is_empty() {
        return Ok(None);
    }
    Ok(Some(ChangeKind::Touch(v1::TouchChange {
        touched,
        time: Some(timestamp(at)),
    })))
}

/// A session that is opened, opened again or closed; `None` for any other operation.
fn session(view: &View, op: &Op<'_>) -> Result<Option<ChangeKind>> {
    Ok(match op {
        Op::OpenSession {
            session,
            key,
            agent,
            at,
        } => Some(ChangeKind::SessionOpened(v1::SessionOpened {
            session_id: session.0,
            key: (*key).to_owned(),
            agent: (*agent).to_owned(),
            time: Some(timestamp(*at)),
            reopened: is_reopening(view, *session, *at)?,
        })),
        Op::CloseSession {
            session,
            outcome,
            at,
        } => Some(ChangeKind::SessionClosed(v1::SessionClosed {
            session_id: session.0,
            outcome: (*outcome).to_owned(),
            time: Some(timestamp(*at)),
        })),
        _ => None,
    })
}

/// True if a span of a session that was opened then is not its first one.
fn is_reopening(view: &View, session: SessionId, at: Micros) -> Result<bool> {
    let spans = view.session_spans(session)?;
    Ok(spans.iter().skip(1).any(|span| span.opened == at))
}

fn event(
    view: &View,
    node: &NewNode<'_>,
    is_hidden: bool,
    options: &FeedOptions,
) -> Result<v1::Event> {
    let present = view.node(node.id)?;
    let (now, author) = (present.flags(), view.actor(present.author()?)?);
    let flags = node
        .carried
        .map_or(Flags::default(), |carried| carried.flags);
    let shown = v1::Event {
        id: node.id.0,
        r#type: type_number(node.event_type.0),
        session_id: node.session.0,
        created_at: Some(timestamp(node.created_at)),
        event_time: node.event_time.map(timestamp),
        confidence: node.confidence,
        strength: node.carried.map_or(node.confidence, |c| c.decay_score),
        lambda: node.lambda,
        access_count: node.carried.map_or(0, |c| c.access_count),
        last_accessed: Some(timestamp(
            node.carried.map_or(node.created_at, |c| c.last_accessed),
        )),
        pinned: flags.has(Flags::PINNED),
        forgotten: now.has(Flags::FORGOTTEN),
        compressed: flags.has(Flags::COMPRESSED),
        erased: now.has(Flags::ERASED),
        session_key: session_key(view, node)?,
        vector_present: !node.vector.is_empty() && !now.has(Flags::ERASED),
        by: author.principal.to_owned(),
        agent: author.agent.to_owned(),
        ..v1::Event::default()
    };
    if is_hidden {
        return Ok(shown);
    }
    Ok(v1::Event {
        text: node.text.to_owned(),
        attributes_json: node.attributes.to_owned(),
        reason: reason(node.attributes).unwrap_or_default(),
        vector: options.vectors.then(|| vector(view, node.vector)).flatten(),
        ..shown
    })
}

fn session_key(view: &View, node: &NewNode<'_>) -> Result<String> {
    Ok(view.session_key(node.session)?.to_owned())
}

fn vector(view: &View, bytes: &[u8]) -> Option<v1::Vector> {
    let values = bytes.chunks_exact(4).map(|four| {
        let mut number = [0; 4];
        number.copy_from_slice(four);
        f32::from_le_bytes(number)
    });
    (!bytes.is_empty()).then(|| v1::Vector {
        values: values.collect(),
        space: view.identity().space.to_string(),
    })
}

fn kind(kind: Kind) -> v1::CommitKind {
    // A test checks that the numbers are equal.
    v1::CommitKind::try_from(i32::from(kind as u8)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_names_and_numbers_of_the_journal() {
        for of in Kind::ALL {
            let wire = kind(of).as_str_name();
            let name = of.name().replace('-', "_").to_uppercase();
            assert_eq!(wire, format!("COMMIT_KIND_{name}"));
        }
    }
}
