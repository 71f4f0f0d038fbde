//! Calls as spans for a collector on this machine: only in builds that have an exporter (feature `otlp`), and only if
//! `traces.otlp` says where.

use std::net::SocketAddr;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::Layered;
use tracing_subscriber::{Layer, Registry, reload};

use crate::config::{Config, TRACES};
use crate::error::{Error, Result};

/// What spans are taken from.
pub type Filtered = Layered<reload::Layer<EnvFilter, Registry>, Registry>;
/// What takes them.
pub type Spans = Box<dyn Layer<Filtered> + Send + Sync>;
/// Tells the last of them, without waiting long; an error says why they were not taken.
pub type End = Box<dyn FnOnce() -> std::result::Result<(), String> + Send>;
/// Begins to tell a collector; called within a tokio runtime. An error says why it can't.
pub type Exporter = fn(SocketAddr) -> std::result::Result<(Spans, End), String>;

/// Refuses settings that ask for what this build has not.
pub(crate) fn check(config: &Config, exporter: Option<Exporter>) -> Result<()> {
    if config.traces.is_none() || exporter.is_some() {
        return Ok(());
    }
    Err(config.wrong(
        TRACES,
        "this amemd was built without it: build it with `cargo build --release -p amemd --features otlp`",
    ))
}

/// Begins to tell the collector that the settings name; none if they name none.
pub(crate) fn start(
    config: &Config,
    exporter: Option<Exporter>,
) -> Result<(Option<Spans>, Option<End>)> {
    check(config, exporter)?;
    let (Some(collector), Some(start)) = (config.traces, exporter) else {
        return Ok((None, None));
    };
    let (spans, end) = start(collector).map_err(Error::Traces)?;
    Ok((Some(spans), Some(end)))
}

/// Tells the last spans.
pub(crate) async fn finish(end: Option<End>) {
    let Some(end) = end else { return };
    if let Ok(Err(why)) = tokio::task::spawn_blocking(end).await {
        tracing::warn!(%why, "the last spans were not taken");
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
