//! Who recorded what, in words: principals with the names of this machine's users.
//!
//! Not here: what a principal may do (`amemd`). JSON has principals as they are.

use std::fs;
use std::sync::OnceLock;

use crate::render::printable;

/// The password database of this machine.
const ACCOUNTS: &str = "/etc/passwd";
/// What the principal of a user begins with.
const UID: &str = "uid:";

/// The lines of the password database; empty if it cannot be read.
fn accounts() -> &'static str {
    static ACCOUNTS_READ: OnceLock<String> = OnceLock::new();
    ACCOUNTS_READ.get_or_init(|| fs::read_to_string(ACCOUNTS).unwrap_or_default())
}

/// Agent and principal in words: `claude, uid 1000 (ann)`; empty if both are unknown.
///
/// `is_local` is false for an event of another machine, whose user numbers are not those of this one.
pub(crate) fn author(by: &str, agent: &str, is_local: bool) -> String {
    let names = if is_local { accounts() } else { "" };
    let by = principal_in(names, by);
    match (agent, by.as_str()) {
        ("", _) => by,
        (agent, "") => printable(agent),
        (agent, by) => format!("{}, {by}", printable(agent)),
    }
}

/// The agent, else the principal in words: for tables.
pub(crate) fn short(by: &str, agent: &str, is_local: bool) -> String {
    match agent {
        "" => author(by, agent, is_local),
        agent => printable(agent),
    }
}

/// The principal that a user means: a name, a number, or a principal as JSON has it.
pub(crate) fn parse_principal(text: &str) -> Result<String, String> {
    parse_in(accounts(), text)
}

fn principal_in(accounts: &str, by: &str) -> String {
    let uid: Option<u32> = by.strip_prefix(UID).and_then(|uid| uid.parse().ok());
    match uid {
        None => printable(by),
        Some(uid) => match account(accounts, |_, number| number == uid) {
            Some((name, _)) => format!("uid {uid} ({})", printable(name)),
            None => format!("uid {uid}"),
        },
    }
}

fn parse_in(accounts: &str, text: &str) -> Result<String, String> {
    if text.contains(':') {
        return Ok(text.to_owned());
    }
    if let Ok(uid) = text.parse::<u32>() {
        return Ok(format!("{UID}{uid}"));
    }
    match account(accounts, |name, _| name == text) {
        Some((_, uid)) => Ok(format!("{UID}{uid}")),
        None => Err(format!(
            "{ACCOUNTS} has no user {text:?}: give a name that it has, a number, or a principal such as uid:1000"
        )),
    }
}

fn account(accounts: &str, is_it: impl Fn(&str, u32) -> bool) -> Option<(&str, u32)> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, uid) = (fields.next()?, fields.nth(1)?.parse().ok()?);
        is_it(name, uid).then_some((name, uid))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "root:x:0:0::/root:/bin/sh\n\nodd\nann:x:1000:1000:Ann:/ann:/bin/sh\n";

    #[test]
    fn users_have_names_and_other_principals_stay() {
        let rows = [
            ("uid:1000", "uid 1000 (ann)"),
            ("uid:1001", "uid 1001"),
            ("token:ci", "token:ci"),
            ("uid:x", "uid:x"),
            ("", ""),
        ];
        for (by, expected) in rows {
            assert_eq!(principal_in(LINES, by), expected);
        }
        assert_eq!(author("", "claude", true), "claude");
        assert_eq!(author("token:ci", "claude", true), "claude, token:ci");
        assert_eq!(author("uid:0", "", false), "uid 0");
        assert_eq!(short("token:ci", "claude", true), "claude");
    }

    #[test]
    fn a_name_a_number_and_a_principal_mean_one_user() {
        for text in ["ann", "1000", "uid:1000"] {
            assert_eq!(parse_in(LINES, text).unwrap(), "uid:1000");
        }
        assert_eq!(parse_in(LINES, "token:ci").unwrap(), "token:ci");
        let why = parse_in(LINES, "bob").unwrap_err();
        assert!(why.contains("no user \"bob\""), "{why}");
    }
}
