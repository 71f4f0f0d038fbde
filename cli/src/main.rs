//! Everything is in the library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    amemctl::main()
}
