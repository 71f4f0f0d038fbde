//! Options of a build.

use super::workers::Workers;
use crate::base::identity::Identity;
use crate::types::Micros;
use crate::view::View;

/// What the view does not say of the new base.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Which brain it is; see `Options::next`.
    pub identity: Identity,
    /// The time from which the window of requests is counted back.
    pub now: Micros,
    /// The base is the first of a brain: its events came from elsewhere, and it has no log yet.
    pub origin: bool,
}

impl Options {
    /// The next generation of the same instance.
    pub fn next(view: &View, now: Micros) -> Self {
        let identity = *view.identity();
        Self {
            identity: Identity {
                generation: crate::types::Generation(identity.generation.0.saturating_add(1)),
                base_lsn: view.lsn(),
                base_time: view.time(),
                decay: view.decay_run(),
                ..identity
            },
            now,
            origin: false,
        }
    }
}

/// How to build a base; the bytes do not depend on it.
#[derive(Clone, Copy)]
pub struct BuildMode<'w> {
    /// Runs the parallel parts of the build.
    pub workers: &'w dyn Workers,
    /// Encodes every byte again instead of copying from the older base.
    pub from_scratch: bool,
}
