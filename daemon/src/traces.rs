//! Calls as spans for an OpenTelemetry collector on this machine, by OTLP over gRPC: only in builds with the feature
//! `otlp`, and only if `traces.otlp` says where.
//!
//! Promises: a collector that is slow or gone holds up no call; what it does not take is dropped, which the log says. A
//! span has the call's name, its request id, its caller and how long it took, and nothing that is in a brain.
//! Not here: figures, which are told to who asks for them (`metrics`).

use std::net::SocketAddr;
use std::time::Duration;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::Layered;
use tracing_subscriber::{Layer, Registry, reload};

use crate::config::{Config, TRACES};
use crate::error::Result;

/// What spans are taken from.
pub(crate) type Filtered = Layered<reload::Layer<EnvFilter, Registry>, Registry>;
/// What takes them.
pub(crate) type Spans = Box<dyn Layer<Filtered> + Send + Sync>;

/// Refuses settings that ask for what this build has not.
pub(crate) fn check(config: &Config) -> Result<()> {
    if config.traces.is_none() || cfg!(feature = "otlp") {
        return Ok(());
    }
    Err(config.wrong(
        TRACES,
        "this amemd was built without it: build it with `cargo build --release -p amemd --features otlp`",
    ))
}

/// How long the end waits for the last spans to be taken.
#[cfg_attr(
    not(feature = "otlp"),
    expect(dead_code, reason = "there is nothing to wait for")
)]
const LAST: Duration = Duration::from_millis(500);

/// Spans that are told.
#[derive(Debug)]
pub(crate) struct Traces {
    #[cfg(feature = "otlp")]
    provider: opentelemetry_sdk::trace::SdkTracerProvider,
}

#[cfg(not(feature = "otlp"))]
impl Traces {
    /// There are none in this build; settings that ask for them are refused before.
    pub(crate) fn start(_collector: SocketAddr) -> Result<(Self, Option<Spans>)> {
        Ok((Self {}, None))
    }

    /// Nothing is left to be told.
    pub(crate) async fn end(self) {}
}

#[cfg(feature = "otlp")]
mod told {
    use opentelemetry::trace::{SpanKind, TracerProvider};
    use opentelemetry_otlp::{SpanExporter as Otlp, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::error::OTelSdkResult;
    use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
    use tracing_subscriber::filter::Targets;

    use super::*;
    use crate::error::Error;

    /// What holds a call's name among the attributes of its span.
    const METHOD: &str = "method";

    impl Traces {
        /// Tells a collector from now on.
        pub(crate) fn start(collector: SocketAddr) -> Result<(Self, Option<Spans>)> {
            let exporter = Otlp::builder()
                .with_tonic()
                .with_endpoint(format!("http://{collector}"))
                .build()
                .map_err(|e| Error::Traces(e.to_string()))?;
            let resource = Resource::builder().with_service_name("amemd").build();
            let provider = SdkTracerProvider::builder()
                .with_batch_exporter(Named(exporter))
                .with_resource(resource)
                .build();
            let spans = tracing_opentelemetry::layer()
                .with_tracer(provider.tracer("amemd"))
                .with_location(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_target(false)
                // Of our own code: what tells spans makes none.
                .with_filter(Targets::new().with_target("amemd", tracing::Level::ERROR));
            Ok((Self { provider }, Some(spans.boxed())))
        }

        /// Tells the last spans, if that does not take long.
        pub(crate) async fn end(self) {
            let ended = move || self.provider.shutdown_with_timeout(LAST);
            if let Ok(Err(why)) = tokio::task::spawn_blocking(ended).await {
                tracing::warn!(%why, "the last spans were not taken");
            }
        }
    }

    /// Spans with the names of their calls.
    #[derive(Debug)]
    struct Named(Otlp);

    impl SpanExporter for Named {
        async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
            for span in &mut batch {
                let method = span.attributes.iter().find(|a| a.key.as_str() == METHOD);
                if let Some(method) = method {
                    let name = method.value.as_str();
                    span.name = name.trim_start_matches('/').to_owned().into();
                    span.span_kind = SpanKind::Server;
                }
            }
            self.0.export(batch).await
        }

        fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
            self.0.shutdown_with_timeout(timeout)
        }

        fn force_flush(&self) -> OTelSdkResult {
            self.0.force_flush()
        }

        fn set_resource(&mut self, resource: &Resource) {
            self.0.set_resource(resource);
        }
    }
}

#[cfg(all(test, not(feature = "otlp")))]
mod tests {
    use super::*;
    use crate::config::Flags;
    use std::sync::Arc;

    #[test]
    fn a_collector_is_refused_by_a_build_that_can_not_tell_it_and_everywhere_if_it_is_elsewhere() {
        let load = |address: &str| {
            let flags = Flags {
                folder: Some("/b".into()),
                socket: Some("/s".into()),
                set: vec![format!("traces.otlp={address}")],
                ..Flags::default()
            };
            Config::load(flags, Arc::new(|_| None))
        };
        let refused = check(&load("127.0.0.1:4317").unwrap()).unwrap_err();
        assert!(refused.to_string().contains("--features otlp"), "{refused}");
        let refused = load("192.0.2.7:4317").unwrap_err().to_string();
        assert!(refused.contains("run a collector here"), "{refused}");
    }
}
