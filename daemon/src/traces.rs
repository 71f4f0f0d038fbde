//! Traces: calls as spans for a collector on this machine, in builds with an exporter (feature `otlp`), if
//! `traces.otlp` names the collector.

use std::net::SocketAddr;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::Layered;
use tracing_subscriber::{Layer, Registry, reload};

use crate::config::{Config, TRACES};
use crate::error::{Error, Result};

/// The subscriber below the layer of spans.
pub type FilteredRegistry = Layered<reload::Layer<EnvFilter, Registry>, Registry>;
/// The layer that exports spans.
pub type SpanLayer = Box<dyn Layer<FilteredRegistry> + Send + Sync>;
/// Flushes the last spans within a bounded time; an error says why they were not sent.
pub type FlushSpans = Box<dyn FnOnce() -> std::result::Result<(), String> + Send>;
/// Starts the export to a collector, within a tokio runtime; an error says why it cannot.
pub type Exporter = fn(SocketAddr) -> std::result::Result<(SpanLayer, FlushSpans), String>;

/// Refuses `traces.otlp` in a build without an exporter.
pub(crate) fn check(config: &Config, exporter: Option<Exporter>) -> Result<()> {
    if config.traces.is_none() || exporter.is_some() {
        return Ok(());
    }
    Err(config.wrong(
        TRACES,
        "this amemd was built without the exporter: build it with `cargo build --release -p amemd --features otlp`",
    ))
}

/// Starts the export to the configured collector, if there is one.
pub(crate) fn start(
    config: &Config,
    exporter: Option<Exporter>,
) -> Result<(Option<SpanLayer>, Option<FlushSpans>)> {
    check(config, exporter)?;
    let (Some(collector), Some(start)) = (config.traces, exporter) else {
        return Ok((None, None));
    };
    let (spans, end) = start(collector).map_err(Error::Traces)?;
    Ok((Some(spans), Some(end)))
}

/// Flushes the last spans.
pub(crate) async fn finish(end: Option<FlushSpans>) {
    let Some(end) = end else { return };
    if let Ok(Err(why)) = tokio::task::spawn_blocking(end).await {
        tracing::warn!(%why, "the last spans were not sent");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;
    use std::sync::Arc;

    #[test]
    fn a_collector_is_refused_without_the_feature_and_on_another_machine() {
        let load = |address: &str| {
            let flags = Flags {
                folder: Some("/b".into()),
                socket: Some("/s".into()),
                set: vec![format!("traces.otlp={address}")],
                ..Flags::default()
            };
            Config::load(flags, Arc::new(|_| None))
        };
        let here = load("127.0.0.1:4317").unwrap();
        let refused = check(&here, None).unwrap_err();
        assert!(refused.to_string().contains("--features otlp"), "{refused}");
        let exporter: Exporter = |collector| Err(format!("nobody is at {collector}"));
        check(&here, Some(exporter)).unwrap();
        let refused = start(&here, Some(exporter)).err().unwrap().to_string();
        assert!(refused.contains("nobody is at 127.0.0.1:4317"), "{refused}");
        let refused = load("192.0.2.7:4317").unwrap_err().to_string();
        assert!(refused.contains("run a collector here"), "{refused}");
    }
}
