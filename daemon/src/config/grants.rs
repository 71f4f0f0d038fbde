//! The roles that the configuration grants.

use std::collections::BTreeMap;

use super::role::Role;

/// The roles of users other than the daemon's own by the Unix socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// By user id.
    pub users: BTreeMap<u32, Role>,
    /// By group id.
    pub groups: BTreeMap<u32, Role>,
}
