//! Notifications to the service manager (sd_notify): more time, ready, reloading, stopping, alive. Without a service
//! manager they do nothing.

use std::fmt::Display;
use std::future::pending;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::MissedTickBehavior;

use crate::limits::RECOVERY_STEP;

/// The daemon serves.
pub(crate) fn ready() {
    notify(&[NotifyState::Ready]);
}

/// The configuration is being read again; `reloaded` follows.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(_) => notify(&[NotifyState::Reloading]),
    }
}

/// The reload has ended; `refused` says why the new configuration is not in force.
pub(crate) fn reloaded(refused: Option<&dyn Display>) {
    // A status is one line.
    let why = refused.map(|why| format!("cannot reload the configuration: {why}"));
    let why = why.unwrap_or_default().replace('\n', " ");
    notify(&[NotifyState::Ready, NotifyState::Status(&why)]);
}

/// Asks for more time to start or to stop, for as long as it is polled.
pub(crate) async fn more_time() {
    let more = u32::try_from((2 * RECOVERY_STEP).as_micros()).unwrap_or(u32::MAX);
    loop {
        notify(&[NotifyState::ExtendTimeoutUsec(more)]);
        tokio::time::sleep(RECOVERY_STEP).await;
    }
}

/// The daemon ends.
pub(crate) fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// Reports that the daemon is alive, three times in each watchdog interval, for as long as it is polled.
pub(crate) async fn watchdog() {
    let within = sd_notify::watchdog_enabled().filter(|within| !within.is_zero());
    match within {
        None => pending().await,
        Some(within) => beat(within, || notify(&[NotifyState::Watchdog])).await,
    }
}

/// Calls `alive` three times in each interval, unless the threads of the runtime hang: each time one of them must have
/// run a task.
async fn beat(within: Duration, mut alive: impl FnMut()) {
    let mut beat = tokio::time::interval((within / 3).max(Duration::from_millis(1)));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        // An error means that the runtime shuts down.
        if tokio::spawn(async {}).await.is_ok() {
            alive();
        }
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "cannot notify the service manager");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_daemon_whose_threads_hang_is_silent_until_they_go_on() {
        let within = Duration::from_millis(30);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (alive, heard) = mpsc::channel();
        let (hang, is_to_hang) = tokio::sync::oneshot::channel();
        let (hanging, hangs) = mpsc::channel();
        let (release, held) = mpsc::channel::<()>();
        let patience = Duration::from_secs(20);
        let ear = std::thread::spawn(move || {
            heard.recv_timeout(patience).expect("never alive");
            hang.send(()).unwrap();
            hangs.recv_timeout(patience).unwrap();
            // What was on its way may still come.
            let late = std::iter::from_fn(|| heard.recv_timeout(within * 10).ok());
            let late = late.take(3).count();
            drop(release);
            heard.recv_timeout(patience).expect("silent for ever");
            late
        });
        runtime.block_on(async {
            let beats = beat(within, move || alive.send(()).unwrap_or(()));
            let hang = async {
                is_to_hang.await.unwrap();
                tokio::spawn(async move {
                    hanging.send(()).unwrap();
                    _ = held.recv();
                });
                pending::<()>().await;
            };
            let over = tokio::task::spawn_blocking(move || ear.join().unwrap());
            let late = tokio::select! {
                () = beats => None,
                () = hang => None,
                late = over => late.ok(),
            };
            let late = late.expect("the ear heard nothing");
            assert!(late <= 1, "alive while nothing could be answered");
        });
    }
}
