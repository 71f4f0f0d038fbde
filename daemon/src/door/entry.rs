//! The layer through which every call comes in.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::caller::caller;
use super::deadline::{deadline, exceeded};
use super::load::{Call, Load, Metered};
use crate::access::{Caller, Needs, needs};
use crate::control::Control;
use crate::listen::Peer;
use crate::refusal::{Refusal, Result};

/// Wraps every service.
#[derive(Debug, Clone)]
pub(crate) struct Enter {
    control: Control,
    load: Arc<Load>,
}

impl Enter {
    pub(crate) fn new(control: Control) -> Self {
        Self {
            control,
            load: Arc::default(),
        }
    }

    /// Lets a call in: it gets its caller and its place.
    fn admit(&self, request: Request<Body>) -> Result<(Request<Body>, Entered)> {
        let live = self.control.live();
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path();
        let peer = parts.extensions.get::<Peer>();
        let caller = caller(&live, peer, &parts.uri, &parts.headers)?;
        tracing::Span::current().record("principal", caller.principal.as_str());
        let needs = needs(path).ok_or_else(|| {
            let message = format!("there is no call {path:?} here; reflection lists all");
            Refusal::new(Code::Unimplemented, "UNKNOWN_CALL", message)
        })?;
        check_role(&caller, needs, path)?;
        let deadline = deadline(&parts.headers, needs.pace, &live.limits)?;
        let (call, held) = self.load.enter(&parts.headers, &live.limits)?;
        parts.extensions.insert(caller);
        let body = Metered::wrap(body, held.clone());
        let entered = Entered {
            deadline,
            places: (call, held),
        };
        Ok((Request::from_parts(parts, body), entered))
    }
}

fn check_role(caller: &Caller, needs: Needs, path: &str) -> Result<()> {
    if caller.role >= needs.role {
        return Ok(());
    }
    let (principal, has, needs) = (&caller.principal, caller.role, needs.role);
    let message =
        format!("{principal} has the role {has}, and {path} needs the role {needs}: see [access]");
    Err(Refusal::new(Code::PermissionDenied, "ROLE", message))
}

/// What a call has that was let in.
struct Entered {
    deadline: Option<Duration>,
    /// Held until it is answered.
    places: (Call, Arc<super::load::Held>),
}

impl<S> Layer<S> for Enter {
    type Service = Entry<S>;

    fn layer(&self, inner: S) -> Entry<S> {
        let enter = self.clone();
        Entry { enter, inner }
    }
}

/// A service behind the door.
#[derive(Debug, Clone)]
pub(crate) struct Entry<S> {
    enter: Enter,
    inner: S,
}

impl<S> Service<Request<Body>> for Entry<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (request, entered) = match self.enter.admit(request) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                tracing::debug!(reason = &*refusal.reason, "refused");
                let answer = Status::from(refusal).into_http();
                return Box::pin(std::future::ready(Ok(answer)));
            }
        };
        let answer = self.inner.call(request);
        Box::pin(async move {
            let Entered { deadline, places } = entered;
            let answer = match deadline {
                None => answer.await,
                Some(within) => match tokio::time::timeout(within, answer).await {
                    Ok(answer) => answer,
                    Err(_) => Ok(Status::from(exceeded(within)).into_http()),
                },
            };
            drop(places);
            answer
        })
    }
}
