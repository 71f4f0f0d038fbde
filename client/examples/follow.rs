//! Follows a brain's file and prints new events: `cargo run -p amem-client --example follow -- FILE [SECONDS]`.

use std::time::{Duration, Instant};

use amem_client::Reader;
use amem_client::core::NodeId;
use amem_client::query::Why;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let seconds: f64 = arguments.next().map_or(Ok(f64::INFINITY), |s| s.parse())?;
    let reader = Reader::open(file)?;
    let began = Instant::now();
    let mut seen = 0;
    while began.elapsed().as_secs_f64() < seconds {
        // One atomic load if nothing is new; every acknowledged commit is in it.
        let view = reader.view()?;
        for id in (seen..view.nodes()).map(NodeId) {
            let event = view.node(id)?;
            let why = Why {
                event: id,
                ..Why::default()
            }
            .run(&view)?;
            println!(
                "{id} {}: {}, rests on {}",
                event.event_type(),
                event.text()?,
                why.steps.len() - 1
            );
        }
        seen = view.nodes();
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
