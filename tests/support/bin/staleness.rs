//! One process around a brain: a writer that announces what it was answered, or a reader that must then see it.
//!
//! `amem-staleness write CELLS SLOT SOCKET BRAIN` ingests single events through the daemon; once one is answered, its
//! LSN and its id go into the writer's slot of CELLS, a mapped file. `amem-staleness read CELLS FILE` follows the
//! brain's file: every slot is read, then a view is begun, which must hold all of that. A view that does not is
//! stale. Both go on until the last cell of CELLS says that it is over, and then say how it was.

#![forbid(unsafe_code)]

use std::fs::File;
use std::process::ExitCode;

use amem_client::{Client, v1};
use amem_format::NodeId;
use amem_format::mapping::{Cells, Map};
use amem_format::reader::Reader;
use amem_format::view::View;
use amem_tests::staleness::{CELLS_BYTES, OVER, Slot, WRITERS};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let said = match args[..] {
        ["write", cells, slot, socket, brain] => write(cells, slot, socket, brain),
        ["read", cells, file] => read(cells, file),
        _ => Err("usage: amem-staleness write CELLS SLOT SOCKET BRAIN | read CELLS FILE".into()),
    };
    match said {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// True once it is over.
fn is_over(map: &Map) -> bool {
    map.load(OVER) != Some(0)
}

#[tokio::main(flavor = "current_thread")]
async fn write(cells: &str, slot: &str, socket: &str, brain: &str) -> Result<String, Failure> {
    let slot = Slot(slot.parse()?);
    let file = File::options().read(true).write(true).open(cells)?;
    let (own, map) = (
        Cells::shared(&file, 0, CELLS_BYTES as usize)?,
        Map::shared(&file, CELLS_BYTES)?,
    );
    let client = Client::connect_unix(socket).await?;
    let mut memory = client.memory();
    println!("ready");
    let mut commits = 0u64;
    while !is_over(&map) {
        let event = v1::NewEvent {
            text: slot.text(commits),
            ..Default::default()
        };
        let request = v1::IngestRequest {
            brain: brain.to_owned(),
            events: vec![event],
            ..Default::default()
        };
        let done = memory.ingest(request).await?.into_inner();
        let commit = done.commit.ok_or("an answer without a commit")?;
        let id = done.event_ids.first().ok_or("an answer without an id")?;
        own.store(slot.id(), id + 1)?;
        own.store(slot.lsn(), commit.lsn)?;
        commits += 1;
    }
    Ok(format!("commits {commits}"))
}

fn read(cells: &str, file: &str) -> Result<String, Failure> {
    let map = Map::shared(&File::open(cells)?, CELLS_BYTES)?;
    let reader = Reader::open(file)?;
    println!("ready");
    let (mut views, mut stale, mut generations) = (0u64, 0u64, 0u64);
    let (mut generation, mut last) = (0, 0);
    loop {
        let is_over = is_over(&map);
        let known: Vec<(u64, u64)> = (0..WRITERS)
            .map(|n| {
                let load = |at| map.load(at as u64).unwrap_or(u64::MAX);
                (load(Slot(n).lsn()), load(Slot(n).id()))
            })
            .collect();
        let view = reader.view()?;
        views += 1;
        stale += u64::from(!holds(&view, &known)?);
        if view.lsn().0 < last {
            return Err(format!("LSN {} after {last}", view.lsn()).into());
        }
        last = view.lsn().0;
        if view.identity().generation.0 != generation {
            generation = view.identity().generation.0;
            generations += 1;
        }
        if is_over {
            return Ok(format!(
                "views {views} stale {stale} generations {generations} lsn {last}"
            ));
        }
    }
}

/// True if a view has what each writer was answered before it began; an error if it differs.
fn holds(view: &View, known: &[(u64, u64)]) -> Result<bool, Failure> {
    for (n, &(lsn, next)) in known.iter().enumerate() {
        if view.lsn().0 < lsn || view.nodes() < next {
            return Ok(false);
        }
        if let Some(id) = next.checked_sub(1) {
            let text = view.node(NodeId(id))?.text()?;
            if !Slot(n).has_written(&text) {
                return Err(format!("event {id} of writer {n} says {text:?}").into());
            }
        }
    }
    Ok(true)
}
