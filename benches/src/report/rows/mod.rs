//! The rows, by family: the queries, the comparison of the answers, and their times.

mod group;
mod messages;
mod new_event;
mod ranking;

mod approximate;
mod bulk;
mod change;
mod checkpoint;
mod commit;
mod daemon;
mod decay;
mod facts;
mod http;
mod ingest;
mod open;
mod pattern;
mod read;
mod resolve;
mod scan;
mod search;
mod similar;
mod size;
mod text;
mod traverse;
mod writer;

pub(super) use new_event::new_event;

use super::list;
use super::measure::Outcome;
use super::table::Findings;
use super::world::World;

/// Rows that are measured together.
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) rows: &'static [&'static str],
    pub(super) run: fn(&World, &mut Findings) -> Outcome<()>,
}

/// All of them: those that only read come first, then those that write to the brains.
pub(super) const FAMILIES: [Family; 25] = [
    Family {
        name: "pattern",
        rows: &[
            list::TYPE_TIME,
            list::TYPE_TIME_FIELDS,
            list::TYPE_CONFIDENCE,
            list::TIME_ONLY,
            list::BY_STRENGTH,
        ],
        run: pattern::all,
    },
    Family {
        name: "pattern after forgetting",
        rows: &[list::FORGOTTEN, list::FORGOTTEN_FIELDS],
        run: pattern::forgotten,
    },
    Family {
        name: "traverse",
        rows: &[list::TRAVERSE_OUT, list::TRAVERSE_BOTH],
        run: traverse::run,
    },
    Family {
        name: "similar",
        rows: &[list::SIMILAR_UNIFORM, list::SIMILAR_CLUSTERED],
        run: similar::run,
    },
    Family {
        name: "approximate",
        rows: &[list::APPROXIMATE, list::APPROXIMATE_BUILD],
        run: approximate::run,
    },
    Family {
        name: "scan",
        rows: &[list::SCAN],
        run: scan::run,
    },
    Family {
        name: "text",
        rows: &[list::TEXT],
        run: text::run,
    },
    Family {
        name: "search",
        rows: &[list::SEARCH],
        run: search::run,
    },
    Family {
        name: "resolve",
        rows: &[list::RESOLVE_SHORT, list::RESOLVE_LONG],
        run: resolve::run,
    },
    Family {
        name: "decay",
        rows: &[list::DECAY],
        run: decay::run,
    },
    Family {
        name: "file size",
        rows: &[list::SIZE],
        run: size::file,
    },
    Family {
        name: "read",
        rows: &[
            list::READ,
            list::READ_RECORD,
            list::READ_WRITER,
            list::READ_STALE,
        ],
        run: read::run,
    },
    Family {
        name: "ingest, one caller",
        rows: &[list::INGEST_ONE],
        run: ingest::one,
    },
    Family {
        name: "ingest, 64 callers",
        rows: &[list::INGEST_STORE],
        run: ingest::many,
    },
    Family {
        name: "bulk ingest",
        rows: &[list::BULK_STORE],
        run: bulk::run,
    },
    Family {
        name: "correct",
        rows: &[list::CORRECT],
        run: change::correct,
    },
    Family {
        name: "compress",
        rows: &[list::COMPRESS],
        run: change::compress,
    },
    Family {
        name: "checkpoint",
        rows: &[list::CHECKPOINT],
        run: checkpoint::run,
    },
    Family {
        name: "writers during a checkpoint",
        rows: &[list::CHECKPOINT_STALL],
        run: checkpoint::stall,
    },
    Family {
        name: "open",
        rows: &[list::OPEN_EMPTY, list::OPEN_LARGEST],
        run: open::run,
    },
    Family {
        name: "commit cost",
        rows: &[list::COMMIT_EMPTY, list::COMMIT_DELTA, list::COMMIT_HUB],
        run: commit::run,
    },
    Family {
        name: "steady ingest",
        rows: &[list::WRITTEN],
        run: size::written,
    },
    Family {
        name: "daemon",
        rows: &[
            list::GET_ONE,
            list::GET_MANY,
            list::GET_BESIDE,
            list::MEMORY,
            list::INGEST_GRPC,
            list::BULK_GRPC,
        ],
        run: daemon::run,
    },
    Family {
        name: "fact memory",
        rows: &[
            list::FACT_SEARCH,
            list::FACT_FILTER,
            list::FACT_GET,
            list::FACT_HISTORY,
            list::FACT_MEMORY,
            list::FACT_ADD,
            list::FACT_TURN,
            list::FACT_BATCH,
        ],
        run: facts::run,
    },
    Family {
        name: "fact memory by HTTP",
        rows: &[list::HTTP_SEARCH, list::HTTP_GET_MANY, list::HTTP_ADD],
        run: http::run,
    },
];
