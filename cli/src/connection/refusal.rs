//! A refusal, by the daemon or by a question to a file, as a failure: what a person does about it.
//!
//! The reason decides where there is one, else the gRPC code. The name of a failure is its reason in small letters.

use amem_client::Refusal;
use tonic::Code;

use crate::exit::Exit;
use crate::failure::Failure;

/// What is told of refusals with these reasons.
const TOLD: &[(&str, &str, Exit, &str)] = &[
    (
        "UNKNOWN_BRAIN",
        "unknown_brain",
        Exit::NotFound,
        "`amemctl brain ls` lists the brains, `amemctl brain create NAME` makes one",
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
        "`amemctl info BRAIN` tells the newest",
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
        "take another name, or `amemctl token revoke NAME` first",
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
        "put the file right, then `amemctl reload`",
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
        "take another name, or use the brain that is there",
    ),
    (
        "BRAIN_NAME",
        "brain_name",
        Exit::Refused,
        "take a name of letters, digits, - and _",
    ),
    (
        "CONDITION",
        "condition",
        Exit::Refused,
        "somebody else wrote meanwhile: read again, then decide",
    ),
    (
        "ERASED",
        "erased",
        Exit::Refused,
        "name another event: what is erased stays so",
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
        "`amemctl sessions open BRAIN KEY` opens another, under another key",
    ),
    (
        "OUTCOME_UNKNOWN",
        "outcome_unknown",
        Exit::Unavailable,
        "repeat the command with the same --request-id: it is done once",
    ),
    (
        "DISK_FULL",
        "disk_full",
        Exit::Io,
        "make room on the disk of the brains, or raise the limit that is named; nothing was changed",
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
        "begin again: this is of another brain, or of one before it was replaced",
    ),
    ("MUST_DROP", "replaced", Exit::Unavailable, "ask again"),
    (
        "INVALID",
        "invalid",
        Exit::Refused,
        "`amemctl COMMAND --help` tells what is right",
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
        "try again; `amemctl status` tells whether amemd runs",
    ),
];

/// What is told of others, by their code.
fn by_code(code: Code) -> (&'static str, Exit, &'static str) {
    match code {
        Code::NotFound => ("not_found", Exit::NotFound, "check the name"),
        Code::AlreadyExists => ("already_exists", Exit::Refused, "take another name or id"),
        // What the transport says of a message that passes its limit.
        Code::OutOfRange => (
            "message_size",
            Exit::Refused,
            "ask for less at a time, or send less",
        ),
        Code::InvalidArgument => (
            "invalid",
            Exit::Refused,
            "`amemctl COMMAND --help` tells what is right",
        ),
        Code::FailedPrecondition | Code::Aborted => (
            "refused",
            Exit::Refused,
            "look at the brain again, then decide",
        ),
        Code::ResourceExhausted => (
            "exhausted",
            Exit::Refused,
            "make room, or send less, and try again",
        ),
        Code::PermissionDenied | Code::Unauthenticated => (
            "permission_denied",
            Exit::Refused,
            "ask as the user who runs amemd, or with a token that may (--token-file; `amemctl token create` makes one)",
        ),
        Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded => {
            ("unavailable", Exit::Unavailable, "try again in a moment")
        }
        Code::DataLoss => (
            "damaged",
            Exit::Damaged,
            "`amemctl verify BRAIN` tells the extent, `amemctl repair FILE NEW` saves what is whole",
        ),
        _ => ("daemon", Exit::Io, "see what amemd logged"),
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let told = TOLD.iter().find(|told| told.0 == refusal.reason);
        let (code, exit, remedy) = match told {
            Some(&(_, code, exit, remedy)) => (code, exit, remedy.to_owned()),
            None => {
                let (code, exit, remedy) = by_code(refusal.code);
                (code, exit, remedy.to_owned())
            }
        };
        let failure = Self::new(exit, code, refusal.to_string(), remedy);
        // With it, the same command can be repeated without doing anything twice.
        let id = refusal.metadata.get("request_id");
        match id.filter(|_| may_be_done(refusal.code)) {
            Some(id) => Self {
                remedy: format!(
                    "whether it was done is not known: repeat the command with --request-id {id}, and it is done once"
                ),
                request_id: Some(id.clone()),
                ..failure
            },
            None => failure,
        }
    }
}

/// True if a change that ended so may have been made.
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
