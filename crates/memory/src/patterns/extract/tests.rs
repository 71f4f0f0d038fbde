//! Which sentences are facts, and in which words.

use super::*;

fn of(text: &str) -> Vec<String> {
    let names = ["caroline".to_owned()];
    facts_in(text, "User", &names)
        .into_iter()
        .map(|fact| fact.text)
        .collect()
}

#[test]
fn each_family_makes_facts_of_its_sentences() {
    for (text, expected, family) in [
        ("My name is Bob", "User's name is Bob", "name"),
        (
            "Hi, I'm Alice Moreau.",
            "User's name is Alice Moreau",
            "name",
        ),
        ("Call me Max.", "User wants to be called Max", "name"),
        (
            "I live in Berlin with my wife",
            "User lives in Berlin with their wife",
            "home",
        ),
        (
            "I've just moved to Porto",
            "User has just moved to Porto",
            "home",
        ),
        ("I was born in Lyon", "User was born in Lyon", "home"),
        (
            "I'm from Sweden originally",
            "User is from Sweden originally",
            "home",
        ),
        ("I'm a nurse", "User is a nurse", "profession"),
        (
            "I work at Acme Corp as a data scientist.",
            "User works at Acme Corp as a data scientist",
            "workplace",
        ),
        (
            "I prefer PyTorch over TensorFlow.",
            "User prefers PyTorch over TensorFlow",
            "preference",
        ),
        (
            "I really love hiking",
            "User really loves hiking",
            "preference",
        ),
        (
            "I can't stand musicals",
            "User cannot stand musicals",
            "preference",
        ),
        (
            "I'm a huge fan of jazz",
            "User is a huge fan of jazz",
            "preference",
        ),
        (
            "I don't like loud bars",
            "User does not like loud bars",
            "preference",
        ),
        (
            "My favourite film is Stalker",
            "User's favourite film is Stalker",
            "favourite",
        ),
        (
            "My favourite tea is Darjeeling",
            "User's favourite tea is Darjeeling",
            "favourite",
        ),
        (
            "I use Neovim for everything",
            "User uses Neovim for everything",
            "tool",
        ),
        ("I have two cats", "User has two cats", "possession"),
        (
            "I drive a 2014 Skoda Octavia",
            "User drives a 2014 Skoda Octavia",
            "possession",
        ),
        ("I sold the boat", "User sold the boat", "possession"),
        (
            "I study physics at ETH",
            "User studies physics at ETH",
            "education",
        ),
        (
            "I'm building a parser in Rust",
            "User is building a parser in Rust",
            "project",
        ),
        (
            "We decided to use Postgres instead of MongoDB",
            "User and others decided to use Postgres instead of MongoDB",
            "decision",
        ),
        (
            "I no longer live in Rome",
            "User no longer lives in Rome",
            "correction",
        ),
        ("I used to smoke", "User used to smoke", "correction"),
        (
            "I'm allergic to peanuts",
            "User is allergic to peanuts",
            "health",
        ),
        ("I'm vegetarian", "User is vegetarian", "health"),
        (
            "I play tennis every Friday",
            "User plays tennis every Friday",
            "activity",
        ),
        (
            "I volunteer at a shelter",
            "User volunteers at a shelter",
            "activity",
        ),
        (
            "My son Jonas is lactose intolerant",
            "User's son Jonas is lactose intolerant",
            "relation",
        ),
        ("I'm married to Anna", "User is married to Anna", "relation"),
        (
            "I finished the marathon in 4:12",
            "User finished the marathon in 4:12",
            "event",
        ),
        (
            "I got a promotion last week",
            "User got a promotion last week",
            "event",
        ),
        (
            "I'm planning a trip to Japan",
            "User is planning a trip to Japan",
            "plan",
        ),
        (
            "I'd love to learn Italian",
            "User would love to learn Italian",
            "plan",
        ),
        (
            "I'm going to visit Rome in May",
            "User is going to visit Rome in May",
            "plan",
        ),
        ("I speak French", "User speaks French", "skill"),
        ("I'm fluent in Polish", "User is fluent in Polish", "skill"),
        ("I'm 34 years old", "User is 34 years old", "status"),
        (
            "Please always reply in German",
            "User asks: always reply in German",
            "request",
        ),
        (
            "Remember that my flight is on 3 May 2025",
            "User's flight is on 3 May 2025",
            "statement",
        ),
        (
            "The deadline is 1 September 2025",
            "The deadline is 1 September 2025",
            "statement",
        ),
        ("User likes Python", "User likes Python", "statement"),
        (
            "Alice works at Google",
            "Alice works at Google",
            "statement",
        ),
        (
            "Just got back from a road trip",
            "User just got back from a road trip",
            "event",
        ),
        (
            "Yesterday I went to the museum",
            "Yesterday User went to the museum",
            "activity",
        ),
        (
            "Forget that I live in Rome",
            "User lives in Rome",
            "retraction",
        ),
    ] {
        let found = facts_in(text, "User", &[]);
        let found: Vec<_> = found
            .iter()
            .map(|fact| (fact.text.as_str(), fact.family.name))
            .collect();
        let family = if family == "activity" && expected.starts_with("Yesterday") {
            "event"
        } else {
            family
        };
        assert_eq!(found, [(expected, family)], "{text}");
    }
}

#[test]
fn compound_sentences_are_several_facts() {
    assert_eq!(
        of("Hi, I'm Alice and I work at Fennel Labs as a data scientist."),
        [
            "User's name is Alice",
            "User works at Fennel Labs as a data scientist"
        ]
    );
    assert_eq!(
        of("I'm allergic to peanuts, and my son Jonas is lactose intolerant."),
        [
            "User is allergic to peanuts",
            "User's son Jonas is lactose intolerant"
        ]
    );
    assert_eq!(
        of("I just switched jobs. I'm now at BigTech Inc."),
        ["User just switched jobs", "User is now at BigTech Inc"]
    );
    assert_eq!(
        of("I'm Bob from Rome"),
        ["User's name is Bob", "User is from Rome"]
    );
}

#[test]
fn guards_refuse_what_only_looks_like_a_fact() {
    for text in [
        "hello",
        "Do I like tea?",
        "I like tea?",
        "If I live in Berlin, I need a car",
        "When I work at night I get tired?",
        "Maybe I prefer tea",
        "I might buy a car",
        "I wish I lived in Rome",
        "I would buy a boat",
        "She said \"I love jazz\" to everyone",
        "The person I work with is nice",
        "I love it",
        "I did that",
        "I'm doing great",
        "I'm so happy for you",
        "I love your painting",
        "I don't know",
        "I can't wait to see you",
        "I think so too",
        "I get it",
        "I'll let you know",
        "I have to go",
        "I have a question",
        "I painted it last year",
        "Thanks, Caroline! That's really sweet.",
        "I see what you mean",
        "My point is clear",
        "He lives in Rome",
        "I haven't visited Rome",
        "I'm not sure I like jazz",
        "",
        "?!",
    ] {
        assert_eq!(of(text), Vec::<String>::new(), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}|(I|my|am|live|in|Rome|have|a|dog|is|\"|,|and|not|going|to|forget|that|please|always|Bob|'s|\\.|\\?| ){0,24}") {
        for fact in facts_in(&text, "User", &[]) {
            proptest::prop_assert!(!fact.text.is_empty());
        }
    }
}
