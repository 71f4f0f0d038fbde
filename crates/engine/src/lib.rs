//! A folder of open brains: what fact memory, the daemon and tests share.
//!
//! ```
//! use std::sync::Arc;
//!
//! use amem_engine::Engine;
//! use amem_format::EventType;
//! use amem_store::disk::os::OsDisk;
//! use amem_store::mutation::{Ingest, Mutation, NewEvent, Request};
//! use amem_store::{Folder, NewBrain};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = tempfile::tempdir()?;
//! # let path = path.path();
//! let folder = Folder::open(Arc::new(OsDisk::new(path)?), "an example")?;
//! let engine = Engine::new(folder, path.to_owned(), Arc::new(()));
//! let brain = engine.create("work", NewBrain::default()).await?;
//!
//! let event = NewEvent::new(EventType::FACT, "Ada runs the build");
//! let bytes = event.text.len();
//! let ingest = Ingest { events: vec![event], ..Ingest::default() };
//! let done = brain.commit(Request::new(Mutation::Ingest(ingest)), bytes).await?;
//! assert_eq!(brain.view().node(done.answer.ids[0])?.text()?, "Ada runs the build");
//! # Ok(())
//! # }
//! ```
//!
//! [`Engine`] opens brains; an [`OpenBrain`] gives views, commits requests and takes subscriptions; [`Schedules`] runs
//! what brains do by the clock, and [`watch`] adopts files that appear in the folder. Callers of the blocking pool take
//! turns by any key that tells them apart.
//!
//! Promises: an answered commit is durable, and every later view has it (P3, P4); a defect in one brain's writer stops
//! no other brain. Not here: who may ask, protocols and the network.

#![forbid(unsafe_code)]

pub mod limits;
pub mod polls;
pub mod tasks;

mod brains;
mod open_brain;
mod schedules;
mod watch;

mod brain_state;
mod checkpoints;
mod commands;
mod writer;

mod blocking_pool;
mod fair_queue;

mod descriptors;
mod file_holders;
mod health;
mod jobs;
mod metrics;
mod replaced_files;
mod touches;

mod error;
mod text;

pub use blocking_pool::{BlockingPool, BlockingThreads, CallerPool};
pub use brains::{BrainIdentity, Engine, NamedProblem, Problem};
pub use commands::CommitAnswer;
pub use descriptors::raise_descriptor_limit;
pub use error::{Error, Result};
pub use file_holders::FileHolder;
pub use health::{BrainHealth, HealthFuture};
pub use jobs::{JobCount, JobEntry, JobKind, JobRegistry, RunningJob};
pub use metrics::{
    BrainMetrics, EngineMetrics, Histogram, HistogramSnapshot, Metric, Subscription, TIME_BOUNDS,
};
pub use open_brain::{JobReport, OpenBrain};
pub use replaced_files::{Release, ReplacedFiles};
pub use schedules::{ScheduledJob, Schedules};
pub use text::plural;
pub use watch::watch;
pub use writer::PRINCIPAL;
