//! Generates Rust code from the `.proto` files, without protoc: messages, services, descriptors for reflection, and the
//! code that depends on method options (`build/calls.rs`).

#[path = "build/calls.rs"]
mod calls;

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use prost::Message;
use protox::Compiler;

const FILES: [&str; 12] = [
    "amem/v1/options.proto",
    "amem/v1/types.proto",
    "amem/v1/selection.proto",
    "amem/v1/pipeline.proto",
    "amem/v1/context.proto",
    "amem/v1/brain.proto",
    "amem/v1/memory.proto",
    "amem/v1/query.proto",
    "amem/v1/fact.proto",
    "amem/v1/item.proto",
    "amem/v1/hook.proto",
    "amem/v1/admin.proto",
];

/// Files for the build only: the options are neither in Rust nor in reflection.
const BUILD_ONLY: [&str; 2] = [FILES[0], "google/protobuf/descriptor.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let mut compiler = Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(true);
    compiler.open_files(FILES)?;
    let calls = calls::read(&compiler.descriptor_pool())?;
    fs::write(out.join("calls.rs"), calls::table(&calls))?;
    fs::write(out.join("questions.rs"), calls::questions(&calls))?;
    fs::write(out.join("changes.rs"), calls::changes(&calls))?;
    fs::write(out.join("lists.rs"), calls::lists(&calls))?;
    let mut descriptors = compiler.file_descriptor_set();
    descriptors
        .file
        .retain(|file| !BUILD_ONLY.contains(&file.name()));
    for file in &mut descriptors.file {
        // No file of ours has a public or weak dependency, whose numbers would have to follow.
        file.dependency
            .retain(|name| !BUILD_ONLY.contains(&name.as_str()));
    }
    fs::write(out.join("amem.v1.bin"), descriptors.encode_to_vec())?;
    let mut config = prost_build::Config::new();
    // `json` finds a message's descriptor by its name.
    config.enable_type_names();
    tonic_prost_build::configure().compile_fds_with_config(descriptors, config)?;
    // The standard's, in a tree of its own: no rule of amem.v1 concerns it.
    println!("cargo:rerun-if-changed=health");
    let mut health = Compiler::new(["health"])?;
    health.include_source_info(true);
    health.open_files(["grpc/health/v1/health.proto"])?;
    let health = health.file_descriptor_set();
    fs::write(out.join("grpc.health.v1.bin"), health.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(health)?;
    Ok(())
}
