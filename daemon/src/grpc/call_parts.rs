//! What calls with and without streams share: the caller of a request, and refusals as statuses.

use std::pin::Pin;

use prost::DecodeError;
use tonic::{Request, Response, Status};

use crate::auth::Caller;
use crate::refusal::{Refusal, Result};

/// The future of a call, whose refusals are statuses.
pub(super) type StatusFuture<T> = Pin<Box<dyn Future<Output = Result<Response<T>, Status>> + Send>>;

/// The caller and its request. Ingress gives every request its caller.
pub(super) fn parts<T>(request: Request<T>) -> Result<(Caller, T)> {
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| Refusal::internal("the call did not pass ingress"))?;
    Ok((caller, request.into_inner()))
}

/// Bytes that are no message of the call, as tonic's codec of protobuf has them.
pub(super) fn malformed(why: &DecodeError) -> Status {
    Status::internal(why.to_string())
}
