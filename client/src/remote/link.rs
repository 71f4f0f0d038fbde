//! The connection with the token of its caller.

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

/// A connection with the caller's token.
pub type AuthorizedChannel = InterceptedService<Channel, TokenInterceptor>;

/// Adds the token to calls, if there is one.
#[derive(Debug, Clone)]
pub struct TokenInterceptor(pub(super) Option<MetadataValue<Ascii>>);

impl Interceptor for TokenInterceptor {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", token.clone());
        }
        Ok(request)
    }
}
