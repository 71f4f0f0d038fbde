//! What one model wrote, another reads: the transfers and switches of the paper, in both directions, and what the bytes
//! of the brain say.

use std::fs;

use crate::scripted::INVENTED;
use crate::world::{LARGE, SMALL, ScriptedModel, THIRD, World};

/// A scenario: what is said in sessions, then a question, and what the answer must have.
type Scenario = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const SCENARIOS: [Scenario; 7] = [
    (
        "fact",
        &["I live in Porto."],
        "where do I live, in Porto?",
        "by user: I live in Porto",
    ),
    (
        "decision and reasoning",
        &["We chose SQLite because it is one file."],
        "why did we choose SQLite?",
        "because it is one file",
    ),
    (
        "correction",
        &["I live in Porto.", "I moved to Rome."],
        "did I move to Rome?",
        "moved to Rome",
    ),
    (
        "facts of five sessions",
        &[
            "I live in Porto.",
            "I am allergic to nuts.",
            "I drink green tea.",
            "I play the cello.",
            "My dog is called Biscuit.",
        ],
        "am I allergic to nuts?",
        "allergic to nuts",
    ),
    (
        "inference",
        &["The build fails on Mondays, that means the cron job is broken."],
        "is the cron job broken?",
        "cron job is broken",
    ),
    (
        "skill",
        &["To deploy, run make release."],
        "how do I deploy a release?",
        "run make release",
    ),
    (
        "six sessions",
        &[
            "I speak Turkish.",
            "I work as a nurse.",
            "I want to learn pottery.",
            "I prefer dark mode.",
            "My birthday is on June 3.",
            "My sister Anna works at Equinor.",
        ],
        "where does my sister Anna work?",
        "Anna works at Equinor",
    ),
];

async fn transfer(from: ScriptedModel, to: ScriptedModel, scenario: &Scenario) -> World {
    let (name, said, question, part) = scenario;
    let mut world = World::with(from);
    for (session, text) in said.iter().enumerate() {
        world.say(&session.to_string(), text).await;
    }
    world.switch(to);
    let answer = world.ask(question);
    assert!(
        answer.contains(part),
        "{name}, {from:?} to {to:?}: {answer}"
    );
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_model_wrote_another_reads() {
    for scenario in &SCENARIOS {
        for (from, to) in [(LARGE, SMALL), (SMALL, LARGE)] {
            let world = transfer(from, to, scenario).await;
            world.check_no_traces();
            // What a model invents is nobody's memory, whichever model is asked.
            let texts = world.texts().await;
            let is_invented = |text: &String| INVENTED.iter().any(|one| text.contains(one));
            assert!(!texts.iter().any(is_invented), "{scenario:?}: {texts:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_switched_between_sessions() {
    // A clean switch after ten sessions, and a correction across it.
    let mut world = World::with(LARGE);
    world.say("first", "I live in Porto.").await;
    for session in 0..9 {
        world.say(&session.to_string(), "I drink green tea.").await;
    }
    world.switch(SMALL);
    world.say("second", "I moved to Rome.").await;
    let texts = world.texts().await;
    assert_eq!(texts, ["User drinks green tea", "User moved to Rome"]);
    // By turns, ten sessions.
    let said = [
        "I play the cello.",
        "I am allergic to nuts.",
        "I speak Turkish.",
        "I work as a nurse.",
    ];
    for session in 0..10 {
        world.switch(if session % 2 == 0 { LARGE } else { SMALL });
        world
            .say(&format!("turn {session}"), said[session % said.len()])
            .await;
    }
    // A third takes over.
    world.switch(THIRD);
    world.say("third", "My dog is called Biscuit.").await;
    for (question, part) in [
        ("do I play the cello?", "cello"),
        ("am I allergic to nuts?", "nuts"),
        ("what is my dog called?", "Biscuit"),
        ("did I move to Rome?", "Rome"),
    ] {
        let answer = world.ask(question);
        assert!(answer.contains(part), "{question}: {answer}");
    }
    world.check_no_traces();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_brain_is_whole_and_of_one_form_with_every_model() {
    let mut sizes = Vec::new();
    for model in [LARGE, SMALL, THIRD] {
        let mut world = World::with(model);
        for (session, text) in [
            "I live in Porto.",
            "I drink green tea.",
            "I play the cello.",
        ]
        .iter()
        .enumerate()
        {
            world.say(&session.to_string(), text).await;
        }
        let before = world.texts().await;
        assert_eq!(before.len(), 3, "{model:?}: {before:?}");
        world.switch(model);
        assert_eq!(world.texts().await, before);
        world.check_no_traces();
        let file = world.brains().join("memories.amem");
        let verified = std::process::Command::new(env!("CARGO_BIN_EXE_amem-tested-ctl"))
            .arg("verify")
            .arg(&file)
            .output()
            .unwrap();
        assert!(verified.status.success(), "{model:?}: {verified:?}");
        assert_eq!(&fs::read(&file).unwrap()[..4], b"AMEM");
        sizes.push(fs::metadata(&file).unwrap().len());
    }
    // Rejected inventions wait for a review; beside them the same was stored.
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(*most < 2 * *least && *most < 1 << 20, "{sizes:?}");
}
