//! A daemon of which every thread blocks once the file `$AMEM_STALL_AT` is there: `amemd` with an exporter of spans
//! that begins such tasks when it is started (`traces.otlp`). With `$AMEM_STALL_PANIC` each task panics instead, with
//! more words than a pipe holds.

#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use std::{env, thread};

use amemd::traces::{FlushSpans, SpanLayer};

/// Tasks that block for each processor: a thread of the runtime takes one and leaves the others to the next.
const TASKS_PER_CPU: usize = 8;
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Bytes of the message of a panic: more than a pipe holds.
const PANIC_BYTES: usize = 1 << 20;

fn main() -> std::process::ExitCode {
    amemd::process::main(Some(stall), None, None)
}

fn stall(_collector: SocketAddr) -> Result<(SpanLayer, FlushSpans), String> {
    let at = env::var_os("AMEM_STALL_AT").ok_or("AMEM_STALL_AT is not set")?;
    let panics = env::var_os("AMEM_STALL_PANIC").is_some();
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..TASKS_PER_CPU * cpus {
        let at = at.clone();
        let blocks = async move {
            while !Path::new(&at).exists() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            assert!(!panics, "{}", "a defect ".repeat(PANIC_BYTES / 9));
            loop {
                thread::park();
            }
        };
        tokio::spawn(amem_engine::polls::named("a task that blocks", blocks));
    }
    let spans = tracing_subscriber::layer::Identity::new();
    Ok((Box::new(spans), Box::new(|| Ok(()))))
}
