//! Core's own lock-free files, with every interleaving of their threads explored by loom.
//!
//! `amem-order MODEL` explores a model to its end and prints every ordering that it came by. `amem-order MODEL
//! FILE:LINE:COLUMN` does it with that ordering relaxed. The sources are those of core, included here with another
//! `sync`; what a model finds wrong is a panic that begins with "wrong", or loom's "Causality violation".
//! Not here: which orderings must matter (`tests/tests/order.rs`).

#![forbid(unsafe_code)]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "sources of core, of which the models use a part"
)]

mod sync;

use amem_format::{analyzer, error, event, journal, types};

#[path = "../../../../crates/format/src/append.rs"]
mod append;

#[path = "../../../../crates/format/src/publish.rs"]
mod publish;

#[path = "../../../../crates/format/src/delta"]
mod delta {
    pub mod entry;
    mod event_set;
    pub mod graph;
    pub mod log;
    pub mod postings;
    pub mod skiplist;
    pub mod sparse;
    pub mod terms;

    pub use postings::DeltaTerms;

    #[path = "../../../../tests/support/bin/order/entries.rs"]
    pub mod entries;
    #[path = "../../../../tests/support/bin/order/structures.rs"]
    pub mod structures;
}

#[path = "../../../../crates/format/src/base"]
mod base {
    pub use amem_format::base::{node, terms};
    pub mod head_cache;
    pub mod summary_cache;

    #[path = "../../../../tests/support/bin/order/cache.rs"]
    pub mod cache;
}

/// What is explored, by name.
const MODELS: [(&str, fn()); 16] = [
    ("vector", delta::structures::vector),
    ("chain", delta::structures::chain),
    ("trie", delta::structures::trie),
    ("sparse", delta::structures::sparse),
    ("touched", delta::structures::touched),
    ("ordered", delta::structures::ordered),
    ("edges", delta::entries::edges),
    ("commit", delta::entries::commit),
    ("base", delta::entries::base),
    ("changed", delta::entries::changed),
    ("session", delta::entries::session),
    ("terms", delta::entries::terms),
    ("applied", delta::entries::applied),
    ("file", delta::entries::file),
    ("summaries", base::cache::summaries),
    ("heads", base::cache::heads),
];

/// How often a thread may be interrupted where there are three.
const INTERRUPTIONS: usize = 3;

/// Words of a thread's stack: some structures are made on it before they are boxed.
const STACK: usize = 1 << 17;

/// A thread that is explored with the others.
fn spawn(work: impl FnOnce() + Send + 'static) -> loom::thread::JoinHandle<()> {
    let thread = loom::thread::Builder::new().stack_size(STACK);
    thread.spawn(work).expect("a thread")
}

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(name) = args.next() else {
        for (name, _) in MODELS {
            println!("{name}");
        }
        return;
    };
    let model = MODELS.iter().find(|(model, _)| *model == name);
    let (_, model) = model.expect("a model of that name");
    if let Some(site) = args.next() {
        let mut parts = site.rsplitn(3, ':');
        let mut number = || parts.next().and_then(|n| n.parse().ok()).expect("a number");
        let (column, line) = (number(), number());
        sync::weaken((parts.next().expect("a file").to_owned(), line, column));
    }
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = runs.clone();
    let mut explorer = loom::model::Builder::new();
    explorer.max_branches = 10_000;
    // Of three threads, all ways of being interrupted so often at most: more take minutes.
    explorer.preemption_bound = (name == "file").then_some(INTERRUPTIONS);
    explorer.check(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        spawn(model).join().expect("a model that ends");
    });
    println!("runs {}", runs.load(std::sync::atomic::Ordering::Relaxed));
    for ((file, line, column), order) in sync::sites() {
        println!("{file}:{line}:{column} {order:?}");
    }
}
