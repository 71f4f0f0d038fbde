//! The supervisor: the tasks of the daemon, and the order in which they stop.
//!
//! Promises: the tasks of a stage have ended when `stop` returns, unless one of them blocks for longer than
//! `TASKS_END`; all tasks end with the supervisor. An unexpected end of a task is logged; that of an essential task
//! stops the daemon.

use std::future::Future;

use amem_engine::tasks::AnyFuture;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::limits::TASKS_END;

/// When the daemon stops a task. Between the stages calls in progress end and brains close (`server`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopStage {
    /// First: it accepts connections, or begins work in the background.
    Intake,
    /// Last: it reports how the daemon stops.
    Reporting,
}

#[derive(Debug)]
struct Task {
    stage: StopStage,
    handle: JoinHandle<()>,
}

/// The running tasks.
#[derive(Debug)]
pub(super) struct Supervisor {
    tasks: Vec<Task>,
    ended: mpsc::UnboundedSender<TaskEnd>,
    ends: mpsc::UnboundedReceiver<TaskEnd>,
}

/// The end of a task.
#[derive(Debug)]
struct TaskEnd {
    name: &'static str,
    is_essential: bool,
}

/// Reports the end of a task, also if it panics.
struct EndGuard(mpsc::UnboundedSender<TaskEnd>, Option<TaskEnd>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        if let Some(end) = self.1.take() {
            // The receiver is gone once the daemon stops.
            drop(self.0.send(end));
        }
    }
}

impl Supervisor {
    pub(super) fn new() -> Self {
        let (ended, ends) = mpsc::unbounded_channel();
        Self {
            tasks: Vec::new(),
            ended,
            ends,
        }
    }

    /// Starts a task without which the daemon continues.
    pub(super) fn spawn(
        &mut self,
        stage: StopStage,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.start(stage, name, false, Box::pin(task));
    }

    /// Starts a task without which the daemon stops.
    pub(super) fn spawn_essential(
        &mut self,
        stage: StopStage,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.start(stage, name, true, Box::pin(task));
    }

    fn start(
        &mut self,
        stage: StopStage,
        name: &'static str,
        is_essential: bool,
        task: AnyFuture<()>,
    ) {
        let end = TaskEnd { name, is_essential };
        let guard = EndGuard(self.ended.clone(), Some(end));
        let handle = tokio::spawn(async move {
            let _guard = guard;
            amem_engine::polls::named(name, task).await;
        });
        self.tasks.push(Task { stage, handle });
    }

    /// Ready once an essential task has ended by itself.
    pub(super) async fn essential_ended(&mut self) {
        // The supervisor owns a sender: there is always a next end.
        while let Some(TaskEnd { name, is_essential }) = self.ends.recv().await {
            tracing::error!(name, "a task of the daemon has ended");
            if is_essential {
                return;
            }
        }
    }

    /// Stops the tasks of a stage.
    pub(super) async fn stop(&mut self, stage: StopStage) {
        let stopped: Vec<_> = self
            .tasks
            .extract_if(.., |task| task.stage == stage)
            .collect();
        for task in &stopped {
            task.handle.abort();
        }
        let end = Instant::now() + TASKS_END;
        for task in stopped {
            drop(timeout_at(end, task.handle).await);
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.handle.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::time::Duration;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn stages_stop_one_by_one_and_all_tasks_end_with_the_supervisor() {
        let mut tasks = Supervisor::new();
        let mut task = |stage| {
            let (held, ended) = oneshot::channel::<()>();
            tasks.spawn(stage, "a task of a test", async move {
                let _held = held;
                pending().await
            });
            ended
        };
        let (mut first, mut last) = (task(StopStage::Intake), task(StopStage::Reporting));
        let is_over = |ended: &mut oneshot::Receiver<()>| {
            ended.try_recv() == Err(oneshot::error::TryRecvError::Closed)
        };
        tasks.stop(StopStage::Intake).await;
        assert!(is_over(&mut first) && !is_over(&mut last));
        drop(tasks);
        last.await.unwrap_err();
    }

    #[tokio::test]
    async fn only_the_end_of_an_essential_task_is_one_of_the_daemon() {
        let mut tasks = Supervisor::new();
        tasks.spawn(StopStage::Intake, "a task of a test", async {});
        let patience = Duration::from_millis(50);
        let ended = tokio::time::timeout(patience, tasks.essential_ended());
        ended.await.unwrap_err();
        tasks.spawn_essential(StopStage::Intake, "a defect of a test", async {
            panic!("a defect of a test")
        });
        tasks.essential_ended().await;
    }
}
