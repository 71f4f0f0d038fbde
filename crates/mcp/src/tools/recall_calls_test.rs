//! How many calls a recall makes, whatever it finds.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use amem_proto::v1;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::calls::{CallResult, MemoryCalls};
use crate::given_context::NotGiven;
use crate::memories::Memories;
use crate::memory_place::{MemoryPlace, ProjectName};
use crate::resources::call;

/// Calls of one recall.
const CALLS_MAX: usize = 3;

/// A memory in which everything is found, each with three reasons.
#[derive(Default)]
struct FullMemory {
    calls: AtomicUsize,
}

fn fact(event: u64) -> v1::Fact {
    v1::Fact {
        id: format!("00000000-0000-0000-0000-{event:012}"),
        memory: format!("statement {event}"),
        event_id: event,
        because_ids: (1..4)
            .map(|cause| format!("00000000-0000-0000-0000-{:012}", 1_000 + 3 * event + cause))
            .collect(),
        scope: Some(v1::Scope {
            app: Some("shop".to_owned()),
            ..v1::Scope::default()
        }),
        ..v1::Fact::default()
    }
}

fn named(name: v1::FactName) -> v1::NamedFact {
    let event = name.event_id.unwrap_or_else(|| {
        let digits = name.id.rsplit('-').next().unwrap_or_default();
        digits.parse().unwrap_or_default()
    });
    v1::NamedFact {
        fact: Some(fact(event)),
        name: Some(name),
        from_turn: false,
    }
}

macro_rules! counted {
    ($($call:ident $request:ident $response:ident $answer:expr;)*) => {
        impl MemoryCalls for FullMemory {
            $(async fn $call(&self, request: v1::$request) -> CallResult<v1::$response> {
                self.calls.fetch_add(1, Ordering::Relaxed);
                let answer: fn(v1::$request) -> v1::$response = $answer;
                Ok(answer(request))
            })*
        }
    };
}

counted! {
    add_facts AddFactsRequest AddFactsResponse |_| v1::AddFactsResponse::default();
    recall RecallRequest RecallResponse |request| v1::RecallResponse {
        entries: (1..=u64::from(request.limit)).map(|event| v1::RecallEntry {
            source: v1::RecallSource::Formed.into(),
            event_id: event,
            id: fact(event).id,
            text: fact(event).memory,
            relevance: 0.9,
            fact: Some(fact(event)),
            because_event_ids: vec![1_001, 1_002, 1_003],
            ..v1::RecallEntry::default()
        }).collect(),
        ..v1::RecallResponse::default()
    };
    search_facts SearchFactsRequest SearchFactsResponse |_| v1::SearchFactsResponse::default();
    get_fact GetFactRequest GetFactResponse |request| v1::GetFactResponse {
        more: request.more.into_iter().map(named).collect(),
        fact: Some(fact(request.event_id.unwrap_or(1))),
        ..v1::GetFactResponse::default()
    };
    list_facts ListFactsRequest ListFactsResponse |_| v1::ListFactsResponse::default();
    update_fact UpdateFactRequest UpdateFactResponse |_| v1::UpdateFactResponse::default();
    delete_fact DeleteFactRequest DeleteFactResponse |_| v1::DeleteFactResponse::default();
    get_fact_history GetFactHistoryRequest GetFactHistoryResponse |_| v1::GetFactHistoryResponse::default();
}

/// The output of a future that waits for nothing.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the double answers at once"),
    }
}

fn place() -> MemoryPlace {
    MemoryPlace {
        brain: String::new(),
        project: Some(ProjectName {
            id: "shop".to_owned(),
            earlier_ids: Vec::new(),
            label: "shop".to_owned(),
        }),
        user: "ada".to_owned(),
        zone: TimeZone::UTC,
        naming: None,
        notice: None,
    }
}

#[test]
fn a_recall_makes_three_calls_at_most_whatever_it_finds() {
    let place = place();
    let ids: Vec<String> = (1..=50).map(|event| format!("e{event}")).collect();
    for arguments in [
        json!({"query": "which statement", "max_tokens": 8_000}),
        json!({"ids": ids, "max_tokens": 8_000}),
    ] {
        let calls = FullMemory::default();
        let memories = Memories {
            calls: &calls,
            place: &place,
            agent: "test",
        };
        let text = ready(call(&memories, "recall", arguments)).unwrap();
        assert!(
            text.contains("[e50] fact") && text.contains("← [e1"),
            "{text}"
        );
        let count = calls.calls.load(Ordering::Relaxed);
        assert!(count <= CALLS_MAX, "{count} calls: {text}");
    }
}

#[test]
fn a_prompt_is_recalled_in_one_call_with_what_was_close() {
    let (calls, place) = (FullMemory::default(), place());
    let has = HashSet::from([fact(1).id]);
    let prompt = "which package manager is used";
    let found = ready(crate::given::recall_for(&calls, &place, prompt, &has, 0)).unwrap();
    assert_eq!(calls.calls.load(Ordering::Relaxed), 1);
    let given: Vec<u64> = found
        .given
        .unwrap()
        .facts
        .iter()
        .map(|fact| fact.event_id)
        .collect();
    assert_eq!(given, [2, 3, 4, 5, 6, 7]);
    assert_eq!(found.near.len(), crate::limits::NEAR_MAX);
    assert_eq!((found.near[0].event, found.near[0].why), (1, NotGiven::Had));
    assert_eq!(found.near[1].why, NotGiven::Room);
}
