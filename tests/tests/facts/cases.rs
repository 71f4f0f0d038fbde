//! The cases of the specification, by number.

use amem_facts::Error;
use amem_format::types::Micros;
use amem_memory::add::{AddEvent, AddRequest};
use amem_memory::model::ModelFailure;
use amem_memory::store::{HistoryEvent, MemoryItem};
use amem_memory::{ContentPart, FactScope, Message, PendingReason, Role, text_hash};
use amem_store::NewBrain;
use serde_json::json;
use uuid::Uuid;

use crate::ports::{FailingEmbedder, ScriptedModel, TOPICS, TopicEmbedder};
use crate::support::{Bench, alice, bob, events};

fn says(role: Role, text: &str) -> Message {
    Message {
        role,
        content: vec![ContentPart::Text(text.into())],
        ..Message::user("")
    }
}

#[test]
fn case_01_a_single_fact_is_added() {
    let bench = Bench::new();
    let answer = bench.add("My name is Bob", &bob());
    assert_eq!(events(&answer), [(AddEvent::Add, "User's name is Bob")]);
    assert_eq!(answer.results[0].id.get_version_num(), 4);
}

#[test]
fn case_02_a_conversation_gives_several_facts() {
    let bench = Bench::new();
    let mut request = bench.request("", &alice());
    request.messages = vec![
        says(Role::User, "I live in Porto. I'm allergic to nuts."),
        says(Role::Assistant, "Noted! Do you like tea?"),
        says(Role::User, "I work as a nurse."),
    ];
    let answer = bench.run(&request);
    assert!(answer.results.len() >= 3, "{answer:?}");
    assert!(answer.results.iter().all(|one| one.event == AddEvent::Add));
    assert_eq!(answer.turns.len(), 3);
}

#[test]
fn case_03_a_greeting_gives_nothing() {
    let bench = Bench::new();
    let answer = bench.add("hello", &FactScope::user("x"));
    assert!(answer.results.is_empty(), "{answer:?}");
    assert_eq!(answer.turns.len(), 1, "the turn is kept all the same");
}

#[test]
fn case_04_a_search_finds_by_meaning_with_a_score_above_a_half() {
    let bench = Bench::with(&NewBrain {
        dimension: 4,
        space: TOPICS,
        ..NewBrain::default()
    });
    let facts = bench.facts_with(&TopicEmbedder, None);
    for text in [
        "User likes Python",
        "User drinks tea",
        "User lives in Porto",
    ] {
        let mut request = bench.request(text, &alice());
        request.infer = false;
        facts.add(&request).unwrap();
    }
    let search = bench.ask("programming languages", &alice());
    let found = facts.search(&search, &facts.moment(None).unwrap()).unwrap();
    assert_eq!(found.hits[0].item.memory, "User likes Python");
    assert!(found.hits[0].score > 0.5, "{:?}", found.hits[0]);
    let unrelated = found
        .hits
        .iter()
        .find(|hit| hit.item.memory.contains("tea"));
    assert!(unrelated.is_none_or(|hit| hit.score < 0.5), "{found:?}");
}

#[test]
fn case_05_a_search_returns_at_most_its_limit() {
    let bench = Bench::new();
    for n in 0..8 {
        bench.keep(&format!("User likes tea number {n}"), &alice());
    }
    let mut search = bench.ask("tea", &alice());
    search.limit = 3;
    assert_eq!(bench.found(&search).hits.len(), 3);
}

#[test]
fn case_06_a_memory_is_found_by_its_id() {
    let bench = Bench::new();
    let id = bench.keep("User likes Python", &alice());
    let item = bench.get(id).unwrap();
    assert_eq!((item.id, &*item.memory), (id, "User likes Python"));
    assert_eq!(item.hash, text_hash("User likes Python"));
}

#[test]
fn case_07_an_unknown_id_finds_nothing() {
    let bench = Bench::new();
    bench.keep("User likes Python", &alice());
    assert_eq!(bench.get(Uuid::from_u128(7)), None);
    assert!(amem_memory::change::memory_id("fake-id").is_err());
}

#[test]
fn case_08_all_memories_of_a_scope_are_listed() {
    let bench = Bench::new();
    for text in ["User likes tea", "User has a dog", "User lives in Porto"] {
        bench.keep(text, &alice());
    }
    bench.keep("User likes coffee", &bob());
    assert_eq!(
        bench.texts(&alice()),
        ["User has a dog", "User likes tea", "User lives in Porto"]
    );
}

#[test]
fn case_09_an_update_changes_the_text() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    bench.update(id, "User likes green tea");
    assert_eq!(bench.get(id).unwrap().memory, "User likes green tea");
    assert_eq!(bench.texts(&alice()), ["User likes green tea"]);
}

#[test]
fn case_10_an_update_changes_the_hash() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    bench.update(id, "new text");
    assert_eq!(bench.get(id).unwrap().hash, text_hash("new text"));
}

#[test]
fn case_11_a_deleted_memory_is_not_found() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    bench.delete(id);
    assert_eq!(bench.get(id), None);
    assert!(bench.texts_found("tea", &alice()).is_empty());
    assert!(bench.texts(&alice()).is_empty());
}

#[test]
fn case_12_all_memories_of_a_scope_are_deleted() {
    let bench = Bench::new();
    for text in ["User likes tea", "User has a dog"] {
        bench.keep(text, &alice());
    }
    bench.keep("User likes coffee", &bob());
    let facts = bench.facts();
    let (count, _) = facts.delete_all(&alice(), None, bench.now()).unwrap();
    assert_eq!(count, 2);
    assert!(bench.texts(&alice()).is_empty());
    assert_eq!(bench.texts(&bob()), ["User likes coffee"]);
}

#[test]
fn case_13_a_reset_leaves_neither_memories_nor_history() {
    let bench = Bench::new();
    let id = bench.add("I live in Porto", &alice()).results[0].id;
    bench.update(id, "User lives in Rome");
    bench.keep("User likes coffee", &bob());
    let events = bench
        .facts()
        .events_of_scope(&FactScope::default())
        .unwrap();
    bench.erase(events);
    bench.facts().erased();
    assert!(bench.texts(&alice()).is_empty() && bench.texts(&bob()).is_empty());
    let facts = bench.facts();
    let moment = facts.moment(None).unwrap();
    let gone = facts.history(id, &FactScope::default(), (1_000, None), &moment);
    assert!(gone.is_err(), "{gone:?}");
    assert!(
        facts
            .users(&FactScope::default(), &moment)
            .unwrap()
            .is_empty()
    );
    assert!(
        facts
            .events_of_scope(&FactScope::default())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn case_14_the_same_fact_twice_is_one_memory() {
    let bench = Bench::new();
    let first = bench.add("I like Python", &alice());
    let second = bench.add("I like Python", &alice());
    assert_eq!(second.results[0].event, AddEvent::None, "{second:?}");
    assert_eq!(second.results[0].id, first.results[0].id);
    let bench = Bench::new();
    let id = bench.keep("User likes Python", &alice());
    let mut again = bench.request("User likes Python", &alice());
    again.infer = false;
    let again = bench.run(&again);
    assert_eq!(
        (again.results[0].event, again.results[0].id),
        (AddEvent::None, id)
    );
    assert_eq!(bench.all(&alice()).len(), 1);
}

#[test]
fn case_15_a_contradiction_updates() {
    let bench = Bench::new();
    let first = bench.add("I live in NYC", &alice());
    let second = bench.add("I moved to San Francisco", &alice());
    let result = &second.results[0];
    assert_eq!(result.event, AddEvent::Update, "{second:?}");
    assert_eq!(result.id, first.results[0].id);
    assert!(result.memory.contains("San Francisco"), "{result:?}");
    assert!(result.old_memory.as_ref().unwrap().contains("NYC"));
    assert_eq!(bench.all(&alice()).len(), 1);
}

#[test]
fn case_16_a_refinement_updates() {
    let bench = Bench::new();
    let first = bench.add("I work in tech", &alice());
    let second = bench.add("I work at Google as a senior engineer", &alice());
    let result = &second.results[0];
    assert_eq!(result.event, AddEvent::Update, "{second:?}");
    assert_eq!(result.id, first.results[0].id);
    assert!(result.memory.contains("Google") && result.memory.contains("senior engineer"));
}

#[test]
fn case_17_a_negation_ends_or_replaces() {
    let bench = Bench::new();
    let first = bench.add("I am vegetarian", &alice());
    let id = first.results[0].id;
    let second = bench.add("I started eating meat again", &alice());
    let change = second.results.iter().find(|one| one.id == id);
    let change = change.unwrap_or_else(|| panic!("{second:?}"));
    assert!(
        matches!(change.event, AddEvent::Update | AddEvent::Delete),
        "{second:?}"
    );
    assert!(
        !bench
            .texts(&alice())
            .iter()
            .any(|text| text.contains("vegetarian"))
    );
}

#[test]
fn case_18_one_add_may_change_and_add() {
    let bench = Bench::new();
    bench.add("I live in NYC", &alice());
    let before = bench.commits();
    let answer = bench.add(
        "I moved to Boston. I have a cat named Tom. I'm allergic to nuts.",
        &alice(),
    );
    let kinds: Vec<AddEvent> = answer.results.iter().map(|one| one.event).collect();
    assert!(kinds.contains(&AddEvent::Update), "{answer:?}");
    assert!(
        kinds.iter().filter(|kind| **kind == AddEvent::Add).count() >= 2,
        "{answer:?}"
    );
    assert_eq!(bench.commits(), before + 1, "one add is one commit");
}

#[test]
fn case_19_scopes_are_apart() {
    let bench = Bench::new();
    bench.keep("User likes tea", &alice());
    assert!(bench.texts_found("tea", &bob()).is_empty());
    assert!(bench.texts(&bob()).is_empty());
    // Neither is the other's duplicate.
    bench.keep("User likes tea", &bob());
    assert_eq!(bench.all(&alice()).len() + bench.all(&bob()).len(), 2);
}

fn of(user: &str, agent: &str) -> FactScope {
    FactScope {
        agent: Some(agent.into()),
        ..FactScope::user(user)
    }
}

#[test]
fn case_20_all_fields_that_a_request_names_must_match() {
    let bench = Bench::new();
    bench.keep("User likes tea", &of("alice", "helper"));
    assert_eq!(bench.texts(&of("alice", "helper")), ["User likes tea"]);
    assert_eq!(
        bench.texts_found("tea", &of("alice", "helper")),
        ["User likes tea"]
    );
    assert!(bench.texts(&of("alice", "other")).is_empty());
    assert!(bench.texts(&of("bob", "helper")).is_empty());
    assert!(bench.texts_found("tea", &of("alice", "other")).is_empty());
    // A request that names one field alone finds it too.
    assert_eq!(bench.texts(&alice()), ["User likes tea"]);
}

#[test]
fn case_21_a_request_without_a_scope_is_refused() {
    let bench = Bench::new();
    let request = AddRequest::new(
        vec![Message::user("I like tea")],
        FactScope::default(),
        bench.now(),
    );
    let error = bench.facts().add(&request).unwrap_err();
    assert!(
        matches!(&error, Error::Memory(error) if error.code() == "ScopeError"),
        "{error}"
    );
    let search = bench.ask("tea", &FactScope::default());
    let facts = bench.facts();
    let error = facts
        .search(&search, &facts.moment(None).unwrap())
        .unwrap_err();
    assert!(
        matches!(&error, Error::Memory(error) if error.code() == "ScopeError"),
        "{error}"
    );
    let error = facts
        .delete_all(&FactScope::default(), None, bench.now())
        .unwrap_err();
    assert!(
        matches!(&error, Error::Memory(error) if error.code() == "ScopeError"),
        "{error}"
    );
}

#[test]
fn case_22_runs_are_apart() {
    let bench = Bench::new();
    let run = |name: &str| FactScope {
        run: Some(name.into()),
        ..FactScope::default()
    };
    bench.keep("User likes tea", &run("session-1"));
    assert_eq!(bench.texts(&run("session-1")), ["User likes tea"]);
    assert!(bench.texts(&run("session-2")).is_empty());
}

#[test]
fn case_23_an_add_has_one_record_of_history() {
    let bench = Bench::new();
    let id = bench.add("I live in Porto", &alice()).results[0].id;
    let history = bench.history(id);
    assert_eq!(history.entries.len(), 1);
    let record = &history.entries[0];
    assert_eq!(record.record.event, HistoryEvent::Add);
    assert_eq!(record.record.old_memory, None);
    assert_eq!(record.turns[0].text, "I live in Porto");
    assert_eq!(record.turns[0].role, "user");
}

#[test]
fn case_24_an_update_appends_to_history() {
    let bench = Bench::new();
    let id = bench.add("I live in Porto", &alice()).results[0].id;
    bench.add("I moved to Rome", &alice());
    let history = bench.history(id);
    let kinds: Vec<_> = history.entries.iter().map(|one| one.record.event).collect();
    assert_eq!(kinds, [HistoryEvent::Add, HistoryEvent::Update]);
    assert_eq!(
        history.entries[1].record.old_memory,
        history.entries[0].record.new_memory
    );
    assert_eq!(history.entries[1].turns[0].text, "I moved to Rome");
}

#[test]
fn case_25_a_delete_is_marked_in_history() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    bench.delete(id);
    let history = bench.history(id);
    assert!(history.is_deleted);
    let last = &history.entries.last().unwrap().record;
    assert_eq!(last.event, HistoryEvent::Delete);
    assert_eq!(last.old_memory.as_deref(), Some("User likes tea"));
    assert_eq!((last.new_memory.as_deref(), &*last.why), (None, "caller"));
    assert!(last.at > history.entries[0].record.at);
}

#[test]
fn case_26_history_is_in_order_of_time() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    for n in 0..5 {
        bench.update(id, &format!("User likes tea {n}"));
    }
    bench.checkpoint();
    bench.delete(id);
    let times: Vec<Micros> = bench
        .history(id)
        .entries
        .iter()
        .map(|one| one.record.at)
        .collect();
    assert_eq!(times.len(), 7);
    assert!(times.is_sorted(), "{times:?}");
}

/// Three memories about tea with tags.
fn tagged() -> Bench {
    let bench = Bench::new();
    bench.keep_with(
        "User likes black tea",
        &alice(),
        json!({"tag": "work", "rank": 1}),
    );
    bench.keep_with(
        "User likes green tea",
        &alice(),
        json!({"tag": "home", "rank": 2}),
    );
    bench.keep_with("User likes white tea", &alice(), json!({"rank": 3}));
    bench
}

#[test]
fn case_27_equals() {
    let filter = json!({"field": "tag", "operator": "eq", "value": "work"});
    assert_eq!(
        tagged().filtered("tea", &alice(), filter),
        ["User likes black tea"]
    );
}

#[test]
fn case_28_one_of_a_list() {
    let filter = json!({"field": "tag", "operator": "in", "value": ["work", "home"]});
    let found = tagged().filtered("tea", &alice(), filter);
    assert_eq!(found, ["User likes black tea", "User likes green tea"]);
}

#[test]
fn case_29_both_must_hold() {
    let filter = json!({"AND": [{"tag": "work"}, {"rank": {"lt": 2}}]});
    assert_eq!(
        tagged().filtered("tea", &alice(), filter),
        ["User likes black tea"]
    );
    let filter = json!({"AND": [{"tag": "work"}, {"tag": "home"}]});
    assert!(tagged().filtered("tea", &alice(), filter).is_empty());
}

#[test]
fn case_30_either_holds() {
    let filter = json!({"OR": [{"tag": "work"}, {"rank": 3}]});
    let found = tagged().filtered("tea", &alice(), filter);
    assert_eq!(found, ["User likes black tea", "User likes white tea"]);
}

#[test]
fn case_31_not() {
    let filter = json!({"NOT": {"tag": "work"}});
    let found = tagged().filtered("tea", &alice(), filter);
    assert_eq!(found, ["User likes green tea", "User likes white tea"]);
}

#[test]
fn case_32_part_of_a_string() {
    let bench = Bench::new();
    bench.keep("User likes Python for ML", &alice());
    bench.keep("User likes Rust for services", &alice());
    let filter = json!({"field": "memory", "operator": "contains", "value": "Python"});
    assert_eq!(
        bench.filtered("likes", &alice(), filter),
        ["User likes Python for ML"]
    );
}

#[test]
fn case_36_a_model_that_is_down_leaves_results_empty_and_work_pending() {
    let bench = Bench::new();
    let down = || Err(ModelFailure::Unreachable("connection refused".into()));
    let model = ScriptedModel::new(vec![down(), down(), down(), down()]);
    let facts = bench.facts_with(&amem_memory::store::BuiltinEmbedder, Some(&model));
    let request = bench.request("I live in Porto", &alice());
    let (answer, _) = facts.add(&request).unwrap();
    assert!(answer.results.is_empty(), "{answer:?}");
    assert_eq!(answer.pending[0].reason, PendingReason::Unreachable);
    // It is kept over a restart, with the turn that it is about.
    let bench = bench.reopened();
    let facts = bench.facts();
    let left = facts
        .pending(&alice(), &facts.moment(None).unwrap())
        .unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].work.turns, answer.turns);
    assert!(
        facts
            .pending(&bob(), &facts.moment(None).unwrap())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn case_37_one_failed_vector_does_not_cost_the_other_facts() {
    let bench = Bench::with(&NewBrain {
        space: TOPICS,
        ..NewBrain::default()
    });
    let embedder = FailingEmbedder("nuts");
    let facts = bench.facts_with(&embedder, None);
    let request = bench.request(
        "I live in Porto. I'm allergic to nuts. I have a dog.",
        &alice(),
    );
    let (answer, _) = facts.add(&request).unwrap();
    assert_eq!(answer.results.len(), 3, "{answer:?}");
    assert_eq!(bench.all(&alice()).len(), 3);
    assert_eq!(answer.pending[0].reason, PendingReason::Embed);
    assert_eq!(answer.pending[0].facts.len(), 1);
}

#[test]
fn case_38_an_empty_scope_is_refused_in_words() {
    let bench = Bench::new();
    let empty = FactScope::user("");
    for scope in [FactScope::default(), empty] {
        let request = AddRequest::new(vec![Message::user("I like tea")], scope, bench.now());
        let error = bench.facts().add(&request).unwrap_err().to_string();
        assert!(error.contains("user_id"), "{error}");
    }
}

#[test]
fn case_39_a_prompt_of_the_caller_changes_what_is_found() {
    let bench = Bench::new();
    let model = ScriptedModel::saying(&[r#"["User's boat is called Ada"]"#]);
    let facts = bench.facts_with(&amem_memory::store::BuiltinEmbedder, Some(&model));
    let mut request = bench.request("The boat is called Ada, it is green.", &alice());
    request.prompt = Some("Only names of boats, as a JSON list.".into());
    let (answer, _) = facts.add(&request).unwrap();
    let asked = model.asked.borrow();
    let prompt = format!("{:?}", asked[0]);
    assert!(prompt.contains("Only names of boats"), "{prompt}");
    assert!(
        answer
            .results
            .iter()
            .any(|one| one.memory.contains("boat is called Ada")),
        "{answer:?}"
    );
}

#[test]
fn case_40_a_model_of_any_provider_finds_facts() {
    let bench = Bench::new();
    let reply = r#"{"facts":[{"text":"User keeps bees","turns":[1],"kind":"fact","because":[],"about":"user"}]}"#;
    let model = ScriptedModel::saying(&[reply]);
    let facts = bench.facts_with(&amem_memory::store::BuiltinEmbedder, Some(&model));
    let request = bench.request("Bees are what keeps me busy, I keep twelve hives", &alice());
    let (answer, _) = facts.add(&request).unwrap();
    assert_eq!(answer.usage.calls, 1, "{answer:?}");
    assert!(
        !answer.results.is_empty() || !answer.rejected.is_empty(),
        "{answer:?}"
    );
}

#[test]
fn case_42_defaults_need_no_model_and_no_other_embedder() {
    let bench = Bench::new();
    bench.add("I live in Porto. I work as a nurse.", &alice());
    let found: Vec<MemoryItem> = bench
        .found(&bench.ask("where does she live", &alice()))
        .hits
        .into_iter()
        .map(|hit| hit.item)
        .collect();
    assert!(found[0].memory.contains("Porto"), "{found:?}");
}

#[test]
fn a_question_that_an_old_version_answers_finds_the_new_one() {
    let bench = Bench::new();
    bench.add("I live in Porto. I have a dog named Rex.", &alice());
    bench.add("I moved to Rome last week", &alice());
    let found = bench.found(&bench.ask("where does she live", &alice()));
    assert!(found.hits[0].item.memory.contains("Rome"), "{found:?}");
    assert!(found.hits[0].score > 0.1, "{found:?}");
    let scores: Vec<f32> = found.hits.iter().map(|hit| hit.score).collect();
    assert!(scores.iter().rev().is_sorted(), "{scores:?}");
}
