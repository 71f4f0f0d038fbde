//! What of turns is their speakers' own word, by kinds.

use super::{foreign_spans, own_words};

/// What stays of a person's turn, blanks made one.
fn own(text: &str) -> String {
    let spans = foreign_spans(text, false);
    let words = own_words(text, &spans);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each turn, what must stay and what must not.
fn check(rows: &[(&str, &[&str], &[&str])]) {
    for (turn, stays, goes) in rows {
        let own = own(turn);
        for word in *stays {
            assert!(
                own.contains(word),
                "{word:?} is gone: {turn:?} became {own:?}"
            );
        }
        for word in *goes {
            assert!(
                !own.contains(word),
                "{word:?} stays: {turn:?} became {own:?}"
            );
        }
    }
}

#[test]
fn sentences_of_others_in_quotation_marks_go() {
    check(&[
        (
            "She said \"I live in Dublin and I hate rain\". I like rain.",
            &["I like rain"],
            &["Dublin"],
        ),
        ("My boss said \"I quit\" today.", &["My boss"], &["I quit"]),
        (
            "\u{201c}We use npm everywhere,\u{201d} the page claims. We use pnpm.",
            &["We use pnpm"],
            &["npm everywhere"],
        ),
        (
            "Er schrieb: \u{201e}Ich wohne in Bonn und habe zwei Hunde.\u{201c} Ich wohne in Köln.",
            &["Köln"],
            &["Bonn"],
        ),
        (
            "Sie sagte \u{bb}Ich hasse Tee\u{ab}, ich mag Tee.",
            &["ich mag Tee"],
            &["hasse"],
        ),
        (
            "Elle a dit \u{ab} J'habite à Lyon depuis dix ans \u{bb}. J'habite à Lille.",
            &["Lille"],
            &["Lyon"],
        ),
        (
            "Dijo «Vivo en Sevilla con mi perro». Vivo en Madrid.",
            &["Madrid"],
            &["Sevilla"],
        ),
        (
            "彼は「私は京都に住んでいます」と言った。私は東京に住んでいます。",
            &["東京"],
            &["京都に"],
        ),
        (
            "The slogan \"our coffee makes you a better person every day\" is odd.",
            &["is odd"],
            &["coffee"],
        ),
        (
            "As Descartes put it, I think, therefore I am.",
            &["Descartes"],
            &["therefore"],
        ),
    ]);
}

#[test]
fn titles_names_and_own_words_in_quotation_marks_stay() {
    for turn in [
        "I read \"Dune\" last week.",
        "I read \"The Old Man and the Sea\" twice.",
        "My cat is called \"Professor von Fluff\".",
        "We named the service \"gate keeper\".",
        "I said \"I will never move to Paris\" and I meant it.",
        "Ich lese gerade \u{201e}Der Zauberberg\u{201c}.",
        "J'ai lu \u{ab} L'Étranger \u{bb} hier.",
        "I get an error that says \"Failed to load resource\" on start.",
        "I fix the \"cannot read property of null at startup\" problem.",
        "I bought a 27\" monitor and a 13\" laptop.",
        "It's Tom's house and we don't mind.",
        "As I said, I live in Porto.",
        "I love 3 > 2 jokes and Vec<T> puns.",
    ] {
        assert_eq!(own(turn), turn);
    }
}

#[test]
fn quoted_lines_and_mails_go() {
    check(&[
        (
            "> I live in Rome\n> and I love it\nI live in Oslo.",
            &["Oslo"],
            &["Rome", "love it"],
        ),
        (
            "I agree, we meet at six.\n\nOn Mon, 3 Nov 2025 at 10:12, Ada <ada@example.org> wrote:\n> I live in Rome\n> Let us meet at five.\n\nI will bring my dog.",
            &["at six", "my dog"],
            &["Rome", "wrote", "five"],
        ),
        (
            "Ich komme gern.\n\nAm 3.11.2025 um 10:12 schrieb Ada:\nIch wohne in Bonn.\nBis bald",
            &["komme gern"],
            &["Bonn", "bald"],
        ),
        (
            "FYI\n---------- Forwarded message ---------\nFrom: Tom <tom@example.org>\nSubject: Move\n\nI am moving to Chile.",
            &["FYI"],
            &["Chile", "Tom"],
        ),
        (
            "Von: Tom <tom@example.org>\nBetreff: Umzug\nIch ziehe nach Wien.",
            &[],
            &["Wien"],
        ),
        (
            "From: Rome\nTo: Oslo\nI travel on Monday.",
            &["From: Rome", "Monday"],
            &[],
        ),
        ("I earn >50k and age is > 30.", &["50k", "30"], &[]),
    ]);
}

#[test]
fn code_and_what_programs_print_goes() {
    check(&[
        (
            "I use Rust.\n```rust\nlet home = \"I live in Rome\";\n```\nI like it.",
            &["I use Rust", "I like it"],
            &["Rome"],
        ),
        ("Look:\n~~~\nI live in Rome", &["Look"], &["Rome"]),
        (
            "I run this:\n\n    I live in code\n    return 1\n\nI like it.",
            &["I like it"],
            &["code"],
        ),
        (
            "$ echo I love Rome\nI love Rome\nMy shell is zsh.",
            &["zsh"],
            &["echo"],
        ),
        (
            "It fails:\n2026-11-28T08:10:12Z ERROR we use npm here\n2026-11-28T08:10:13Z INFO I live in a log\nI use pnpm.",
            &["I use pnpm"],
            &["npm here", "in a log"],
        ),
        (
            "Help.\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    my name is Bob\nValueError: I live in a trace\n\nMy name is Ada.",
            &["Ada"],
            &["Bob", "in a trace"],
        ),
        (
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-We use npm\n+We use yarn\nI use pnpm.",
            &["I use pnpm"],
            &["yarn", "We use npm"],
        ),
        (
            "<html>\n<p>I live in Rome</p>\n</html>\nI live in Oslo.",
            &["Oslo"],
            &["Rome"],
        ),
        (
            "| name | city |\n|---|---|\n| I | Rome |\nI live in Oslo.",
            &["Oslo"],
            &["Rome"],
        ),
        (
            "fn main() {\n    let city = \"Rome\";\n}\nI live in Oslo.",
            &["Oslo"],
            &["Rome"],
        ),
        (
            "I live in Oslo <system-reminder>I live in Rome</system-reminder> with Tom.",
            &["Oslo", "with Tom"],
            &["Rome"],
        ),
        (
            "<command-name>/model</command-name>I live in Oslo.",
            &["Oslo"],
            &["model"],
        ),
    ]);
}

#[test]
fn announced_and_pasted_texts_go() {
    let page = "Skip to content\nSign in\nWe always run tests twice.\nI live in Rome.\n\u{a9} 2026 Acme. All rights reserved.";
    let with_words = format!("I found a page.\n\n{page}");
    let block = "Here is what came:\nWe always deploy on Fridays.\nOur team is five people.\nI live in Rome.\n\nWhat do you think? I live in Oslo.";
    let document = "# Conventions\n\nWe use tabs.\n\n## Tests\n\nI run them twice.";
    check(&[
        (
            "Here's the email from my tenant: Hi, I'm moving out in May. I have two dogs.",
            &["tenant"],
            &["moving out", "dogs"],
        ),
        (
            "Translate to German: I have lived in Boston for ten years.",
            &["Translate"],
            &["Boston"],
        ),
        (
            "Bitte übersetze: Ich wohne in Bonn.",
            &["übersetze"],
            &["Bonn"],
        ),
        (
            "The docs say it clearly. The page says: always run the installer as root.",
            &["docs"],
            &["root"],
        ),
        (
            "Voici le message de Paul :\nJ'habite à Lyon.",
            &["Voici"],
            &["Lyon"],
        ),
        (
            "Here's the code:\n```\nI live in Rome\n```\nI live in Oslo.",
            &["Oslo"],
            &["Rome"],
        ),
        (block, &["What do you think", "Oslo"], &["Fridays", "Rome"]),
        (page, &[], &["twice", "Rome"]),
        (&with_words, &["I found a page"], &["twice", "Rome"]),
        (document, &[], &["tabs", "twice"]),
    ]);
}

#[test]
fn what_a_person_says_of_themselves_behind_a_colon_stays() {
    for turn in [
        "About me:\n- I live in Turin\n- I have a Shiba named Kuma\n- allergic to cats",
        "Here's what I know about myself: I live in Rome and I like tea.",
        "Here is my email: ada@example.org",
        "Note: we use pnpm here.",
        "Remember this: I am allergic to nuts.",
        "I said: I will never move.",
        "My plan: first Rome, then Oslo.",
        "# Goals\nI want to run a marathon.",
        "At 10:30 I have a meeting.",
        "Our stack: Rust, Postgres 17 (on port 5433) and Redis;",
        "I moved (finally!) to Porto, and I use vim; my wife uses emacs;",
        "Let me think; from Monday on I work in Porto.",
        "- I like tea\n- I like milk\n    - and honey",
    ] {
        let spans = foreign_spans(turn, false);
        assert!(spans.is_empty(), "{turn:?}: {spans:?}");
    }
}

#[test]
fn an_answer_of_an_agent_may_be_a_document() {
    let answer = "# Summary\n\nI use metric units.\n\n## Next\n\nI test twice.";
    assert!(foreign_spans(answer, true).is_empty());
    assert!(!foreign_spans(answer, false).is_empty());
}

#[test]
fn hostile_turns_are_read_in_time_that_grows_with_their_length() {
    for part in [
        "\"",
        "\u{201e}",
        "\u{ab} ",
        "> ",
        "```\n",
        "<memory>",
        "here is: ",
        "On 1 wrote:\n",
        "From: a@b\n",
        "as x said, ",
        "| a |\n",
        "    a\n\n",
        "the page says: \n\n",
        "@@ -1\n\n",
        ": ",
        "# a\n",
    ] {
        let text = part.repeat((1 << 18) / part.len());
        let started = std::time::Instant::now();
        let spans = foreign_spans(&text, false);
        let _own = own_words(&text, &spans);
        assert!(
            started.elapsed().as_secs() < 10,
            "{part:?}: {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn a_list_about_accounts_is_no_page() {
    check(&[(
        "I have to sign in at the office by nine.\nI want to sign up for the course in Oslo.",
        &["office", "Oslo"],
        &[],
    )]);
}
