//! What every question has in common: the brain, the moment, the answer, and which events it used.

use std::fmt::Debug;

use amem_format::NodeId;
use amem_format::view::{AsOf, View};
use prost::Message;

use super::event::{check_bytes, is_whole};
use super::refusal::Result;
use super::word::as_of;
use super::{conflicts, context, events, graph, listing, pipeline, ranking, sessions};
use crate::limits::LIGHT_EVENTS_MAX;
use crate::v1;

/// An answer, and the events that were used by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered<A> {
    /// The answer.
    pub answer: A,
    /// The events to touch, each once, ascending: those that the answer shows and that are not forgotten, if the
    /// question touches.
    pub touched: Vec<NodeId>,
}

/// A request of `QueryService`.
pub trait Question: Message + Clone + Debug + Default + 'static {
    /// The message that answers it.
    type Answer: Message + Debug + Default + PartialEq + 'static;
    /// The path of its call.
    const PATH: &'static str;
    /// True if it may cost much, whatever is asked: in proportion to the brain, or to a long chain or a hub.
    const IS_HEAVY: bool;

    /// The brain's name.
    fn brain(&self) -> &str;
    /// The brain's name, to be set.
    fn brain_mut(&mut self) -> &mut String;
    /// The moment it is about; now if that is `None`.
    fn as_of(&self) -> Result<Option<AsOf>>;
    /// True if the events that it shows count as used.
    fn touches(&self) -> bool;
    /// The answer from a view, which is of the moment that the question is about.
    fn answer(self, view: &View) -> Result<Self::Answer>;
    /// What an answer says of what answered it.
    fn moment(answer: &Self::Answer) -> Option<&v1::Moment>;
    /// True if this one may cost much: it is for a thread that may be kept busy.
    fn is_heavy(&self) -> bool {
        Self::IS_HEAVY
    }
    /// The events that an answer shows and that count as used if the question touches.
    fn shown(answer: &Self::Answer) -> Vec<NodeId>;

    /// The answer from the newest view, of the moment that the question is about, and what was used.
    fn ask(self, now: &View) -> Result<Answered<Self::Answer>> {
        let (moment, touches) = (self.as_of()?, self.touches());
        let answer = match moment {
            None => self.answer(now)?,
            Some(moment) => self.answer(&now.as_of(moment)?)?,
        };
        check_bytes(answer.encoded_len())?;
        // What was so at an earlier moment is not used now.
        let mut touched = match touches && moment.is_none() {
            true => Self::shown(&answer),
            false => Vec::new(),
        };
        touched.sort_unstable();
        touched.dedup();
        // Nor is what is forgotten, though it may be shown.
        touched.retain(|id| now.node(*id).is_ok_and(|node| !node.is_forgotten()));
        Ok(Answered { answer, touched })
    }
}

/// The ids of whole events.
fn ids<'e>(events: impl IntoIterator<Item = &'e v1::Event>) -> Vec<NodeId> {
    let whole = events.into_iter().filter(|event| is_whole(event));
    whole.map(|event| NodeId(event.id)).collect()
}

/// Each question: its call, its messages, what it costs, whether it touches unless told, who answers it, and the
/// events that its answer shows.
macro_rules! questions {
    ($($call:ident: $request:ident -> $answer:ident, $weight:ident $(if |$q:ident| $light:expr)?, touches $touches:expr,
        by $by:path, shows |$a:ident| $shown:expr;)*) => {
        /// The paths of the calls of all questions.
        #[cfg(test)]
        const PATHS: &[&str] = &[$(<v1::$request as Question>::PATH),*];

        $(impl Question for v1::$request {
            type Answer = v1::$answer;
            const PATH: &'static str = concat!("/amem.v1.QueryService/", stringify!($call));
            const IS_HEAVY: bool = $weight;

            fn brain(&self) -> &str {
                &self.brain
            }

            fn brain_mut(&mut self) -> &mut String {
                &mut self.brain
            }

            fn as_of(&self) -> Result<Option<AsOf>> {
                as_of(self.as_of)
            }

            fn touches(&self) -> bool {
                let touches: fn(&Self) -> bool = $touches;
                touches(self)
            }

            fn answer(self, view: &View) -> Result<Self::Answer> {
                $by(view, self)
            }

            fn moment(answer: &Self::Answer) -> Option<&v1::Moment> {
                answer.moment.as_ref()
            }

            fn shown($a: &Self::Answer) -> Vec<NodeId> {
                $shown
            }

            $(fn is_heavy(&self) -> bool {
                let $q = self;
                !($light)
            })?
        })*
    };
}

const LIGHT: bool = false;
const HEAVY: bool = true;

questions! {
    GetEvents: GetEventsRequest -> GetEventsResponse, LIGHT if |q| !q.include_edges && q.event_ids.len() <= LIGHT_EVENTS_MAX,
        touches |q| q.touch.unwrap_or(true),
        by events::get_events, shows |a| ids(&a.events);
    Traverse: TraverseRequest -> TraverseResponse, HEAVY, touches |q| q.touch(),
        by graph::traverse, shows |a| ids(a.steps.iter().flat_map(|step| &step.event));
    Path: PathRequest -> PathResponse, HEAVY, touches |q| q.touch(),
        by graph::path, shows |a| ids(a.steps.iter().flat_map(|step| &step.event));
    Why: WhyRequest -> WhyResponse, HEAVY, touches |q| q.touch(),
        by graph::why, shows |a| ids(a.steps.iter().flat_map(|step| &step.event));
    Impact: ImpactRequest -> ImpactResponse, HEAVY, touches |q| q.touch(),
        by graph::impact, shows |a| ids(a.steps.iter().flat_map(|step| &step.event));
    Pattern: PatternRequest -> PatternResponse, HEAVY, touches |q| q.touch(),
        by listing::pattern, shows |a| ids(&a.events);
    Timeline: TimelineRequest -> TimelineResponse, HEAVY, touches |q| q.touch(),
        by listing::timeline, shows |a| ids(a.entries.iter().flat_map(|entry| &entry.event));
    Similar: SimilarRequest -> SimilarResponse, HEAVY, touches |q| q.touch(),
        by ranking::similar, shows |a| ids(a.hits.iter().flat_map(|hit| &hit.event));
    Text: TextRequest -> TextResponse, HEAVY, touches |q| q.touch(),
        by ranking::text, shows |a| ids(a.hits.iter().flat_map(|hit| &hit.event));
    Search: SearchRequest -> SearchResponse, HEAVY, touches |q| q.touch(),
        by ranking::search, shows |a| ids(a.hits.iter().flat_map(|hit| &hit.event));
    Resolve: ResolveRequest -> ResolveResponse, HEAVY, touches |q| q.touch.unwrap_or(true),
        by events::resolve, shows |a| ids(&a.head);
    ListConflicts: ListConflictsRequest -> ListConflictsResponse, HEAVY, touches |q| q.touch(),
        by conflicts::list_conflicts, shows |a| ids(conflicts::shown(a));
    Pipeline: PipelineRequest -> PipelineResponse, HEAVY, touches |q| q.touch(),
        by pipeline::pipeline, shows |a| ids(a.rows.iter().flat_map(|row| &row.event));
    Context: ContextRequest -> ContextResponse, HEAVY, touches |q| q.touch.unwrap_or(true),
        by context::context, shows |a| a.items.iter().map(|item| NodeId(item.event_id)).collect();
    ListSessions: ListSessionsRequest -> ListSessionsResponse, HEAVY, touches |_| false,
        by sessions::list_sessions, shows |_a| Vec::new();
    GetSession: GetSessionRequest -> GetSessionResponse, LIGHT, touches |_| false,
        by sessions::get_session, shows |_a| Vec::new();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost_types::FileDescriptorSet;

    use super::*;

    #[test]
    fn every_call_of_the_service_is_a_question() {
        let files = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
        let services = files.file.iter().flat_map(|file| &file.service);
        let queries = services.filter(|service| service.name() == "QueryService");
        let calls = queries.flat_map(|service| &service.method);
        let paths = calls.map(|call| format!("/amem.v1.QueryService/{}", call.name()));
        let told: BTreeSet<String> = paths.collect();
        let answered: BTreeSet<String> = PATHS.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(answered, told);
    }

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
    fn get_and_resolve_touch_unless_told_not_to_and_others_only_when_told() {
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
