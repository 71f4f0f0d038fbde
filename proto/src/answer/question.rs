//! The traits of all questions: brain, moment, evaluation, and the events that an answer uses.

use std::fmt::Debug;

use amem_format::NodeId;
use amem_format::view::{AsOf, View};
use prost::Message;

use super::event::{check_bytes, is_whole};
use super::refusal::Result;
use super::word::as_of;
use crate::v1;

/// An answer, and the events that were used by it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerWithTouches<A> {
    /// The answer.
    pub answer: A,
    /// The events to touch, ascending and distinct: if the question touches, those in the answer that are not
    /// forgotten.
    pub touched: Vec<NodeId>,
}

/// The evaluation of a question.
pub trait Evaluate: Message + Clone + Debug + Default + 'static {
    /// The message that answers it.
    type Answer: Message + Debug + Default + PartialEq + 'static;

    /// Computes the answer from a view, which must be of the question's moment.
    fn evaluate(self, view: &View) -> Result<Self::Answer>;

    /// True if this request is expensive. Used only if the call's weight is `WEIGHT_BY_REQUEST`.
    fn is_large(&self) -> bool {
        true
    }

    /// The text whose vector the request has not; `None` if it needs none.
    fn text_without_vector(&self) -> Option<&str> {
        None
    }

    /// Gives the request the vector of its text.
    fn set_vector(&mut self, _vector: Vec<f32>) {}

    /// The events in an answer that count as used if the question touches.
    fn shown(_answer: &Self::Answer) -> Vec<NodeId> {
        Vec::new()
    }
}

/// A request of `QueryService`. Generated from the options of its call.
pub trait Question: Evaluate {
    /// The path of its call.
    const PATH: &'static str;

    /// The brain's name.
    fn brain(&self) -> &str;
    /// The brain's name, to be set.
    fn brain_mut(&mut self) -> &mut String;
    /// The moment of the question; `None` is now.
    fn as_of(&self) -> Result<Option<AsOf>>;
    /// True if it must run on the blocking pool.
    fn is_heavy(&self) -> bool;
    /// True if the events in the answer count as used.
    fn touches(&self) -> bool;
    /// The moment that an answer names.
    fn moment(answer: &Self::Answer) -> Option<&v1::Moment>;

    /// Answers the question at its moment, given the newest view.
    fn ask(self, now: &View) -> Result<AnswerWithTouches<Self::Answer>> {
        let (moment, touches) = (self.as_of()?, self.touches());
        let answer = match moment {
            None => self.evaluate(now)?,
            Some(moment) => self.evaluate(&now.as_of(moment)?)?,
        };
        check_bytes(answer.encoded_len())?;
        // Answers about earlier moments do not count as uses.
        let mut touched = if touches && moment.is_none() {
            Self::shown(&answer)
        } else {
            Vec::new()
        };
        touched.sort_unstable();
        touched.dedup();
        // Forgotten events do not count as used, even if they are in the answer.
        touched.retain(|id| now.node(*id).is_ok_and(|node| !node.is_forgotten()));
        Ok(AnswerWithTouches { answer, touched })
    }
}

include!(concat!(env!("OUT_DIR"), "/questions.rs"));

/// The ids of whole events.
pub(super) fn ids<'e>(events: impl IntoIterator<Item = &'e v1::Event>) -> Vec<NodeId> {
    let whole = events.into_iter().filter(|event| is_whole(event));
    whole.map(|event| NodeId(event.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LIGHT_EVENTS_MAX;

    #[test]
    fn only_a_few_events_without_edges_and_one_session_are_light() {
        let get = |count, include_edges| v1::GetEventsRequest {
            event_ids: vec![0; count],
            include_edges,
            ..Default::default()
        };
        assert!(!get(LIGHT_EVENTS_MAX, false).is_heavy());
        assert!(get(LIGHT_EVENTS_MAX + 1, false).is_heavy());
        assert!(get(1, true).is_heavy());
        assert!(!v1::GetSessionRequest::default().is_heavy());
        assert!(v1::WhyRequest::default().is_heavy());
        assert!(v1::ImpactRequest::default().is_heavy());
        assert!(v1::ResolveRequest::default().is_heavy());
    }

    #[test]
    fn get_and_resolve_touch_by_default_and_others_on_request() {
        assert!(v1::GetEventsRequest::default().touches());
        assert!(v1::ResolveRequest::default().touches());
        assert!(!v1::SearchRequest::default().touches());
        let get = v1::GetEventsRequest {
            touch: Some(false),
            ..Default::default()
        };
        let search = v1::SearchRequest {
            touch: Some(true),
            ..Default::default()
        };
        assert!(!get.touches() && search.touches());
    }
}
