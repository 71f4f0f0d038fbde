//! Refusals as gRPC statuses, and back.

use http_body::Frame;
use tonic::Status;
use tonic::codegen::Bytes;
use tonic::codegen::http::HeaderMap;

use crate::refusal::Refusal;

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self(status.into())
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        refusal.0.into()
    }
}

/// The end of an answer of which a part may have been sent.
pub(super) fn trailers(status: Status) -> Result<Frame<Bytes>, Status> {
    let mut headers = HeaderMap::new();
    status.add_header(&mut headers)?;
    Ok(Frame::trailers(headers))
}
