//! The guards in their order.

use axum::body::Body;
use hyper::Request;
use tower::{Layer, Service};

use super::admission_guard::AdmissionGuard;
use super::encoding::Encoding;
use super::guard::{GuardLayer, GuardedService};
use super::latency_guard::LatencyGuard;
use super::name_guard::NameGuard;
use super::panic_guard::PanicGuard;
use crate::ingress::latency::Latencies;

/// The guards around the calls of one protocol.
#[derive(Debug, Clone)]
pub(crate) struct GuardStack {
    pub(crate) encoding: &'static dyn Encoding,
    pub(crate) latencies: Latencies,
    pub(crate) admission: AdmissionGuard,
}

/// A service behind the guards that each request passes, admitted or not.
type NamedService<S> =
    GuardedService<NameGuard, GuardedService<LatencyGuard, GuardedService<PanicGuard, S>>>;

impl GuardStack {
    /// The guards that each request passes, admitted or not.
    pub(crate) fn around<S>(&self, inner: S) -> NamedService<S> {
        let encoding = self.encoding;
        let latency = LatencyGuard {
            latencies: self.latencies.clone(),
            encoding,
        };
        let caught = GuardLayer(PanicGuard(encoding)).layer(inner);
        let measured = GuardLayer(latency).layer(caught);
        GuardLayer(NameGuard(encoding)).layer(measured)
    }

    /// The guard that admits requests.
    pub(crate) fn admitted<S: Service<Request<Body>>>(
        &self,
        inner: S,
    ) -> GuardedService<AdmissionGuard, S> {
        GuardLayer(self.admission.of(self.encoding)).layer(inner)
    }
}
