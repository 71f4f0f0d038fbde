//! The daemon from its first call to its last.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use amem_proto::v1::admin_service_server::AdminServiceServer;
use amem_proto::v1::brain_service_server::BrainServiceServer;
use amem_proto::v1::memory_service_server::MemoryServiceServer;
use amem_proto::v1::query_service_server::QueryServiceServer;
use amem_store::Folder;
use amem_store::disk::os::OsDisk;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;

use crate::brains::Brains;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::limits::{
    BATCH_BYTES_MAX, CLOSE, CONNECTION_STREAMS_MAX, DRAIN, HEADER_BYTES_MAX, MESSAGE_BYTES_MAX,
};
use crate::panics::CatchPanics;
use crate::services::{Daemon, Service};
use crate::socket::Socket;

/// Takes the folder for this daemon alone. Whoever has it is named in the error.
pub fn open_folder(config: &Config) -> Result<Folder> {
    let disk =
        OsDisk::new(&config.folder).map_err(|e| Error::io("open the folder", &config.folder, e))?;
    let (pid, socket) = (std::process::id(), config.socket.display());
    let holder = format!("amemd, process {pid}, which listens on {socket}");
    Ok(Folder::open(Arc::new(disk), &holder)?)
}

/// Serves a folder of brains on a socket until `shutdown` is ready; then ends the calls that are under way and
/// closes the brains, in less than ten seconds.
pub async fn run(
    config: Config,
    folder: Folder,
    socket: Socket,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let (stop, stopping) = watch::channel(false);
    let brains = Brains::new(folder, config.folder.clone());
    let daemon = Arc::new(Daemon::new(brains, config.socket.clone(), stopping.clone()));
    let service = Service(daemon.clone());
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<BrainServiceServer<Service>>().await;
    health.set_serving::<MemoryServiceServer<Service>>().await;
    health.set_serving::<QueryServiceServer<Service>>().await;
    health.set_serving::<AdminServiceServer<Service>>().await;
    macro_rules! limited {
        ($server:ident, $bytes:expr) => {
            $server::new(service.clone())
                .max_decoding_message_size($bytes)
                .max_encoding_message_size(MESSAGE_BYTES_MAX)
        };
    }
    let server = Server::builder()
        .layer(CatchPanics)
        .max_concurrent_streams(CONNECTION_STREAMS_MAX)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .http2_keepalive_interval(Some(Duration::from_secs(60)))
        .add_service(health_service)
        // A batch with what is around it.
        .add_service(limited!(MemoryServiceServer, BATCH_BYTES_MAX + 1024))
        .add_service(limited!(BrainServiceServer, MESSAGE_BYTES_MAX))
        .add_service(limited!(QueryServiceServer, MESSAGE_BYTES_MAX))
        .add_service(limited!(AdminServiceServer, MESSAGE_BYTES_MAX));
    tracing::info!(folder = %config.folder.display(), socket = %config.socket.display(), "ready");
    let (connections, incoming) = mpsc::channel::<std::io::Result<UnixStream>>(1);
    let accepting = async move {
        loop {
            match socket.accept().await {
                Ok(stream) => {
                    if connections.send(Ok(stream)).await.is_err() {
                        break;
                    }
                }
                Err(error) => {
                    // Out of descriptors, most likely: some will come free.
                    tracing::warn!(%error, "a connection was lost before it began");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    };
    let mut ending = stopping.clone();
    let serving = server.serve_with_incoming_shutdown(ReceiverStream::new(incoming), async move {
        drop(ending.wait_for(|stop| *stop).await);
    });
    tokio::pin!(serving, shutdown);
    let served = {
        tokio::pin!(accepting);
        tokio::select! {
            served = &mut serving => Some(served),
            () = &mut accepting => None,
            () = &mut shutdown => None,
        }
    };
    tracing::info!("stopping");
    health
        .set_service_status("", tonic_health::ServingStatus::NotServing)
        .await;
    stop.send_replace(true);
    let served = match served {
        Some(served) => served,
        None => match tokio::time::timeout(DRAIN, serving).await {
            Ok(served) => served,
            Err(_) => {
                tracing::warn!("calls that did not end in time are cut off");
                Ok(())
            }
        },
    };
    if tokio::time::timeout(CLOSE, daemon.brains.close())
        .await
        .is_err()
    {
        tracing::warn!("brains that did not close in time are recovered at the next start");
    }
    tracing::info!("stopped");
    Ok(served?)
}
