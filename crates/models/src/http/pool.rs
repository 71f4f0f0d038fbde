//! Connections that wait for the next request: an add makes several calls within seconds.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hyper::client::conn::http1::SendRequest;
use tokio::task::JoinHandle;

use crate::limits::{IDLE_AFTER, IDLE_CONNECTIONS_MAX};

/// The task that moves the bytes of a connection; it ends when this is dropped.
pub(super) struct DriverTask(pub(super) JoinHandle<()>);

impl Drop for DriverTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection that takes a request.
pub(super) struct OpenConnection {
    pub(super) sender: SendRequest<String>,
    pub(super) _driver: DriverTask,
}

#[derive(Default)]
pub(super) struct ConnectionPool {
    idle: Mutex<Vec<(OpenConnection, Instant)>>,
}

impl ConnectionPool {
    /// The connection that was used last, if its server has not closed it.
    pub(super) fn take(&self) -> Option<OpenConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(connection, since)| {
            since.elapsed() < IDLE_AFTER && !connection.sender.is_closed()
        });
        idle.pop().map(|(connection, _)| connection)
    }

    /// Keeps a connection whose answer was read to its end.
    pub(super) fn put(&self, connection: OpenConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(connection, since)| {
            since.elapsed() < IDLE_AFTER && !connection.sender.is_closed()
        });
        if idle.len() < IDLE_CONNECTIONS_MAX && !connection.sender.is_closed() {
            idle.push((connection, Instant::now()));
        }
    }
}
