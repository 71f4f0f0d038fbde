//! The trait of all changes: brain, write options, call and commit.

use std::fmt::Debug;

use prost::Message;

use crate::v1;

/// A request of `MemoryService` that is answered by one commit.
pub trait Change: Message + Clone + Debug + Default + 'static {
    /// The message that answers it.
    type Answer: Message + Debug + Default + PartialEq + 'static;
    /// The path of its call.
    const PATH: &'static str;

    /// The brain's name.
    fn brain(&self) -> &str;
    /// The brain's name, to be set.
    fn brain_mut(&mut self) -> &mut String;
    /// The agent, the request id and the preconditions.
    fn options_mut(&mut self) -> &mut v1::WriteOptions;
    /// The same, taken out; `None` if the request has none.
    fn take_options(&mut self) -> Option<v1::WriteOptions>;
    /// The commit that an answer names.
    fn commit(answer: &Self::Answer) -> Option<&v1::Commit>;
}

include!(concat!(env!("OUT_DIR"), "/changes.rs"));
