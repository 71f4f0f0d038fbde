//! Requests checked on their way in, before a brain is opened.
//!
//! Handlers get typed values. Not here: changes (`command`) and questions (`amem_proto::answer`), which are checked
//! while they are converted.

use amem_proto::v1;
use prost::Message;

use crate::refusal::{Refusal, Result};

/// A request that may be invalid for any brain.
pub trait Validate: Message + Default {
    /// The request with typed values.
    type Valid: Send;

    /// Checks and converts it. Errors: INVALID_ARGUMENT, with what is valid.
    fn validate(self) -> Result<Self::Valid>;
}

/// Requests of names, numbers and flags that only a running daemon can check.
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
    GetBrainRequest OpenBrainRequest CheckpointBrainRequest VerifyBrainRequest ReembedBrainRequest
    AddFactsRequest RecallRequest SearchFactsRequest GetFactRequest ListFactsRequest UpdateFactRequest DeleteFactRequest
    DeleteFactsRequest GetFactHistoryRequest ListFactScopesRequest ListPendingFactsRequest ResetFactsRequest
    EraseFactSourceRequest ListFactConflictsRequest RetryPendingFactsRequest ExportFactsRequest
    BatchUpdateFactsRequest BatchDeleteFactsRequest SetFactFeedbackRequest ReviewFactRequest
    ListEntitiesRequest GetEntityRequest ListRelationsRequest SetEntityRequest EraseEntityRequest
    PutItemRequest GetItemRequest DeleteItemRequest SearchItemsRequest ListItemNamespacesRequest BatchItemsRequest
    RunHookRequest ListGivenRequest
    GetStatusRequest ListProblemsRequest ListSchedulesRequest ListKeptFilesRequest ReloadRequest ListTokensRequest RevokeTokenRequest ShutdownRequest
}

/// The refusal of a page token that no answer gave.
pub(super) fn unknown_page_token(token: &str) -> Refusal {
    let why = format!("{token:?} is unknown: use next_page_token of the previous page");
    Refusal::invalid("page_token", why)
}
