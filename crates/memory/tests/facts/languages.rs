//! Adds in other languages than English: what a later turn does to an earlier fact.

use crate::adds::say;
use crate::support::NaiveStore;
use amem_memory::FactScope;
use amem_memory::add::AddEvent::{self, Add, Delete, None as Same, Update};

/// Says turns one after the other; each has the event and the text that its last fact gives.
fn check(turns: &[(&str, AddEvent, &str)], left: &[&str]) {
    let store = NaiveStore::default();
    for (turn, event, text) in turns {
        let found = say(&store, "a", turn);
        assert_eq!(
            found.last(),
            Some(&(*event, (*text).to_owned())),
            "{turn}: {found:?}"
        );
    }
    assert_eq!(store.texts(&FactScope::user("a")), left);
}

#[test]
fn a_move_replaces_the_home_in_german() {
    check(
        &[
            ("Ich wohne in Berlin.", Add, "User wohnt in Berlin"),
            ("Ich wohne in Berlin!", Same, "User wohnt in Berlin"),
            (
                "Ich bin nach Hamburg gezogen.",
                Update,
                "User ist nach Hamburg gezogen",
            ),
            ("Ich mag Jazz.", Add, "User mag Jazz"),
            ("Ich mag keinen Jazz.", Update, "User mag keinen Jazz"),
            (
                "Vergiss, dass ich nach Hamburg gezogen bin.",
                Delete,
                "User ist nach Hamburg gezogen",
            ),
        ],
        &["User mag keinen Jazz"],
    );
}

#[test]
fn a_move_replaces_the_home_in_french() {
    check(
        &[
            ("J'habite à Lyon.", Add, "User habite à Lyon"),
            (
                "J'ai déménagé à Nantes.",
                Update,
                "User a déménagé à Nantes",
            ),
            (
                "Je travaille chez Belmont.",
                Add,
                "User travaille chez Belmont",
            ),
            (
                "Je ne travaille plus chez Belmont.",
                Update,
                "User ne travaille plus chez Belmont",
            ),
            (
                "Oublie que j'ai déménagé à Nantes.",
                Delete,
                "User a déménagé à Nantes",
            ),
        ],
        &["User ne travaille plus chez Belmont"],
    );
}

#[test]
fn a_move_replaces_the_home_in_spanish() {
    check(
        &[
            ("Vivo en Madrid.", Add, "User vive en Madrid"),
            ("Me mudé a Vigo.", Update, "User se mudó a Vigo"),
            ("Me llamo Nerea.", Add, "User se llama Nerea"),
            ("Mi nombre es Ane.", Update, "El nombre de User es Ane"),
            ("Olvida que me mudé a Vigo.", Delete, "User se mudó a Vigo"),
        ],
        &["El nombre de User es Ane"],
    );
}

#[test]
fn a_correction_replaces_the_tool() {
    for (first, second, text) in [
        (
            "Wir benutzen pnpm für das Frontend.",
            "Nein, wir nehmen yarn.",
            "User und andere nehmen yarn",
        ),
        (
            "On utilise pnpm pour le frontend.",
            "Non, on utilise yarn.",
            "User et d'autres utilisent yarn",
        ),
        (
            "Usamos pnpm para el frontend.",
            "No, usamos yarn.",
            "User y otros usan yarn",
        ),
    ] {
        let store = NaiveStore::default();
        say(&store, "a", first);
        assert_eq!(
            say(&store, "a", second),
            [(Update, text.to_owned())],
            "{second}"
        );
    }
}

#[test]
fn a_slot_is_the_same_in_all_languages() {
    check(
        &[
            (
                "Ich wohne in Berlin und arbeite als Lehrerin.",
                Add,
                "User arbeitet als Lehrerin",
            ),
            ("I moved to Porto.", Update, "User moved to Porto"),
            (
                "Je travaille comme infirmière.",
                Update,
                "User travaille comme infirmière",
            ),
            ("Vivo en Vigo.", Update, "User vive en Vigo"),
            ("I live in Vigo", Same, "User lives in Vigo"),
            (
                "Meine Schwester heißt Wiebke.",
                Add,
                "User's Schwester heißt Wiebke",
            ),
            (
                "Mi color favorito es el verde.",
                Add,
                "El color favorito de User es el verde",
            ),
            (
                "My favourite color is blue",
                Update,
                "User's favourite color is blue",
            ),
        ],
        &[
            "User vive en Vigo",
            "User travaille comme infirmière",
            "User's Schwester heißt Wiebke",
            "User's favourite color is blue",
        ],
    );
}
