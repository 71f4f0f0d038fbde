//! Makes Rust of the `.proto` files, without protoc, and keeps their descriptors for reflection.

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use prost::Message;

const FILES: [&str; 8] = [
    "amem/v1/types.proto",
    "amem/v1/selection.proto",
    "amem/v1/pipeline.proto",
    "amem/v1/context.proto",
    "amem/v1/brain.proto",
    "amem/v1/memory.proto",
    "amem/v1/query.proto",
    "amem/v1/admin.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    let descriptors = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gives OUT_DIR")?);
    fs::write(out.join("amem.v1.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
