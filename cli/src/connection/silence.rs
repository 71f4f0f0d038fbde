//! No wait without a word: a command that waits for amemd says so, once.
//!
//! The line goes to stderr, also if that is a file: a script that hangs must say why. `--quiet` suppresses it.

use std::io::Write;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time after which a command says what it waits for.
pub(crate) const SILENCE_MAX: Duration = Duration::from_millis(2_500);

static IS_SAID: AtomicBool = AtomicBool::new(false);

/// Suppresses the line.
pub(crate) fn keep_quiet() {
    IS_SAID.store(true, Ordering::Relaxed);
}

/// Says what this process waits for, unless it has said so.
pub(crate) fn say(what: &str) {
    if !IS_SAID.swap(true, Ordering::Relaxed) {
        // Ignored if stderr is closed.
        let line = format!("amemctl: {what}\n");
        let _unseen = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Waits, and says so if it takes longer than `SILENCE_MAX`.
pub(super) async fn aloud<T>(what: &str, answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    match tokio::time::timeout(SILENCE_MAX, &mut answer).await {
        Ok(answer) => answer,
        Err(_) => {
            say(what);
            answer.await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_said_once() {
        let slow = |secs| tokio::time::sleep(Duration::from_secs(secs));
        aloud("waiting", slow(1)).await;
        assert!(!IS_SAID.load(Ordering::Relaxed));
        aloud("waiting", slow(3)).await;
        assert!(IS_SAID.load(Ordering::Relaxed));
        aloud("waiting", slow(3)).await;
    }
}
