//! The daemon from its first call to its last.

use std::future::Future;
use std::sync::Arc;

use amem_proto::v1::DESCRIPTORS;
use amem_proto::v1::admin_service_server::AdminServiceServer;
use amem_proto::v1::brain_service_server::BrainServiceServer;
use amem_proto::v1::memory_service_server::MemoryServiceServer;
use amem_proto::v1::query_service_server::QueryServiceServer;
use amem_store::Folder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch as cell};
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::NamedService;
use tonic::transport::Server;

use crate::brains::Brains;
use crate::calls::Daemon;
use crate::config::Config;
use crate::control::Control;
use crate::door::{Enter, NameCalls};
use crate::error::{Error, Result};
use crate::figures::{Figures, Phase};
use crate::grpc::Service;
use crate::health::Health;
use crate::jobs::Jobs;
use crate::latency::Latencies;
use crate::limits::{
    BATCH_BYTES_MAX, CLOSE, CLOSE_EVERY, DRAIN, HEADER_BYTES_MAX, MESSAGE_BYTES_MAX, SAVE,
};
use crate::listen::{Listeners, accept};
use crate::methods;
use crate::metrics::Metrics;
use crate::notify;
use crate::panics::CatchPanics;
use crate::watch;

/// Serves a folder of brains to who comes in by the listeners, until `shutdown` is ready or an administrator asks for
/// the end; then ends the calls that are under way and closes the brains, in less than ten seconds.
pub async fn run(
    config: Config,
    folder: Folder,
    mut listeners: Listeners,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let control = Control::new(&config)?;
    let hangup = signal(SignalKind::hangup()).map_err(Error::Signals)?;
    let (stop, stopping) = cell::channel(false);
    let health = Health::new();
    for service in [
        <BrainServiceServer<Service> as NamedService>::NAME,
        <MemoryServiceServer<Service> as NamedService>::NAME,
        <QueryServiceServer<Service> as NamedService>::NAME,
        <AdminServiceServer<Service> as NamedService>::NAME,
    ] {
        health.serving(service, true).await;
    }
    let latencies = Latencies::new(methods::all());
    let figures = Figures::new();
    let path = config.folder.clone();
    let brains = Brains::new(
        folder,
        path,
        health.clone(),
        Jobs::default(),
        figures.clone(),
    );
    // It tells from the first moment that the daemon is not ready, and to the last how it ends.
    let telling = Metrics::start(listeners.metrics.take(), &brains, &latencies)?;
    tokio::pin!(shutdown);
    if !recover(&brains, shutdown.as_mut()).await {
        return Ok(());
    }
    let daemon = Daemon::new(
        brains,
        config.socket.clone(),
        stopping.clone(),
        latencies.clone(),
        control.clone(),
    );
    let daemon = Arc::new(daemon.map_err(Error::Threads)?);
    let service = Service(daemon.clone());
    macro_rules! limited {
        ($server:ident, $bytes:expr) => {
            $server::new(service.clone())
                .max_decoding_message_size($bytes)
                .max_encoding_message_size(MESSAGE_BYTES_MAX)
        };
    }
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let limits = &config.limits;
    let enter = Enter::new(control.clone());
    let unread = tokio::spawn(enter.watch());
    let server = Server::builder()
        .layer(NameCalls)
        .layer(latencies)
        .layer(enter)
        .layer(CatchPanics)
        .max_concurrent_streams(u32::try_from(limits.streams_per_connection).unwrap_or(u32::MAX))
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .http2_keepalive_interval(Some(limits.keepalive()))
        .http2_keepalive_timeout(Some(limits.keepalive_answer()))
        .add_service(health.service())
        .add_service(reflection().build_v1().map_err(Error::Reflection)?)
        .add_service(reflection().build_v1alpha().map_err(Error::Reflection)?)
        // A batch with what is around it.
        .add_service(limited!(MemoryServiceServer, BATCH_BYTES_MAX + 1024))
        .add_service(limited!(BrainServiceServer, MESSAGE_BYTES_MAX))
        .add_service(limited!(QueryServiceServer, MESSAGE_BYTES_MAX))
        .add_service(limited!(AdminServiceServer, MESSAGE_BYTES_MAX));
    let tcp = listeners.tcp_address().map(|address| address.to_string());
    let (connections, incoming) = mpsc::channel(1);
    let accepting = accept(listeners, control.clone(), figures.clone(), connections);
    let mut ending = stopping.clone();
    let serving = server.serve_with_incoming_shutdown(ReceiverStream::new(incoming), async move {
        drop(ending.wait_for(|stop| *stop).await);
    });
    let closing = {
        let (brains, control) = (daemon.brains.clone(), control.clone());
        tokio::spawn(async move {
            loop {
                let after = control.live().limits.idle_close();
                tokio::time::sleep(after.min(CLOSE_EVERY)).await;
                brains.close_idle(after).await;
            }
        })
    };
    let schedules = daemon.schedules.clone();
    let following = tokio::spawn(async move { schedules.follow().await });
    let watching = tokio::spawn(watch::watch(daemon.brains.clone()));
    let letting_go = tokio::spawn(daemon.brains.replaced().clone().follow());
    let metrics = telling.address().map(|address| address.to_string());
    tokio::pin!(serving);
    figures.enter(Phase::Ready);
    tracing::info!(
        folder = %config.folder.display(),
        socket = %config.socket.display(),
        tcp = tcp.as_deref().unwrap_or("off"),
        metrics = metrics.as_deref().unwrap_or("off"),
        "ready"
    );
    notify::ready();
    let served = {
        // Nobody comes in any more once this is dropped.
        tokio::pin!(accepting);
        tokio::select! {
            served = &mut serving => Some(served),
            () = &mut accepting => None,
            () = &mut shutdown => None,
            () = daemon.control.ending() => None,
            () = reload_on(hangup, &daemon) => None,
            () = notify::watchdog() => None,
        }
    };
    tracing::info!("stopping");
    figures.enter(Phase::Stopping);
    closing.abort();
    watching.abort();
    letting_go.abort();
    following.abort();
    unread.abort();
    daemon.control.shutdown();
    notify::stopping();
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
    daemon.schedules.keep();
    let saved = tokio::select! {
        biased;
        () = notify::more_time() => false,
        saved = tokio::time::timeout(SAVE, daemon.brains.save_nameless()) => saved.is_ok(),
    };
    if !saved {
        tracing::error!("a brain whose file was taken away could not be saved in time");
    }
    if tokio::time::timeout(CLOSE, daemon.brains.close())
        .await
        .is_err()
    {
        tracing::warn!("brains that did not close in time are recovered at the next start");
    }
    daemon.brains.tell_kept();
    tracing::info!("stopped");
    telling.end().await;
    Ok(served?)
}

/// Opens every brain once; false if the end came first.
async fn recover(brains: &Brains, shutdown: impl Future<Output = ()>) -> bool {
    let recovered = tokio::select! {
        biased;
        () = shutdown => None,
        () = notify::more_time() => None,
        recovered = brains.recover_all() => Some(recovered),
    };
    let Some(recovered) = recovered else {
        tracing::info!("stopping: brains that were not recovered yet are at the next start");
        notify::stopping();
        drop(tokio::time::timeout(CLOSE, brains.close()).await);
        return false;
    };
    if let Err(refusal) = recovered {
        tracing::error!(why = refusal.message, "the folder can't be listed");
    }
    true
}

/// Reads the configuration again whenever SIGHUP asks for it. What comes of it is in the log.
async fn reload_on(mut hangup: Signal, daemon: &Daemon) {
    while hangup.recv().await.is_some() {
        drop(daemon.reload().await);
    }
    std::future::pending().await
}
