//! The layer through which every call comes in.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tonic::body::Body;
use tonic::codegen::http::request::Parts;
use tonic::codegen::http::{Request, Response};
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::answers::{Answers, Places};
use super::messages::Messages;
use super::unsent::Unsent;
use crate::access::{Needs, Over, Pace, needs};
use crate::auth::Caller;
use crate::control::{Control, Live};
use crate::ingress::authorization::Standing;
use crate::ingress::credentials::{Shown, unknown};
use crate::ingress::deadline::Deadline;
use crate::ingress::load::{Load, Metered};
use crate::ingress::rates::Rates;
use crate::ingress::{Guest, Party};
use crate::refusal::{Refusal, Result};

/// Wraps every service.
#[derive(Debug, Clone)]
pub(crate) struct Enter {
    control: Control,
    load: Arc<Load>,
    rates: Arc<Rates<String>>,
    /// Of parties, for calls of which nobody knows who makes them.
    strangers: Arc<Rates<Party>>,
    answers: Arc<Answers>,
}

impl Enter {
    pub(crate) fn new(control: Control) -> Self {
        Self {
            control,
            load: Arc::default(),
            rates: Arc::default(),
            strangers: Arc::default(),
            answers: Arc::default(),
        }
    }

    /// Gives up answers that nobody reads, for as long as it is polled.
    pub(crate) fn watch(&self) -> impl Future<Output = ()> + Send + 'static {
        let answers = self.answers.clone();
        async move { answers.watch().await }
    }

    /// Lets a call in: it gets its caller and its place.
    fn admit(&self, request: Request<Body>) -> Result<(Request<Body>, Entered)> {
        let live = self.control.live();
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path();
        let guest = parts.extensions.get::<Guest>().ok_or_else(unknown)?;
        let (shown, mut caller) = self.judge(guest, &parts, &live)?;
        tracing::Span::current().record("principal", caller.principal.as_str());
        let most = live.limits.calls_per_second;
        let rate = self.rates.take(&*caller.principal, most, Instant::now());
        rate.map_err(|wait| too_often(&caller.principal, most, wait))?;
        guest.fate.let_in(&live, || Box::new(shown.clone()));
        let needs = needs(path).ok_or_else(|| {
            let message = format!("there is no call {path:?} here; reflection lists all");
            Refusal::new(Code::Unimplemented, "UNKNOWN_CALL", message)
        })?;
        check_role(&caller, needs)?;
        let deadline = Deadline::of(&parts.headers, needs, &live.limits)?;
        if let Some(deadline) = deadline.filter(Deadline::is_over) {
            return Err(deadline.exceeded());
        }
        let (call, held) = self
            .load
            .enter(&parts.headers, &caller, needs, &live.limits)?;
        let (unsent, fate) = (guest.unsent.clone(), guest.fate.clone());
        let is_stream = needs.pace == Pace::Stream;
        let control = self.control.clone();
        let standing = Standing::new(control, live, shown, caller.clone(), needs, fate);
        let messages = Messages::of(parts.uri.path(), needs.message_bytes_max);
        let body = Metered::wrap(body, held.clone(), is_stream, messages);
        let body = standing.request(body);
        caller.needs = needs.role;
        parts.extensions.insert(caller);
        let entered = Entered {
            deadline,
            standing,
            is_stream,
            places: (call, held),
            unsent,
        };
        Ok((Request::from_parts(parts, body), entered))
    }

    /// Who makes a call. One of which nobody knows that counts for its party.
    fn judge(&self, guest: &Guest, parts: &Parts, live: &Live) -> Result<(Shown, Caller)> {
        let shown = Shown::by(&guest.peer, &parts.uri, &parts.headers);
        let judged = shown.and_then(|shown| {
            let caller = shown.caller(live)?;
            Ok((shown, caller))
        });
        if judged.is_err() {
            let (party, most) = (guest.peer.party(), live.limits.calls_per_second);
            let rate = self.strangers.take(&party, most, Instant::now());
            rate.map_err(|wait| too_often(&party.to_string(), most, wait))?;
        }
        judged
    }
}

fn too_often(principal: &str, most: u64, wait: Duration) -> Refusal {
    let message = format!(
        "{principal} makes more than {most} calls a second, the limit (limits.calls_per_second): wait {} ms and call again",
        wait.as_millis() + 1
    );
    Refusal::new(Code::ResourceExhausted, "LOAD", message)
}

/// What a call may do with the brains that it names is looked at when they are looked up.
fn check_role(caller: &Caller, needs: Needs) -> Result<()> {
    match needs.over {
        Over::Named => caller.check_any(needs.role),
        Over::All => caller.check_all(needs.role),
    }
}

/// What a call has that was let in.
struct Entered {
    deadline: Option<Deadline>,
    standing: Standing,
    is_stream: bool,
    /// Held until its answer has been sent.
    places: Places,
    /// What its connection has not sent yet.
    unsent: Arc<Unsent>,
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
        let answers = self.enter.answers.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let Entered {
                deadline,
                mut standing,
                is_stream,
                places,
                unsent,
            } = entered;
            let answered = standing.answered(answer);
            let answered = match deadline {
                None => answered.await,
                Some(deadline) => match tokio::time::timeout_at(deadline.at, answered).await {
                    Ok(answered) => answered,
                    Err(_) => Err(deadline.exceeded()),
                },
            };
            let answer = match answered {
                Ok(answer) => answer?,
                Err(refusal) => Status::from(refusal).into_http(),
            };
            Ok(answer.map(|body| {
                let body = match is_stream {
                    true => standing.answer(body),
                    false => body,
                };
                answers.send(body, places, deadline, unsent)
            }))
        })
    }
}

#[cfg(test)]
mod tests;
