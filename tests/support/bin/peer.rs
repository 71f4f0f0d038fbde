//! Another process: reads a brain's file and says what it saw.
//!
//! `amem-peer BRAIN BOARD HOW NUMBER`: BOARD is what the writer and its readers tell each other, NUMBER this reader's
//! place on it. HOW is how the file is read:
//! - `follow`: by one reader that looks again and again;
//! - `open`: by a new one each time;
//! - `linked`: BRAIN is a second name of the file, so there is no successor, and what was erased has to be let go of.
//!
//! Before each view it is asked what was answered. A view that does not have that is stale. One that says anything else
//! than the writer wrote ends this process with the reason.

use std::path::Path;
use std::process::ExitCode;

use amem_format::NodeId;
use amem_format::reader::Reader;
use amem_format::view::View;
use amem_tests::board::{Board, now, text};
use hdrhistogram::Histogram;

/// What is older than this is stale for longer than a reader may be.
const STALE_NANOS: u64 = 100_000_000;
/// What takes longer to be seen counts as this.
const SIGHT_NANOS_MAX: u64 = 3_600_000_000_000;
/// After so many views another one is kept, and read on while newer ones are taken.
const VIEWS_KEPT: u64 = 64;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    match read(&args[1], &args[2], &args[3], &args[4]) {
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

/// What was seen so far.
struct ViewTotals {
    views: u64,
    /// Frames that the views show, each counted once.
    frames: u64,
    stale: u64,
    /// Views that were begun so long after an answer and do not have it.
    long_stale: u64,
    /// When what is not seen yet was answered.
    unseen_since: Option<u64>,
    /// From an answer to the end of the first view that was begun after it and has it, in ns.
    sights: Histogram<u64>,
    noted: u64,
    last: u64,
    generation: u64,
    generations: u64,
    let_go: u64,
    /// Views of generations that must be read no more.
    forbidden: u64,
}

fn read(brain: &str, board: &str, how: &str, number: &str) -> Result<String, String> {
    let told = |e: amem_format::Error| e.to_string();
    let board = Board::open(Path::new(board)).map_err(|e| e.to_string())?;
    let number = number.parse().map_err(|_| "a number")?;
    let mut reader = Reader::open(brain).map_err(told)?;
    println!("ready");
    let mut seen = ViewTotals {
        views: 0,
        frames: 0,
        stale: 0,
        long_stale: 0,
        unseen_since: None,
        sights: Histogram::new_with_max(SIGHT_NANOS_MAX, 2).map_err(|e| e.to_string())?,
        noted: 0,
        last: 0,
        generation: 0,
        generations: 0,
        let_go: 0,
        forbidden: 0,
    };
    let mut kept: Option<View> = None;
    loop {
        let answered = board.answered();
        let (answered_at, oldest, begun) = (board.answered_at(), board.oldest(), now());
        if how == "open" {
            reader = Reader::open(brain).map_err(told)?;
        }
        let view = match reader.view() {
            Err(amem_format::Error::MustDrop { .. }) if how == "linked" => {
                kept = None;
                seen.let_go += 1;
                None
            }
            view => Some(view.map_err(told)?),
        };
        seen.views += 1;
        if let Some(view) = &view {
            seen.is_newer(view, oldest)?;
            if how != "linked" {
                seen.is_current(view, answered, answered_at, begun);
            }
            whole(view, seen.views)?;
            if let Some(kept) = &kept {
                whole(kept, seen.views)?;
            }
            if seen.views % VIEWS_KEPT == 1 {
                kept = Some(view.clone());
            }
        }
        board.looked(number, seen.views, seen.stale + seen.forbidden);
        if answered.is_none() {
            return Ok(seen.said(view.map_or(0, |view| view.nodes())));
        }
    }
}

impl ViewTotals {
    fn is_newer(&mut self, view: &View, oldest: u64) -> Result<(), String> {
        let lsn = view.lsn().0;
        if lsn < self.last {
            return Err(format!("LSN {lsn} after {}", self.last));
        }
        self.frames += lsn - self.last;
        self.last = lsn;
        let generation = view.identity().generation.0;
        self.forbidden += u64::from(generation < oldest);
        if generation != self.generation {
            self.generation = generation;
            self.generations += 1;
        }
        Ok(())
    }

    fn is_current(&mut self, view: &View, answered: Option<u64>, answered_at: u64, begun: u64) {
        let Some(answered) = answered else { return };
        if view.lsn().0 < answered {
            self.stale += 1;
            let since = *self.unseen_since.get_or_insert(answered_at);
            self.long_stale += u64::from(begun.saturating_sub(since) > STALE_NANOS);
            return;
        }
        let since = self.unseen_since.take().unwrap_or(answered_at);
        if answered > self.noted {
            self.noted = answered;
            self.sights.saturating_record(now().saturating_sub(since));
        }
    }

    fn said(&self, events: u64) -> String {
        let micros = |nanos: u64| nanos.div_ceil(1000);
        let [half, most] = [0.5, 0.99].map(|part| micros(self.sights.value_at_quantile(part)));
        let sights = self.sights.iter_recorded();
        let late = sights.filter(|sight| sight.value_iterated_to() > STALE_NANOS);
        let late: u64 = late.map(|sight| sight.count_at_value()).sum();
        format!(
            "views {} frames {} stale {} for more than 100 ms {}, {} answers seen after p50 {half} p99 {most} \
             max {} us, later than 100 ms {late}, generations {} let go {} forbidden {} events {events}",
            self.views,
            self.frames,
            self.stale,
            self.long_stale,
            self.sights.len(),
            micros(self.sights.max()),
            self.generations,
            self.let_go,
            self.forbidden,
        )
    }
}

/// Looks at the newest event of a view and at one more: each says what the writer wrote, or was erased.
fn whole(view: &View, turn: u64) -> Result<(), String> {
    let Some(newest) = view.nodes().checked_sub(1) else {
        return Ok(());
    };
    let other = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) % view.nodes();
    for id in [newest, other] {
        let node = view.node(NodeId(id)).map_err(|e| e.to_string())?;
        let said = node.text().map_err(|e| e.to_string())?;
        let expected = if node.is_erased() {
            String::new()
        } else {
            text(id)
        };
        if *said != *expected {
            return Err(format!("event {id} says {said:?}"));
        }
    }
    Ok(())
}
