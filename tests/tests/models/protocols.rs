//! The six protocols of the paper, with either model.

use crate::world::{LARGE, SMALL, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_six_protocols_hold_with_either_model() {
    for model in [LARGE, SMALL] {
        // 1. Basic recall over sessions.
        let world = World::with(model);
        world
            .say("1", "I live in Porto. I am allergic to nuts.")
            .await;
        let answer = world.ask("where do I live, Porto?");
        assert!(answer.contains("Porto"), "{model:?}: {answer}");

        // 2. Decisions with their reasons.
        world
            .say("2", "We chose SQLite because it is one file.")
            .await;
        let memories = world.memories().await;
        let find = |text: &str| {
            let found = memories.iter().find(|fact| fact.memory.contains(text));
            found.unwrap_or_else(|| panic!("{model:?}: {text}: {memories:?}"))
        };
        let (reason, decision) = (find("SQLite is one file"), find("chose SQLite"));
        assert_eq!(decision.kind, "decision", "{model:?}");
        assert_eq!(
            decision.because_ids,
            std::slice::from_ref(&reason.id),
            "{model:?}"
        );

        // 3. A correction stays.
        world.say("3", "I moved to Rome.").await;
        let texts = world.texts().await;
        assert!(texts.iter().any(|text| text.contains("Rome")), "{texts:?}");
        assert!(
            !texts.iter().any(|text| text.contains("Porto")),
            "{texts:?}"
        );
        assert!(world.ask("where do I live, Rome?").contains("Rome"));

        // 4. and 6. Ten sessions between, and twenty more.
        let others = [
            "I drink green tea.",
            "I play the cello.",
            "I prefer dark mode.",
        ];
        for session in 0..32 {
            world
                .say(
                    &format!("between {session}"),
                    others[session % others.len()],
                )
                .await;
        }
        assert!(
            world
                .ask("am I allergic to nuts?")
                .contains("allergic to nuts")
        );

        // 5. Subjects that have nothing to do with each other.
        world.say("dog", "My dog is called Biscuit.").await;
        for (question, part) in [
            ("what is my dog called?", "Biscuit"),
            ("do I play the cello?", "cello"),
            ("which tea do I drink?", "green tea"),
        ] {
            let answer = world.ask(question);
            assert!(answer.contains(part), "{model:?}: {question}: {answer}");
        }
        world.check_no_traces();
    }
}
