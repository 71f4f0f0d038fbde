//! The bounds of what a reader holds in memory. Anything over a bound is skipped, with the reason.

/// Bytes of one line of JSON lines. A line over it is read past without being held.
pub const LINE_BYTES_MAX: usize = 32 << 20;
/// Bytes of one element of a large JSON file: a conversation, a memory, an agent.
pub const ELEMENT_BYTES_MAX: usize = 64 << 20;
/// Bytes of the text of one item. A longer text becomes several items.
pub const TEXT_BYTES_MAX: usize = 512 << 10;
/// Bytes of one note. A longer file is no note.
pub const NOTE_BYTES_MAX: u64 = 16 << 20;
/// Bytes of the attributes of one item, as JSON. Longer values are left out.
pub const ATTRIBUTES_BYTES_MAX: usize = 32 << 10;
/// Bytes of a title, a heading, a tag or a name of a relation.
pub const NAME_BYTES_MAX: usize = 1 << 10;
/// Bytes of one session of a client that must be read whole, because later lines change earlier ones.
pub const SESSION_BYTES_MAX: usize = 256 << 20;
/// Files of a folder or a ZIP.
pub const FILES_MAX: usize = 1_000_000;
/// Folders below each other.
pub const DEPTH_MAX: usize = 64;
/// Bytes read of a file to find out what it is.
pub const HEAD_BYTES_MAX: usize = 64 << 10;
/// Bytes of the directory of a ZIP.
pub const ZIP_DIRECTORY_BYTES_MAX: u64 = 256 << 20;
/// How many times its packed size a file of a ZIP may have, past [`ZIP_FREE_BYTES`]. Text rarely passes 30.
pub const ZIP_RATIO_MAX: u64 = 100;
/// Unpacked bytes that are always allowed.
pub const ZIP_FREE_BYTES: u64 = 64 << 20;
/// Lines of one transcript: each costs about 80 bytes of memory.
pub const TRANSCRIPT_LINES_MAX: usize = 4_000_000;
/// Milliseconds to wait for a client that holds its database.
pub const SQLITE_WAIT_MS: u64 = 2_000;
