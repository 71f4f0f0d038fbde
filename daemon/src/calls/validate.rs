//! Requests checked on their way in, before any brain is looked at.
//!
//! A caller may send anything: what makes no sense is refused in words, and no brain is asked for it. Not here: changes
//! (`command`) and questions (`amem_proto::answer`), which are checked while they are converted.

use amem_proto::v1;
use prost::Message;

use crate::refusal::Result;

/// A request that may make no sense, whatever brain it is for.
pub trait Validate: Message + Default {
    /// The request in our own types.
    type Valid: Send;

    /// Checks and converts it. Errors: INVALID_ARGUMENT, with what would be right.
    fn validate(self) -> Result<Self::Valid>;
}

/// Requests of names, numbers and flags, which only a running daemon can judge.
macro_rules! valid_as_they_are {
    ($($request:ident)*) => {
        $(impl Validate for v1::$request {
            type Valid = Self;

            fn validate(self) -> Result<Self> {
                Ok(self)
            }
        })*
    };
}

valid_as_they_are! {
    GetBrainRequest OpenBrainRequest CheckpointBrainRequest VerifyBrainRequest
    GetStatusRequest ListProblemsRequest ListLatenciesRequest ListSchedulesRequest RunJobRequest
    ListKeptFilesRequest ResolveKeptFileRequest ReloadRequest ListTokensRequest RevokeTokenRequest ShutdownRequest
}
