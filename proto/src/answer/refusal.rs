//! Refusals: one table from errors to status code and reason, and conversion to gRPC and back.
//!
//! A status has a `google.rpc.ErrorInfo` with domain and reason.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use amem_format::Error;
use tonic::Status;
use tonic_types::{ErrorDetails, StatusExt};

use super::code::Code;
use crate::limits::REFUSAL_BYTES_MAX;
use crate::v1;

/// The domain of the reasons in `ErrorInfo`.
pub const DOMAIN: &str = "amem.v1";

/// The result of a request.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status code.
    pub code: Code,
    /// The reason, for machines, such as UNKNOWN_EVENT; empty if the peer sent none.
    pub reason: Cow<'static, str>,
    /// What failed and what to do, for people.
    pub message: String,
    /// Details for machines, by name.
    pub metadata: BTreeMap<String, String>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
            message: message.into(),
            metadata: BTreeMap::new(),
        }
    }

    /// Adds a detail for machines.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.metadata.insert(name.to_owned(), value.to_string());
        self
    }

    /// INVALID_ARGUMENT with reason INVALID.
    pub fn invalid(what: &str, why: impl fmt::Display) -> Self {
        Self::new(Code::InvalidArgument, "INVALID", format!("{what}: {why}"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(f, "{:?}", self.code),
            message => f.write_str(message),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        let (code, reason) = match error {
            Error::Io { .. } => (Code::Unavailable, "IO"),
            Error::Magic { .. } => (Code::FailedPrecondition, "NOT_A_BRAIN"),
            Error::Version { .. } | Error::Newer { .. } | Error::NewerWrites { .. } => {
                (Code::FailedPrecondition, "VERSION")
            }
            Error::Spec1 => (Code::FailedPrecondition, "SPEC1"),
            Error::Neither { .. } => (Code::DataLoss, "CORRUPT"),
            Error::Foreign => (Code::FailedPrecondition, "FOREIGN"),
            Error::Truncated { .. } => (Code::DataLoss, "TRUNCATED"),
            Error::Corrupt { .. } => (Code::DataLoss, "CORRUPT"),
            Error::Limit { .. } => (Code::InvalidArgument, "LIMIT"),
            Error::UnknownEvent { .. } => (Code::NotFound, "UNKNOWN_EVENT"),
            Error::UnknownSession { .. } => (Code::NotFound, "UNKNOWN_SESSION"),
            Error::Forgotten { .. } => (Code::FailedPrecondition, "FORGOTTEN"),
            Error::Dimension { .. } => (Code::InvalidArgument, "DIMENSION"),
            Error::Space { .. } => (Code::InvalidArgument, "SPACE"),
            Error::ForeignInstance { .. } => (Code::FailedPrecondition, "FOREIGN_INSTANCE"),
            Error::UnknownLsn { .. } => (Code::OutOfRange, "UNKNOWN_LSN"),
            Error::CommitsGone { .. } => (Code::OutOfRange, "COMMITS_GONE"),
            Error::MustDrop { .. } => (Code::Unavailable, "MUST_DROP"),
            Error::Superseded { .. } => (Code::Unavailable, "SUPERSEDED"),
            Error::Invalid { .. } => (Code::InvalidArgument, "INVALID"),
            _ => (Code::Internal, "INTERNAL"),
        };
        let refusal = Self::new(code, reason, error.to_string());
        match error {
            Error::CommitsGone { oldest, .. } => refusal.with("oldest_after_lsn", oldest),
            _ => refusal,
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        if refusal.reason.is_empty() {
            // A status of gRPC itself goes on as it came, without our details.
            return Self::new(refusal.code.into(), clipped(refusal.message));
        }
        let metadata = refusal.metadata.into_iter();
        let metadata: HashMap<_, _> = metadata
            .map(|(name, value)| (name, clipped(value)))
            .collect();
        let details = ErrorDetails::with_error_info(refusal.reason, DOMAIN, metadata);
        Self::with_error_details(refusal.code.into(), clipped(refusal.message), details)
    }
}

/// Cuts the middle out of a long text. Messages may quote the request, and a status is sent in headers, which most
/// peers limit to 8 KiB.
fn clipped(mut words: String) -> String {
    if words.len() <= REFUSAL_BYTES_MAX {
        return words;
    }
    // Messages say first what is wrong and last what would be right.
    let (most, gap) = (REFUSAL_BYTES_MAX, " … ");
    let head = boundary(&words, 2 * most / 3);
    let tail = boundary(&words, words.len() - most / 3 + gap.len() + 3);
    words.replace_range(head..tail, gap);
    words
}

/// The last character boundary at or before `at`.
fn boundary(words: &str, mut at: usize) -> usize {
    while !words.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let info = status.get_details_error_info();
        let ours = info.filter(|info| info.domain == DOMAIN);
        let (reason, metadata) = match ours {
            Some(info) => (Cow::Owned(info.reason), info.metadata.into_iter().collect()),
            None => (Cow::Borrowed(""), BTreeMap::new()),
        };
        Self {
            code: status.code().into(),
            reason,
            message: status.message().to_owned(),
            metadata,
        }
    }
}

impl From<Refusal> for v1::Failure {
    fn from(refusal: Refusal) -> Self {
        Self {
            code: refusal.code.into(),
            message: refusal.message,
            reason: refusal.reason.into_owned(),
        }
    }
}

impl From<v1::Failure> for Refusal {
    fn from(failure: v1::Failure) -> Self {
        Self {
            code: Code::from_i32(failure.code),
            reason: Cow::Owned(failure.reason),
            message: failure.message,
            metadata: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::NodeId;

    #[test]
    fn a_refusal_is_the_same_after_a_journey_as_a_status_or_a_failure() {
        let error = Error::UnknownEvent {
            id: NodeId(7),
            count: 3,
        };
        let refusal = Refusal::from(error);
        assert_eq!(refusal.code, Code::NotFound);
        assert_eq!(refusal.reason, "UNKNOWN_EVENT");
        assert!(refusal.to_string().contains("event 7"), "{refusal}");
        let told = refusal.clone().with("count", 3);
        assert_eq!(Refusal::from(Status::from(told.clone())), told);
        let status = Status::from(refusal.clone());
        let info = status.get_details_error_info().unwrap();
        assert_eq!(
            (info.reason.as_str(), info.domain.as_str()),
            ("UNKNOWN_EVENT", DOMAIN)
        );
        assert_eq!(Refusal::from(status), refusal);
        assert_eq!(Refusal::from(v1::Failure::from(refusal.clone())), refusal);
    }

    #[test]
    fn long_words_lose_their_middle_so_that_a_status_fits_into_headers() {
        let long = format!("begin{}end", "größe 🦀 ".repeat(10_000));
        let refusal = Refusal::invalid("text", &long).with("text", &long);
        let status = Status::from(refusal);
        assert!(status.message().starts_with("text: begin"), "{status}");
        assert!(status.message().ends_with("end"), "{status}");
        assert!(status.message().contains('…'), "{status}");
        let mut headers = tonic::codegen::http::HeaderMap::new();
        status.add_header(&mut headers).unwrap();
        let bytes: usize = headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 32)
            .sum();
        assert!(bytes < 8 << 10, "{bytes}");
    }

    #[test]
    fn a_status_of_others_has_no_reason() {
        let refusal = Refusal::from(Status::deadline_exceeded("too late"));
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::DeadlineExceeded, "")
        );
    }
}
