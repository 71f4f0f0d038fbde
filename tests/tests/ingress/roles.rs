//! Every call, as a reader and as a writer: refused unless it is listed here.

use amem_client::v1;
use tonic::Code;

use crate::visibility::{MINE, channel, daemon};
use crate::walk::{self, Outcome};

/// Calls that change nothing. A new call is refused to readers, or it is one of these.
const READ: [&str; 49] = [
    "/amem.v1.AdminService/GetStatus",
    "/amem.v1.AdminService/ListJobs",
    "/amem.v1.AdminService/ListKeptFiles",
    "/amem.v1.AdminService/ListLatencies",
    "/amem.v1.AdminService/ListProblems",
    "/amem.v1.AdminService/ListSchedules",
    "/amem.v1.BrainService/ExportBrain",
    "/amem.v1.BrainService/GetBrain",
    "/amem.v1.BrainService/ListBrains",
    "/amem.v1.BrainService/OpenBrain",
    "/amem.v1.BrainService/VerifyBrain",
    "/amem.v1.FactService/ExportFacts",
    "/amem.v1.FactService/GetEntity",
    "/amem.v1.FactService/GetFact",
    "/amem.v1.FactService/GetFactHistory",
    "/amem.v1.FactService/ListEntities",
    "/amem.v1.FactService/ListFactConflicts",
    "/amem.v1.FactService/ListFactScopes",
    "/amem.v1.FactService/ListFacts",
    "/amem.v1.FactService/ListPendingFacts",
    "/amem.v1.FactService/ListRelations",
    "/amem.v1.FactService/Recall",
    "/amem.v1.FactService/SearchFacts",
    "/amem.v1.HookService/ListGiven",
    "/amem.v1.ItemService/GetItem",
    "/amem.v1.ItemService/ListItemNamespaces",
    "/amem.v1.ItemService/SearchItems",
    "/amem.v1.MemoryService/Subscribe",
    "/amem.v1.QueryService/Context",
    "/amem.v1.QueryService/GetEvents",
    "/amem.v1.QueryService/GetSession",
    "/amem.v1.QueryService/Impact",
    "/amem.v1.QueryService/ListConflicts",
    "/amem.v1.QueryService/ListSessions",
    "/amem.v1.QueryService/Path",
    "/amem.v1.QueryService/Pattern",
    "/amem.v1.QueryService/Pipeline",
    "/amem.v1.QueryService/Resolve",
    "/amem.v1.QueryService/Search",
    "/amem.v1.QueryService/Similar",
    "/amem.v1.QueryService/Text",
    "/amem.v1.QueryService/Timeline",
    "/amem.v1.QueryService/Traverse",
    "/amem.v1.QueryService/Why",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/List",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// What only an administrator may do.
const ADMIN: [&str; 8] = [
    "/amem.v1.AdminService/CreateToken",
    "/amem.v1.AdminService/ListTokens",
    "/amem.v1.AdminService/Reload",
    "/amem.v1.AdminService/ResolveKeptFile",
    "/amem.v1.AdminService/RevokeToken",
    "/amem.v1.AdminService/Shutdown",
    "/amem.v1.BrainService/ReembedBrain",
    "/amem.v1.BrainService/RemoveBrain",
];

#[tokio::test]
async fn each_call_is_refused_to_callers_without_its_role() {
    let (daemon, _admin) = daemon().await;
    let channel = channel(&daemon).await;
    let reads = daemon.token_of("reads", v1::Permission::Read).await;
    let reads_mine = daemon
        .token_for("reads-mine", v1::Permission::Read, &[MINE])
        .await;
    let writes = daemon.token_of("writes", v1::Permission::Write).await;
    let calls = walk::calls();
    for path in READ.iter().chain(&ADMIN) {
        assert!(calls.iter().any(|call| call == path), "{path} is no call");
    }
    for path in &calls {
        let may_read = READ.contains(&path.as_str());
        let may_write = !ADMIN.contains(&path.as_str());
        for (token, may) in [
            (&reads, may_read),
            (&reads_mine, may_read),
            (&writes, may_write),
        ] {
            if may {
                continue;
            }
            let told = walk::call(&channel, token, path, Vec::new(), "-").await;
            let Outcome::Refused(code, reason, words) = &told else {
                panic!("{path} was done: {told:?}")
            };
            let is_refused = (*code, reason.as_str()) == (Code::PermissionDenied, "ROLE");
            assert!(is_refused, "{path}: {code:?} {reason} {words}");
        }
    }
}
