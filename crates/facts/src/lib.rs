//! Fact memory in brains: a store of memories for `amem_memory`, and the calls that its clients make.
//!
//! ```
//! # use std::sync::Arc;
//! # use amem_engine::Engine;
//! # use amem_store::{disk::os::OsDisk, Folder, NewBrain};
//! use amem_facts::{EngineBrain, FactState, Facts, RandomIds, search::FactSearch};
//! use amem_format::Micros;
//! use amem_memory::store::{BuiltinEmbedder, Embedder};
//! use amem_memory::{AddRequest, FactScope, Message, model::FormTable};
//!
//! # let path = tempfile::tempdir()?;
//! # let path = path.path();
//! # let runtime = tokio::runtime::Runtime::new()?;
//! # let folder = Folder::open(Arc::new(OsDisk::new(path)?), "an example")?;
//! # let engine = Engine::new(folder, path.to_owned(), Arc::new(()));
//! # let work = runtime.block_on(engine.create("work", NewBrain::default()))?;
//! let author = ("uid:1000", "an agent");
//! let brain = EngineBrain::new(work, runtime.handle().clone(), author, BuiltinEmbedder.space());
//! let (state, forms) = (FactState::default(), FormTable::default());
//! let (embedder, ids) = (&BuiltinEmbedder, &RandomIds);
//! let facts = Facts { brain: &brain, state: &state, embedder, ids, model: None, forms: &forms };
//!
//! let (scope, now) = (FactScope::user("ada"), Micros(1_700_000_000_000_000));
//! let said = vec![Message::user("I live in Porto.")];
//! facts.add(&AddRequest::new(said, scope.clone(), now))?;
//!
//! let question = FactSearch {
//!     question: "where does the user live?".into(),
//!     scope, filter: None, limit: 5, threshold: 0.1, at: None,
//!     with_quarantined: false, with_graph: false, now,
//! };
//! let found = facts.search(&question, &facts.moment(None)?)?;
//! assert_eq!(found.hits[0].item.memory, "User lives in Porto");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A version of a memory is an event with the attribute `amem.fact`; a newer version supersedes it, and the end of a
//! memory is an event of its own, which says when and why. Turns are events with `amem.turn`. Every version names its
//! memory, so that the state of a memory at any moment is that of its newest event: flags only hide from general
//! queries what facts no longer say.
//!
//! Promises: one add is one commit; a lookup by id, hash, slot or turn costs in proportion to what it finds, by the
//! index of attribute values; decisions from an outdated scope are refused, not committed; a memory of another scope is
//! neither shown nor changed.
//! Not here: what a fact is, and what it does to others (`amem_memory`); who may call, protocols and the network.

#![forbid(unsafe_code)]

pub mod limits;

mod error;
mod fact_brain;
mod record;
mod space_embedder;

mod indexed_filter;
mod memory_chain;
mod scope_plan;

mod entity;

mod fact_state;
mod scope_locks;
mod served_ring;

mod conversation;
mod kept_answer;

mod batch_plan;
mod brain_store;

mod feedback;
mod history;
mod listing;
mod pending_index;
mod pending_work;
pub mod recall;
mod review;
pub mod search;
mod standing_read;
mod standing_turns;
mod stored_turns;
mod support;
mod users;

pub mod entities;
mod entity_change;
mod entity_names;
mod rejection;
mod widening;

mod erasure;
mod export;
mod fact_change;
mod facts;
mod retry;
mod verdict;

pub use entity_change::{EntityErasure, EntityStatementRequest, ErasedMemory};
pub use error::{Error, Result};
pub use export::ExportedFact;
pub use fact_brain::{EngineBrain, FactBrain};
pub use fact_change::{FactChange, FactChangeKind};
pub use fact_state::FactState;
pub use facts::{Facts, RandomIds};
pub use feedback::FactFeedback;
pub use history::{HistoryEntry, MemoryHistory, SourceTurn};
pub use kept_answer::KeptAnswer;
pub use listing::{FactCursor, ListRequest, ListedMemories};
pub use pending_index::{PendingIndex, PendingSummary};
pub use pending_work::{AddOptions, PendingEntry};
pub use record::{FeedbackRating, item_json};
pub use retry::RetryOutcome;
pub use review::{OpenConflict, review_count};
pub use scope_plan::FactMoment;
pub use space_embedder::SpaceEmbedder;
pub use standing_read::StandingRead;
pub use users::ScopeCount;
pub use verdict::{FactVerdict, ReviewedFact};
