//! Words of values, and values that exclude each other.

use std::collections::BTreeSet;

use amem_format::analyzer::is_stop_word;

use crate::text::predicate::is_adverb;
use crate::text::tokens::Token;
use crate::text::verbs::{VerbForm, base_form, singular};

/// Values of which one is preferred or used at a time.
const CONTRASTS: [(&str, &[&str]); 26] = [
    ("mode", &["light", "dark"]),
    ("indentation", &["tab", "space"]),
    ("hot drink", &["tea", "coffee"]),
    (
        "editor",
        &[
            "vim", "neovim", "emacs", "vscode", "vs", "sublime", "intellij", "pycharm", "helix",
            "zed", "nano", "cursor",
        ],
    ),
    ("units", &["metric", "imperial"]),
    ("contact", &["email", "phone", "slack", "sms", "call"]),
    ("time of day", &["morning", "evening", "night", "afternoon"]),
    ("seat", &["window", "aisle"]),
    ("place of work", &["remote", "office", "hybrid", "remotely"]),
    ("phone", &["android", "iphone", "ios"]),
    ("system", &["mac", "macos", "windows", "linux", "ubuntu"]),
    ("season", &["summer", "winter", "spring", "autumn", "fall"]),
    ("landscape", &["beach", "mountain"]),
    ("temperature", &["celsius", "fahrenheit"]),
    ("shell", &["bash", "zsh", "fish", "powershell"]),
    ("browser", &["firefox", "chrome", "safari", "edge", "brave"]),
    (
        "database",
        &[
            "postgres",
            "postgresql",
            "mysql",
            "sqlite",
            "mongodb",
            "mariadb",
            "oracle",
        ],
    ),
    ("package manager", &["npm", "pnpm", "yarn", "bun"]),
    (
        "python packages",
        &["pip", "poetry", "uv", "pipenv", "conda", "pdm"],
    ),
    (
        "build tool",
        &[
            "make", "cmake", "bazel", "gradle", "maven", "ninja", "meson",
        ],
    ),
    (
        "test runner",
        &["jest", "vitest", "mocha", "pytest", "unittest", "nextest"],
    ),
    ("formatter", &["prettier", "biome", "black", "yapf"]),
    (
        "user interface",
        &["react", "vue", "svelte", "angular", "solid"],
    ),
    (
        "web server",
        &[
            "django", "flask", "fastapi", "express", "rails", "axum", "actix",
        ],
    ),
    ("cloud", &["aws", "gcp", "azure", "hetzner"]),
    ("containers", &["docker", "podman"]),
];

/// Last words of names of organisations.
const ORGANISATION_WORDS: &[&str] = &[
    "inc",
    "corp",
    "corporation",
    "ltd",
    "llc",
    "gmbh",
    "ag",
    "se",
    "sa",
    "plc",
    "co",
    "company",
    "labs",
    "lab",
    "group",
    "holding",
    "technologies",
    "systems",
    "software",
    "solutions",
    "industries",
    "robotics",
    "bank",
    "university",
    "college",
    "institute",
    "hospital",
    "clinic",
    "studio",
    "studios",
    "partners",
    "consulting",
    "agency",
    "foundation",
    "airlines",
];

/// True for "GmbH", "Labs": what only names of organisations have.
pub(crate) fn is_organisation_word(word: &str) -> bool {
    ORGANISATION_WORDS.contains(&word)
}

/// The set that a value belongs to, and its member; `None` for values that exclude nothing.
pub(crate) fn contrast(value: &BTreeSet<String>) -> Option<(&'static str, &'static str)> {
    CONTRASTS.iter().find_map(|(name, members)| {
        let member = members.iter().find(|member| value.contains(**member))?;
        Some((*name, *member))
    })
}

/// Kinds of tools of which one is used at a time for one purpose.
pub(crate) const EXCLUSIVE: [&str; 15] = [
    "editor",
    "shell",
    "browser",
    "system",
    "phone",
    "database",
    "package manager",
    "python packages",
    "build tool",
    "test runner",
    "formatter",
    "user interface",
    "web server",
    "cloud",
    "containers",
];

/// The other members of a set.
pub(crate) fn others(name: &str, member: &str) -> Vec<&'static str> {
    let set = CONTRASTS.iter().find(|(known, _)| *known == name);
    let members = set.map_or(&[][..], |(_, members)| members);
    members
        .iter()
        .copied()
        .filter(|other| *other != member)
        .collect()
}

/// A word in the form in which values are compared; `None` for words that carry no value.
pub(crate) fn value_word(token: &Token) -> Option<String> {
    let word = token.lower.strip_suffix("'s").unwrap_or(&token.lower);
    let is_empty = word.is_empty() || word == "user" || is_adverb(token) && !token.is("first");
    let is_small = !token.is_capital()
        && (is_stop_word(word)
            || matches!(
                word,
                "new" | "another" | "again" | "their" | "anymore" | "other" | "own" | "lot"
            ));
    if is_empty || is_small {
        return None;
    }
    Some(match word {
        "favourite" => "favorite".to_owned(),
        "colour" => "color".to_owned(),
        "one" => "1".to_owned(),
        "two" => "2".to_owned(),
        "three" => "3".to_owned(),
        "four" => "4".to_owned(),
        "five" => "5".to_owned(),
        "six" => "6".to_owned(),
        "kids" | "children" | "child" => "kid".to_owned(),
        _ if token.is_capital() || token.has_digit() => word.to_owned(),
        _ => match base_form(word) {
            (base, VerbForm::Progressive) => base,
            _ => singular(word),
        },
    })
}

/// The words of tokens as a value.
pub(crate) fn value_of(tokens: &[Token]) -> BTreeSet<String> {
    tokens.iter().filter_map(value_word).collect()
}

/// Numbers, and names: words with a capital that do not begin the text. What two facts must share to be the same.
pub(crate) fn anchors(tokens: &[Token]) -> BTreeSet<String> {
    let is_anchor = |(at, token): &(usize, &Token)| {
        token.has_digit()
            || token.is_capital()
                && *at > 0
                && !token.is("i")
                && !token.is("user")
                && !token.is("user's")
    };
    let words = tokens.iter().enumerate().filter(is_anchor);
    words
        .map(|(_, token)| {
            token
                .lower
                .strip_suffix("'s")
                .unwrap_or(&token.lower)
                .to_owned()
        })
        .collect()
}
