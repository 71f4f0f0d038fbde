//! What a request requires of its caller and of the daemon; for a call, from the table of `amem_proto::calls`.
//!
//! Promises: a call that is not in the table cannot be made.

use amem_proto::calls::{self, Call};
pub(crate) use amem_proto::calls::{CallReach, Pace};
use amem_proto::v1::Permission;

use crate::auth::{Caller, Role};
use crate::limits::{BATCH_BYTES_MAX, MESSAGE_BYTES_MAX};
use crate::refusal::Result;

/// Bytes of what wraps a batch in a message.
const BATCH_WRAPPER_BYTES: usize = 1024;

/// What a request requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// The role of the caller, and over which brains; `None` if the request is open to every peer of its listener.
    pub(crate) role: Option<(Role, CallReach)>,
    pub(crate) pace: Pace,
    /// True if the request has a request_id, so that a retry is executed once.
    pub(crate) is_repeatable: bool,
    /// True if it changes rights: its caller gets the answer even if it loses its own.
    pub(crate) changes_access: bool,
    /// True if a caller whose token has a scope may make it: the request is put within the scope, or is about no brain.
    pub(crate) is_scoped: bool,
    /// Bytes of the body, at most; of a stream, bytes of a message.
    pub(crate) request_bytes_max: u64,
}

impl From<&Call> for Requirement {
    fn from(call: &Call) -> Self {
        let role = match call.permission {
            Permission::Read => Role::Read,
            Permission::Write => Role::Write,
            // The build refuses a call without a role.
            Permission::Admin | Permission::Unspecified => Role::Admin,
        };
        let bytes_max = if call.is_batch {
            BATCH_BYTES_MAX + BATCH_WRAPPER_BYTES
        } else {
            MESSAGE_BYTES_MAX
        };
        Self {
            role: Some((role, call.reach)),
            pace: call.pace,
            is_repeatable: call.is_repeatable,
            changes_access: call.changes_access,
            is_scoped: call.service == FACT_SERVICE,
            request_bytes_max: bytes_max as u64,
        }
    }
}

/// The service whose requests are put within the scope of a token, by `Gateway::fact_as`.
const FACT_SERVICE: &str = "FactService";

/// Services of gRPC itself: service, method (`*`: every other one), pace.
const GRPC: [(&str, &str, Pace); 4] = [
    ("grpc.health.v1.Health", "Watch", Pace::Stream),
    ("grpc.health.v1.Health", "*", Pace::Call),
    ("grpc.reflection.v1.ServerReflection", "*", Pace::Stream),
    (
        "grpc.reflection.v1alpha.ServerReflection",
        "*",
        Pace::Stream,
    ),
];

impl Requirement {
    /// The requirement of a request without a body that is open to every peer of its listener.
    pub(crate) const OPEN: Self = Self {
        role: None,
        pace: Pace::Call,
        is_repeatable: false,
        changes_access: false,
        is_scoped: true,
        request_bytes_max: 0,
    };

    /// The requirement of the call of this path; `None` if there is no such call.
    pub(crate) fn of_call(path: &str) -> Option<Self> {
        if let Some(call) = calls::call(path) {
            return Some(call.into());
        }
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let row = GRPC
            .iter()
            .find(|row| row.0 == service && (row.1 == method || row.1 == "*"))?;
        Some(Self {
            role: Some((Role::Read, CallReach::Named)),
            pace: row.2,
            is_repeatable: false,
            changes_access: false,
            is_scoped: true,
            request_bytes_max: MESSAGE_BYTES_MAX as u64,
        })
    }

    /// Checks the scope of the caller's token, and the role. Over named brains each brain is checked again when the
    /// call looks it up.
    pub(super) fn check(&self, caller: &Caller) -> Result<()> {
        if !self.is_scoped {
            caller.check_unscoped()?;
        }
        match self.role {
            None => Ok(()),
            Some((role, CallReach::Named)) => caller.check_any(role),
            Some((role, CallReach::All)) => caller.check_all(role),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_call_has_its_requirement() {
        for method in crate::ingress::methods::all() {
            let requirement =
                Requirement::of_call(&method.path).unwrap_or_else(|| panic!("{}", method.path));
            assert!(
                !method.streams || requirement.pace == Pace::Stream,
                "{}",
                method.path
            );
        }
        for (path, repeatable, changes_access) in [
            ("/amem.v1.MemoryService/Ingest", true, false),
            ("/amem.v1.MemoryService/IngestStream", true, false),
            ("/amem.v1.BrainService/MergeBrain", true, false),
            ("/amem.v1.MemoryService/Subscribe", false, false),
            ("/amem.v1.AdminService/Reload", false, true),
        ] {
            let requirement = Requirement::of_call(path).unwrap();
            assert_eq!(
                (requirement.is_repeatable, requirement.changes_access),
                (repeatable, changes_access),
                "{path}"
            );
        }
    }

    #[test]
    fn a_token_with_a_scope_makes_calls_of_facts_and_of_health_only() {
        for method in crate::ingress::methods::all() {
            let requirement = Requirement::of_call(&method.path).unwrap();
            let is_scoped = ["/amem.v1.FactService/", "/grpc.health.v1.Health/"]
                .iter()
                .any(|service| method.path.starts_with(service));
            assert_eq!(requirement.is_scoped, is_scoped, "{}", method.path);
        }
    }

    #[test]
    fn calls_require_the_role_for_what_they_do() {
        for (path, role) in [
            ("/amem.v1.BrainService/RemoveBrain", Some(Role::Admin)),
            ("/amem.v1.MemoryService/Ingest", Some(Role::Write)),
            ("/amem.v1.MemoryService/Subscribe", Some(Role::Read)),
            ("/amem.v1.QueryService/Search", Some(Role::Read)),
            ("/amem.v1.AdminService/Shutdown", Some(Role::Admin)),
            ("/amem.v1.AdminService/Unheard", None),
            ("/other.Service/Method", None),
            ("nonsense", None),
            ("/", None),
        ] {
            let requirement = Requirement::of_call(path);
            let needed = requirement.and_then(|requirement| Some(requirement.role?.0));
            assert_eq!(needed, role, "{path}");
        }
        assert!(Role::Read < Role::Write && Role::Write < Role::Admin);
    }
}
