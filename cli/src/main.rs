//! The command line of amemd.

#![forbid(unsafe_code)]

mod conversation;
mod demo;
mod import_run;
mod remote;
fn main() {
    demo::run(&mut std::io::stdout()).unwrap();
}
