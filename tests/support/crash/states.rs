//! The states a crash may leave, one after another, none twice.
//!
//! At every point of the log: first everything and nothing with each set of names, then each uncertain write
//! alone missing and alone there, all subsets of the few newest, tears of each; then, as long as the budget
//! lasts, chance.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::choice::{AtomId, Choice, Survival};
use super::medium::{Medium, sectors, write_at};
use super::tiers::{Item, SUBSET_ITEMS, TIERS, Tier, only_length};
use crate::disk::{AnsweredBounds, Chance, Entry, Image, Log, Op, SimDisk};

/// A point that gave nothing new so many times has nothing more to give.
const MISSES_MAX: usize = 48;

/// One state.
#[derive(Debug, Clone)]
pub struct CrashState {
    log: Arc<Log>,
    /// What survived.
    pub choice: Choice,
    /// What is there.
    pub image: Image,
    /// What had been promised.
    pub answered: AnsweredBounds,
}

impl CrashState {
    /// What a choice leaves of a log.
    pub fn of(log: &Arc<Log>, choice: Choice) -> Self {
        let mut medium = Medium::new(log);
        for number in 1..=choice.point.min(log.ops.len()) {
            medium.apply(log, number);
        }
        Self::at(log, &medium, choice)
    }

    /// One of the states that a crash may leave after the first `number` operations of a log: after the process was
    /// killed, or the power was cut.
    pub fn by_chance(log: &Arc<Log>, number: usize, kill: bool, chance: &mut Chance) -> Self {
        let number = number.min(log.ops.len());
        let mut medium = Medium::new(log);
        for number in 1..=number {
            medium.apply(log, number);
        }
        let point = Point {
            number,
            medium,
            misses: 0,
        };
        let choice = match chance.below(8) {
            _ if kill => point.choice(true, BTreeSet::new(), Vec::new()),
            0 => point.choice(false, BTreeSet::new(), Vec::new()),
            1 => {
                let names = point.medium.uncertain_names();
                let items = point.items(log, &point.medium.names(&names));
                let data = items.into_iter().map(|item| (item.op, Survival::All));
                point.choice(false, names, data.collect())
            }
            _ => point.random(log, chance),
        };
        Self::at(log, &point.medium, choice)
    }

    fn at(log: &Arc<Log>, medium: &Medium, choice: Choice) -> Self {
        Self {
            log: log.clone(),
            image: medium.image(log, &choice),
            answered: medium.answered,
            choice,
        }
    }

    /// A number that states of one scenario share if opening them can't tell them apart; none after a kill, when
    /// what is uncertain counts too.
    pub(super) fn key(&self) -> Option<u128> {
        if self.choice.kill {
            return None;
        }
        let (log, answered) = (&self.log, &self.answered);
        let numbers = [
            answered.must,
            answered.may,
            log.boot,
            log.clock.0 as u64,
            log.next_inode,
        ];
        let mut hash = Xxh3::new();
        hash.update(&self.image.digest().to_le_bytes());
        for number in numbers {
            hash.update(&number.to_le_bytes());
        }
        Some(hash.digest128())
    }

    /// A machine that starts (or, after a kill, goes on) with this state and a log of its own.
    pub fn open(&self) -> Arc<SimDisk> {
        let mut log = Log {
            base: self.image.clone(),
            answered: self.answered,
            ops: Vec::new(),
            first: 0,
            boot: self.log.boot + 1,
            ..*self.log
        };
        if self.choice.kill {
            // The same machine: what was uncertain still is.
            log.ops = self.log.ops[..self.choice.point].to_vec();
            log.base = self.log.base.clone();
            log.answered = self.log.answered;
            log.first = self.choice.point;
            log.boot = self.log.boot;
        }
        Arc::new(SimDisk::resume(self.image.clone(), log))
    }
}

/// Up to `budget` different states that crashes may leave of a log; the same for the same seed.
pub fn crash_states(log: &Log, budget: usize, seed: u64) -> CrashStates {
    let mut points = Vec::new();
    let mut medium = Medium::new(log);
    for number in 0..=log.ops.len() {
        medium.apply(log, number);
        // After a sync there is nothing that could not have been before it.
        let new = match number.checked_sub(1).map(|i| &log.ops[i]) {
            None => true,
            Some(op) => !matches!(
                op,
                Op::Sync { .. }
                    | Op::SyncFailed { .. }
                    | Op::SyncFolder { .. }
                    | Op::SyncFolderFailed { .. }
                    | Op::Protect { .. }
                    | Op::Submitted(_)
            ),
        };
        let edge = number == log.first || number == log.ops.len();
        if number >= log.first && (new || edge) {
            points.push(Point {
                number,
                medium: medium.clone(),
                misses: 0,
            });
        }
    }
    let mut chance = Chance::of(seed, 1);
    // Should the budget not do, then it is spent everywhere.
    chance.shuffle(&mut points);
    // The end is always looked at.
    if let Some(end) = points.iter().position(|p| p.number == log.ops.len()) {
        points.swap(0, end);
    }
    let cap = (budget / points.len().max(1)).max(8);
    CrashStates {
        log: Arc::new(log.clone()),
        points,
        chance,
        budget,
        tier: 0,
        next_point: 0,
        cap,
        queue: VecDeque::new(),
        seen: HashSet::new(),
        duplicates: 0,
    }
}

/// See `crash_states`.
#[derive(Debug)]
pub struct CrashStates {
    log: Arc<Log>,
    points: Vec<Point>,
    chance: Chance,
    budget: usize,
    tier: usize,
    next_point: usize,
    /// So many choices of a tier at one point, at most.
    cap: usize,
    queue: VecDeque<(usize, Choice)>,
    seen: HashSet<(u128, AnsweredBounds, bool)>,
    /// Choices that left what another had left.
    pub duplicates: usize,
}

#[derive(Debug)]
struct Point {
    number: usize,
    medium: Medium,
    misses: usize,
}

impl Iterator for CrashStates {
    type Item = CrashState;

    fn next(&mut self) -> Option<CrashState> {
        while self.seen.len() < self.budget {
            let Some((index, choice)) = self.queue.pop_front() else {
                if !self.refill() {
                    return None;
                }
                continue;
            };
            let point = &mut self.points[index];
            let state = CrashState::at(&self.log, &point.medium, choice);
            let key = (state.image.digest(), state.answered, state.choice.kill);
            if self.seen.insert(key) {
                point.misses = 0;
                return Some(state);
            }
            point.misses += 1;
            self.duplicates += 1;
        }
        None
    }
}

impl CrashStates {
    /// The number of points in the log at which crashes differ.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Puts the next point's choices into the queue; false if there are none any more.
    fn refill(&mut self) -> bool {
        if self.next_point == self.points.len() {
            self.next_point = 0;
            self.tier += 1;
            if self.tier >= TIERS.len() {
                self.points.retain(|point| point.misses < MISSES_MAX);
            }
            let left = self.budget - self.seen.len();
            self.cap = (left / (2 * self.points.len().max(1))).max(4);
        }
        if self.points.is_empty() {
            return false;
        }
        let index = self.next_point;
        self.next_point += 1;
        let point = &self.points[index];
        let chance = &mut self.chance;
        let mut choices = Vec::new();
        match TIERS.get(self.tier) {
            Some(&tier) => {
                if matches!(tier, Tier::Whole) {
                    choices.push(point.choice(true, BTreeSet::new(), Vec::new()));
                }
                point.systematic(&self.log, tier, self.cap, chance, &mut choices);
            }
            None => choices.extend((0..4).map(|_| point.random(&self.log, chance))),
        }
        self.queue
            .extend(choices.into_iter().map(|choice| (index, choice)));
        true
    }
}

impl Point {
    fn choice(&self, kill: bool, names: BTreeSet<AtomId>, data: Vec<(usize, Survival)>) -> Choice {
        Choice {
            point: self.number,
            kill,
            data,
            names,
        }
    }

    fn items(&self, log: &Log, names: &BTreeMap<Arc<str>, Entry>) -> Vec<Item> {
        let writes = self.medium.uncertain_writes(names);
        let items = writes.into_iter().map(|op| Item {
            op,
            sectors: write_at(log, op).map_or(1, |(at, bytes)| sectors(at, bytes.len())),
        });
        items.collect()
    }

    /// All choices of a tier, or a sample of `cap` of them.
    fn systematic(
        &self,
        log: &Log,
        tier: Tier,
        cap: usize,
        chance: &mut Chance,
        out: &mut Vec<Choice>,
    ) {
        let mut sets = Vec::new();
        let mut total = 0;
        for names in self.name_sets(chance) {
            let items = self.items(log, &self.medium.names(&names));
            let variants = tier.variants(&items);
            if variants > 0 {
                sets.push((total, names, items));
                total += variants;
            }
        }
        let mut make = |index: usize| {
            let set = sets.partition_point(|(start, ..)| *start <= index) - 1;
            let (start, names, items) = &sets[set];
            let data = tier.variant(items, index - start);
            out.push(self.choice(false, names.clone(), data));
        };
        if total <= cap {
            (0..total).for_each(&mut make);
        } else {
            // The first sets of names are none and all.
            let first = 2 * Tier::Whole.variants(&[]);
            let surely = if matches!(tier, Tier::Whole) {
                first.min(cap)
            } else {
                0
            };
            (0..surely).for_each(&mut make);
            (surely..cap).for_each(|_| make(chance.below(total)));
        }
    }

    /// Sets of changes of names to try: all, if they are few.
    fn name_sets(&self, chance: &mut Chance) -> Vec<BTreeSet<AtomId>> {
        let all = self.medium.uncertain_names();
        let list: Vec<_> = all.iter().copied().collect();
        let mut wanted = vec![BTreeSet::new(), all.clone()];
        if list.len() <= SUBSET_ITEMS {
            for bits in 1..(1usize << list.len()) {
                let chosen = list.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
                wanted.push(chosen.map(|(_, id)| *id).collect());
            }
        } else {
            for i in 0..list.len() {
                wanted.push(BTreeSet::from([list[i]]));
                wanted.push(list[..i].iter().copied().collect());
            }
            for _ in 0..16 {
                wanted.push(some_of(&list, 50, chance));
            }
        }
        let mut sets: Vec<BTreeSet<AtomId>> = Vec::new();
        for names in wanted {
            let names = self.medium.with_what_they_need(&names);
            if !sets.contains(&names) {
                sets.push(names);
            }
        }
        sets
    }

    fn random(&self, log: &Log, chance: &mut Chance) -> Choice {
        let list: Vec<_> = self.medium.uncertain_names().into_iter().collect();
        let share = [0, 50, 50, 80, 100][chance.below(5)];
        let names = some_of(&list, share, chance);
        let names = self.medium.with_what_they_need(&names);
        let items = self.items(log, &self.medium.names(&names));
        let kept = [5, 30, 50, 70, 95][chance.below(5)];
        let torn = [0, 10, 40][chance.below(3)];
        let mut data = Vec::new();
        for item in items {
            if item.sectors > 1 && chance.percent(torn) {
                let mut sectors = Vec::new();
                let mut from = 0;
                while from < item.sectors && sectors.len() < 4 {
                    let first = from + chance.below((item.sectors - from) as usize) as u32;
                    let last = first + chance.below((item.sectors - first) as usize) as u32;
                    sectors.push((first, last));
                    from = last + 2;
                }
                let length = chance.percent(50);
                data.push((item.op, Survival::Some { sectors, length }));
            } else if chance.percent(kept) {
                data.push((item.op, Survival::All));
            } else if chance.percent(30) {
                data.push((item.op, only_length()));
            }
        }
        self.choice(false, names, data)
    }
}

fn some_of(list: &[AtomId], percent: usize, chance: &mut Chance) -> BTreeSet<AtomId> {
    let chosen = list.iter().filter(|_| chance.percent(percent));
    chosen.copied().collect()
}
