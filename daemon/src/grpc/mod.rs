//! What every call passes before it is served: it gets a name, its caller is known and may do it, there is room for
//! it, and it has a deadline.
//!
//! Promises: nothing is served that is not in the table of `access`; a call that is refused costs no more than its
//! headers; what a call holds it holds until its answer has been sent; a stream ends when what its caller may do
//! changes, and a call that has no answer yet when that becomes less.
//! Not here: connections (`listen`), what calls do (`services`).

pub mod http2;

pub(crate) mod connection;

mod call_names;
mod entry;

mod answers;
pub(crate) mod messages;
mod panics;
mod shapes;
mod unsent;

pub(crate) use call_names::NameCalls;
pub(crate) use entry::Enter;
pub(crate) use panics::CatchPanics;
pub use shapes::decoded_bytes;
pub(crate) use unsent::Unsent;
