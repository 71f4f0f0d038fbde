//! Limits of items: each has a name, and an error that names it.

/// Labels of a namespace.
pub const NAMESPACE_LABELS_MAX: usize = 64;
/// Bytes of the labels of a namespace.
pub const NAMESPACE_BYTES_MAX: usize = 4 << 10;
/// Bytes of a key.
pub const KEY_BYTES_MAX: usize = 1 << 10;
/// Bytes of a value as JSON: an event has room for it as its text.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a value as a string of JSON that stands among the attributes of its event; a larger one is the text of an
/// event of its own.
pub const INLINE_VALUE_BYTES: usize = 16 << 10;
/// Bytes of what is searched by words.
pub const INDEXED_TEXT_BYTES_MAX: usize = amem_format::limits::TEXT_BYTES_MAX;
/// Paths of an index.
pub const INDEX_PATHS_MAX: usize = 64;
/// Bytes of a path of an index.
pub const INDEX_PATH_BYTES_MAX: usize = 1 << 10;
/// Bytes of a filter.
pub const FILTER_BYTES_MAX: usize = 64 << 10;
/// Hits of one search.
pub const ITEM_HITS_MAX: usize = 1_000;
/// Hits if a search names no number.
pub const ITEM_HITS_DEFAULT: usize = 10;
/// Items or namespaces that are left out before the first.
pub const OFFSET_MAX: usize = 1_000_000;
/// Namespaces of a page.
pub const NAMESPACE_PAGE_MAX: usize = 1_000;
/// Bytes of the values and names of an answer. It has at least one item.
pub const ITEM_PAGE_BYTES: usize = 2 << 20;
/// Operations of a batch.
pub const BATCH_OPS_MAX: usize = 1_000;
/// Locks of the items of a brain: items share them by hash.
pub const ITEM_LOCKS: usize = 256;
/// Expired items that one call forgets.
pub const FORGOTTEN_PER_CALL_MAX: usize = 100;
/// A time to live begins again only if this part of it has passed: so many reads are one commit.
pub const REFRESH_SHARE: i64 = 20;
/// Microseconds of a time to live: a thousand years.
pub const TTL_MICROS_MAX: i64 = 1_000 * 366 * 86_400 * 1_000_000;
