//! What the configuration grants others than our own user.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use amem_store::Readers;

use super::{Rights, Role};
use crate::config::Grants;
use crate::os::users::{is_own, members};

/// The grants for a brain, or for all, with the members of each group.
#[derive(Debug, Clone)]
struct Granted {
    brain: Option<String>,
    grants: Grants,
    /// Users who belong to a granted group by the machine's table of groups.
    members: BTreeMap<u32, Role>,
}

/// All that is granted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    granted: Vec<Granted>,
    /// Groups that may read files of brains directly.
    readers: Readers,
    /// Who is in them by the machine's table of groups: groups and users.
    reading: BTreeSet<(u32, u32)>,
}

impl Granted {
    fn new(brain: Option<String>, grants: Grants, in_groups: &[(u32, u32)]) -> Self {
        let mut held = BTreeMap::new();
        for (group, user) in in_groups {
            if let Some(role) = grants.groups.get(group) {
                let held = held.entry(*user).or_insert(*role);
                *held = (*held).max(*role);
            }
        }
        Self {
            brain,
            grants,
            members: held,
        }
    }

    fn role(&self, uid: u32, gid: u32) -> Option<Role> {
        [
            self.grants.users.get(&uid),
            self.grants.groups.get(&gid),
            self.members.get(&uid),
        ]
        .into_iter()
        .flatten()
        .max()
        .copied()
    }
}

impl Access {
    /// Looks up who is in the groups. The tables are those of the machine: `/etc/passwd` and `/etc/group`.
    pub(crate) fn new(grants: Grants, brains: BTreeMap<String, Grants>, readers: Readers) -> Self {
        let table = |path| fs::read_to_string(path).unwrap_or_default();
        let groups = table("/etc/group");
        Self::by(grants, brains, readers, &groups, &table("/etc/passwd"))
    }

    fn by(
        grants: Grants,
        brains: BTreeMap<String, Grants>,
        readers: Readers,
        groups: &str,
        users: &str,
    ) -> Self {
        let reads: BTreeSet<u32> = readers
            .brains
            .values()
            .copied()
            .chain(readers.others)
            .collect();
        let in_groups = members(groups, users);
        let reading = in_groups.iter().filter(|(group, _)| reads.contains(group));
        let each = brains
            .into_iter()
            .map(|(brain, grants)| (Some(brain), grants));
        Self {
            reading: reading.copied().collect(),
            granted: std::iter::once((None, grants))
                .chain(each)
                .map(|(brain, grants)| Granted::new(brain, grants, &in_groups))
                .collect(),
            readers,
        }
    }

    /// Who may read files of brains directly.
    pub(crate) fn readers(&self) -> &Readers {
        &self.readers
    }

    /// True if a user whose first group it is may read a brain's file.
    pub(crate) fn may_read_file(&self, (uid, gid): (u32, u32), brain: &str) -> bool {
        let in_group = |group| group == gid || self.reading.contains(&(group, uid));
        is_own(uid) || self.readers.of(brain).is_some_and(in_group)
    }

    /// What a user may do whose first group is this one.
    pub(crate) fn rights(&self, uid: u32, gid: u32) -> Rights {
        if is_own(uid) {
            return Rights::with_all(Role::Admin);
        }
        let mut rights = Rights::default();
        for granted in &self.granted {
            if let Some(role) = granted.role(uid, gid) {
                rights.add(granted.brain.as_deref(), role);
            }
        }
        rights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_may_do_what_they_are_granted_and_the_most_of_it() {
        let ours = rustix::process::geteuid().as_raw();
        let (other, third) = (ours + 1, ours + 2);
        assert_eq!(
            Access::default().rights(ours, 0),
            Rights::with_all(Role::Admin)
        );
        assert_eq!(Access::default().rights(other, 0), Rights::default());
        let grants = Grants {
            users: [(other, Role::Read)].into(),
            groups: [(50, Role::Write)].into(),
        };
        let groups = "x:*:49:ann\nstaff:*:50:bob,ann\n";
        let users = format!("ann:x:{third}:50::/:\nbob:x:bad:1::/:\n");
        let readers = Readers {
            brains: [("work".to_owned(), 49)].into(),
            others: Some(60),
        };
        let notes = Grants {
            users: [(other, Role::Write)].into(),
            groups: [(49, Role::Admin)].into(),
        };
        let brains = [("notes".to_owned(), notes)].into();
        let access = Access::by(grants, brains, readers, groups, &users);
        for (uid, gid, all, of_notes) in [
            (other, 1, Some(Role::Read), Some(Role::Write)),
            (other, 50, Some(Role::Write), Some(Role::Write)),
            (third, 1, Some(Role::Write), Some(Role::Admin)),
            (ours + 3, 49, None, Some(Role::Admin)),
            (ours + 3, 1, None, None),
            (ours, 1, Some(Role::Admin), Some(Role::Admin)),
        ] {
            let rights = access.rights(uid, gid);
            assert_eq!(
                (rights.of_all(), rights.of("notes")),
                (all, of_notes),
                "{uid} {gid}"
            );
        }
        for (user, brain, may) in [
            ((third, 1), "work", true),
            ((third, 1), "home", false),
            ((other, 49), "work", true),
            ((other, 50), "work", false),
            ((other, 60), "home", true),
            ((other, 60), "work", false),
            ((ours, 1), "home", true),
        ] {
            assert_eq!(access.may_read_file(user, brain), may, "{user:?} {brain}");
        }
    }
}
