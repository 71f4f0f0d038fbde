//! Items in brains: JSON objects by namespace and key.
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
