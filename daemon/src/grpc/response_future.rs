//! The future of the layers around a call.

use std::future::Future;
use std::pin::Pin;

use tonic::body::Body;
use tonic::codegen::http::Response;

/// An answer that is on its way.
pub(super) type ResponseFuture<E> = Pin<Box<dyn Future<Output = Result<Response<Body>, E>> + Send>>;
