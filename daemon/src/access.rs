//! Who may do what: roles, who has which, and the role that each call needs.
//!
//! Promises: our own user may do everything, others only what the configuration grants them; a call that is not in
//! the table can't be made. Not here: how a caller is known (`door`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::str::FromStr;

use amem_store::Readers;

use crate::limits::{BATCH_BYTES_MAX, MESSAGE_BYTES_MAX};

/// What a caller may do; each includes the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Ask.
    Read,
    /// Change brains.
    Write,
    /// Remove brains, and steer the daemon.
    Admin,
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        })
    }
}

impl FromStr for Role {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            "admin" => Ok(Self::Admin),
            _ => Err("a role is read, write or admin"),
        }
    }
}

/// Who calls. Every request carries it among its extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// As commits name it: `uid:1000`, `token:laptop`, `certificate:4f2a…`.
    pub(crate) principal: String,
    /// What it may do.
    pub(crate) role: Role,
    /// The user and the group at the other end of the Unix socket.
    pub(crate) user: Option<(u32, u32)>,
}

/// What others than our own user may do through the Unix socket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// By user id.
    pub users: BTreeMap<u32, Role>,
    /// By group id.
    pub groups: BTreeMap<u32, Role>,
}

/// The grants with the members of each group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    grants: Grants,
    /// Users who belong to a granted group by the machine's table of groups.
    members: BTreeMap<u32, Role>,
    /// Groups that may read files of brains directly.
    readers: Readers,
    /// Who is in them by the same table: groups and users.
    reading: BTreeSet<(u32, u32)>,
}

impl Access {
    /// Looks up who is in the groups. The tables are those of the machine: `/etc/passwd` and `/etc/group`.
    pub(crate) fn new(grants: Grants, readers: Readers) -> Self {
        let table = |path| fs::read_to_string(path).unwrap_or_default();
        if grants.groups.is_empty() && readers == Readers::default() {
            return Self {
                grants,
                ..Self::default()
            };
        }
        Self::by(grants, readers, &table("/etc/group"), &table("/etc/passwd"))
    }

    fn by(grants: Grants, readers: Readers, groups: &str, users: &str) -> Self {
        let reading = readers.brains.values().copied().chain(readers.others);
        let reading: BTreeSet<u32> = reading.collect();
        let mut access = Self {
            grants,
            readers,
            ..Self::default()
        };
        for (group, user) in members(groups, users) {
            if let Some(role) = access.grants.groups.get(&group) {
                let held = access.members.entry(user).or_insert(*role);
                *held = (*held).max(*role);
            }
            if reading.contains(&group) {
                access.reading.insert((group, user));
            }
        }
        access
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

    /// What a user may do whose first group is this one; `None` if nothing.
    pub(crate) fn role(&self, uid: u32, gid: u32) -> Option<Role> {
        if is_own(uid) {
            return Some(Role::Admin);
        }
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

/// True if this is the user that the daemon runs as.
pub(crate) fn is_own(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw()
}

/// True if this process is in a group, or may do as if it were.
pub(crate) fn is_in_group(group: u32) -> bool {
    let others = rustix::process::getgroups().unwrap_or_default();
    rustix::process::geteuid().is_root()
        || rustix::process::getegid().as_raw() == group
        || others.iter().any(|other| other.as_raw() == group)
}

/// True if by the tables of this machine nobody but our own user is in a group.
pub(crate) fn is_own_group(gid: u32) -> bool {
    let table = |path| fs::read_to_string(path).unwrap_or_default();
    let ours = rustix::process::geteuid().as_raw();
    only_member(ours, gid, &table("/etc/group"), &table("/etc/passwd"))
}

/// True if it is the first group of this user alone, and nobody else is in it.
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

/// The users that the table of groups puts into each: pairs of a group and a user.
fn members(groups: &str, users: &str) -> Vec<(u32, u32)> {
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

/// What a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The role.
    pub(crate) role: Role,
    /// How long it takes.
    pub(crate) pace: Pace,
    /// True if its request has a request_id: then it can be made again, and is done once.
    pub(crate) is_repeatable: bool,
    /// Bytes of a message of it.
    pub(crate) message_bytes_max: usize,
}

const MEMORY: &str = "amem.v1.MemoryService";

/// Service, method (`*`: every other one), role, pace.
const TABLE: [(&str, &str, Role, Pace); 33] = {
    use Pace::{Call, Long, Stream};
    use Role::{Admin, Read, Write};
    const BRAIN: &str = "amem.v1.BrainService";
    const ADMIN: &str = "amem.v1.AdminService";
    [
        (BRAIN, "CreateBrain", Write, Call),
        (BRAIN, "GetBrain", Read, Call),
        (BRAIN, "OpenBrain", Read, Call),
        (BRAIN, "ListBrains", Read, Call),
        (BRAIN, "VerifyBrain", Read, Long),
        (BRAIN, "ExportBrain", Read, Stream),
        (BRAIN, "CheckpointBrain", Write, Long),
        (BRAIN, "ImportBrain", Write, Stream),
        (BRAIN, "MergeBrain", Write, Stream),
        (BRAIN, "RemoveBrain", Admin, Call),
        (MEMORY, "Subscribe", Read, Stream),
        (MEMORY, "IngestStream", Write, Stream),
        (MEMORY, "Erase", Write, Long),
        (MEMORY, "Decay", Write, Long),
        (MEMORY, "*", Write, Call),
        ("amem.v1.QueryService", "*", Read, Call),
        (ADMIN, "GetStatus", Read, Call),
        (ADMIN, "ListProblems", Read, Call),
        (ADMIN, "ListLatencies", Read, Call),
        (ADMIN, "ListJobs", Read, Call),
        (ADMIN, "ListSchedules", Read, Call),
        (ADMIN, "RunJob", Write, Long),
        (ADMIN, "ListKeptFiles", Read, Call),
        (ADMIN, "ResolveKeptFile", Admin, Long),
        (ADMIN, "Reload", Admin, Call),
        (ADMIN, "CreateToken", Admin, Call),
        (ADMIN, "ListTokens", Admin, Call),
        (ADMIN, "RevokeToken", Admin, Call),
        (ADMIN, "Shutdown", Admin, Call),
        ("grpc.health.v1.Health", "Watch", Read, Stream),
        ("grpc.health.v1.Health", "*", Read, Call),
        ("grpc.reflection.v1.ServerReflection", "*", Read, Stream),
        (
            "grpc.reflection.v1alpha.ServerReflection",
            "*",
            Read,
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
            pace: row.3,
            is_repeatable: row.0 == MEMORY && row.2 == Role::Write,
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

    #[test]
    fn others_may_do_what_they_are_granted_and_the_most_of_it() {
        let ours = rustix::process::geteuid().as_raw();
        let (other, third) = (ours + 1, ours + 2);
        assert_eq!(Access::default().role(ours, 0), Some(Role::Admin));
        assert_eq!(Access::default().role(other, 0), None);
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
        let access = Access::by(grants, readers, groups, &users);
        assert_eq!(access.role(other, 1), Some(Role::Read));
        assert_eq!(access.role(other, 50), Some(Role::Write));
        assert_eq!(access.role(third, 1), Some(Role::Write));
        assert_eq!(access.role(ours + 3, 1), None);
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
