//! The daemon's process, so that tests of this package have its binary: `amemd` with the features `otlp` and
//! `webhooks`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemd::process::main(
        Some(amem_traces::start),
        Some(amem_webhooks::start),
        Some(amem_models::open),
    )
}
