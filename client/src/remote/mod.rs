//! The daemon's client: connections, retried calls, brains.

mod brain;
mod brain_calls;
mod call;
mod certificate;
mod client;
mod connect;
mod connect_error;
mod file;
mod follow;
mod ingest;
mod link;
mod position;
mod retry;
pub mod stubs;
mod tls;
mod touches;
mod unary;

pub use brain::Brain;
pub use client::{BrainAccess, Client};
pub use connect_error::ConnectError;
pub use follow::CommitStream;
pub use link::AuthorizedChannel;
pub use retry::Retry;
pub use tls::Tls;
