//! What each call needs: the one table.

use super::Role;
use crate::limits::{BATCH_BYTES_MAX, MESSAGE_BYTES_MAX};

/// How long a call takes by its nature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It is answered soon.
    Call,
    /// It works through a whole brain: only the largest deadline is set unless the caller sets one.
    Long,
    /// The caller sends for as long as it likes: no deadline but its own.
    Stream,
}

/// For which brains a caller needs a call's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// For each that the call names or shows: it has them from `brains::seen`, or filters what it shows.
    Named,
    /// For all, those that are not there yet included.
    All,
}

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

const MEMORY: &str = "amem.v1.MemoryService";

/// Service, method (`*`: every other one), role, for which brains, pace.
const TABLE: [(&str, &str, Role, Over, Pace); 33] = {
    use Over::{All, Named};
    use Pace::{Call, Long, Stream};
    use Role::{Admin, Read, Write};
    const BRAIN: &str = "amem.v1.BrainService";
    const ADMIN: &str = "amem.v1.AdminService";
    [
        (BRAIN, "CreateBrain", Write, All, Call),
        (BRAIN, "GetBrain", Read, Named, Call),
        (BRAIN, "OpenBrain", Read, Named, Call),
        (BRAIN, "ListBrains", Read, Named, Call),
        (BRAIN, "VerifyBrain", Read, Named, Long),
        (BRAIN, "ExportBrain", Read, Named, Stream),
        (BRAIN, "CheckpointBrain", Write, Named, Long),
        (BRAIN, "ImportBrain", Write, All, Stream),
        (BRAIN, "MergeBrain", Write, Named, Stream),
        (BRAIN, "RemoveBrain", Admin, Named, Call),
        (MEMORY, "Subscribe", Read, Named, Stream),
        (MEMORY, "IngestStream", Write, Named, Stream),
        (MEMORY, "Erase", Write, Named, Long),
        (MEMORY, "Decay", Write, Named, Long),
        (MEMORY, "*", Write, Named, Call),
        ("amem.v1.QueryService", "*", Read, Named, Call),
        (ADMIN, "GetStatus", Read, Named, Call),
        (ADMIN, "ListProblems", Read, Named, Call),
        (ADMIN, "ListLatencies", Read, Named, Call),
        (ADMIN, "ListJobs", Read, Named, Call),
        (ADMIN, "ListSchedules", Read, Named, Call),
        (ADMIN, "RunJob", Write, Named, Long),
        (ADMIN, "ListKeptFiles", Read, Named, Call),
        (ADMIN, "ResolveKeptFile", Admin, Named, Long),
        (ADMIN, "Reload", Admin, All, Call),
        (ADMIN, "CreateToken", Admin, All, Call),
        (ADMIN, "ListTokens", Admin, All, Call),
        (ADMIN, "RevokeToken", Admin, All, Call),
        (ADMIN, "Shutdown", Admin, All, Call),
        ("grpc.health.v1.Health", "Watch", Read, Named, Stream),
        ("grpc.health.v1.Health", "*", Read, Named, Call),
        (
            "grpc.reflection.v1.ServerReflection",
            "*",
            Read,
            Named,
            Stream,
        ),
        (
            "grpc.reflection.v1alpha.ServerReflection",
            "*",
            Read,
            Named,
            Stream,
        ),
    ]
};

/// What the call of this path needs; `None` if there is no such call.
pub(crate) fn needs(path: &str) -> Option<Needs> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    TABLE
        .iter()
        .find(|row| row.0 == service && (row.1 == method || row.1 == "*"))
        .map(|row| Needs {
            role: row.2,
            over: row.3,
            pace: row.4,
            is_repeatable: row.0 == MEMORY && row.2 == Role::Write || row.1 == "MergeBrain",
            changes_access: matches!(row.1, "Reload" | "RevokeToken"),
            message_bytes_max: match (row.0, row.1) {
                // A batch with what is around it.
                (MEMORY, "IngestStream") => BATCH_BYTES_MAX + 1024,
                _ => MESSAGE_BYTES_MAX,
            },
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use prost_types::FileDescriptorSet;

    /// Every method of the services we serve: its path, and whether the caller sends a stream.
    fn methods() -> Vec<(String, bool)> {
        let sets = [
            amem_proto::v1::DESCRIPTORS,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
        ];
        let mut out = Vec::new();
        for set in sets {
            for file in FileDescriptorSet::decode(set).unwrap().file {
                for service in &file.service {
                    for method in &service.method {
                        let path =
                            format!("/{}.{}/{}", file.package(), service.name(), method.name());
                        out.push((path, method.client_streaming()));
                    }
                }
            }
        }
        out
    }

    #[test]
    fn every_call_has_a_role_and_those_with_a_stream_of_requests_no_deadline() {
        let methods = methods();
        assert!(methods.len() > 20);
        for (path, streams) in &methods {
            let needs = needs(path).unwrap_or_else(|| panic!("{path} needs a row in the table"));
            assert!(
                !streams || needs.pace == Pace::Stream,
                "{path} has a deadline"
            );
        }
    }

    #[test]
    fn every_row_of_the_table_is_of_a_call_that_there_is() {
        let methods = methods();
        for (service, method, ..) in TABLE {
            if service.starts_with("grpc.reflection.") {
                continue;
            }
            let is_there = methods.iter().any(|(path, _)| {
                let (of, name) = path[1..].split_once('/').unwrap();
                of == service && (method == "*" || name == method)
            });
            assert!(is_there, "{service}/{method}");
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
