//! The daemon's client: connections, retried calls, brains.

mod brain;
mod call;
mod client;
mod connect;
mod connect_error;
mod file;
mod follow;
mod ingest;
mod named;
mod position;
mod retry;
mod tls;
mod touches;

pub use brain::Brain;
pub use client::{BrainAccess, Client, Connection};
pub use connect_error::ConnectError;
pub use follow::Commits;
pub use retry::Retry;
pub use tls::Tls;
