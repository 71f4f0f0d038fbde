//! Recall: which entries open, which words they have, and their order.

use amem_facts::recall::{Recall, RecallAnswer};
use amem_format::view::AsOf;
use amem_memory::add::AddRequest;
use amem_memory::{FactScope, Message, Role};
use amem_query::time_phrase::Clock;

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
