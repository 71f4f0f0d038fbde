//! The connection to amemd of a process that lives longer than one command: it is made in the background, and again if
//! the daemon is gone.

use std::sync::Arc;
use std::time::Duration;

use amem_client::Client;
use tokio::sync::Mutex;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::connection::flags::ConnectionArgs;
use crate::connection::remote::Remote;
use crate::failure::Failure;

/// How long a call waits for a daemon that is starting; it starts behind the answer.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

enum LinkState {
    Idle,
    Connecting(JoinHandle<Result<Remote, Failure>>),
    Connected(Arc<Remote>),
}

/// The connection, made when it is needed.
pub(super) struct DaemonLink {
    reach: ConnectionArgs,
    state: Mutex<LinkState>,
}

impl DaemonLink {
    pub(super) fn new(reach: ConnectionArgs) -> Self {
        Self {
            reach,
            state: Mutex::new(LinkState::Idle),
        }
    }

    /// The client; starts a daemon if none runs. An error is one line.
    pub(super) async fn client(&self) -> Result<Client, String> {
        let mut state = self.state.lock().await;
        if let LinkState::Connected(remote) = &*state {
            return Ok(remote.client.clone());
        }
        if matches!(*state, LinkState::Idle) {
            let reach = self.reach.clone();
            // It waits, and a runtime of its own drives the connection.
            let connect = move || reach.connect().map(|reached| reached.remote);
            *state = LinkState::Connecting(spawn_blocking(connect));
        }
        let LinkState::Connecting(connecting) = &mut *state else {
            return Err("the connection to amemd is in no state".to_owned());
        };
        let Ok(connected) = tokio::time::timeout(CONNECT_WAIT, connecting).await else {
            return Err("amemd is starting and does not answer yet".to_owned());
        };
        *state = LinkState::Idle;
        let remote = match connected {
            Ok(Ok(remote)) => remote,
            Ok(Err(failure)) => return Err(format!("{}; {}", failure.message, failure.remedy)),
            Err(panicked) => return Err(panicked.to_string()),
        };
        let client = remote.client.clone();
        *state = LinkState::Connected(Arc::new(remote));
        Ok(client)
    }

    /// Forgets a connection that broke.
    pub(super) async fn lost(&self) {
        let mut state = self.state.lock().await;
        if let LinkState::Connected(remote) = &*state {
            let remote = Arc::clone(remote);
            *state = LinkState::Idle;
            // A runtime must not be dropped among tasks of another.
            let _dropped = spawn_blocking(move || drop(remote));
        }
    }
}
