//! Admission: what every request passes before it is served, whatever its protocol.
//!
//! In this order: the caller is identified, its rate counted, its rights checked, its deadline set, its quota taken.
//! Promises: a request whose caller is not identified counts towards the rate of its peer; a refused request holds
//! nothing; an admitted request holds its slot until `AdmittedRequest` is dropped.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_proto::answer::Code;
use hyper::http::request::Parts;

use super::authorization::RequestAuthorization;
use super::credentials::Credentials;
use super::deadline::Deadline;
use super::load::{CallSlot, LoadLimits};
use super::peer::{Peer, PeerKey};
use super::rates::RateLimiter;
use super::requirement::Requirement;
use super::session::SessionState;
use crate::auth::Caller;
use crate::config::Limits;
use crate::control::{Control, LiveConfig};
use crate::refusal::{Refusal, Result};

/// The detail of a refusal that says when to retry, in milliseconds.
pub(crate) const RETRY_MILLIS: &str = "retry_millis";

/// How a protocol describes a request by its head.
pub(crate) trait Protocol: Send + Sync {
    /// An error if the call does not exist.
    fn requirement(&self, head: &Parts) -> Result<Requirement>;

    /// The deadline that the caller sets, as a duration.
    fn timeout(&self, head: &Parts) -> Result<Option<Duration>>;
}

/// Admits requests; all clones count together.
#[derive(Debug, Clone)]
pub(crate) struct Admission(Arc<AdmissionState>);

#[derive(Debug)]
struct AdmissionState {
    control: Control,
    /// `None` for the limits of the configuration in force.
    limits: Option<Limits>,
    load: LoadLimits,
    /// By principal.
    rates: RateLimiter<String>,
    /// Of requests whose caller is not identified.
    unidentified: RateLimiter<PeerKey>,
}

/// An admitted request. It holds its slot until it is dropped.
#[derive(Debug)]
pub(crate) struct AdmittedRequest {
    pub(crate) caller: Caller,
    pub(crate) requirement: Requirement,
    pub(crate) deadline: Option<Deadline>,
    pub(crate) authorization: RequestAuthorization,
    pub(crate) slot: CallSlot,
}

impl Admission {
    /// Admits requests by the limits of the configuration in force.
    pub(crate) fn new(control: Control) -> Self {
        Self::with(control, None)
    }

    /// Admits requests by these limits.
    pub(crate) fn with_limits(control: Control, limits: Limits) -> Self {
        Self::with(control, Some(limits))
    }

    fn with(control: Control, limits: Option<Limits>) -> Self {
        Self(Arc::new(AdmissionState {
            control,
            limits,
            load: LoadLimits::default(),
            rates: RateLimiter::default(),
            unidentified: RateLimiter::default(),
        }))
    }

    /// The limits in force.
    pub(crate) fn limits(&self) -> Limits {
        let AdmissionState {
            control, limits, ..
        } = &*self.0;
        limits
            .as_ref()
            .map_or_else(|| control.live().limits.clone(), Limits::clone)
    }

    /// Admits a request by its head, or refuses it.
    pub(crate) fn admit(
        &self,
        protocol: &dyn Protocol,
        head: &Parts,
        peer: &Peer,
        source: Option<u64>,
        session: &Arc<SessionState>,
    ) -> Result<AdmittedRequest> {
        let AdmissionState { control, load, .. } = &*self.0;
        let live = control.live();
        let limits = self.0.limits.as_ref().unwrap_or(&live.limits);
        let (credentials, mut caller) = self.identify(head, peer, &live, limits)?;
        caller.source = source;
        tracing::Span::current().record("principal", caller.principal.as_str());
        let per_second = limits.calls_per_second;
        let rate = self
            .0
            .rates
            .take(&*caller.principal, per_second, Instant::now());
        rate.map_err(|wait| too_often(&caller.principal, per_second, wait))?;
        session.authorize(&live, || Box::new(credentials.clone()));
        let requirement = protocol.requirement(head)?;
        requirement.check(&caller)?;
        let deadline = Deadline::new(protocol.timeout(head)?, &requirement, limits);
        deadline.as_ref().map_or(Ok(()), Deadline::check)?;
        let slot = load.acquire(&head.headers, &caller, &requirement, limits)?;
        let authorization = RequestAuthorization::new(
            control.clone(),
            live.clone(),
            credentials,
            caller.clone(),
            requirement,
            session.clone(),
        );
        if let Some((role, _)) = requirement.role {
            caller.needs = role;
        }
        Ok(AdmittedRequest {
            caller,
            requirement,
            deadline,
            authorization,
            slot,
        })
    }

    fn identify(
        &self,
        head: &Parts,
        peer: &Peer,
        live: &LiveConfig,
        limits: &Limits,
    ) -> Result<(Credentials, Caller)> {
        let credentials = Credentials::of(peer, &head.uri, &head.headers);
        let identified = credentials.and_then(|credentials| {
            let caller = credentials.caller(live)?;
            Ok((credentials, caller))
        });
        if identified.is_err() {
            let (key, per_second) = (peer.key(), limits.calls_per_second);
            let rate = self.0.unidentified.take(&key, per_second, Instant::now());
            rate.map_err(|wait| too_often(&key.to_string(), per_second, wait))?;
        }
        identified
    }

    #[cfg(test)]
    pub(crate) fn calls_held(&self) -> u64 {
        self.0.load.calls_held()
    }
}

impl AdmittedRequest {
    /// Runs the work of the request; an error if its deadline passes, or its caller loses rights, first. Then the work
    /// is dropped.
    pub(crate) async fn run<T>(&mut self, work: impl Future<Output = T>) -> Result<T> {
        let run = self.authorization.run(work);
        match self.deadline {
            None => run.await,
            Some(deadline) => match tokio::time::timeout_at(deadline.at, run).await {
                Ok(done) => done,
                Err(_) => Err(deadline.exceeded()),
            },
        }
    }
}

fn too_often(caller: &str, per_second: u64, wait: Duration) -> Refusal {
    let message = format!(
        "{caller} makes more than {per_second} calls a second, the limit (limits.calls_per_second): retry in {} ms",
        wait.as_millis() + 1
    );
    let refusal = Refusal::new(Code::ResourceExhausted, "LOAD", message);
    refusal.with(RETRY_MILLIS, wait.as_millis() + 1)
}
