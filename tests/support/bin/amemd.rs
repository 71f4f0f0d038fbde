//! The daemon's process, so that tests of this package have its binary: what `amemd` does, and nothing else.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemd::process::main()
}
