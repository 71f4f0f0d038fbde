//! Rights: roles for all brains, and for single ones.

use std::collections::BTreeMap;

use super::Role;

/// The roles of a caller. For a brain the higher one counts: that for all brains, or that for the brain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rights {
    all: Option<Role>,
    brains: BTreeMap<String, Role>,
}

impl Rights {
    /// One role for all brains.
    pub(crate) fn with_all(role: Role) -> Self {
        Self {
            all: Some(role),
            brains: BTreeMap::new(),
        }
    }

    /// One role for each of these brains; for all if the list is empty.
    pub(crate) fn with_each(role: Role, brains: &[String]) -> Self {
        if brains.is_empty() {
            return Self::with_all(role);
        }
        let each = brains.iter().map(|brain| (brain.clone(), role));
        Self {
            all: None,
            brains: each.collect(),
        }
    }

    /// Adds a role for a brain, or for all.
    pub(crate) fn add(&mut self, brain: Option<&str>, role: Role) {
        let Some(brain) = brain else {
            self.all = self.all.max(Some(role));
            return;
        };
        let held = self.brains.entry(brain.to_owned()).or_insert(role);
        *held = (*held).max(role);
    }

    /// The role for a brain; `None`: the caller must not learn whether the brain exists.
    pub(crate) fn of(&self, brain: &str) -> Option<Role> {
        self.all.max(self.brains.get(brain).copied())
    }

    /// True if `others` include all of these rights.
    pub(crate) fn are_within(&self, others: &Self) -> bool {
        let is_within = |(brain, role): (&String, &Role)| others.of(brain) >= Some(*role);
        others.all >= self.all && self.brains.iter().all(is_within)
    }

    /// The role for all brains, future ones included.
    pub(crate) fn of_all(&self) -> Option<Role> {
        self.all
    }

    /// The highest role for any brain.
    pub(crate) fn most(&self) -> Option<Role> {
        self.all.max(self.brains.values().max().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_higher_of_the_role_for_all_and_that_for_the_brain_counts() {
        let mut rights = Rights::default();
        assert_eq!((rights.most(), rights.of("a")), (None, None));
        rights.add(Some("a"), Role::Write);
        rights.add(Some("a"), Role::Read);
        assert_eq!(rights.of("a"), Some(Role::Write));
        assert_eq!((rights.of("b"), rights.of_all()), (None, None));
        rights.add(None, Role::Read);
        assert_eq!(
            (rights.of("a"), rights.of("b")),
            (Some(Role::Write), Some(Role::Read))
        );
        assert_eq!(
            (rights.most(), rights.of_all()),
            (Some(Role::Write), Some(Role::Read))
        );
        rights.add(None, Role::Admin);
        assert_eq!(rights.of("a"), Some(Role::Admin));
        assert_eq!(
            Rights::with_each(Role::Read, &[]),
            Rights::with_all(Role::Read)
        );
        let each = Rights::with_each(Role::Admin, &["a".to_owned()]);
        assert_eq!((each.of("a"), each.of("b")), (Some(Role::Admin), None));
    }

    #[test]
    fn rights_are_within_those_that_are_as_high_for_all_brains_and_for_each() {
        let all = Rights::with_all;
        let of = |role, brain: &str| Rights::with_each(role, &[brain.to_owned()]);
        for (one, other, within) in [
            (Rights::default(), Rights::default(), true),
            (Rights::default(), of(Role::Read, "a"), true),
            (of(Role::Read, "a"), Rights::default(), false),
            (of(Role::Read, "a"), of(Role::Write, "a"), true),
            (of(Role::Write, "a"), of(Role::Read, "a"), false),
            (of(Role::Read, "a"), of(Role::Admin, "b"), false),
            (of(Role::Write, "a"), all(Role::Write), true),
            (of(Role::Write, "a"), all(Role::Read), false),
            (all(Role::Read), of(Role::Admin, "a"), false),
            (all(Role::Read), all(Role::Admin), true),
        ] {
            assert_eq!(one.are_within(&other), within, "{one:?} {other:?}");
        }
    }
}
