//! Another process: follows a brain's file and says what it saw.
//!
//! `amem-peer BRAIN CELL`: CELL is a file whose first eight bytes are the LSN that was acknowledged last, or all
//! ones when the writer is done. Before each view the cell is read: a view that does not contain that commit
//! is stale.

use std::fs::File;
use std::process::ExitCode;

use amem_core::NodeId;
use amem_core::mapping::Map;
use amem_core::reader::Reader;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    match follow(&args[1], &args[2]) {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn follow(brain: &str, cell: &str) -> Result<String, String> {
    let told = |e: amem_core::Error| e.to_string();
    let cell = File::open(cell).map_err(|e| e.to_string())?;
    let cell = Map::shared(&cell, 8).map_err(|e| e.to_string())?;
    let reader = Reader::open(brain).map_err(told)?;
    println!("ready");
    let (mut views, mut stale, mut generations, mut last) = (0u64, 0u64, 0u64, 0u64);
    let mut generation = 0;
    loop {
        let acknowledged = cell.load(0).ok_or("no cell")?;
        let view = reader.view().map_err(told)?;
        views += 1;
        if acknowledged != u64::MAX && view.lsn().0 < acknowledged {
            stale += 1;
        }
        if view.lsn().0 < last {
            return Err(format!("LSN {} after {last}", view.lsn()));
        }
        last = view.lsn().0;
        if view.identity().generation.0 != generation {
            generation = view.identity().generation.0;
            generations += 1;
        }
        // The writer gives every event its own id as its text.
        if let Some(newest) = view.nodes().checked_sub(1) {
            for id in [
                newest,
                views.wrapping_mul(0x9e37_79b9_7f4a_7c15) % view.nodes(),
            ] {
                let node = view.node(NodeId(id)).map_err(told)?;
                let text = node.text().map_err(told)?;
                if text.split(' ').next() != Some(&id.to_string()) {
                    return Err(format!("event {id} says {text:?}"));
                }
            }
        }
        if acknowledged == u64::MAX {
            let events = view.nodes();
            return Ok(format!(
                "views {views} stale {stale} generations {generations} events {events}"
            ));
        }
    }
}
