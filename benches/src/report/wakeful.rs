//! Keeps the machine awake: a thread that spins at the lowest priority while others wait for the disk.
//!
//! On a virtual machine an idle core may notice a finished sync only at its next tick: the same sync takes 0.1 ms or 4
//! ms at random, and a row and its limit fall on different sides. The thread yields to every other one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The lowest priority there is.
const LOWEST: i32 = 19;

/// Keeps the machine awake until dropped.
pub(super) struct Wakeful {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Wakeful {
    pub(super) fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let spin = move || {
            // Of the calling thread alone, on Linux. A thread that may not yield does not spin.
            if rustix::process::setpriority_process(None, LOWEST).is_err() {
                return;
            }
            while !until.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        Self {
            is_over,
            thread: Some(thread::spawn(spin)),
        }
    }
}

impl Drop for Wakeful {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell.
            drop(thread.join());
        }
    }
}
