//! The daemon's process, so that tests of this package have its binary: what `amemd` with the features `otlp` and
//! `webhooks` does.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemd::process::main(Some(amem_traces::start), Some(amem_webhooks::start))
}
