//! Every limit of the engine: its name, its value, its unit.

use std::time::Duration;

/// Requests that wait for one brain's writer.
pub const QUEUE_REQUESTS_MAX: usize = 1024;
/// Bytes of requests that wait for one brain's writer.
pub const QUEUE_BYTES_MAX: usize = 64 << 20;
/// Requests that are committed by one sync.
pub const GROUP_REQUESTS_MAX: usize = 512;
/// Bytes of requests after which a group takes no further one.
pub const GROUP_BYTES_MAX: usize = 8 << 20;
/// Bytes of names and reasons in a page of what is not served, after which it ends.
pub const PROBLEMS_BYTES: usize = 256 << 10;
/// How long after a failed recovery the next one is tried.
pub const RECOVER_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long after a failed checkpoint the next one is tried.
pub const CHECKPOINT_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How long a brain has no writes before it is idle.
pub const IDLE_AFTER: Duration = Duration::from_secs(30);
/// How long a brain that could not be opened is not tried again.
pub const OPEN_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long a request waits for room in its brain's queue.
pub const QUEUE_AFTER: Duration = Duration::from_millis(250);
/// Jobs that are kept after they ended.
pub const JOBS_KEPT_MAX: usize = 256;
/// Events whose uses wait to be counted in one brain; further ones are not counted.
pub const TOUCHES_WAITING_MAX: usize = 65_536;
/// How long uses of events wait to be counted together.
pub const TOUCH_AFTER: Duration = Duration::from_secs(2);
/// Files that were replaced and that somebody else has open, as many as are followed: each costs a descriptor.
pub const REPLACED_HELD_MAX: usize = 64;
/// Processes that are named because they have an earlier file open.
pub const HOLDERS_TOLD_MAX: usize = 32;
/// Brains that are opened beside each other when the daemon starts.
pub const OPENINGS_MAX: usize = 4;
/// Subscriptions of one brain.
pub const SUBSCRIBERS_MAX: usize = 1024;
/// Files that are adopted, or brains that are rescued, at the same time.
pub const ADOPTIONS_MAX: usize = 2;
/// Names that are looked at between two looks at what else there is to do.
pub const LOOKS_MAX: usize = 64;
/// How often the folder is looked through for what no event told.
pub const RESCAN_EVERY: Duration = Duration::from_secs(30);
/// The same where the system tells nothing.
pub const RESCAN_UNWATCHED_EVERY: Duration = Duration::from_secs(5);
/// How long after a defect the watch of the folder goes on: one that comes again and again is to take no processor.
pub const WATCH_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long a file that was put into the folder has not changed when it is at rest, if nobody has seen its writer close
/// it.
pub const SETTLE_AFTER: Duration = Duration::from_secs(2);
/// How long ago a file was written when the time of that tells of the next write: file systems keep it in ticks, of up
/// to 10 ms, and a second write in the same tick would not be seen.
pub const STAMP_TELLS_AFTER: Duration = Duration::from_millis(20);
/// How long after its adoption a file is looked at for the last time: a writer that was not done by then is not seen.
pub const LATE_AFTER: Duration = Duration::from_secs(30);
/// How long a brain's file has been gone when it is saved from the open descriptor: whoever writes it anew has taken
/// its place by then.
pub const GONE_AFTER: Duration = Duration::from_millis(500);
/// How long a call waits for a file to be adopted.
pub const ADOPT_WAIT: Duration = Duration::from_secs(10);
/// Files of brains that are closed and held open, so that they can be saved if somebody takes them away.
pub const HELD_MAX: usize = 1024;
/// Names of brains that are not ours yet, asked for and not looked at.
pub const ASKED_MAX: usize = 1024;
/// Files of which brains were made and that wait to be looked at for the last time.
pub const ORIGINALS_MAX: usize = 64;
/// How often schedules are looked at.
pub const SCHEDULES_EVERY: Duration = Duration::from_millis(500);
/// Scheduled jobs that run at the same time.
pub const SCHEDULED_MAX: usize = 2;
/// The most by which the start of a scheduled job is put off.
pub const JITTER_MAX: Duration = Duration::from_secs(600);
/// Requests that a scheduled job puts into a brain's queue at a time.
pub const PORTION: usize = 64;
/// How often what is known of schedules is written down, if it has changed, at most.
pub const KEEP_EVERY: Duration = Duration::from_secs(10);
/// Jobs of brains whose last runs are written down: of more, those whose brains were there last.
pub const LAST_RUNS_MAX: usize = 32_768;
/// Bytes of the file of last runs.
pub const LAST_RUNS_BYTES_MAX: u64 = 32 << 20;
/// Bytes of what a job says that are written down.
pub const JOB_MESSAGE_BYTES_MAX: usize = 512;
/// How long the last runs of a brain that is gone are kept: it may come back.
pub const LAST_RUNS_FOR: Duration = Duration::from_secs(90 * 86_400);
/// A clock that goes on by so much more than time has passed was set.
pub const CLOCK_JUMP: Duration = Duration::from_secs(60);
/// How long a clock that was set forward goes on evenly until how old things are is judged by it.
pub const CLOCK_SETTLES_AFTER: Duration = Duration::from_secs(600);
/// Jobs of a brain that a subscriber may be behind: what came of earlier ones it is not told.
pub const JOBS_TOLD_MAX: usize = 64;
/// Events that are not worth a thread of their own when all are gone through.
pub const EVENTS_PER_THREAD_MIN: u64 = 32_768;
/// Events of a long session that are summarised by one request.
pub const SUMMARY_PORTION: usize = 64;
/// Events of a session that a summary by itself is made of, at least: fewer are as short as one.
pub const COMPRESSED_MIN: usize = 5;
/// Bytes of journal below which a busy brain gets no checkpoint.
pub const JOURNAL_BYTES_MIN: u64 = 16 << 20;
/// Bytes of journal above which every brain gets one.
pub const JOURNAL_BYTES_MAX: u64 = 1 << 30;
/// Bytes of journal below which an idle brain gets none.
pub const IDLE_JOURNAL_BYTES_MIN: u64 = 1 << 20;
/// Rounds in which frames are carried beside the writer; the rest is carried while commits wait.
pub const CARRY_ROUNDS_MAX: usize = 16;
