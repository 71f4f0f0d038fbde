//! A brain's life: how it began, and what was done to it.
//!
//! Transactions are numbered from 1: the first is the brain's creation, each later one a request that is
//! done. Each has a time of its own, the same whenever it is executed, so that what it leaves can be compared
//! to the byte.

use amem_format::Micros;
use amem_format::event::MemoryGraph;
use amem_store::{Mutation, NewBrain, Request};
use uuid::Uuid;

/// When the brain was created.
const BEGIN: i64 = 1_700_000_000_000_000;
/// Microseconds from one transaction to the next.
const STEP: i64 = 600_000_000;

/// One request of a group.
#[derive(Debug, Clone)]
pub enum Ask {
    /// The next transaction.
    Do(Request),
    /// A request that is refused, and leaves nothing.
    Refuse(Request),
    /// The request of an earlier transaction again, which is answered and not executed.
    Again(u64),
}

/// One thing that is done.
#[derive(Debug, Clone)]
pub enum Step {
    /// A group of requests is committed.
    Commit(Vec<Ask>),
    /// A new generation is made while nothing else happens.
    Checkpoint,
    /// A new generation is begun.
    Begin,
    /// Its base is written.
    Build,
    /// Younger frames are carried into it.
    Carry,
    /// It takes the old one's place.
    Install,
    /// It is given up.
    GiveUp,
    /// The brain is closed in order and opened again.
    Close,
    /// The process is killed, and another one opens the brain.
    Kill,
    /// Another process puts a copy in the place of the brain's file, once, with something of its own behind it.
    Replace,
}

/// Bytes that are in no file once a transaction has been answered.
#[derive(Debug, Clone)]
pub struct Secret {
    /// The transaction that erases them.
    pub erased_by: u64,
    /// What is looked for.
    pub bytes: Vec<u8>,
}

/// A brain's life.
#[derive(Debug, Clone)]
pub struct Script {
    /// What it is called in reports.
    pub name: &'static str,
    /// How the brain is created.
    pub create: NewBrain,
    /// What it begins with.
    pub import: Option<MemoryGraph>,
    /// What is done then.
    pub steps: Vec<Step>,
    /// The one request after all others.
    pub last: Request,
    /// What must vanish.
    pub secrets: Vec<Secret>,
    /// Whether the file system can exchange names.
    pub exchanges: bool,
    /// How many parts of a budget it gets.
    pub share: usize,
}

impl Script {
    /// The same with another number of parts of a budget.
    #[must_use]
    pub fn with_share(mut self, share: usize) -> Self {
        self.share = share;
        self
    }

    /// The same on a file system that cannot exchange names.
    #[must_use]
    pub fn without_exchange(mut self, name: &'static str) -> Self {
        (self.name, self.exchanges) = (name, false);
        self
    }

    /// The requests of all transactions but the first, that after all others included, and the time of each.
    pub fn requests(&self) -> Vec<(&Request, Micros)> {
        let mut out = Vec::new();
        for step in &self.steps {
            let Step::Commit(asks) = step else { continue };
            // A group is of one time.
            let now = time_of(out.len() as u64 + 2);
            for ask in asks {
                if let Ask::Do(request) = ask {
                    out.push((request, now));
                }
            }
        }
        out.push((&self.last, time_of(out.len() as u64 + 2)));
        out
    }
}

/// When a transaction is executed.
pub(super) fn time_of(transaction: u64) -> Micros {
    Micros(BEGIN + STEP * transaction as i64)
}

/// A script being written: requests get actors and request ids.
pub(super) struct Writer {
    steps: Vec<Step>,
    /// The next transaction.
    next: u64,
    secrets: Vec<Secret>,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            steps: Vec::new(),
            next: 2,
            secrets: Vec::new(),
        }
    }

    /// A request; three of four have an id, two of three an actor.
    fn request(&self, mutation: Mutation) -> Request {
        let n = self.next;
        let request = Request::new(mutation);
        let request = match n % 3 {
            0 => request,
            1 => request.by("uid:1000", "first"),
            _ => request.by(
                "uid:1000",
                if n.is_multiple_of(2) {
                    "second"
                } else {
                    "third"
                },
            ),
        };
        match n % 4 {
            0 => request,
            _ => request.with_id(id_of(n)),
        }
    }

    /// Transactions of one group each.
    pub(super) fn each(mut self, mutations: impl IntoIterator<Item = Mutation>) -> Self {
        for mutation in mutations {
            self = self.group([mutation]);
        }
        self
    }

    /// Transactions of one group.
    pub(super) fn group(mut self, mutations: impl IntoIterator<Item = Mutation>) -> Self {
        let mut asks = Vec::new();
        for mutation in mutations {
            asks.push(Ask::Do(self.request(mutation)));
            self.next += 1;
        }
        self.steps.push(Step::Commit(asks));
        self
    }

    /// Two transactions of one group, with a refused request before, between and after them, and with retries
    /// of an earlier transaction and of the group's own first.
    pub(super) fn mixed(
        mut self,
        mutations: [Mutation; 2],
        refused: &Mutation,
        again: u64,
    ) -> Self {
        let refuse =
            |mutation: &Mutation| Ask::Refuse(Request::new(mutation.clone()).by("uid:7", "x"));
        let [first, second] = mutations;
        let own = self.next;
        let first = Request::new(first).with_id(id_of(own));
        let second = Request::new(second)
            .by("uid:8", "new")
            .with_id(id_of(own + 1));
        self.next += 2;
        self.steps.push(Step::Commit(vec![
            refuse(refused),
            Ask::Do(first),
            Ask::Again(again),
            refuse(refused),
            Ask::Again(own),
            Ask::Do(second),
            refuse(refused),
        ]));
        self
    }

    /// Other steps.
    pub(super) fn then(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.steps.extend(steps);
        self
    }

    /// The latest transaction erased these bytes.
    pub(super) fn erasing(mut self, bytes: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let erased_by = self.next - 1;
        let secrets = bytes.into_iter().map(|bytes| Secret { erased_by, bytes });
        self.secrets.extend(secrets);
        self
    }

    /// The script, with one more request at its end.
    pub(super) fn end(self, name: &'static str, create: NewBrain, last: Mutation) -> Script {
        let last = Request::new(last).with_id(id_of(self.next));
        Script {
            name,
            create,
            import: None,
            steps: self.steps,
            last,
            secrets: self.secrets,
            exchanges: true,
            share: 4,
        }
    }
}

/// The request id of a transaction: a UUIDv7 of its time.
pub(super) fn id_of(transaction: u64) -> Uuid {
    let millis = (time_of(transaction).0 / 1000) as u64;
    let mut random = [7; 10];
    random[2..].copy_from_slice(&transaction.to_le_bytes());
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}
