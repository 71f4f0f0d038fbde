//! What is said again: more sources, a longer life, and answers that go with what they tell.

use amem_facts::FactBrain;
use amem_format::types::Micros;
use amem_memory::FactScope;
use amem_memory::add::{AddEvent, AddRequest};
use uuid::Uuid;

use crate::ports::ScriptedModel;
use crate::support::{Bench, alice, bob};

fn with_agent(user: Option<&str>) -> FactScope {
    FactScope {
        user: user.map(str::to_owned),
        agent: Some("helper".into()),
        ..FactScope::default()
    }
}

/// Erases a turn as the daemon does; returns the memories that went with it.
fn erase_source(bench: &Bench, turn: Uuid, scope: &FactScope) -> Vec<Uuid> {
    let facts = bench.facts();
    facts.outlast_source(turn, scope, bench.now()).unwrap();
    let (events, memories) = facts.events_of_source(turn, scope).unwrap();
    bench.erase(events);
    facts.erased();
    memories
}

/// True if any event of the brain, forgotten ones too, has a text.
fn is_in_brain(bench: &Bench, text: &str) -> bool {
    let view = bench.brain.view();
    (0..view.nodes()).any(|id| {
        let node = view.node(amem_format::NodeId(id)).unwrap();
        node.text().unwrap().contains(text)
    })
}

#[test]
fn a_fact_outlives_its_first_source_if_it_was_said_again() {
    let mut bench = Bench::new();
    let first = bench.add("I live in Porto", &alice());
    let id = first.results[0].id;
    let again = bench.add("I have a dog. I live in Porto.", &alice());
    let known = again.results.iter().find(|one| one.id == id);
    assert_eq!(
        known.map(|one| one.event),
        Some(AddEvent::None),
        "{again:?}"
    );
    for is_reopened in [false, true] {
        if is_reopened {
            bench.checkpoint();
            bench = bench.reopened();
        }
        let sources = [first.turns[0], again.turns[0]];
        assert_eq!(bench.get(id).unwrap().sources, sources);
        let history = bench.history(id);
        assert_eq!(history.entries.len(), 1, "{history:?}");
        assert_eq!(history.entries[0].record.sources, sources);
        assert_eq!(history.entries[0].turns.len(), 2);
    }
    assert!(erase_source(&bench, first.turns[0], &alice()).is_empty());
    assert!(bench.get(id).unwrap().memory.contains("Porto"));
    let gone = erase_source(&bench, again.turns[0], &alice());
    assert!(
        gone.contains(&id) && gone.len() == 2,
        "the dog too: {gone:?}"
    );
    assert!(bench.all(&alice()).is_empty());
    assert!(!is_in_brain(&bench, "Porto"));
}

#[test]
fn the_same_words_twice_in_one_request_are_one_turn() {
    let bench = Bench::new();
    let mut request = bench.request("I live in Porto", &alice());
    let twice = request.messages[0].clone();
    request.messages.push(twice);
    let answer = bench.run(&request);
    assert_eq!(answer.turns[0], answer.turns[1]);
    assert_eq!(answer.results.len(), 1, "{answer:?}");
    assert_eq!(bench.get(answer.results[0].id).unwrap().sources.len(), 1);
}

#[test]
fn the_last_word_says_how_long_a_memory_lives() {
    let bench = Bench::new();
    let keep = |until: Option<i64>| {
        let mut request = bench.request("User parks on level 3", &alice());
        request.infer = false;
        request.expires = until.map(|seconds| Micros(request.now.0 + seconds * 1_000_000));
        bench.run(&request).results[0].clone()
    };
    let first = keep(Some(100));
    let ends = |id| bench.get(id).unwrap().expires_at;
    let before = ends(first.id);
    assert_eq!(keep(Some(50)).event, AddEvent::None);
    assert_eq!(ends(first.id), before, "a shorter one takes nothing");
    let longer = keep(Some(1_000));
    assert_eq!((longer.event, longer.id), (AddEvent::None, first.id));
    assert!(ends(first.id) > before);
    keep(None);
    assert_eq!(ends(first.id), None);
    assert_eq!(bench.texts(&alice()), ["User parks on level 3"]);
    assert_eq!(bench.texts_found("parks level", &alice()).len(), 1);
    assert_eq!(bench.get(first.id).unwrap().sources.len(), 4);
}

#[test]
fn what_has_expired_is_not_there() {
    let bench = Bench::new();
    let mut request = bench.request("User parks on level 3", &alice());
    request.infer = false;
    request.expires = Some(Micros(request.now.0 + 2_000_000));
    let id = bench.run(&request).results[0].id;
    assert!(bench.get(id).is_some());
    for _ in 0..3 {
        bench.now();
    }
    assert_eq!(bench.get(id), None);
}

#[test]
fn what_an_agent_hears_changes_no_user_and_what_a_user_says_does() {
    let bench = Bench::new();
    let of = |user| {
        bench
            .add("I live in Porto", &with_agent(Some(user)))
            .results[0]
            .id
    };
    let (ada, bo) = (of("ada"), of("bo"));
    bench.add("I moved to Rome", &with_agent(None));
    for id in [ada, bo] {
        assert!(bench.get(id).unwrap().memory.contains("Porto"));
    }
    let moved = bench.add("I moved to Rome", &FactScope::user("ada"));
    assert_eq!(moved.results[0].id, ada, "{moved:?}");
    assert!(bench.get(bo).unwrap().memory.contains("Porto"));
}

fn keyed(bench: &Bench, text: &str, scope: &FactScope, key: &str) -> AddRequest {
    let mut request = bench.request(text, scope);
    request.idempotency_key = Some(key.into());
    request
}

#[test]
fn kept_answers_go_with_what_they_tell_and_others_stay() {
    let bench = Bench::new();
    let tea = keyed(&bench, "I like lapsang tea", &alice(), "tea");
    let (tea_answer, home) = (
        bench.run(&tea),
        keyed(&bench, "I live in Porto", &alice(), "home"),
    );
    bench.run(&home);
    erase_source(&bench, tea_answer.turns[0], &alice());
    assert!(!is_in_brain(&bench, "lapsang"));
    let commits = bench.commits();
    let repeated = bench.run(&home);
    assert!(repeated.results[0].memory.contains("Porto"));
    assert_eq!(bench.commits(), commits, "the answer was kept");
}

#[test]
fn a_reset_takes_what_a_wider_scope_was_answered() {
    let bench = Bench::new();
    let own = FactScope {
        run: Some("r1".into()),
        ..alice()
    };
    bench.add("I like lapsang tea", &own);
    bench.add("I like oolong tea", &bob());
    // The answer to the wider scope has what the narrower one says.
    let asked = keyed(
        &bench,
        "I like lapsang tea very much. I like lapsang tea.",
        &alice(),
        "k",
    );
    let answer = bench.run(&asked);
    assert!(
        answer.results.iter().any(|one| one.event == AddEvent::None),
        "{answer:?}"
    );
    let facts = bench.facts();
    let events = facts.events_of_scope(&own).unwrap();
    bench.erase(events);
    facts.erased();
    let view = bench.brain.view();
    let kept = (0..view.nodes()).filter(|id| {
        let node = view.node(amem_format::NodeId(*id)).unwrap();
        let text = node.text().unwrap();
        text.contains("results") && text.contains("lapsang")
    });
    assert_eq!(kept.count(), 0, "an answer that tells the memory");
    assert_eq!(bench.texts(&bob()).len(), 1);
}

#[test]
fn a_text_that_joins_two_turns_goes_with_either() {
    for erased in [0, 1] {
        let bench = Bench::new();
        let first = bench.add("I work at Acme as a teacher", &alice());
        let id = first.results[0].id;
        let joined = "User works at Acme as a teacher and as a nurse";
        let model = ScriptedModel::saying(&[
            r#"{"facts": [{"text": "User also works as a nurse", "turns": [1]}]}"#,
            &format!(r#"{{"d": [{{"f": 0, "op": "extends", "m": 1, "text": "{joined}"}}]}}"#),
        ]);
        let facts = bench.facts_with(&amem_memory::store::BuiltinEmbedder, Some(&model));
        let request = bench.request("I also work as a nurse", &alice());
        let (second, _) = facts.add(&request).unwrap();
        assert_eq!(second.results[0].memory, joined, "{second:?}");
        assert_eq!(bench.get(id).unwrap().sources.len(), 2);
        let turn = [first.turns[0], second.turns[0]][erased];
        erase_source(&bench, turn, &alice());
        let left = bench.texts(&alice());
        match erased {
            0 => assert!(
                left.is_empty() && !is_in_brain(&bench, "teacher"),
                "{left:?}"
            ),
            _ => assert!(left.len() == 1 && !is_in_brain(&bench, "nurse"), "{left:?}"),
        }
    }
}

#[test]
fn all_of_a_scope_ends_in_few_commits() {
    let bench = Bench::new();
    let mut texts = Vec::new();
    for at in 0..300 {
        let scope = with_agent(Some(["ada", "bo"][at % 2]));
        texts.push(bench.keep(&format!("note {at}"), &scope));
    }
    let before = bench.commits();
    let (count, _) = bench
        .facts()
        .delete_all(&with_agent(None), None, bench.now())
        .unwrap();
    assert_eq!((count, bench.commits() - before), (300, 1));
}
