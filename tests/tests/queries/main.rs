//! Every query against the naive model, on random brains: with a journal, corrections, forgetting, erasing, decay and
//! checkpoints; now, as of random moments, on older views, and on copies.
//!
//! A failure prints the seed of its world and the number of the step.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod context;
mod events;
mod filters;
mod graph;
mod listings;
mod marks;
mod pages;
mod pipeline;
mod ranking;
mod refusals;
mod scopes;
mod words;

use amem_format::view::{AsOf, View};
use amem_format::{Lsn, Micros};
use amem_tests::model::{ViewState, World};

/// Prints where a failure was.
struct FailureContext {
    seed: u64,
    step: usize,
}

impl Drop for FailureContext {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "failed in the world of seed {}, step {}",
                self.seed, self.step
            );
        }
    }
}

/// Runs random worlds and checks views of them.
fn in_worlds(seeds: u64, check: impl Fn(&mut World, &View, &ViewState)) {
    for seed in 0..seeds {
        let mut place = FailureContext { seed, step: 0 };
        let mut world = World::new(seed).unwrap();
        let mut held: Vec<View> = Vec::new();
        for step in 0..90 {
            place.step = step;
            world.step().unwrap();
            if step % 3 != 0 {
                continue;
            }
            held.push(world.view());
            for view in looks(&mut world, &held) {
                let moment = moments(&mut world, &view);
                let known = world.model.known(&view, moment);
                let view = moment.map_or_else(|| view.clone(), |at| view.as_of(at).unwrap());
                check(&mut world, &view, &known);
            }
        }
    }
}

/// The newest view, one from earlier, and one of a copy.
fn looks(world: &mut World, held: &[View]) -> Vec<View> {
    let at = world.random.below(held.len() as u64) as usize;
    let mut looks = vec![held[held.len() - 1].clone(), held[at].clone()];
    if world.random.below(4) == 0 {
        looks.push(world.written.copy().unwrap());
    }
    looks
}

/// Now, or some moment before.
fn moments(world: &mut World, view: &View) -> Option<AsOf> {
    let lsn = world.moment(view.lsn());
    match world.random.below(4) {
        0 => Some(AsOf::Lsn(lsn)),
        1 => Some(AsOf::Time(Micros(world.model.time(lsn).0 + 1))),
        2 => Some(AsOf::Lsn(Lsn(view.lsn().0.saturating_sub(2)))),
        _ => None,
    }
}
