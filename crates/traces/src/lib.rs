//! Exports calls as spans to an OpenTelemetry collector, by OTLP over gRPC. amemd links it with its feature `otlp`.
//!
//! ```no_run
//! use tracing_subscriber::prelude::*;
//!
//! # fn example() -> Result<(), String> {
//! let collector = std::net::SocketAddr::from(([127, 0, 0, 1], 4317));
//! let (layer, shutdown) = amem_traces::start(collector)?;
//! tracing_subscriber::registry().with(layer).init();
//! // Calls run here, and each ends as a span.
//! shutdown()
//! # }
//! ```
//!
//! Promises: a slow or missing collector delays no call; spans that it does not accept are dropped and logged. A span
//! has the call's name, request id, caller and duration, and no data of a brain. Not here: the setting of the
//! collector's address (`traces.otlp` of amemd).

#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::time::Duration;

use opentelemetry::trace::{SpanKind, TracerProvider};
use opentelemetry_otlp::{SpanExporter as Otlp, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

/// The layer that records spans.
pub type SpanLayer<S> = Box<dyn Layer<S> + Send + Sync>;
/// Exports the remaining spans, with a short timeout. The error states what was lost.
pub type Shutdown = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// The span attribute with the name of the call.
const METHOD: &str = "method";
/// Timeout of the last export.
const LAST_EXPORT_TIMEOUT: Duration = Duration::from_millis(500);

/// Starts the export to a collector. Call it within a tokio runtime.
///
/// # Errors
/// If the exporter cannot be built.
pub fn start<S>(collector: SocketAddr) -> Result<(SpanLayer<S>, Shutdown), String>
where
    S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync,
{
    let exporter = Otlp::builder()
        .with_tonic()
        .with_endpoint(format!("http://{collector}"))
        .build()
        .map_err(|e| e.to_string())?;
    let resource = Resource::builder().with_service_name("amemd").build();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(NamingExporter(exporter))
        .with_resource(resource)
        .build();
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("amemd"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_target(false)
        // Only spans of amemd: the exporter must not trace itself.
        .with_filter(Targets::new().with_target("amemd", tracing::Level::ERROR));
    let end = move || {
        let ended = provider.shutdown_with_timeout(LAST_EXPORT_TIMEOUT);
        ended.map_err(|e| e.to_string())
    };
    Ok((spans.boxed(), Box::new(end)))
}

/// Renames spans after their calls.
#[derive(Debug)]
struct NamingExporter(Otlp);

impl SpanExporter for NamingExporter {
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
