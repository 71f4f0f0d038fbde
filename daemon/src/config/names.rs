//! Users and groups by number, or by their names in `/etc/passwd` and `/etc/group`.
//!
//! Not here: names in a network directory. Such accounts are configured by number.

use std::fs;

/// The kind of account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccountKind {
    Users,
    Groups,
}

impl AccountKind {
    /// The id in a text: a number, or a name.
    pub(super) fn id(self, text: &str) -> Result<u32, String> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let (kind, path) = match self {
            Self::Users => ("user", "/etc/passwd"),
            Self::Groups => ("group", "/etc/group"),
        };
        let table = fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}"))?;
        let found = find(&table, text);
        found.ok_or_else(|| {
            format!("{text:?} is not a numeric id, and {path} has no {kind} of that name")
        })
    }
}

/// The id of a name: both tables have it in their third column.
fn find(table: &str, name: &str) -> Option<u32> {
    let mut rows = table.lines().map(|line| line.split(':'));
    rows.find_map(|mut row| (row.next()? == name).then(|| row.nth(1)?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_id_and_a_number_is_itself() {
        let table = "odd\nann:x:70:7::/:\nbob:x:bad:7::/:\n";
        let ids = ["ann", "bob", "an", "odd", "x", "7"].map(|name| find(table, name));
        assert_eq!(ids, [Some(70), None, None, None, None, None]);
        // Every machine has root.
        assert_eq!(AccountKind::Users.id("root"), Ok(0));
        assert_eq!(AccountKind::Groups.id("4242"), Ok(4242));
        let error = AccountKind::Groups.id("no such group").unwrap_err();
        assert!(error.contains("/etc/group"), "{error}");
    }
}
