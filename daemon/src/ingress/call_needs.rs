//! What each call needs, from the table of `amem_proto::calls`.

use amem_proto::calls::{self, Call};
pub(crate) use amem_proto::calls::{Pace, Reach as Over};
use amem_proto::v1::Permission;

use crate::auth::Role;
use crate::limits::{BATCH_BYTES_MAX, MESSAGE_BYTES_MAX};

/// What a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The role.
    pub(crate) role: Role,
    /// For which brains.
    pub(crate) over: Over,
    /// How long it takes.
    pub(crate) pace: Pace,
    /// True if its request has a request_id: then it can be made again, and is done once.
    pub(crate) is_repeatable: bool,
    /// True if it changes who may do what: its caller is told what came of that, whatever it may do then.
    pub(crate) changes_access: bool,
    /// Bytes of a message of it.
    pub(crate) message_bytes_max: usize,
}

impl From<&Call> for Needs {
    fn from(call: &Call) -> Self {
        Self {
            role: match call.permission {
                Permission::Read => Role::Read,
                Permission::Write => Role::Write,
                // The build refuses a call without a role.
                Permission::Admin | Permission::Unspecified => Role::Admin,
            },
            over: call.reach,
            pace: call.pace,
            is_repeatable: call.is_repeatable,
            changes_access: call.changes_access,
            // A batch with what wraps it.
            message_bytes_max: if call.is_batch {
                BATCH_BYTES_MAX + 1024
            } else {
                MESSAGE_BYTES_MAX
            },
        }
    }
}

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

/// What the call of this path needs; `None` if there is no such call.
pub(crate) fn needs(path: &str) -> Option<Needs> {
    if let Some(call) = calls::call(path) {
        return Some(call.into());
    }
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let row = GRPC
        .iter()
        .find(|row| row.0 == service && (row.1 == method || row.1 == "*"))?;
    Some(Needs {
        role: Role::Read,
        over: Over::Named,
        pace: row.2,
        is_repeatable: false,
        changes_access: false,
        message_bytes_max: MESSAGE_BYTES_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_call_has_its_needs() {
        for method in crate::ingress::methods::all() {
            let needs = needs(&method.path).unwrap_or_else(|| panic!("{}", method.path));
            assert!(
                !method.streams || needs.pace == Pace::Stream,
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
            let needs = needs(path).unwrap();
            assert_eq!(
                (needs.is_repeatable, needs.changes_access),
                (repeatable, changes_access),
                "{path}"
            );
        }
    }

    #[test]
    fn calls_need_what_they_do() {
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
            assert_eq!(needs(path).map(|needs| needs.role), role, "{path}");
        }
        assert!(Role::Read < Role::Write && Role::Write < Role::Admin);
    }
}
