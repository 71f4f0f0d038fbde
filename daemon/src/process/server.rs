//! The daemon from its start to its end.
//!
//! It stops in this order:
//! 1. `StopStage::Intake`: no connection is accepted, and no work begins in the background.
//! 2. Calls in progress end, within `DRAIN`.
//! 3. The last runs of schedules are saved; brains whose files were removed are saved, within `SAVE`; all brains close,
//!    within `CLOSE`.
//! 4. `StopStage::Reporting`: metrics.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use amem_engine::{Engine, watch};
use amem_store::Folder;
use axum::Router;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch as cell;
use tower::Service;

use super::ending::PROCESS_END;
use super::supervisor::{StopStage, Supervisor};
use crate::brains::{Brains, blocking};
use crate::calls::fact_memory::now;
use crate::calls::{Gateway, fact_retries, late_vectors};
use crate::config::Config;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::gateway::{
    AdmissionGuard, CallConnections, CallFunction, ConnectionServer, GuardStack, Versions,
};
use crate::grpc::{CallService, Grpc, Health};
use crate::http;
use crate::ingress::admission::Admission;
use crate::ingress::connection_limit::ConnectionLimit;
use crate::ingress::latency::Latencies;
use crate::ingress::methods;
use crate::ingress::{CallListeners, Listeners, accept};
use crate::limits::{CLOSE, CLOSE_EVERY, DRAIN, FIRST_CALL_AFTER, KEEP_BUDGETS_EVERY, SAVE};
use crate::log;
use crate::metrics::{DaemonMetrics, Phase};
use crate::models::{self, Models};
use crate::os::notify;
use crate::webhooks::{self, Webhooks};

/// Serves a folder of brains to the clients of the listeners, until `shutdown` is ready or an administrator shuts the
/// daemon down; then drains the calls in progress and closes the brains, in less than ten seconds. The last but
/// one are what makes the client of webhooks, and what opens models, if there is any.
pub async fn run(
    config: Config,
    folder: Folder,
    mut listeners: Listeners,
    (webhooks, models): (Option<webhooks::Starter>, Option<models::Starter>),
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let control = Control::new(&config)?;
    let hangup = signal(SignalKind::hangup()).map_err(Error::Signals)?;
    let mut tasks = Supervisor::new();
    let (health, metrics) = (health(), DaemonMetrics::new());
    let webhooks = Webhooks::start(&config, webhooks, &metrics)?;
    let models = Models::start(&config, models)?;
    let latencies = Latencies::new(methods::all());
    let engine = Engine::new(folder, config.folder.clone(), Arc::new(health.clone()));
    let brains = Brains::new(engine.clone(), metrics.clone());
    // Metrics are served from before the recovery to the end.
    let pages = listeners.metrics.take();
    let metrics_address = serve_pages(&mut tasks, pages, &control, &brains, &latencies)?;
    tokio::pin!(shutdown);
    if !recover(&engine, shutdown.as_mut()).await {
        return Ok(());
    }
    let (stop, stopping) = cell::channel(false);
    let gateway = Gateway::new(
        brains,
        config.socket.clone(),
        stopping.clone(),
        latencies.clone(),
        control.clone(),
        (webhooks, models),
    );
    let gateway = Arc::new(gateway.map_err(Error::Threads)?);
    let tcp_address = listeners.tcp_address().map(|address| address.to_string());
    let http_address = listeners.http.address();
    let admission = AdmissionGuard::new(Admission::new(control.clone()), &Grpc);
    let unread = admission.watch();
    let connections = CallConnections::new();
    let grpc = ConnectionServer {
        router: Router::new(),
        versions: Versions::Two,
        control: control.clone(),
        limits: config.limits.clone(),
        stopping,
        alive: connections.alive(),
    };
    let servers = servers(grpc, &gateway, &health, &latencies, admission)?;

    let intake = StopStage::Intake;
    let accepting = accept_all(listeners, control.clone(), metrics.clone(), servers);
    tasks.spawn_essential(intake, "accept", accepting);
    tasks.spawn(intake, "unread answers", unread);
    tasks.spawn(intake, "log", log::report_dropped());
    tasks.spawn(intake, "idle brains", close_idle(gateway.clone()));
    follow_files(&mut tasks, &engine);
    follow_clocks(&mut tasks, &gateway);

    metrics.enter(Phase::Ready);
    tracing::info!(
        folder = %config.folder.display(),
        socket = %config.socket.display(),
        tcp = tcp_address.as_deref().unwrap_or("off"),
        http = http_address.as_deref().unwrap_or("off"),
        metrics = metrics_address.as_deref().unwrap_or("off"),
        "ready"
    );
    notify::ready();
    tokio::select! {
        () = tasks.essential_ended() => {}
        () = &mut shutdown => {}
        () = control.ending() => {}
        () = reload_on(hangup, &gateway) => {}
        () = notify::watchdog() => {}
    }
    begin_end(&metrics);
    tasks.stop(intake).await;
    control.shutdown();
    notify::stopping();
    health.serving("", false);
    stop.send_replace(true);
    if tokio::time::timeout(DRAIN, connections.ended())
        .await
        .is_err()
    {
        tracing::warn!("cutting off calls that did not end in time");
    }
    close(&gateway).await;
    tracing::info!("stopped");
    tasks.stop(StopStage::Reporting).await;
    Ok(())
}

/// From here on the end is bounded.
fn begin_end(metrics: &DaemonMetrics) {
    PROCESS_END.begin();
    tracing::info!("stopping");
    metrics.enter(Phase::Stopping);
}

/// Serves the pages of metrics, if they are on; returns their address.
fn serve_pages(
    tasks: &mut Supervisor,
    listener: Option<TcpListener>,
    control: &Control,
    brains: &Brains,
    latencies: &Latencies,
) -> Result<Option<String>> {
    let Some(listener) = listener else {
        return Ok(None);
    };
    let pages = http::MetricsServer::new(listener, control.clone(), brains, latencies)?;
    let address = pages.address().to_string();
    tasks.spawn(StopStage::Reporting, "metrics", pages.serve());
    Ok(Some(address))
}

/// What serves the connections of gRPC, and those of HTTP.
fn servers(
    grpc: ConnectionServer,
    gateway: &Arc<Gateway>,
    health: &Health,
    latencies: &Latencies,
    admission: AdmissionGuard,
) -> Result<(ConnectionServer, ConnectionServer)> {
    let guards = |encoding| GuardStack {
        encoding,
        latencies: latencies.clone(),
        admission: admission.clone(),
    };
    let background = (grpc.stopping.clone(), grpc.alive.clone());
    let rest = http::router(gateway, latencies, &guards(&http::Rest), background);
    let calls = CallService(gateway.clone()).routes(health);
    let calls = calls.map_err(Error::Reflection)?;
    let call: CallFunction = Arc::new(move |request| {
        let answer = calls.clone().call(request);
        Box::pin(async move { answer.await.unwrap_or_else(|never| match never {}) })
    });
    let calls = guards(&Grpc).around(None, call);
    let http = ConnectionServer {
        router: rest,
        versions: Versions::OneAndTwo,
        ..grpc.clone()
    };
    let grpc = ConnectionServer {
        router: Router::new().fallback_service(calls),
        ..grpc
    };
    Ok((grpc, http))
}

/// Accepts connections of all protocols. They share one limit.
async fn accept_all(
    listeners: Listeners,
    control: Control,
    metrics: DaemonMetrics,
    (grpc, rest): (ConnectionServer, ConnectionServer),
) {
    let Listeners {
        unix, tcp, http, ..
    } = listeners;
    let calls = CallListeners {
        unix: Some(unix),
        tcp,
    };
    let limit = ConnectionLimit::new(metrics.clone(), Engine::connections_max());
    let accept = (
        accept(calls, limit.clone(), control.clone(), metrics.clone(), grpc),
        accept(http, limit.clone(), control.clone(), metrics, rest),
        limit.watch(&control, FIRST_CALL_AFTER),
    );
    tokio::join!(accept.0, accept.1, accept.2);
}

/// The health of a daemon whose services are all serving.
fn health() -> Health {
    let health = Health::new();
    for service in CallService::names() {
        health.serving(&service, true);
    }
    health
}

/// Recovers every brain; false if the shutdown came first.
async fn recover(engine: &Engine, shutdown: impl Future<Output = ()>) -> bool {
    let recovered = tokio::select! {
        biased;
        () = shutdown => None,
        () = notify::more_time() => None,
        recovered = engine.recover_all() => Some(recovered),
    };
    let Some(recovered) = recovered else {
        tracing::info!("stopping: the next start recovers the remaining brains");
        notify::stopping();
        drop(tokio::time::timeout(CLOSE, engine.close()).await);
        return false;
    };
    if let Err(error) = recovered {
        tracing::error!(why = error.to_string(), "cannot list the folder");
    }
    true
}

/// Closes idle brains periodically.
async fn close_idle(gateway: Arc<Gateway>) {
    loop {
        let after = gateway.control.live().limits.idle_close();
        tokio::time::sleep(after.min(CLOSE_EVERY)).await;
        gateway.brains.engine().close_idle(after).await;
    }
}

/// Starts what looks after files: new ones in the folder, and those of which only readers are left.
fn follow_files(tasks: &mut Supervisor, engine: &Engine) {
    tasks.spawn(StopStage::Intake, "folder", watch(engine.clone()));
    let unused = engine.replaced().clone().release_when_unused();
    tasks.spawn(StopStage::Intake, "replaced files", unused);
}

/// Starts what runs by the clock: the schedules of brains, pending work of fact memory, late vectors, and webhooks.
fn follow_clocks(tasks: &mut Supervisor, gateway: &Arc<Gateway>) {
    let schedules = gateway.schedules.clone();
    let run = async move { schedules.run_due().await };
    tasks.spawn(StopStage::Intake, "schedules", run);
    let retries = fact_retries::run_due(gateway.clone());
    tasks.spawn(StopStage::Intake, "pending facts", retries);
    let (models, folder) = (gateway.models.clone(), gateway.brains.path().to_owned());
    tasks.spawn(StopStage::Intake, "budgets", keep_budgets(models, folder));
    let late = late_vectors::run(gateway.clone());
    tasks.spawn(StopStage::Intake, "late vectors", late);
    if let Some(webhooks) = gateway.webhooks.clone() {
        let delivery = webhooks::deliver(webhooks, gateway.brains.clone(), now);
        tasks.spawn(StopStage::Intake, "webhooks", delivery);
    }
}

/// Keeps what models used today, now and then.
async fn keep_budgets(models: Models, folder: PathBuf) {
    loop {
        tokio::time::sleep(KEEP_BUDGETS_EVERY).await;
        let (models, folder) = (models.clone(), folder.clone());
        drop(blocking(move || models.keep(&folder)).await);
    }
}

/// Reloads the configuration at every SIGHUP, and logs the outcome.
async fn reload_on(mut hangup: Signal, gateway: &Gateway) {
    while hangup.recv().await.is_some() {
        drop(gateway.reload().await);
    }
    std::future::pending().await
}

/// Saves the state of schedules and the brains without files, and closes all brains.
async fn close(gateway: &Gateway) {
    let engine = gateway.brains.engine();
    let schedules = gateway.schedules.clone();
    drop(blocking(move || schedules.keep()).await);
    let (models, folder) = (gateway.models.clone(), engine.path().to_owned());
    drop(blocking(move || models.keep(&folder)).await);
    if let Some(webhooks) = gateway.webhooks.clone() {
        // A failure is logged there; what was sent since the last write is sent again then.
        drop(blocking(move || webhooks.keep()).await);
    }
    PROCESS_END.saves(true);
    let saved = tokio::select! {
        biased;
        () = notify::more_time() => false,
        saved = tokio::time::timeout(SAVE, engine.save_nameless()) => saved.is_ok(),
    };
    PROCESS_END.saves(false);
    if !saved {
        tracing::error!("a brain whose file was removed could not be saved in time");
    }
    if tokio::time::timeout(CLOSE, engine.close()).await.is_err() {
        tracing::warn!("some brains did not close in time: the next start recovers them");
    }
    engine.log_quarantined();
}
