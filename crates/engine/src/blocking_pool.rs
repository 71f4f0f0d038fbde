//! The blocking pool: a few threads for long work, such as expensive queries and scans of whole files.
//!
//! The threads are few so that the memory that each retains is bounded, and run at a lower priority: a light call that
//! arrives while all processors compare vectors does not wait for them.
//!
//! Promises: at most `at_once` pieces of one kind run at a time, even if callers stop waiting; callers are served in
//! rotation, and the daemon's own work counts as a caller's; a panic ends one call.
//! Not here: the order of callers (`fair_queue`).

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::fair_queue::FairQueue;
use crate::tasks::{AnyAnswer, AnyWork, DEFECT, typed, untyped};

/// Nice value of these threads, relative to others.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;
/// The lowest priority of a thread.
#[cfg(target_os = "linux")]
const NICEST: i32 = 19;

/// The threads. Work that runs when this is dropped goes on until the process ends.
#[derive(Debug)]
pub struct BlockingThreads(Option<Runtime>);

/// Work of one kind, on threads that other kinds may share. All clones are the same.
#[derive(Debug, Clone)]
pub struct BlockingPool {
    threads: Arc<BlockingThreads>,
    queue: FairQueue,
}

/// A pool on behalf of one caller.
#[derive(Debug, Clone, Copy)]
pub struct CallerPool<'a> {
    pool: &'a BlockingPool,
    caller: &'a str,
    source: u64,
}

impl BlockingPool {
    /// Runs at most `at_once` pieces of work at a time.
    pub fn new(threads: &Arc<BlockingThreads>, at_once: usize) -> Self {
        Self {
            threads: threads.clone(),
            queue: FairQueue::new(at_once),
        }
    }

    /// On behalf of a caller, by any key that tells callers apart: its principal, or that of the daemon.
    pub fn of<'a>(&'a self, caller: &'a str) -> CallerPool<'a> {
        self.of_source(caller, 0)
    }

    /// On behalf of one of a caller's sources, such as a process: they have the caller's turns in rotation.
    pub fn of_source<'a>(&'a self, caller: &'a str, source: u64) -> CallerPool<'a> {
        CallerPool {
            pool: self,
            caller,
            source,
        }
    }
}

impl CallerPool<'_> {
    /// Runs work when it is the caller's turn; not at all if the caller stopped waiting by then.
    ///
    /// # Errors
    /// `Cancelled` in that case; `Defect` if the work panics.
    pub fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        let work = untyped(work);
        async move { typed(self.run_untyped(work).await?) }
    }

    async fn run_untyped(self, work: AnyWork) -> Result<AnyAnswer> {
        // The permit is held until the work ends, even if the caller stops waiting.
        let permit = self
            .pool
            .queue
            .acquire_from(self.caller, self.source)
            .await?;
        let (wanted, mut gone) = oneshot::channel::<()>();
        let work = untyped(move || {
            let _permit = permit;
            match gone.try_recv() {
                Err(oneshot::error::TryRecvError::Closed) => Err(Error::Cancelled),
                _ => Ok(work()),
            }
        });
        let done = self.pool.threads.run(work).await?;
        drop(wanted);
        typed::<Result<AnyAnswer>>(done)?
    }
}

impl BlockingThreads {
    /// At most `count` threads, each started when it is first needed.
    ///
    /// # Errors
    /// If the system gives no resources for them.
    pub fn new(count: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(count)
            .thread_name("blocking")
            .on_thread_start(renice)
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Runs work on one of them, within the caller's span.
    async fn run(&self, work: AnyWork) -> Result<AnyAnswer> {
        let runtime = self.0.as_ref().ok_or(DEFECT)?;
        let span = tracing::Span::current();
        let done = runtime.spawn_blocking(move || span.in_scope(work)).await;
        done.map_err(|_| DEFECT)
    }
}

impl Drop for BlockingThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lowers the priority of the calling thread, for the rest of its life. Elsewhere than on Linux it does nothing: there
/// the same call concerns the whole process.
pub(crate) fn renice() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        let nicer = |now: i32| setpriority_process(None, (now + NICER).min(NICEST));
        if let Err(e) = getpriority_process(None).and_then(nicer) {
            tracing::debug!(error = %e, "a thread for blocking work has the priority of others");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use tokio::task::yield_now;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn heavy_work_lets_others_go_first_and_only_it_does() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let threads = BlockingThreads::new(1).unwrap();
        let expected = (before + NICER).min(NICEST);
        let done = threads.run(untyped(nice)).await.unwrap();
        assert_eq!(typed::<i32>(done).unwrap(), expected);
        assert_eq!(nice(), before);
    }

    #[tokio::test]
    async fn a_callers_backlog_holds_up_nobody_else_for_longer_than_one_piece_of_it() {
        let pool = BlockingPool::new(&Arc::new(BlockingThreads::new(1).unwrap()), 1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let done = Arc::new(Mutex::new(Vec::new()));
        let run = |caller: &'static str, work: Box<dyn FnOnce() + Send>| {
            let (pool, done) = (pool.clone(), done.clone());
            let work = move || {
                work();
                done.lock().unwrap().push(caller);
            };
            tokio::spawn(async move { pool.of(caller).run(work).await })
        };
        let mut all = vec![run(
            "one",
            Box::new(move || {
                held.recv().ok();
            }),
        )];
        while pool.queue.is_idle(1) {
            yield_now().await;
        }
        all.extend((0..20).map(|_| run("one", Box::new(|| ()))));
        while pool.queue.waiting() < 20 {
            yield_now().await;
        }
        all.push(run("other", Box::new(|| ())));
        while pool.queue.waiting() < 21 {
            yield_now().await;
        }
        drop(release);
        for work in all {
            work.await.unwrap().unwrap();
        }
        let done = done.lock().unwrap();
        let other = done.iter().position(|caller| *caller == "other");
        assert_eq!(other, Some(2), "{done:?}");
    }

    #[tokio::test]
    async fn who_gives_up_frees_no_turn_before_its_work_is_done() {
        let pool = BlockingPool::new(&Arc::new(BlockingThreads::new(2).unwrap()), 1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (begin, begun) = oneshot::channel();
        let of = pool.clone();
        let first = tokio::spawn(async move {
            let work = move || {
                begin.send(()).ok();
                held.recv().ok();
            };
            of.of("one").run(work).await
        });
        begun.await.unwrap();
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        let of = pool.clone();
        let second = tokio::spawn(async move { of.of("other").run(|| 7).await });
        while pool.queue.waiting() == 0 {
            assert!(!pool.queue.is_idle(1), "two may run");
            yield_now().await;
        }
        drop(release);
        assert_eq!(second.await.unwrap().unwrap(), 7);
        // A caller that leaves before its turn leaves nothing behind.
        let gone = pool.queue.acquire("one").await.unwrap();
        let of = pool.clone();
        let third = tokio::spawn(async move { of.of("one").run(|| ()).await });
        while pool.queue.waiting() == 0 {
            yield_now().await;
        }
        third.abort();
        assert!(third.await.unwrap_err().is_cancelled());
        assert_eq!(pool.queue.waiting(), 0);
        drop(gone);
        assert!(pool.queue.is_idle(1));
    }

    #[tokio::test]
    async fn a_panic_ends_one_call_and_not_the_thread_of_others() {
        let threads = BlockingThreads::new(1).unwrap();
        let refused = threads.run(Box::new(|| panic!("on purpose"))).await;
        assert!(refused.is_err());
        let done = threads.run(untyped(|| 7)).await.unwrap();
        assert_eq!(typed::<i32>(done).unwrap(), 7);
    }

    #[tokio::test]
    async fn threads_are_released_while_one_works() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let threads = BlockingThreads::new(1).unwrap();
        drop(Box::pin(threads.run(untyped(move || held.recv()))));
        drop(threads);
        drop(release);
    }
}
