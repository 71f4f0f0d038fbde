//! Metrics of the engine.
//!
//! Promises: counting takes no lock that a writer or a call could wait for, and allocates nothing.
//! Not here: publishing it.

mod histogram;

mod brain;
mod engine;
mod subscribers;

pub(crate) use brain::micros;
pub use brain::{BrainMetrics, Metric};
pub use engine::EngineMetrics;
pub use histogram::{Histogram, HistogramSnapshot, TIME_BOUNDS};
pub(crate) use subscribers::Subscribers;
pub use subscribers::Subscription;
