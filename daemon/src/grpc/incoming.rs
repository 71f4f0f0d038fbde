//! Connections on their way from `ingress::accept` to the gRPC server: a client must speak HTTP/2 in time.

use std::io;

use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

use super::connection::GrpcConnection;
use super::http2::PREFACE;
use crate::control::Control;
use crate::ingress::accept::{AcceptedConnection, Handler};
use crate::ingress::stream::PeerStream;
use crate::limits::FIRST_CALL_AFTER;

/// Passes connections to the server once their clients have sent the preface of HTTP/2.
#[derive(Debug)]
pub(crate) struct GrpcHandler {
    control: Control,
    connections: mpsc::Sender<io::Result<GrpcConnection>>,
}

impl GrpcHandler {
    /// The handler of accepted connections, and what the server takes from it.
    pub(crate) fn new(control: Control) -> (Self, ReceiverStream<io::Result<GrpcConnection>>) {
        let (connections, incoming) = mpsc::channel(1);
        let handler = Self {
            control,
            connections,
        };
        (handler, ReceiverStream::new(incoming))
    }
}

impl Handler for GrpcHandler {
    async fn handle(&self, accepted: AcceptedConnection) {
        let AcceptedConnection {
            mut stream,
            peer,
            mut slot,
        } = accepted;
        let key = peer.key();
        let within = self.control.live().limits.preface();
        let preface = tokio::select! {
            preface = timeout(within, read_preface(&mut stream)) => preface,
            () = &mut slot => {
                tracing::debug!(peer = %key, "closed a silent connection: another connection needed its slot");
                return;
            }
        };
        match preface {
            Ok(Ok(())) => {
                let connection = GrpcConnection::new(stream, peer, slot, FIRST_CALL_AFTER);
                drop(self.connections.send(Ok(connection)).await);
            }
            Ok(Err(why)) => {
                tracing::debug!(peer = %key, %why, "a connection ended before its preface")
            }
            Err(_) => tracing::debug!(peer = %key, "closed a silent connection"),
        }
    }
}

async fn read_preface(stream: &mut PeerStream) -> io::Result<()> {
    let mut preface = [0; PREFACE.len()];
    stream.read_exact(&mut preface).await?;
    if preface != *PREFACE {
        let why = "the client does not speak HTTP/2";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(())
}
