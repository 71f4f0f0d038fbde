//! Recall: which entries open, which words they have, and their order.

use amem_facts::FactBrain;
use amem_facts::recall::{Recall, RecallAnswer};
use amem_format::types::{EventType, NodeId};
use amem_format::view::AsOf;
use amem_memory::add::AddRequest;
use amem_memory::{FactScope, Message, Role};
use amem_query::time_phrase::Clock;
use amem_store::mutation::{Ingest, Mutation, NewEvent};
use serde_json::json;

use crate::support::{Bench, alice};

impl Bench {
    /// The answer to a question; without one the standing instructions alone.
    pub(crate) fn recalled(&self, question: &str, scope: &FactScope) -> RecallAnswer {
        self.recalled_at(question, scope, None)
    }

    pub(crate) fn recalled_at(
        &self,
        question: &str,
        scope: &FactScope,
        as_of: Option<AsOf>,
    ) -> RecallAnswer {
        let now = self.now();
        let recall = Recall {
            question: question.into(),
            scope: scope.clone(),
            filter: None,
            limit: 20,
            relevance_min: None,
            at: None,
            clock: Clock::known(Some(now), None),
            now,
            standing_only: question.is_empty(),
        };
        let facts = self.facts();
        let moment = facts.moment(as_of).unwrap();
        facts.recall(&recall, &moment).unwrap()
    }

    fn shown(&self, question: &str) -> Vec<String> {
        let entries = self.recalled(question, &alice()).entries.into_iter();
        entries.map(|entry| entry.text).collect()
    }
}

#[test]
fn a_question_that_was_asked_and_a_request_open_nothing() {
    let bench = Bench::new();
    for asked in [
        "How many lighthouses are there in Norway?",
        "Write a poem about lighthouses in Norway.",
    ] {
        bench.add(asked, &alice());
    }
    let answer = bench.recalled("How many lighthouses are there in Norway?", &alice());
    assert!(answer.entries.is_empty(), "{:?}", answer.entries);
    assert!(answer.nearest.iter().all(|entry| entry.is_weak));
    bench.add("There are 152 lighthouses in Norway.", &alice());
    let texts = bench.shown("How many lighthouses are there in Norway?");
    assert!(texts[0].contains("152"), "{texts:?}");
}

fn assistant(text: &str) -> Message {
    Message {
        role: Role::Assistant,
        ..Message::user(text)
    }
}

/// An agent's sessions ask again what others asked; a model that only worked answered "Done.".
#[test]
fn what_was_only_asked_before_is_not_beside_its_answer() {
    let bench = Bench::new();
    bench.add(
        "I'm tidying up the compose file. The staging database listens on port 6432 since the move.",
        &alice(),
    );
    let question = "Which port does the staging database listen on?";
    for answer in ["Done.", "OK, thank you."] {
        let turns = vec![Message::user(question), assistant(answer)];
        bench.run(&AddRequest::new(turns, alice(), bench.now()));
    }
    let texts = bench.shown(question);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("6432"), "{texts:?}");
    // An answer that says something stands with its question.
    let turns = vec![
        Message::user("Which port does the staging cache listen on?"),
        assistant("7001."),
    ];
    bench.run(&AddRequest::new(turns, alice(), bench.now()));
    let texts = bench.shown("Which port does the staging cache listen on?");
    assert!(texts.iter().any(|text| text.contains("7001")), "{texts:?}");
}

#[test]
fn words_that_stand_scattered_over_a_long_text_open_nothing() {
    let bench = Bench::new();
    let filler =
        "The harvest was good and the barn is full of hay for the winter months. ".repeat(20);
    let long = format!(
        "We sort the seeds. {filler} The list of guests is short. {filler} Python is a snake. {filler}"
    );
    bench.add(&long, &alice());
    for n in 0..40 {
        bench.add(
            &format!("The gate number {n} squeaks when it rains."),
            &alice(),
        );
    }
    let question = "Implement a Python function that sorts a list of numbers";
    let answer = bench.recalled(question, &alice());
    assert!(answer.entries.is_empty(), "{:?}", answer.entries);
    bench.add(
        "Our Python function that sorts a list of numbers is slow.",
        &alice(),
    );
    let texts = bench.shown(question);
    assert!(texts[0].contains("is slow"), "{texts:?}");
}

#[test]
fn the_words_of_the_person_stand_where_they_say_what_the_memory_says() {
    let bench = Bench::new();
    let said =
        "I just started going to boot camps with my sister last month, it is good for staying fit.";
    bench.add(said, &alice());
    let texts = bench.shown("When did I start going to boot camps?");
    assert_eq!(texts, [said]);
}

#[test]
fn requests_and_assent_of_a_person_are_kept_beside_a_likely_answer() {
    let bench = Bench::new();
    for text in [
        "We deploy the billing service from the release branch of the repository.",
        "Please deploy the billing service only from the release branch.",
    ] {
        bench.add(text, &alice());
    }
    let texts = bench.shown("From which branch do we deploy the billing service?");
    assert!(
        texts.iter().any(|text| text.contains("Please deploy")),
        "{texts:?}"
    );
    let turns = vec![
        assistant("Shall we use Postgres for the invoices?"),
        Message::user("Absolutely."),
    ];
    bench.run(&AddRequest::new(turns, alice(), bench.now()));
    let answer = bench.recalled("Do we use Postgres for the invoices?", &alice());
    let all = answer.entries.iter().chain(&answer.nearest);
    let texts: Vec<_> = all.map(|entry| entry.text.as_str()).collect();
    assert!(
        texts.iter().any(|text| text.contains("Absolutely")),
        "{texts:?}"
    );
}

#[test]
fn what_a_general_call_forgot_is_shown_of_no_time() {
    let bench = Bench::new();
    let mut event = NewEvent::new(EventType::FACT, "The staging port of the note is 5433.");
    let scope = json!({"amem.user": "alice"});
    event.attributes = Some(scope.as_object().unwrap().clone());
    let note = Ingest {
        events: vec![event],
        ..Ingest::default()
    };
    bench.execute(Mutation::Ingest(note));
    bench.add("The staging port of the talk is 5434.", &alice());
    let question = "What is the staging port?";
    assert_eq!(bench.shown(question).len(), 2);
    let view = bench.brain.view();
    let then = AsOf::Lsn(view.lsn());
    let all = (0..view.nodes()).map(NodeId);
    let with_port = all.filter(|id| view.node(*id).unwrap().text().unwrap().contains("port"));
    with_port.for_each(|id| bench.execute(Mutation::Forget(id)));
    assert!(bench.shown(question).is_empty());
    let answer = bench.recalled_at(question, &alice(), Some(then));
    assert!(answer.entries.is_empty(), "{:?}", answer.entries);
}
