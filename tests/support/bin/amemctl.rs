//! The command line's process, so that tests of this package have its binary: what `amemctl` does, and nothing else.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemctl::main()
}
