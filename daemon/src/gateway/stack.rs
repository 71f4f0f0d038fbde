//! The guards in their order.

use std::sync::Arc;

use super::admission_guard::AdmissionGuard;
use super::encoding::Encoding;
use super::guard::{CallFunction, Guard, GuardedCalls};
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

impl GuardStack {
    /// Calls behind all guards. `own` is the protocol's: it stands before admission.
    pub(crate) fn around(&self, own: Option<Arc<dyn Guard>>, call: CallFunction) -> GuardedCalls {
        let encoding = self.encoding;
        let latency = LatencyGuard {
            latencies: self.latencies.clone(),
            encoding,
        };
        let mut guards: Vec<Arc<dyn Guard>> = vec![
            Arc::new(NameGuard(encoding)),
            Arc::new(latency),
            Arc::new(PanicGuard(encoding)),
        ];
        guards.extend(own);
        guards.push(Arc::new(self.admission.of(encoding)));
        GuardedCalls::new(guards, call)
    }
}
