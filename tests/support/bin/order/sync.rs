//! In place of core's `sync`: every interleaving of what is built on it can be explored, and one ordering weakened.
//!
//! Atomics are loom's. Each ordering is noted with the line that asks for it; the one that is to be weak becomes
//! relaxed, as if that line had said so. `OnceLock` is the smallest stand-in for std's: a state that is stored with
//! release and loaded with acquire, and a mark by which loom notices a thread that comes to the value too early.

use std::collections::BTreeMap;
use std::panic::Location;

use amem_locks::LockResultExt;

pub(crate) use loom::sync::Mutex;
pub(crate) use std::sync::atomic::Ordering;

/// Where an ordering is asked for: file below `src`, line, column.
pub(crate) type Site = (String, u32, u32);

/// What was asked for where, and where to be weak.
#[derive(Default)]
struct SiteLog {
    sites: BTreeMap<(&'static str, u32, u32), Ordering>,
    weak: Option<Site>,
}

static ASKED: std::sync::Mutex<Option<SiteLog>> = std::sync::Mutex::new(None);

/// Has the ordering of one place be relaxed from now on.
pub(crate) fn weaken(site: Site) {
    let mut asked = ASKED.lock().unpoisoned();
    asked.get_or_insert_default().weak = Some(site);
}

/// The places of orderings that were come by, and what each asked for.
pub(crate) fn sites() -> Vec<(Site, Ordering)> {
    let asked = ASKED.lock().unpoisoned();
    let sites = asked.iter().flat_map(|asked| &asked.sites);
    let named = sites.map(|(&(file, line, column), &order)| ((below(file), line, column), order));
    named.collect()
}

/// A file of core, from its `src` on.
fn below(file: &str) -> String {
    let (_, below) = file.rsplit_once("crates/format/src/").unwrap_or(("", file));
    below.to_owned()
}

/// The ordering that a place gets.
fn granted(order: Ordering, at: &'static Location<'static>) -> Ordering {
    if order == Ordering::Relaxed {
        return order;
    }
    let mut asked = ASKED.lock().unpoisoned();
    let asked = asked.get_or_insert_default();
    let place = (at.file(), at.line(), at.column());
    asked.sites.insert(place, order);
    let is_weak = asked.weak.as_ref().is_some_and(|(file, line, column)| {
        (*line, *column) == (place.1, place.2) && *file == below(place.0)
    });
    if is_weak { Ordering::Relaxed } else { order }
}

/// As std's, unless it is to be weak: then there is none.
#[track_caller]
pub(crate) fn fence(order: Ordering) {
    let order = granted(order, Location::caller());
    if order != Ordering::Relaxed {
        loom::sync::atomic::fence(order);
    }
}

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        #[derive(Debug, Default)]
        pub(crate) struct $name(loom::sync::atomic::$name);

        impl $name {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.0.load(granted(order, Location::caller()))
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, granted(order, Location::caller()));
            }
        }
    };
}

atomic!(AtomicBool, bool);
atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);

impl AtomicU32 {
    #[track_caller]
    pub(crate) fn fetch_max(&self, value: u32, order: Ordering) -> u32 {
        self.0.fetch_max(value, granted(order, Location::caller()))
    }
}

impl AtomicU64 {
    #[track_caller]
    pub(crate) fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
        self.0.fetch_or(bits, granted(order, Location::caller()))
    }
}

/// Stands for bytes that are written once, without any atomic: a thread that reads them and has not seen that they were
/// written is found out, as loom wants all use of an atomic to come after it was made.
#[derive(Debug)]
pub(crate) struct WriteMark(loom::sync::atomic::AtomicBool);

impl WriteMark {
    pub(crate) fn now() -> Self {
        Self(loom::sync::atomic::AtomicBool::new(true))
    }

    pub(crate) fn read(&self) {
        self.0.load(Ordering::Relaxed);
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

const EMPTY: u32 = 0;
const BUSY: u32 = 1;
const FULL: u32 = 2;

/// A value that is set once. A thread that comes while another sets it waits.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    state: loom::sync::atomic::AtomicU32,
    value: std::sync::OnceLock<(WriteMark, T)>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: loom::sync::atomic::AtomicU32::new(EMPTY),
            value: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != FULL {
            return None;
        }
        let (written, value) = self.value.get()?;
        written.read();
        Some(value)
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.fill(|| value.take());
        value.map_or(Ok(()), Err)
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let mut make = Some(make);
        loop {
            if let Some(value) = self.get() {
                return value;
            }
            if !self.fill(|| make.take().map(|make| make())) {
                loom::thread::yield_now();
            }
        }
    }

    /// Sets the value if no other thread has, or does; false if one has.
    fn fill(&self, value: impl FnOnce() -> Option<T>) -> bool {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        let claimed = self.state.compare_exchange(EMPTY, BUSY, acquire, relaxed);
        if claimed.is_ok()
            && let Some(value) = value()
        {
            let set = self.value.set((WriteMark::now(), value));
            assert!(set.is_ok(), "it was claimed");
            self.state.store(FULL, Ordering::Release);
        }
        claimed.is_ok()
    }
}
