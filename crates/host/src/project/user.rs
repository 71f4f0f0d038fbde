//! The user of memories that hold in every project.

use std::fs;

/// Names the user instead of the account.
pub const USER_VARIABLE: &str = "AMEM_USER";

/// The name of an account by `/etc/passwd`, else `uid-N`. Clients start their servers without USER and LOGNAME, so that
/// variables would give one person two memories.
pub fn user_of(uid: u32) -> String {
    let table = fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&table, uid).unwrap_or_else(|| format!("uid-{uid}"))
}

fn name_in(table: &str, uid: u32) -> Option<String> {
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_its_name_and_an_unknown_one_its_number() {
        let table = "root:x:0:0:root:/root:/bin/sh\n# note\nada:x:1000:1000::/srv/ada:/bin/sh\n";
        assert_eq!(name_in(table, 1000).as_deref(), Some("ada"));
        assert_eq!(name_in(table, 0).as_deref(), Some("root"));
        assert_eq!(name_in(table, 7), None);
        assert_eq!(user_of(4_000_000_001), "uid-4000000001");
    }
}
