//! Threads for work that may take its time: heavy questions, and whoever goes through a whole file.
//!
//! They are few, so that what each keeps of its memory is bounded, and the system lets calls go before them: a light
//! call that comes in while all processors compare vectors does not wait until one of them is done.
//!
//! Promises: so much of one kind runs at the same time and no more, whoever loses patience; it is the turn of one
//! caller after the other, and what the daemon does by itself is a caller's, too; a panic ends one call.
//! Not here: who comes next (`turns`).

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::brains::defect;
use crate::refusal::{Refusal, Result};
use crate::turns::Turns;

/// How much nicer these threads are than others.
#[cfg(target_os = "linux")]
const NICER: i32 = 10;
/// The nicest that a thread can be.
#[cfg(target_os = "linux")]
const NICEST: i32 = 19;

/// The threads. What runs when this is dropped goes on until the process ends.
#[derive(Debug)]
pub(crate) struct Threads(Option<Runtime>);

/// Work of one kind, on threads that may be those of other kinds as well.
#[derive(Debug, Clone)]
pub(crate) struct Heavy {
    threads: Arc<Threads>,
    turns: Turns,
}

/// The same for one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeavyOf<'a> {
    heavy: &'a Heavy,
    caller: &'a str,
}

impl Heavy {
    /// So much of it at the same time.
    pub(crate) fn new(threads: &Arc<Threads>, at_once: usize) -> Self {
        Self {
            threads: threads.clone(),
            turns: Turns::new(at_once),
        }
    }

    /// For a caller: its principal, or that of the daemon itself.
    pub(crate) fn of<'a>(&'a self, caller: &'a str) -> HeavyOf<'a> {
        HeavyOf {
            heavy: self,
            caller,
        }
    }
}

impl HeavyOf<'_> {
    /// Does work when it is the caller's turn; not at all if it has given up by then.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // The turn ends with the work, not with the caller's patience: so many run, and no more.
        let turn = self.heavy.turns.take(self.caller).await?;
        let (wanted, mut gone) = oneshot::channel::<()>();
        let work = move || {
            let _turn = turn;
            match gone.try_recv() {
                Err(oneshot::error::TryRecvError::Closed) => Err(Refusal::cancelled()),
                _ => work(),
            }
        };
        let done = self.heavy.threads.run(work).await?;
        drop(wanted);
        done
    }
}

impl Threads {
    /// At most `count` of them, each started when it is first needed.
    pub(crate) fn new(count: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(count)
            .thread_name("heavy")
            .on_thread_start(be_nice)
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Does work on one of them; a panic there is a defect of ours and nobody else's trouble.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let runtime = self.0.as_ref().ok_or_else(defect)?;
        // What is written into the log there is written of the same call.
        let call = tracing::Span::current();
        let done = runtime.spawn_blocking(move || call.in_scope(work)).await;
        done.map_err(|_| defect())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lets others go first. Where that can't be had, work is done as it would have been.
pub(crate) fn be_nice() {
    // Linux knows how nice a thread is; elsewhere the same call is about the whole process.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        let nicer = |now: i32| setpriority_process(None, (now + NICER).min(NICEST));
        if let Err(e) = getpriority_process(None).and_then(nicer) {
            tracing::debug!(error = %e, "a thread for heavy work is no nicer than others");
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
        let threads = Threads::new(1).unwrap();
        let expected = (before + NICER).min(NICEST);
        assert_eq!(threads.run(nice).await.unwrap(), expected);
        assert_eq!(nice(), before);
    }

    #[tokio::test]
    async fn a_callers_backlog_holds_up_nobody_else_for_longer_than_one_piece_of_it() {
        let heavy = Heavy::new(&Arc::new(Threads::new(1).unwrap()), 1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let done = Arc::new(Mutex::new(Vec::new()));
        let run = |caller: &'static str, work: Box<dyn FnOnce() + Send>| {
            let (heavy, done) = (heavy.clone(), done.clone());
            let work = move || {
                work();
                done.lock().unwrap().push(caller);
                Ok(())
            };
            tokio::spawn(async move { heavy.of(caller).run(work).await })
        };
        let mut all = vec![run(
            "one",
            Box::new(move || {
                held.recv().ok();
            }),
        )];
        while heavy.turns.are_free(1) {
            yield_now().await;
        }
        all.extend((0..20).map(|_| run("one", Box::new(|| ()))));
        while heavy.turns.waiting() < 20 {
            yield_now().await;
        }
        all.push(run("other", Box::new(|| ())));
        while heavy.turns.waiting() < 21 {
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
        let heavy = Heavy::new(&Arc::new(Threads::new(2).unwrap()), 1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (begin, begun) = oneshot::channel();
        let of = heavy.clone();
        let first = tokio::spawn(async move {
            let work = move || {
                begin.send(()).ok();
                held.recv().ok();
                Ok(())
            };
            of.of("one").run(work).await
        });
        begun.await.unwrap();
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        let of = heavy.clone();
        let second = tokio::spawn(async move { of.of("other").run(|| Ok(7)).await });
        while heavy.turns.waiting() == 0 {
            assert!(!heavy.turns.are_free(1), "two may run");
            yield_now().await;
        }
        drop(release);
        assert_eq!(second.await.unwrap().unwrap(), 7);
        // Who has gone before its turn leaves nothing.
        let gone = heavy.turns.take("one").await.unwrap();
        let of = heavy.clone();
        let third = tokio::spawn(async move { of.of("one").run(|| Ok(())).await });
        while heavy.turns.waiting() == 0 {
            yield_now().await;
        }
        third.abort();
        assert!(third.await.unwrap_err().is_cancelled());
        assert_eq!(heavy.turns.waiting(), 0);
        drop(gone);
        assert!(heavy.turns.are_free(1));
    }

    #[tokio::test]
    async fn a_panic_ends_one_call_and_not_the_thread_of_others() {
        let threads = Threads::new(1).unwrap();
        let refused = threads.run(|| panic!("on purpose")).await;
        assert!(refused.map(|()| 0).is_err());
        assert_eq!(threads.run(|| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn they_are_let_go_of_while_one_works() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let threads = Threads::new(1).unwrap();
        drop(Box::pin(threads.run(move || held.recv())));
        drop(threads);
        drop(release);
    }
}
