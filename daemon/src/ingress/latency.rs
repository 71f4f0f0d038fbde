//! Latencies: how long calls take, one HDR histogram for each.
//!
//! The latency of a call runs from its head to the end of its answer, or, for a stream, to the first message: the
//! length of a stream depends on its caller. A call is in flight until its answer ends. If its caller leaves earlier,
//! the call has failed, unless its answer is endless and has begun.
//!
//! Promises: there is one histogram for each call that exists, whatever paths are requested.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use amem_locks::LockResultExt;
use hdrhistogram::Histogram;

use crate::ingress::methods::Method;
use crate::limits::REASONS_MAX;

/// Microseconds of the longest latency; longer ones are recorded as this.
const LONGEST_MICROS: u64 = 3_600_000_000;

/// Significant decimal digits of a latency.
const DIGITS: u8 = 3;

/// The latencies of every call; all clones record together.
#[derive(Debug, Clone)]
pub(crate) struct Latencies(Arc<LatencyTable>);

#[derive(Debug)]
struct LatencyTable {
    rpcs: BTreeMap<String, Mutex<Rpc>>,
    /// Calls that were refused or failed, by reason.
    refused: Mutex<BTreeMap<String, u64>>,
}

/// The counts of one call.
#[derive(Debug, Clone)]
pub(crate) struct Rpc {
    pub(crate) in_flight: u64,
    /// Calls that were refused or failed.
    pub(crate) errors: u64,
    /// Microseconds.
    pub(crate) micros: Histogram<u64>,
    streams: bool,
    is_endless: bool,
}

impl Latencies {
    pub(crate) fn new(methods: impl IntoIterator<Item = Method>) -> Self {
        let rpcs = methods.into_iter().filter_map(|method| {
            let rpc = Rpc {
                in_flight: 0,
                errors: 0,
                // It grows as it records; one with room for the longest latency takes 190 KB.
                micros: Histogram::new(DIGITS).ok()?,
                streams: method.streams,
                is_endless: method.is_endless,
            };
            Some((method.path, Mutex::new(rpc)))
        });
        Self(Arc::new(LatencyTable {
            rpcs: rpcs.collect(),
            refused: Mutex::default(),
        }))
    }

    /// The calls after a path that were made, by path: at most `size`, and whether there are more.
    pub(crate) fn page(&self, after: &str, size: usize) -> (Vec<(String, Rpc)>, bool) {
        let from = (
            std::ops::Bound::Excluded(after),
            std::ops::Bound::<&str>::Unbounded,
        );
        let mut called = self.0.rpcs.range::<str, _>(from).filter_map(|(path, rpc)| {
            let rpc = rpc.lock().unpoisoned();
            (!rpc.micros.is_empty() || rpc.in_flight > 0).then(|| (path.clone(), rpc.clone()))
        });
        let page = called.by_ref().take(size).collect();
        (page, called.next().is_some())
    }

    /// Calls that were refused or failed, by reason.
    pub(crate) fn refused(&self) -> BTreeMap<String, u64> {
        let refused = self.0.refused.lock();
        refused.unpoisoned().clone()
    }

    pub(crate) fn count_refusal(&self, reason: &str) {
        let refused = self.0.refused.lock();
        let mut refused = refused.unpoisoned();
        let is_room = refused.len() < REASONS_MAX || refused.contains_key(reason);
        let reason = if is_room { reason } else { "OTHER" };
        *refused.entry(reason.to_owned()).or_default() += 1;
    }

    fn change(&self, path: &str, change: impl FnOnce(&mut Rpc)) {
        if let Some(rpc) = self.0.rpcs.get(path) {
            change(&mut rpc.lock().unpoisoned());
        }
    }
}

/// The reason of a call whose caller left.
const GONE: &str = "GONE";

/// A call in flight. Dropped before its end it counts as failed, unless its answer is endless and has begun.
#[derive(Debug)]
pub(crate) struct CallTimer {
    latencies: Latencies,
    path: String,
    pub(crate) streams: bool,
    is_endless: bool,
    /// True once its answer has begun.
    pub(crate) answered: bool,
    began: Instant,
    timed: bool,
    ended: bool,
}

impl CallTimer {
    pub(crate) fn begin(latencies: &Latencies, path: &str) -> Self {
        let (mut streams, mut is_endless) = (false, false);
        latencies.change(path, |rpc| {
            rpc.in_flight += 1;
            (streams, is_endless) = (rpc.streams, rpc.is_endless);
        });
        Self {
            latencies: latencies.clone(),
            path: path.to_owned(),
            streams,
            is_endless,
            answered: false,
            began: Instant::now(),
            timed: false,
            ended: false,
        }
    }

    /// Records the latency, once.
    pub(crate) fn record(&mut self) {
        if std::mem::replace(&mut self.timed, true) {
            return;
        }
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.latencies.change(&self.path, |rpc| {
            // The histogram resizes itself, so this can't fail.
            rpc.micros.record(micros.clamp(1, LONGEST_MICROS)).ok();
        });
    }

    /// Counts the end, once: with the reason of its failure if it failed.
    pub(crate) fn end(&mut self, failed: Option<&str>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.record();
        self.latencies.change(&self.path, |rpc| {
            rpc.in_flight -= 1;
            rpc.errors += u64::from(failed.is_some());
        });
        if let Some(reason) = failed {
            self.latencies.count_refusal(reason);
        }
    }
}

impl Drop for CallTimer {
    fn drop(&mut self) {
        let is_done = self.is_endless && self.answered;
        self.end((!is_done).then_some(GONE));
    }
}
