//! The daemon's process, so that tests of this package have its binary: what `amemd` with the feature `otlp` does.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemd::process::main(Some(amem_traces::start))
}
