//! The daemon's client: connections, retried calls, brains.

mod brain;
mod brain_calls;
mod bytes_codec;
mod call;
mod certificate;
mod client;
mod connect;
mod connect_error;
mod file;
mod follow;
mod ingest;
mod position;
mod retry;
mod stubs;
mod tls;
mod touches;

pub use brain::Brain;
pub use client::{AuthorizedChannel, BrainAccess, Client};
pub use connect_error::ConnectError;
pub use follow::CommitStream;
pub use retry::Retry;
pub use stubs::{
    AdminStub, BrainStub, FactStub, HookStub, ItemStub, MemoryStub, QueryStub, StubAnswer,
};
pub use tls::Tls;
