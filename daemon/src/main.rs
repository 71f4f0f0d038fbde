//! The memory daemon; everything is in the library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    #[cfg(feature = "otlp")]
    let exporter: Option<amemd::traces::Exporter> = Some(amem_traces::start);
    #[cfg(not(feature = "otlp"))]
    let exporter = None;
    #[cfg(feature = "webhooks")]
    let webhooks: Option<amemd::webhooks::Starter> = Some(amem_webhooks::start);
    #[cfg(not(feature = "webhooks"))]
    let webhooks = None;
    #[cfg(feature = "models")]
    let models: Option<amemd::models::Starter> = Some(amem_models::open);
    #[cfg(not(feature = "models"))]
    let models = None;
    amemd::process::main(exporter, webhooks, models)
}
