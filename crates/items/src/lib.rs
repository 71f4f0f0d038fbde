//! Items in brains: JSON objects by namespace and key.
//!
//! ```
//! # use std::sync::Arc;
//! # use amem_engine::Engine;
//! # use amem_store::{disk::os::OsDisk, Folder, NewBrain};
//! use amem_facts::EngineBrain;
//! use amem_format::Micros;
//! use amem_items::{ItemChange, ItemIndex, ItemName, ItemPut, ItemState, Items};
//! use amem_memory::store::{BuiltinEmbedder, Embedder};
//!
//! # let path = tempfile::tempdir()?;
//! # let path = path.path();
//! # let runtime = tokio::runtime::Runtime::new()?;
//! # let folder = Folder::open(Arc::new(OsDisk::new(path)?), "an example")?;
//! # let engine = Engine::new(folder, path.to_owned(), Arc::new(()));
//! # let work = runtime.block_on(engine.create("work", NewBrain::default()))?;
//! let author = ("uid:1000", "an agent");
//! let brain = EngineBrain::new(work, runtime.handle().clone(), author, BuiltinEmbedder.space());
//! let state = ItemState::default();
//! let now = Micros(1_700_000_000_000_000);
//! let items = Items { brain: &brain, state: &state, embedder: &BuiltinEmbedder, now };
//!
//! let name = ItemName::new(vec!["users".into(), "ada".into()], "home".into())?;
//! let value = r#"{"city":"Porto"}"#.to_owned();
//! let put = ItemPut::new(name.clone(), value, &ItemIndex::Texts, None)?;
//! items.change(&[ItemChange::Put(put)], None)?;
//!
//! let read = items.get(&items.view(), &name, false)?;
//! assert_eq!(read.answer.map(|item| item.value_json).as_deref(), Some(r#"{"city":"Porto"}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A value is an event with the attribute `amem.item`; a newer value supersedes the one before and hides it, so that
//! what an event's flags and edges say is what the item is. The text of the event is what is searched by words. The end
//! of an item is an event of its own; so is each namespace, and each time that a time to live began again.
//!
//! Promises: a batch is one commit; a put, a get and a deletion cost in proportion to the versions of their item at
//! most, by the index of attribute values; what has expired is never shown; a repeated request id changes nothing.
//! Not here: who may call, protocols and the network.

#![forbid(unsafe_code)]

pub mod limits;

mod error;

mod item;
mod item_filter;
mod item_name;
mod text_paths;

mod record;
mod stored_item;

mod item_state;

mod item_plan;
mod namespaces;
mod search;

mod items;

pub use error::{Error, Result};
pub use item::{Item, ItemChange, ItemPut, ItemRead, KeptRequest};
pub use item_filter::ItemFilter;
pub use item_name::{ItemName, NamespacePattern, Prefix};
pub use item_state::ItemState;
pub use items::Items;
pub use namespaces::{NamespaceList, NamespacePage};
pub use search::{ItemHit, ItemRanking, ItemSearch};
pub use text_paths::ItemIndex;
