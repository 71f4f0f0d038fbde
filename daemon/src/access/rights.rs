//! What somebody may do: with all brains, and with some.

use std::collections::BTreeMap;

use super::Role;

/// What somebody may do: the role for all brains or the one for a brain, whichever is higher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rights {
    all: Option<Role>,
    brains: BTreeMap<String, Role>,
}

impl Rights {
    /// The same with all brains.
    pub(crate) fn with_all(role: Role) -> Self {
        Self {
            all: Some(role),
            brains: BTreeMap::new(),
        }
    }

    /// The same with these; with all if none is named.
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

    /// What they are with a brain; `None`: it is not for them to know whether there is one.
    pub(crate) fn of(&self, brain: &str) -> Option<Role> {
        self.all.max(self.brains.get(brain).copied())
    }

    /// What they are with all brains, those that are not there yet included.
    pub(crate) fn of_all(&self) -> Option<Role> {
        self.all
    }

    /// The most that they are with any.
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
}
