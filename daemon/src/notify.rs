//! What the service manager is told (sd_notify): more time is needed, ready, reloading, stopping, alive. Without one, nothing is said.

use std::future::pending;
use std::time::Duration;

use sd_notify::NotifyState;

use crate::limits::RECOVERY_STEP;

/// The daemon serves.
pub(crate) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The configuration is being read again; `ready` follows.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// Asks for more time to get ready, again and again, for as long as it is polled.
pub(crate) async fn starting() {
    let more = u32::try_from((2 * RECOVERY_STEP).as_micros()).unwrap_or(u32::MAX);
    loop {
        tell(&[NotifyState::ExtendTimeoutUsec(more)]);
        tokio::time::sleep(RECOVERY_STEP).await;
    }
}

/// The daemon ends.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Says that we are alive, twice in the time in which the manager wants to hear it, for as long as it is polled.
pub(crate) async fn watchdog() {
    let within = sd_notify::watchdog_enabled().filter(|within| !within.is_zero());
    let Some(within) = within else {
        return pending().await;
    };
    let mut beat = tokio::time::interval(within.div_f64(2.0).max(Duration::from_millis(1)));
    loop {
        beat.tick().await;
        tell(&[NotifyState::Watchdog]);
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager was not told");
    }
}
