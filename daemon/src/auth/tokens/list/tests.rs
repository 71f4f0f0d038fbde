//! Tokens: made, found, revoked; files that do not do.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use amem_memory::FactScope;

use super::*;
use crate::auth::Role;

fn find(tokens: &Tokens, shown: &str) -> Option<String> {
    let shown = Digest::of(shown.as_bytes()).unwrap();
    tokens.find(&shown).map(|token| token.name.clone())
}

#[test]
fn a_token_is_found_from_when_it_is_made_until_it_is_revoked_and_is_nowhere_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/tokens.toml");
    let none = Tokens::load(&path).unwrap();
    assert!(none.is_empty() && !path.exists());
    let (one, first) = none
        .create("laptop", &TokenRights::of(Role::Write))
        .unwrap();
    let brains = ["work", "notes.v2", "work"].map(str::to_owned);
    let reads = TokenRights {
        brains: brains.to_vec(),
        ..TokenRights::of(Role::Read)
    };
    let (two, second) = one.create("ci.read-only", &reads).unwrap();
    assert_eq!(two.list()[0].rights.brains, ["notes.v2", "work"]);
    assert_eq!(find(&two, &first).as_deref(), Some("laptop"));
    assert_eq!(find(&two, &second).as_deref(), Some("ci.read-only"));
    assert_eq!(find(&one, &second), None);
    for wrong in [
        "",
        &first[..first.len() - 1],
        &first.to_uppercase(),
        "amem_",
    ] {
        assert_eq!(find(&two, wrong), None, "{wrong}");
    }
    assert_eq!(first.len(), "amem_".len() + 64);
    assert_eq!(Tokens::load(&path).unwrap(), two);
    let text = fs::read_to_string(&path).unwrap();
    for secret in [&first, &second] {
        assert!(!text.contains(&secret[5..]) && !format!("{two:?}").contains(&secret[5..]));
    }
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let left = two.revoke("laptop").unwrap();
    assert_eq!(find(&left, &first), None);
    assert_eq!(find(&left, &second).as_deref(), Some("ci.read-only"));
    assert_eq!(Tokens::load(&path).unwrap(), left);
    // No file of the changes is left.
    assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
}

#[test]
fn an_impossible_creation_or_revocation_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    let (tokens, _) = Tokens::load(&path)
        .unwrap()
        .create("a", &TokenRights::of(Role::Admin))
        .unwrap();
    let before = fs::read(&path).unwrap();
    for name in ["", "a b", "a\"", "é", &"x".repeat(65)] {
        let refusal = tokens
            .create(name, &TokenRights::of(Role::Read))
            .unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument, "{name:?}");
    }
    let (reads, administers) = (TokenRights::of(Role::Read), TokenRights::of(Role::Admin));
    let of = |rights: &TokenRights, scope: FactScope| TokenRights {
        scope: Some(scope),
        ..rights.clone()
    };
    for rights in [
        TokenRights {
            brains: vec!["a/b".to_owned()],
            ..reads.clone()
        },
        of(&reads, FactScope::default()),
        of(&reads, FactScope::user("")),
        of(&reads, FactScope::user("*")),
        of(&reads, FactScope::user("a\nrole = \"admin\"")),
        of(&administers, FactScope::user("ada")),
    ] {
        let refusal = tokens.create("b", &rights).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument, "{rights:?}");
    }
    let refusal = tokens
        .create("a", &TokenRights::of(Role::Read))
        .unwrap_err();
    assert_eq!(
        (refusal.code, &*refusal.reason),
        (Code::AlreadyExists, "TOKEN_EXISTS")
    );
    let refusal = tokens.revoke("b").unwrap_err();
    assert_eq!(
        (refusal.code, &*refusal.reason),
        (Code::NotFound, "UNKNOWN_TOKEN")
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    // A change by hand meanwhile stays.
    let by_hand = String::from_utf8(before).unwrap().replace("\"a\"", "\"b\"");
    fs::write(&path, by_hand).unwrap();
    let (tokens, _) = tokens.create("c", &TokenRights::of(Role::Read)).unwrap();
    let names: Vec<_> = tokens
        .list()
        .iter()
        .map(|token| token.name.as_str())
        .collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn a_scope_is_read_as_it_was_written_and_a_token_of_before_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    let (before, _) = Tokens::load(&path)
        .unwrap()
        .create("before", &TokenRights::of(Role::Write))
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let keys = ["user", "agent", "app", "run"];
    assert!(
        keys.iter().all(|key| !text.contains(&format!("{key} ="))),
        "{text}"
    );
    let scope = FactScope {
        user: Some("Ada \\ \"the\" 1st, \u{e9}\u{1f600} # ]".into()),
        agent: Some("\\".into()),
        app: None,
        run: Some("\"".into()),
    };
    let rights = TokenRights {
        scope: Some(scope),
        ..TokenRights::of(Role::Write)
    };
    let (both, _) = before.create("scoped", &rights).unwrap();
    let read = Tokens::load(&path).unwrap();
    assert_eq!(read, both);
    assert_eq!(read.list()[0], before.list()[0]);
    assert_eq!(read.list()[1].rights, rights);
    // A role by hand that the scope forbids makes no administrator.
    let text = fs::read_to_string(&path).unwrap();
    let by_hand = text.replace("role = \"write\"", "role = \"admin\"");
    fs::write(&path, by_hand).unwrap();
    let error = Tokens::load(&path).unwrap_err().to_string();
    assert!(error.contains("its role is read or write"), "{error}");
}

#[test]
fn there_are_no_more_tokens_than_a_call_can_be_held_against() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    let (token, _) = Token::new("x", &TokenRights::of(Role::Read)).unwrap();
    let many = |count: usize| -> Vec<_> {
        let token = |at: usize| Token {
            name: format!("n{at}"),
            digest: Digest::of(&at.to_le_bytes()).unwrap(),
            ..token.clone()
        };
        (0..count).map(token).collect()
    };
    file::write(&path, &many(TOKENS_MAX)).unwrap();
    let full = Tokens::load(&path).unwrap();
    let refusal = full
        .create("one-more", &TokenRights::of(Role::Read))
        .unwrap_err();
    assert_eq!(refusal.code, Code::ResourceExhausted);
    file::write(&path, &many(TOKENS_MAX + 1)).unwrap();
    let error = Tokens::load(&path).unwrap_err().to_string();
    assert!(error.contains("the limit is 256"), "{error}");
}

#[test]
fn a_file_that_does_not_do_is_refused_and_nothing_of_it_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.toml");
    let hash = |of: &str| Digest::of(of.as_bytes()).unwrap().hex();
    let entry = |name: &str, role: &str, hash: &str| {
        format!("[[token]]\nname = \"{name}\"\nrole = \"{role}\"\ncreated = 7\nhash = \"{hash}\"\n")
    };
    let good = entry("a", "read", &format!("sha256:{}", hash("1")));
    let secret = "amem_0123456789abcdef";
    for (text, mode, words) in [
        (good.clone(), 0o640, "0640"),
        (good.clone(), 0o604, "0604"),
        (
            format!("{good}{}", good.replace(&hash("1"), &hash("2"))),
            0o600,
            "two tokens are named \"a\"",
        ),
        (
            format!("{good}{}", good.replace("\"a\"", "\"b\"")),
            0o600,
            "have the same hash",
        ),
        (
            entry("a", "king", &format!("sha256:{}", hash("1"))),
            0o600,
            "read, write or admin",
        ),
        (entry("a", "read", secret), 0o600, "64 hexadecimal"),
        (
            entry(secret, "read", secret).replace("amem_", "amem "),
            0o600,
            "token 1: its name",
        ),
        (format!("\n\ntoken = \"{secret}\""), 0o600, "line 3"),
        (format!("\n{secret}"), 0o600, "line 2"),
        (format!("{good}secret = \"{secret}\"\n"), 0o600, "line "),
    ] {
        fs::write(&path, &text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let error = Tokens::load(&path).unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("tokens.toml"),
            "{words}: {error}"
        );
        assert!(!error.contains(&secret[5..]), "{error}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, good).unwrap();
    assert_eq!(
        find(&Tokens::load(&path).unwrap(), "1").as_deref(),
        Some("a")
    );
}
