//! Answers that are no strict JSON: what is whole is saved, and nothing that was cut off is taken for whole.

use super::facts_in_reply;

const TEA: &str = "User likes tea";
const PORTO: &str = "User lives in Porto";

fn texts(reply: &str) -> Vec<String> {
    let facts = facts_in_reply(reply).unwrap_or_default();
    facts.into_iter().map(|fact| fact.text).collect()
}

#[test]
fn malformed_answers_of_many_kinds_give_their_whole_facts() {
    let both = vec![TEA, PORTO];
    for (kind, reply, saved) in [
        (
            "fence",
            "```json\n[\"User likes tea\", \"User lives in Porto\"]\n```",
            &both,
        ),
        (
            "fence without a language",
            "```\n[\"User likes tea\", \"User lives in Porto\"]\n```",
            &both,
        ),
        (
            "fence that does not end",
            "```json\n[\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "tildes",
            "~~~\n[\"User likes tea\", \"User lives in Porto\"]\n~~~",
            &both,
        ),
        (
            "prose before",
            "Here are the facts: [\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "prose behind",
            "[\"User likes tea\", \"User lives in Porto\"] I hope this helps!",
            &both,
        ),
        (
            "prose with brackets",
            "As in [1], the list: [\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "thoughts",
            "<think>they like tea, [\"no\"]</think>[\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "thoughts that do not end",
            "<think>hmm [\"User likes tea\", \"User lives in Porto\"]",
            &vec![],
        ),
        (
            "a byte order mark",
            "\u{feff}[\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "zero width",
            "\u{200b}[\"User likes tea\",\u{200b} \"User lives in Porto\"]",
            &both,
        ),
        (
            "a tuple",
            "(\"User likes tea\", \"User lives in Porto\")",
            &both,
        ),
        (
            "single quotes",
            "['User likes tea', 'User lives in Porto']",
            &both,
        ),
        (
            "smart quotes",
            "[\u{201c}User likes tea\u{201d}, \u{201c}User lives in Porto\u{201d}]",
            &both,
        ),
        (
            "backticks",
            "[`User likes tea`, `User lives in Porto`]",
            &both,
        ),
        (
            "a comma at the end",
            "[\"User likes tea\", \"User lives in Porto\",]",
            &both,
        ),
        (
            "two commas",
            "[\"User likes tea\",, \"User lives in Porto\"]",
            &both,
        ),
        (
            "no comma between lines",
            "[\"User likes tea\"\n\"User lives in Porto\"]",
            &both,
        ),
        (
            "semicolons",
            "[\"User likes tea\"; \"User lives in Porto\"]",
            &both,
        ),
        (
            "a comment of a line",
            "[\"User likes tea\", // drinks\n\"User lives in Porto\"]",
            &both,
        ),
        (
            "a comment of a block",
            "[\"User likes tea\", /* home */ \"User lives in Porto\"]",
            &both,
        ),
        (
            "a comment of a shell",
            "[\"User likes tea\", # home\n\"User lives in Porto\"]",
            &both,
        ),
        (
            "no end of the list",
            "[\"User likes tea\", \"User lives in Porto\"",
            &vec![TEA],
        ),
        (
            "another end",
            "[\"User likes tea\", \"User lives in Porto\")",
            &both,
        ),
        (
            "no end of the object",
            "{\"facts\": [\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "keys without quotes",
            "{facts: [\"User likes tea\", \"User lives in Porto\"]}",
            &both,
        ),
        (
            "keys in single quotes",
            "{'facts': ['User likes tea', 'User lives in Porto']}",
            &both,
        ),
        (
            "another key",
            "{\"memories\": [\"User likes tea\", \"User lives in Porto\"]}",
            &both,
        ),
        (
            "objects",
            "[{\"fact\": \"User likes tea\"}, {\"fact\": \"User lives in Porto\"}]",
            &both,
        ),
        (
            "objects with other keys",
            "[{\"text\": \"User likes tea\", \"sure\": True}, {\"content\": \"User lives in Porto\", \"x\": None}]",
            &both,
        ),
        (
            "words of another language",
            "{\"facts\": [\"User likes tea\", None, \"User lives in Porto\", nil]}",
            &both,
        ),
        (
            "an answer twice",
            "[\"User likes tea\", \"User lives in Porto\"]\n[\"User likes tea\", \"User lives in Porto\"]",
            &both,
        ),
        (
            "cut within a string",
            "[\"User likes tea\", \"User lives in Porto\", \"User is",
            &both,
        ),
        (
            "cut within an object",
            "{\"facts\": [{\"text\": \"User likes tea\"}, {\"text\": \"User lives in Porto\"}, {\"text\": \"User is",
            &both,
        ),
        (
            "a line break in a string",
            "[\"User likes\ntea\", \"User lives in Porto\"]",
            &vec!["User likes\ntea", PORTO],
        ),
        ("nothing", "", &vec![]),
        ("an apology", "I am sorry, I cannot do that.", &vec![]),
    ] {
        assert_eq!(texts(reply), *saved, "{kind}: {reply}");
    }
}

/// Good answers in the shapes that models are asked for.
fn good_answers() -> Vec<(String, Vec<String>)> {
    let facts = [
        "User lives in Porto",
        "User said \"never\" to olives, and to [brackets]",
        "User's sister Zoë works at Übermut & Co.",
        "\u{7528}\u{6237}\u{4f4f}\u{5728}\u{4e0a}\u{6d77}",
        "User pays 3.5 % {or less}",
    ];
    let mut out = Vec::new();
    for count in 1..=facts.len() {
        let own: Vec<String> = facts[..count]
            .iter()
            .map(|fact| (*fact).to_owned())
            .collect();
        let objects: Vec<_> = own
            .iter()
            .map(|text| serde_json::json!({"text": text, "turns": [0], "kind": "fact", "because": [], "about": "User"}))
            .collect();
        let list = serde_json::json!(own).to_string();
        for reply in [
            list.clone(),
            format!("```json\n{list}\n```"),
            serde_json::json!({ "facts": own }).to_string(),
            serde_json::to_string_pretty(&serde_json::json!({ "facts": objects })).unwrap(),
        ] {
            out.push((reply, own.clone()));
        }
    }
    out
}

#[test]
fn every_truncation_of_good_answers_keeps_what_is_whole_and_no_more() {
    let answers = good_answers();
    assert_eq!(answers.len(), 20);
    let (mut cuts, mut saved) = (0_u32, 0_usize);
    for (reply, facts) in answers {
        assert_eq!(texts(&reply), facts, "{reply}");
        // Where each fact is whole: behind its closing quote, or behind its object, which says more of it.
        let ends: Vec<usize> = facts
            .iter()
            .map(|fact| {
                let written = serde_json::json!(fact).to_string();
                let end = reply.find(&written).unwrap() + written.len();
                match reply.contains("\"turns\"") {
                    true => end + reply[end..].find('}').unwrap() + 1,
                    false => end,
                }
            })
            .collect();
        for cut in (0..reply.len()).filter(|cut| reply.is_char_boundary(*cut)) {
            // A quote at the very end may be one within a text.
            let least = ends.iter().filter(|end| **end < cut).count();
            let most = ends.iter().filter(|end| **end <= cut).count();
            let found = texts(&reply[..cut]);
            let is_whole = (least..=most).contains(&found.len()) && facts.starts_with(&found);
            assert!(is_whole, "cut at {cut}: {found:?} of {}", &reply[..cut]);
            (cuts, saved) = (cuts + 1, saved + found.len());
        }
    }
    assert!(cuts > 3_000 && saved > 3_000, "{cuts} {saved}");
}
