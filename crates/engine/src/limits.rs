//! Every limit of the engine: its name, its value, its unit.

use std::time::Duration;

/// Requests that wait for one brain's writer.
pub const QUEUE_REQUESTS_MAX: usize = 1024;
/// Bytes of requests that wait for one brain's writer.
pub const QUEUE_BYTES_MAX: usize = 64 << 20;
/// Requests that are committed by one sync.
pub const GROUP_REQUESTS_MAX: usize = 512;
/// Bytes of requests at which a group is full.
pub const GROUP_BYTES_MAX: usize = 8 << 20;
/// Bytes of names and reasons at which a page of problems ends.
pub const PROBLEMS_BYTES: usize = 256 << 10;
/// Pause after a failed recovery.
pub const RECOVER_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Pause after a failed checkpoint.
pub const CHECKPOINT_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Time without writes after which a brain counts as idle for checkpoints.
pub const IDLE_AFTER: Duration = Duration::from_secs(30);
/// Events without vectors that are noted for each brain, to be embedded later; further ones wait for `reembed`.
pub const UNEMBEDDED_NOTED_MAX: usize = 4_096;
/// Pause after a failed opening.
pub const OPEN_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long a request waits for room in its brain's queue.
pub const QUEUE_AFTER: Duration = Duration::from_millis(250);
/// Jobs that stay listed after they ended.
pub const JOBS_KEPT_MAX: usize = 256;
/// Events of one brain whose touches wait; touches of further events are dropped.
pub const TOUCHES_WAITING_MAX: usize = 65_536;
/// How long touches are gathered before they are committed.
pub const TOUCH_AFTER: Duration = Duration::from_secs(2);
/// Replaced files that are tracked while other processes have them open: each costs a descriptor.
pub const REPLACED_HELD_MAX: usize = 64;
/// Processes that an answer names because they have an earlier file open.
pub const HOLDERS_TOLD_MAX: usize = 32;
/// Brains that are open: each costs a thread and a descriptor. A further one closes the one that was not used longest.
pub const OPEN_MAX: usize = 1024;
/// How long a brain waits to be opened while all that may be open are in use.
pub const OPEN_ROOM_WAIT: Duration = Duration::from_secs(1);
/// How often it looks for one that is not.
pub const OPEN_ROOM_EVERY: Duration = Duration::from_millis(10);
/// Brains that are opened at the same time.
pub const OPENINGS_MAX: usize = 4;
/// Subscriptions of one brain.
pub const SUBSCRIBERS_MAX: usize = 1024;
/// Files that are adopted, or brains that are rescued, at the same time.
pub const ADOPTIONS_MAX: usize = 2;
/// Names that one round of the watcher checks.
pub const LOOKS_MAX: usize = 64;
/// How often the folder is rescanned for what events missed.
pub const RESCAN_EVERY: Duration = Duration::from_secs(30);
/// The same where the system gives no events.
pub const RESCAN_UNWATCHED_EVERY: Duration = Duration::from_secs(5);
/// Pause after a panic in the watcher: one that repeats must not take a processor.
pub const WATCH_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long a file has not changed when it counts as at rest, unless its writer was seen to close it.
pub const SETTLE_AFTER: Duration = Duration::from_secs(2);
/// Age from which the time of a write is reliable: file systems keep it in ticks of up to 10 ms, which hide a second
/// write in the same tick.
pub const STAMP_TELLS_AFTER: Duration = Duration::from_millis(20);
/// When a file is checked for the last time after its adoption: later writes to it are not noticed.
pub const LATE_AFTER: Duration = Duration::from_secs(30);
/// How long a brain's file is missing before it is saved from the open descriptor: a program that replaces it has done
/// so by then.
pub const GONE_AFTER: Duration = Duration::from_millis(500);
/// How long a call waits for a file to be adopted.
pub const ADOPT_WAIT: Duration = Duration::from_secs(10);
/// Files of closed brains that are held open, so that they can be saved if another program removes them.
pub const HELD_MAX: usize = 1024;
/// Names that callers ask for and that wait for the watcher.
pub const ASKED_MAX: usize = 1024;
/// Files that became brains and wait for their last check.
pub const ORIGINALS_MAX: usize = 64;
/// How often schedules are checked.
pub const SCHEDULES_EVERY: Duration = Duration::from_millis(500);
/// Scheduled jobs that run at the same time.
pub const SCHEDULED_MAX: usize = 2;
/// Longest delay of the start of a scheduled job.
pub const JITTER_MAX: Duration = Duration::from_secs(600);
/// Requests that a scheduled job puts into a brain's queue at a time.
pub const PORTION: usize = 64;
/// How often the file of last runs is written at most.
pub const KEEP_EVERY: Duration = Duration::from_secs(10);
/// Entries of the file of last runs: of more, those whose brains were there last.
pub const LAST_RUNS_MAX: usize = 32_768;
/// Bytes of the file of last runs.
pub const LAST_RUNS_BYTES_MAX: u64 = 32 << 20;
/// Bytes of an outcome in the file of last runs.
pub const JOB_MESSAGE_BYTES_MAX: usize = 512;
/// How long the last runs of a missing brain are kept: it may come back.
pub const LAST_RUNS_FOR: Duration = Duration::from_secs(90 * 86_400);
/// A wall clock that gains more than this on the steady clock was set.
pub const CLOCK_JUMP: Duration = Duration::from_secs(60);
/// How long a clock that was set forward must run evenly before ages are judged by it.
pub const CLOCK_SETTLES_AFTER: Duration = Duration::from_secs(600);
/// Outcomes of jobs that wait for a subscriber: it misses earlier ones.
pub const JOBS_TOLD_MAX: usize = 64;
/// Events that a thread of a scan has at least.
pub const EVENTS_PER_THREAD_MIN: u64 = 32_768;
/// Events of a long session that are summarised by one request.
pub const SUMMARY_PORTION: usize = 64;
/// Events of a session from which on it gets an automatic summary: fewer are as short as one.
pub const COMPRESSED_MIN: usize = 5;
/// Rounds in which frames are carried beside the writer; the rest is carried while commits wait.
pub const CARRY_ROUNDS_MAX: usize = 16;
