//! The daemon's client: connections, calls that are begun again, brains.

mod brain;
mod call;
mod client;
mod connect;
mod file;
mod follow;
mod ingest;
mod named;
mod retry;
mod tls;
mod touches;

pub use brain::Brain;
pub use client::{Client, Link, Opened};
pub use connect::ConnectError;
pub use follow::Commits;
pub use retry::Retry;
pub use tls::Tls;
