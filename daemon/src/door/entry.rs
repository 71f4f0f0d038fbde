//! The layer through which every call comes in.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::answer::{Answers, Places};
use super::caller::Shown;
use super::deadline::Deadline;
use super::load::{Load, Metered};
use super::messages::Messages;
use super::standing::Standing;
use super::unsent::Unsent;
use crate::access::{Caller, Needs, Over, Pace, needs};
use crate::control::Control;
use crate::listen::Guest;
use crate::rates::Rates;
use crate::refusal::{Refusal, Result};

/// Wraps every service.
#[derive(Debug, Clone)]
pub(crate) struct Enter {
    control: Control,
    load: Arc<Load>,
    rates: Arc<Rates<String>>,
    answers: Arc<Answers>,
}

impl Enter {
    pub(crate) fn new(control: Control) -> Self {
        Self {
            control,
            load: Arc::default(),
            rates: Arc::default(),
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
        let guest = parts.extensions.get::<Guest>();
        let shown = Shown::by(guest.map(|guest| &guest.peer), &parts.uri, &parts.headers)?;
        let mut caller = shown.caller(&live)?;
        tracing::Span::current().record("principal", caller.principal.as_str());
        let needs = needs(path).ok_or_else(|| {
            let message = format!("there is no call {path:?} here; reflection lists all");
            Refusal::new(Code::Unimplemented, "UNKNOWN_CALL", message)
        })?;
        check_role(&caller, needs)?;
        let most = live.limits.calls_per_second;
        let rate = self.rates.take(&*caller.principal, most, Instant::now());
        rate.map_err(|wait| too_often(&caller.principal, most, wait))?;
        let deadline = Deadline::of(&parts.headers, needs, &live.limits)?;
        if let Some(deadline) = deadline.filter(Deadline::is_over) {
            return Err(deadline.exceeded());
        }
        let (call, held) = self
            .load
            .enter(&parts.headers, &caller, needs, &live.limits)?;
        if let Some(guest) = guest {
            guest.let_in();
        }
        let unsent = guest.map(|guest| guest.unsent.clone());
        let is_stream = needs.pace == Pace::Stream;
        let standing = Standing::new(self.control.clone(), live, shown, caller.clone());
        let messages = Messages::of(parts.uri.path(), needs.message_bytes_max);
        let body = Metered::wrap(body, held.clone(), is_stream, messages);
        let body = standing.request(body);
        caller.needs = needs.role;
        parts.extensions.insert(caller);
        let entered = Entered {
            deadline,
            standing: is_stream.then_some(standing),
            places: (call, held),
            unsent: unsent.unwrap_or_default(),
        };
        Ok((Request::from_parts(parts, body), entered))
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
    /// That of a stream.
    standing: Option<Standing>,
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
                standing,
                places,
                unsent,
            } = entered;
            let answer = match deadline {
                None => answer.await,
                Some(deadline) => match tokio::time::timeout_at(deadline.at, answer).await {
                    Ok(answer) => answer,
                    Err(_) => Ok(Status::from(deadline.exceeded()).into_http()),
                },
            };
            Ok(answer?.map(|body| {
                let body = match &standing {
                    Some(standing) => standing.answer(body),
                    None => body,
                };
                answers.send(body, places, deadline, unsent)
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Flags};
    use crate::listen::Peer;
    use std::convert::Infallible;
    use std::future::pending;
    use tonic_types::StatusExt;

    const ASK: &str = "/amem.v1.AdminService/GetStatus";

    fn enter() -> Enter {
        let flags = Flags {
            folder: Some("/b".into()),
            socket: Some("/s".into()),
            set: vec!["limits.deadline_secs=1".into()],
            ..Flags::default()
        };
        let config = Config::load(flags, Arc::new(|_| None)).unwrap();
        Enter::new(Control::new(&config).unwrap())
    }

    /// A call of our own user, or of another.
    fn request(path: &str, uid: u32, timeout: Option<&str>) -> Request<Body> {
        let mut request = Request::builder().uri(path);
        if let Some(timeout) = timeout {
            request = request.header("grpc-timeout", timeout);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let guest = Guest::new(Peer::Unix { uid, gid: 0 });
        request.extensions_mut().insert(guest);
        request
    }

    fn refused(answer: &Response<Body>) -> Option<(Code, String)> {
        let status = Status::from_header_map(answer.headers())?;
        let reason = status.get_details_error_info().map(|info| info.reason);
        Some((status.code(), reason.unwrap_or_default()))
    }

    #[tokio::test]
    async fn a_call_is_served_with_its_caller_or_refused_before_it_begins() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let caller = request.extensions().get::<Caller>();
            assert!(caller.is_some_and(|caller| caller.principal.starts_with("uid:")));
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        let mut service = enter().layer(service);
        let ours = rustix::process::geteuid().as_raw();
        for (path, uid, timeout, wanted) in [
            (ASK, ours, None, None),
            (ASK, ours, Some("1H"), None),
            (
                ASK,
                ours,
                Some("1n"),
                Some((Code::DeadlineExceeded, "DEADLINE")),
            ),
            (
                ASK,
                ours,
                Some("x"),
                Some((Code::InvalidArgument, "INVALID")),
            ),
            (
                ASK,
                ours + 1,
                None,
                Some((Code::Unauthenticated, "PRINCIPAL")),
            ),
            (
                "/no/Such",
                ours,
                None,
                Some((Code::Unimplemented, "UNKNOWN_CALL")),
            ),
        ] {
            let answer = service.call(request(path, uid, timeout)).await.unwrap();
            let wanted = wanted.map(|(code, reason)| (code, reason.to_owned()));
            assert_eq!(refused(&answer), wanted, "{path} {uid} {timeout:?}");
        }
        let nobody = Request::builder().uri(ASK).body(Body::empty()).unwrap();
        let answer = service.call(nobody).await.unwrap();
        assert_eq!(refused(&answer).unwrap().1, "PRINCIPAL");
    }

    #[tokio::test]
    async fn a_call_that_does_not_end_is_dropped_at_its_deadline_and_leaves_no_load() {
        struct Work(tokio::sync::mpsc::Sender<()>);
        let (dropped, mut drops) = tokio::sync::mpsc::channel(1);
        let service = tower::service_fn(move |_: Request<Body>| {
            let work = Work(dropped.clone());
            async move {
                let answer = pending::<Result<Response<Body>, Infallible>>().await;
                drop(work.0);
                answer
            }
        });
        let enter = enter();
        let mut service = enter.layer(service);
        let ours = rustix::process::geteuid().as_raw();
        let answer = service.call(request(ASK, ours, Some("20m"))).await.unwrap();
        let wanted = (Code::DeadlineExceeded, "DEADLINE".to_owned());
        assert_eq!(refused(&answer), Some(wanted));
        drop(service);
        assert_eq!(drops.recv().await, None, "the work goes on");
        assert_eq!(enter.load.under_way(), 0, "it still counts as under way");
    }
}
