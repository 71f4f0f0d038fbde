//! Between the messages of amem.v1 and what a writer is asked, and what its subscribers are told. What questions
//! are answered: `amem_proto::answer`.

mod commit;
mod mutation;
mod says;

pub(crate) use amem_proto::answer::{moment, space, timestamp};
pub(crate) use commit::{Only, Telling, Told, standing};
pub use mutation::Asks;
pub(crate) use mutation::{commit, request};
pub use says::Says;
