//! Polls under way: what each thread that polls tasks does now, and since when.
//!
//! A task that blocks in a poll holds its thread of the runtime, and nothing in the runtime says which task that is. A
//! named future puts its name on a stack of its thread for as long as it is polled; [`polls_under_way`] reads the
//! stacks.
//!
//! Promises: a poll takes two locks that nobody else holds for long, and no memory once its thread has polled before.
//! Not here: what is done about a poll that stands still (`amemd::process::standstill`).

use std::cell::OnceCell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Instant;

use amem_locks::LockResultExt;

/// The threads that have polled named futures.
static THREADS: Mutex<Vec<Weak<ThreadPolls>>> = Mutex::new(Vec::new());
/// Numbers polls that are not part of another.
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static OWN: OnceCell<Arc<ThreadPolls>> = const { OnceCell::new() };
}

/// The polls of one thread, each part of the one before it.
#[derive(Debug, Default)]
struct ThreadPolls(Mutex<Vec<NamedPoll>>);

#[derive(Debug)]
struct NamedPoll {
    id: u64,
    name: Arc<str>,
    since: Instant,
}

/// A poll under way.
#[derive(Debug, Clone)]
pub struct PollUnderWay {
    /// Another poll has another number.
    pub id: u64,
    /// What the thread does: the innermost name.
    pub name: Arc<str>,
    /// When the outermost poll began: since then the thread serves nobody else.
    pub since: Instant,
}

impl ThreadPolls {
    fn stack(&self) -> MutexGuard<'_, Vec<NamedPoll>> {
        self.0.lock().unpoisoned()
    }

    /// Those of this thread; `None` while the thread ends.
    fn own() -> Option<Arc<Self>> {
        OWN.try_with(|own| own.get_or_init(Self::register).clone())
            .ok()
    }

    fn register() -> Arc<Self> {
        let own = Arc::new(Self::default());
        let mut threads = THREADS.lock().unpoisoned();
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(&own));
        own
    }
}

/// Takes its name off the stack, also after a panic.
struct PollGuard(Option<Arc<ThreadPolls>>);

impl PollGuard {
    fn begin(name: &Arc<str>) -> Self {
        let own = ThreadPolls::own();
        if let Some(own) = &own {
            let mut stack = own.stack();
            let id = match stack.first() {
                Some(outermost) => outermost.id,
                None => NEXT.fetch_add(1, Ordering::Relaxed),
            };
            let (name, since) = (name.clone(), Instant::now());
            stack.push(NamedPoll { id, name, since });
        }
        Self(own)
    }
}

impl Drop for PollGuard {
    fn drop(&mut self) {
        if let Some(own) = &self.0 {
            own.stack().pop();
        }
    }
}

/// Gives the polls of a future a name, such as the path of a call.
pub async fn named<T>(name: impl Into<Arc<str>>, work: impl Future<Output = T>) -> T {
    let name = name.into();
    let mut work = pin!(work);
    poll_fn(move |context| {
        let _under_way = PollGuard::begin(&name);
        work.as_mut().poll(context)
    })
    .await
}

/// Names a piece of synchronous work on this thread, such as the poll of a body.
pub fn named_poll<T>(name: &Arc<str>, work: impl FnOnce() -> T) -> T {
    let _under_way = PollGuard::begin(name);
    work()
}

/// What this thread polls; a task that goes on with it has its name.
pub(crate) fn current_name() -> Option<Arc<str>> {
    let own = ThreadPolls::own()?;
    let stack = own.stack();
    stack.last().map(|poll| poll.name.clone())
}

/// The polls under way, one for each thread that is in one.
pub fn polls_under_way() -> Vec<PollUnderWay> {
    let threads = THREADS.lock().unpoisoned();
    let threads: Vec<_> = threads.iter().filter_map(Weak::upgrade).collect();
    let polls = threads.iter().filter_map(|thread| {
        let stack = thread.stack();
        let (outermost, innermost) = (stack.first()?, stack.last()?);
        Some(PollUnderWay {
            id: outermost.id,
            name: innermost.name.clone(),
            since: outermost.since,
        })
    });
    polls.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::task::{Context, Poll, Waker};

    fn under_way(name: &str) -> Option<PollUnderWay> {
        polls_under_way()
            .into_iter()
            .find(|poll| &*poll.name == name)
    }

    fn poll_once<T>(work: impl Future<Output = T>) -> Poll<T> {
        pin!(work).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_poll_has_the_innermost_name_and_the_time_of_the_outermost() {
        let before = Instant::now();
        let inner = named("inner of a test", async {
            assert_eq!(current_name().as_deref(), Some("inner of a test"));
            let poll = under_way("inner of a test").unwrap();
            assert!(poll.since >= before);
            poll
        });
        let outer = named("outer of a test", async {
            let outer = under_way("outer of a test").unwrap();
            let inner = inner.await;
            assert_eq!((inner.id, inner.since), (outer.id, outer.since));
            assert_eq!(under_way("outer of a test").unwrap().id, outer.id);
        });
        assert_eq!(poll_once(outer), Poll::Ready(()));
        assert!(under_way("outer of a test").is_none() && current_name().is_none());
    }

    #[test]
    fn a_task_that_waits_is_not_under_way_and_a_panic_ends_a_poll() {
        let waits = named("waits in a test", std::future::pending::<()>());
        assert_eq!(poll_once(waits), Poll::Pending);
        let panics = named("panics in a test", async { panic!("a defect of a test") });
        let ended = catch_unwind(AssertUnwindSafe(|| poll_once::<()>(panics)));
        assert!(ended.is_err());
        for name in ["waits in a test", "panics in a test"] {
            assert!(under_way(name).is_none(), "{name}");
        }
    }

    #[tokio::test]
    async fn work_that_runs_to_its_end_keeps_the_name_of_its_call() {
        let work = crate::tasks::run_to_end(async { current_name() });
        let name = named("a call of a test", work).await.unwrap();
        assert_eq!(name.as_deref(), Some("a call of a test"));
    }
}
