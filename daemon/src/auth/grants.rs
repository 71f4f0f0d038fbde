//! Access by the Unix socket: the grants of the configuration, with the members of groups.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use amem_store::Readers;

use super::{Rights, Role};
use crate::config::Grants;
use amem_host::users::{is_own, members};

/// The grants for a brain, or for all, with the members of the groups.
#[derive(Debug, Clone)]
struct BrainGrants {
    brain: Option<String>,
    grants: Grants,
    /// Users who are members of a granted group by `/etc/group`.
    members: BTreeMap<u32, Role>,
}

/// All grants.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccessControl {
    granted: Vec<BrainGrants>,
    /// Groups that read files of brains directly.
    readers: Readers,
    /// The groups of readers and their members by `/etc/group`.
    reading: BTreeSet<(u32, u32)>,
}

impl BrainGrants {
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

impl AccessControl {
    /// Looks up the members of the groups in `/etc/passwd` and `/etc/group`.
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
                .map(|(brain, grants)| BrainGrants::new(brain, grants, &in_groups))
                .collect(),
            readers,
        }
    }

    /// The groups that read files of brains directly.
    pub(crate) fn readers(&self) -> &Readers {
        &self.readers
    }

    /// True if a user, with its primary group, may read a brain's file.
    pub(crate) fn may_read_file(&self, (uid, gid): (u32, u32), brain: &str) -> bool {
        let in_group = |group| group == gid || self.reading.contains(&(group, uid));
        is_own(uid) || self.readers.of(brain).is_some_and(in_group)
    }

    /// The rights of a user with this primary group.
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
            AccessControl::default().rights(ours, 0),
            Rights::with_all(Role::Admin)
        );
        assert_eq!(AccessControl::default().rights(other, 0), Rights::default());
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
        let access = AccessControl::by(grants, brains, readers, groups, &users);
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
