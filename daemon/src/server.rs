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
use tonic::server::NamedService;
use tonic::transport::Server;

use crate::brains::Brains;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::health::Health;
use crate::jobs::Jobs;
use crate::latency::Latencies;
use crate::limits::{
    BATCH_BYTES_MAX, CLOSE, CLOSE_AFTER, CLOSE_EVERY, CONNECTION_STREAMS_MAX, DRAIN,
    HEADER_BYTES_MAX, MESSAGE_BYTES_MAX,
};
use crate::methods;
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
    let (reporter, health_service) = tonic_health::server::health_reporter();
    let health = Health::new(reporter);
    for service in [
        <BrainServiceServer<Service> as NamedService>::NAME,
        <MemoryServiceServer<Service> as NamedService>::NAME,
        <QueryServiceServer<Service> as NamedService>::NAME,
        <AdminServiceServer<Service> as NamedService>::NAME,
    ] {
        health.serving(service, true).await;
    }
    let latencies = Latencies::new(methods::all());
    let path = config.folder.clone();
    let brains = Brains::new(folder, path, health.clone(), Jobs::default());
    if let Err(refusal) = brains.recover_all().await {
        tracing::error!(why = refusal.message, "the folder can't be listed");
    }
    let daemon = Arc::new(Daemon::new(
        brains,
        config.socket.clone(),
        stopping.clone(),
        latencies.clone(),
    ));
    let service = Service(daemon.clone());
    macro_rules! limited {
        ($server:ident, $bytes:expr) => {
            $server::new(service.clone())
                .max_decoding_message_size($bytes)
                .max_encoding_message_size(MESSAGE_BYTES_MAX)
        };
    }
    let server = Server::builder()
        .layer(latencies)
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
    let closing = {
        let brains = daemon.brains.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(CLOSE_EVERY).await;
                brains.close_idle(CLOSE_AFTER).await;
            }
        })
    };
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
    closing.abort();
    health.serving("", false).await;
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
