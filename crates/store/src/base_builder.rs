//! Folds that use a second processor.
//!
//! The thread lives as long as the call, and only computes: everything that reaches the disk does so from the caller's,
//! in the same order whoever works.

use std::sync::{Mutex, PoisonError};

use amem_format::fold::image::Sink;
use amem_format::fold::{How, Inline, Options, Workers, fold_with};
use amem_format::view::View;

/// New events from which on a thread is worth its start.
const EVENTS_MIN: u64 = 500;

/// Writes the base of a view, as `amem_format::fold::fold` does.
pub(crate) fn fold(
    view: &View,
    options: &Options,
    sink: &mut dyn Sink,
) -> amem_format::Result<u64> {
    let new = view.nodes() - view.brain().base().nodes();
    let workers: &dyn Workers = if new < EVENTS_MIN {
        &Inline
    } else {
        &SideBySide
    };
    let how = How {
        workers,
        from_scratch: false,
    };
    fold_with(view, options, how, sink)
}

/// One of two pieces of work on a thread of its own.
#[derive(Debug, Clone, Copy)]
pub struct SideBySide;

impl Workers for SideBySide {
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>) {
        let waiting = Mutex::new(Some(beside));
        let run = || {
            let work = waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(work) = work {
                work();
            }
        };
        std::thread::scope(|scope| {
            let spawned = std::thread::Builder::new()
                .name("fold".into())
                .spawn_scoped(scope, run);
            here();
            if spawned.is_err() {
                // There is no thread to be had.
                run();
            }
        });
    }
}
