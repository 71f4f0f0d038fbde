//! Memories that wait for a review, the verdicts about them, and taking those back.

use amem_tests::programs::list;
use serde_json::Value;

use crate::daemon::ServedFolder;

impl ServedFolder {
    fn say(&self, text: &str) -> String {
        let told = self.data_with("fact add - --user ada", text.as_bytes(), 0);
        let id = told["results"][0]["id"].as_str();
        id.unwrap_or_else(|| panic!("{told}")).to_owned()
    }

    /// The memories of the user.
    fn remembered(&self) -> Vec<String> {
        let told = self.data("fact ls --user ada", 0);
        let facts = list(&told["facts"]);
        let text = |fact: &Value| fact["memory"].as_str().unwrap().to_owned();
        let mut all: Vec<String> = facts.iter().map(text).collect();
        all.sort();
        all
    }

    /// How many memories wait.
    fn waiting(&self) -> usize {
        let told = self.data("fact review --user ada", 0);
        list(&told["conflicts"]).len()
    }

    fn decide(&self, verdict: &str, id: &str) -> Value {
        self.data(&format!("fact review --user ada --{verdict} {id}"), 0)
    }
}

#[test]
fn of_two_that_contradict_one_holds_or_both_and_every_verdict_can_be_taken_back() {
    let served = ServedFolder::start();
    let (both, sold) = ("User has a bike and a car", "User sold their bike");
    let owned = served.say("I have a bike and a car.");
    let newer = served.say("I sold my bike.");
    assert_eq!(
        (served.remembered(), served.waiting()),
        (vec![both.to_owned(), sold.into()], 1)
    );
    for (verdict, id, expected, waiting) in [
        ("keep", &newer, vec![both, sold], 0),
        ("accept", &newer, vec![sold], 0),
        ("reject", &newer, vec![both], 0),
        ("reject", &owned, vec![sold], 0),
    ] {
        let told = served.decide(verdict, id);
        assert_eq!(served.remembered(), expected, "{verdict}: {told}");
        assert_eq!(served.waiting(), waiting, "{verdict}");
        let told = served.decide("undo", id);
        assert_eq!(
            served.remembered(),
            [both, sold],
            "{verdict}, undone: {told}"
        );
        assert_eq!(served.waiting(), 1, "{verdict}, undone");
    }
    let line = [
        "fact",
        "review",
        "--user",
        "ada",
        "--reason",
        "asked her",
        "--correct",
    ];
    served.told(
        &[&line[..], &[owned.as_str(), "User has a car"]].concat(),
        0,
    );
    assert_eq!(served.remembered(), ["User has a car", sold]);
    let history = served.data(&format!("fact history {owned}"), 0).to_string();
    assert!(
        history.contains("asked her") && history.contains("review"),
        "{history}"
    );
    served.decide("undo", &owned);
    served.decide("undo", &owned);
    assert_eq!(
        served.remembered(),
        ["User has a car", sold],
        "undone twice"
    );
}

#[test]
fn what_gives_orders_is_served_once_it_is_accepted() {
    let served = ServedFolder::start();
    let text = "I work at Delta Kitchens and act as a guide.";
    let id = served.say(text);
    let found = |served: &ServedFolder| {
        let told = served.told(&["fact", "search", "Delta Kitchens", "--user", "ada"], 0);
        told.to_string().contains("Delta Kitchens")
    };
    assert_eq!((found(&served), served.waiting()), (false, 1));
    served.decide("accept", &id);
    assert_eq!((found(&served), served.waiting()), (true, 0));
    served.decide("undo", &id);
    assert_eq!((found(&served), served.waiting()), (false, 1));
    served.decide("reject", &id);
    assert_eq!((found(&served), served.waiting()), (false, 0));
}

#[test]
fn a_delete_and_an_update_are_taken_back() {
    let served = ServedFolder::start();
    let id = served.say("I live in Porto.");
    let first = ["User lives in Porto"];
    served.told(&["fact", "update", &id, "User lives in Rome"], 0);
    served.decide("undo", &id);
    assert_eq!(served.remembered(), first);
    served.data(&format!("fact delete {id}"), 0);
    assert!(served.remembered().is_empty());
    served.decide("undo", &id);
    assert_eq!(served.remembered(), first);
    // It is the memory that it was: what is said now replaces it.
    served.say("I moved to Lisbon.");
    assert_eq!(served.remembered().len(), 1);
    let fresh = served.say("I like tea.");
    let line = format!("fact review --user ada --undo {fresh}");
    served.refused(&line, 5, "invalid", "never changed", "");
    let line = format!("fact review --user bob --undo {id}");
    served.refused(&line, 3, "unknown_memory", &id, "");
}
