//! Every limit of the client: its name, its value, its unit.

use std::time::Duration;

/// How long a connection may take to be made.
pub const CONNECT_AFTER: Duration = Duration::from_secs(5);
/// How often a connection with calls under way is asked whether it is still there.
pub const KEEPALIVE_EVERY: Duration = Duration::from_secs(20);
/// How long a refused or lost call is begun again, unless told otherwise.
pub const RETRY_FOR: Duration = Duration::from_secs(30);
/// How long the first pause before a call is begun again lasts at most; each further one twice as long.
pub const RETRY_FIRST: Duration = Duration::from_millis(20);
/// How long a pause lasts at most.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long uses of events wait to be sent together.
pub const TOUCH_AFTER: Duration = Duration::from_secs(2);
/// Used events that are sent without waiting for more.
pub const TOUCHES_SENT: usize = 1_000;
/// Used events that wait at most; uses of further ones are not counted.
pub const TOUCHES_WAITING_MAX: usize = 65_536;
/// Events of a brain up to which every question is answered at once; of larger ones, those that may look at all of it
/// are answered on a thread of their own.
pub const SMALL_BRAIN_EVENTS: u64 = 2_000;
/// How often who has something erased looks for the newer file.
pub const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Batches of an ingest that wait for their answers.
pub const BATCHES_WAITING_MAX: usize = 8;
/// Bytes of frames that a direct read takes in at once; of more, on a thread that may wait for the disk.
pub const REPLAY_BYTES_AT_ONCE: u64 = 64 << 10;
/// Questions that threads of a client answer from files at a time; more wait for their turn.
pub const DIRECT_READS_MAX: usize = 8;
/// How long a file that was found not to be the brain's is left alone at first; each time twice as long.
pub const FILE_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How long such a file is left alone at most.
pub const FILE_AGAIN_MAX: Duration = Duration::from_secs(60);
