//! Maps refusals, by the daemon or by a query on a file, to failures with remedies.
//!
//! The reason decides if there is one, else the gRPC code. The code of a failure is the reason in lower case.

use amem_client::Code;
use amem_client::Refusal;

use crate::exit::Exit;
use crate::failure::Failure;

/// Reason, code, exit, remedy.
const BY_REASON: &[(&str, &str, Exit, &str)] = &[
    (
        "UNKNOWN_BRAIN",
        "unknown_brain",
        Exit::NotFound,
        "`amemctl brain ls` lists the brains, `amemctl brain create NAME` creates one",
    ),
    (
        "EMBEDDER",
        "embedder",
        Exit::Unavailable,
        "`amemctl models check` calls each model of the file of models once",
    ),
    (
        "NO_EMBEDDER",
        "no_embedder",
        Exit::Usage,
        "docs/models.md shows a file of models; `--embedder builtin` needs none",
    ),
    (
        "REEMBEDDING",
        "reembedding",
        Exit::Unavailable,
        "wait until the other command has ended",
    ),
    (
        "UNKNOWN_MEMORY",
        "unknown_memory",
        Exit::NotFound,
        "`amemctl fact ls --user USER` lists memories",
    ),
    (
        "DELETED",
        "deleted",
        Exit::NotFound,
        "`amemctl fact history ID` shows what it was",
    ),
    (
        "SCOPE",
        "scope",
        Exit::Refused,
        "say whose memories are meant: --user, --of-agent, --app or --run",
    ),
    (
        "TOKEN_SCOPE",
        "token_scope",
        Exit::Refused,
        "use a token without a scope, or leave --user, --of-agent, --app and --run to the token",
    ),
    (
        "UNKNOWN_EVENT",
        "unknown_event",
        Exit::NotFound,
        "`amemctl query BRAIN` lists events",
    ),
    (
        "UNKNOWN_SESSION",
        "unknown_session",
        Exit::NotFound,
        "`amemctl sessions list BRAIN` lists sessions",
    ),
    (
        "UNKNOWN_EDGE",
        "unknown_edge",
        Exit::NotFound,
        "`amemctl get BRAIN ID --edges` shows the edges of an event",
    ),
    (
        "UNKNOWN_LSN",
        "unknown_lsn",
        Exit::NotFound,
        "`amemctl info BRAIN` shows the newest",
    ),
    (
        "COMMITS_GONE",
        "commits_gone",
        Exit::NotFound,
        "`amemctl watch BRAIN` without --after begins now; `amemctl query BRAIN --as-of LSN` shows what was before",
    ),
    (
        "UNKNOWN_TOKEN",
        "unknown_token",
        Exit::NotFound,
        "`amemctl token list` lists the tokens",
    ),
    (
        "TOKEN_EXISTS",
        "already_exists",
        Exit::Refused,
        "choose another name, or `amemctl token revoke NAME` first",
    ),
    (
        "NO_TOKENS",
        "no_tokens",
        Exit::Refused,
        "set tcp.listen in amemd's settings and start it again; deploy/amemd.toml explains it",
    ),
    (
        "TOKENS_FILE",
        "tokens_file",
        Exit::Refused,
        "correct the file, then run `amemctl reload`",
    ),
    (
        "FORGOTTEN",
        "forgotten",
        Exit::NotFound,
        "ask with --include-forgotten, or `amemctl restore BRAIN ID`",
    ),
    (
        "BRAIN_EXISTS",
        "already_exists",
        Exit::Refused,
        "choose another name, or use the existing brain",
    ),
    (
        "BRAIN_NAME",
        "brain_name",
        Exit::Refused,
        "choose a name of letters, digits, - and _",
    ),
    (
        "CONDITION",
        "condition",
        Exit::Refused,
        "another client wrote meanwhile: read again, then decide",
    ),
    (
        "ERASED",
        "erased",
        Exit::Refused,
        "name another event: an erased one cannot be changed",
    ),
    (
        "CYCLE",
        "cycle",
        Exit::Refused,
        "`amemctl resolve BRAIN ID` shows what replaces what",
    ),
    (
        "MERGE_TOO_LARGE",
        "merge_too_large",
        Exit::Refused,
        "merge the smaller brain into the larger, make a file a brain first (`amemctl import`) and merge that, or keep both",
    ),
    (
        "SESSION_CLOSED",
        "session_closed",
        Exit::Refused,
        "`amemctl sessions open BRAIN KEY` opens it again",
    ),
    (
        "OUTCOME_UNKNOWN",
        "outcome_unknown",
        Exit::Unavailable,
        "repeat the command with the same --request-id: the change is made once",
    ),
    (
        "OVERWRITTEN",
        "overwritten",
        Exit::Damaged,
        "`amemctl brain restore NAME COPY` puts a whole copy in its place, and keeps what stands there",
    ),
    (
        "DISK_FULL",
        "disk_full",
        Exit::Io,
        "free space on the disk of the brains, or raise the named limit; nothing was changed",
    ),
    (
        "MESSAGE_SIZE",
        "message_size",
        Exit::Refused,
        "ask for less at a time, or send less",
    ),
    (
        "ANSWER_EDGES",
        "answer_edges",
        Exit::Refused,
        "ask for fewer events at a time",
    ),
    (
        "LIMIT",
        "limit",
        Exit::Refused,
        "make it smaller, or split it",
    ),
    (
        "DIMENSION",
        "dimension",
        Exit::Refused,
        "embed all texts with one model",
    ),
    (
        "SPACE",
        "space",
        Exit::Refused,
        "embed all texts with one model",
    ),
    (
        "FOREIGN_INSTANCE",
        "foreign_instance",
        Exit::Refused,
        "start again: this belongs to another brain, or to one that was replaced",
    ),
    ("MUST_DROP", "replaced", Exit::Unavailable, "ask again"),
    (
        "INVALID",
        "invalid",
        Exit::Refused,
        "see `amemctl COMMAND --help`",
    ),
    (
        "LOCKED",
        "locked",
        Exit::Unavailable,
        "stop the other daemon of this folder",
    ),
    (
        "CONNECTION_LOST",
        "connection_lost",
        Exit::Unavailable,
        "try again; `amemctl status` shows whether amemd runs",
    ),
];

fn by_code(code: Code) -> (&'static str, Exit, &'static str) {
    match code {
        Code::NotFound => ("not_found", Exit::NotFound, "check the name"),
        Code::AlreadyExists => ("already_exists", Exit::Refused, "choose another name or id"),
        // The transport's code for a message over its limit.
        Code::OutOfRange => (
            "message_size",
            Exit::Refused,
            "ask for less at a time, or send less",
        ),
        Code::InvalidArgument => ("invalid", Exit::Refused, "see `amemctl COMMAND --help`"),
        Code::FailedPrecondition | Code::Aborted => (
            "refused",
            Exit::Refused,
            "look at the brain again, then decide",
        ),
        Code::ResourceExhausted => (
            "exhausted",
            Exit::Refused,
            "free some space, or send less, and try again",
        ),
        Code::PermissionDenied | Code::Unauthenticated => (
            "permission_denied",
            Exit::Refused,
            "run this as the user who runs amemd, or with a token that permits it (--token-file; `amemctl token create` creates one)",
        ),
        Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded => {
            ("unavailable", Exit::Unavailable, "try again in a moment")
        }
        Code::DataLoss => (
            "damaged",
            Exit::Damaged,
            "`amemctl verify BRAIN` shows the extent, `amemctl repair FILE NEW` saves what is intact",
        ),
        _ => ("daemon", Exit::Io, "see the log of amemd"),
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let known = BY_REASON.iter().find(|row| row.0 == refusal.reason);
        let (code, exit, remedy) = match known {
            Some(&(_, code, exit, remedy)) => (code, exit, remedy.to_owned()),
            None => {
                let (code, exit, remedy) = by_code(refusal.code);
                (code, exit, remedy.to_owned())
            }
        };
        let head = refusal.metadata.get("head_id");
        let failure = Self {
            head: head.and_then(|id| id.parse().ok()),
            ..Self::new(exit, code, refusal.to_string(), remedy)
        };
        // Repeated under this id, the change is made once.
        let id = refusal.metadata.get("request_id");
        match id.filter(|_| may_be_done(refusal.code)) {
            Some(id) => Self {
                remedy: format!(
                    "the outcome is unknown: repeat the command with --request-id {id}, and the change is made once"
                ),
                request_id: Some(id.clone()),
                ..failure
            },
            None => failure,
        }
    }
}

/// Whether a change that failed with this code may have been made.
fn may_be_done(code: Code) -> bool {
    matches!(
        code,
        Code::Unavailable
            | Code::DeadlineExceeded
            | Code::Cancelled
            | Code::Internal
            | Code::Unknown
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_decide_before_codes() {
        let refusal = Refusal::new(Code::NotFound, "UNKNOWN_BRAIN", "there is no brain \"x\"");
        let failure = Failure::from(refusal);
        assert_eq!(
            (failure.exit, failure.code),
            (Exit::NotFound, "unknown_brain")
        );
        assert!(failure.remedy.contains("brain create"));
        let failure = Failure::from(Refusal::new(Code::DataLoss, "CORRUPT", "damaged"));
        assert_eq!((failure.exit, failure.code), (Exit::Damaged, "damaged"));
    }

    #[test]
    fn what_may_have_been_done_is_repeated_under_its_id() {
        let of = |code, reason| {
            Failure::from(Refusal::new(code, reason, "who knows").with("request_id", "7"))
        };
        for (code, reason) in [
            (Code::Unavailable, "OUTCOME_UNKNOWN"),
            (Code::Unavailable, "CONNECTION_LOST"),
            (Code::DeadlineExceeded, "DEADLINE"),
            (Code::Cancelled, ""),
            (Code::Internal, "INTERNAL"),
        ] {
            let failure = of(code, reason);
            assert!(failure.remedy.contains("--request-id 7"), "{failure:?}");
            assert_eq!(failure.request_id.as_deref(), Some("7"));
        }
        let refused = of(Code::InvalidArgument, "INVALID");
        assert_eq!(refused.request_id, None);
        assert!(!refused.remedy.contains("--request-id"), "{refused:?}");
    }
}
