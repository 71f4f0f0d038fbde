//! Calls as spans for an OpenTelemetry collector, by OTLP over gRPC: what amemd links with its feature `otlp`.
//!
//! Promises: a collector that is slow or gone holds up no call; what it does not take is dropped, which the log says. A
//! span has the call's name, its request id, its caller and how long it took, and nothing that is in a brain.
//! Not here: whether anybody is told, and where (`traces.otlp` of amemd's settings).

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

/// What takes spans.
pub type SpanLayer<S> = Box<dyn Layer<S> + Send + Sync>;
/// Tells the last spans; waits for them, but not long. An error says what was not taken.
pub type Shutdown = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// What holds a call's name among the attributes of its span.
const METHOD: &str = "method";
/// How long the end waits for the last spans to be taken.
const LAST: Duration = Duration::from_millis(500);

/// Tells a collector from now on. To be called within a tokio runtime.
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
        // Of our own code: what tells spans makes none.
        .with_filter(Targets::new().with_target("amemd", tracing::Level::ERROR));
    let end = move || {
        let ended = provider.shutdown_with_timeout(LAST);
        ended.map_err(|e| e.to_string())
    };
    Ok((spans.boxed(), Box::new(end)))
}

/// SpanLayer with the names of their calls.
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
