//! The memory daemon; everything is in the library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemd::process::main()
}
