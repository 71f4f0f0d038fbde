//! Users and groups by the tables of the machine (`/etc/passwd`, `/etc/group`).

use std::collections::BTreeMap;
use std::fs;

/// True for the user that this process runs as.
pub fn is_own(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw()
}

/// True if the process is a member of a group, or root.
pub fn is_in_group(group: u32) -> bool {
    let others = rustix::process::getgroups().unwrap_or_default();
    rustix::process::geteuid().is_root()
        || rustix::process::getegid().as_raw() == group
        || others.iter().any(|other| other.as_raw() == group)
}

/// True if the user of this process is the only member of a group by the tables.
pub fn is_own_group(gid: u32) -> bool {
    let table = |path| fs::read_to_string(path).unwrap_or_default();
    let ours = rustix::process::geteuid().as_raw();
    only_member(ours, gid, &table("/etc/group"), &table("/etc/passwd"))
}

/// True if the group has members, by either table, and all of them are `uid`.
fn only_member(uid: u32, gid: u32, groups: &str, users: &str) -> bool {
    let others = members(groups, users).into_iter();
    let mut found: Vec<u32> = others
        .filter_map(|(g, user)| (g == gid).then_some(user))
        .collect();
    let named = |line: &&str| line.split(':').nth(3) == Some(gid.to_string().as_str());
    found.extend(
        users
            .lines()
            .filter(named)
            .filter_map(|line| line.split(':').nth(2)?.parse::<u32>().ok()),
    );
    !found.is_empty() && found.iter().all(|member| *member == uid)
}

/// The pairs of a group and a member in the table of groups.
pub fn members(groups: &str, users: &str) -> Vec<(u32, u32)> {
    let ids: BTreeMap<&str, u32> = users
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            Some((fields.next()?, fields.nth(1)?.parse().ok()?))
        })
        .collect();
    let mut out = Vec::new();
    for line in groups.lines() {
        let mut fields = line.split(':').skip(2);
        let Some(gid) = fields.next().and_then(|gid| gid.parse::<u32>().ok()) else {
            continue;
        };
        let names = fields.next().unwrap_or("").split(',');
        out.extend(names.filter_map(|name| Some((gid, *ids.get(name)?))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_ours_alone_if_nobody_else_is_in_it() {
        let groups = "ann:x:70:\nbob:x:71:ann\nteam:x:72:ann,bob\nours:x:73:ann\nempty:x:74:\n";
        let users = "ann:x:70:70::/:\nbob:x:71:71::/:\n";
        for (gid, alone) in [
            (70, true),
            (71, false),
            (72, false),
            (73, true),
            (74, false),
            (75, false),
        ] {
            assert_eq!(only_member(70, gid, groups, users), alone, "{gid}");
        }
    }
}
