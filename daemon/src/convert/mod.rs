//! Between the messages of amem.v1 and the words of core and store.

mod commit;
mod event;
mod mutation;
mod word;

pub(crate) use commit::{Told, messages, standing};
pub(crate) use event::{Shape, event, stub};
pub(crate) use mutation::{Asks, commit};
pub(crate) use word::{as_of, event_types, moment, space, timestamp, type_number};
