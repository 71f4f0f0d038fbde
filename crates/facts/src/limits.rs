//! Limits of fact memory in brains: each has a name, a default, and an error or an effect that names it.

/// Hits of one search.
pub const FACT_HITS_MAX: usize = 1_000;
/// Memories of one page of a list.
pub const FACT_PAGE_MAX: usize = 1_000;
/// Memories of a page if the request names no number.
pub const FACT_PAGE_DEFAULT: usize = 100;
/// Bytes of the texts and metadata of a page: an answer has room for twice as much. A page has at least one memory.
pub const FACT_PAGE_BYTES: usize = 2 << 20;
/// Bytes of the texts of one page of a history.
pub const HISTORY_PAGE_BYTES: usize = 2 << 20;
/// Turns of one version that a history shows; it says how many there are.
pub const HISTORY_TURNS_MAX: usize = 50;
/// Bytes of a turn that a history shows; its event has the whole text.
pub const HISTORY_TURN_BYTES: usize = 8 << 10;
/// Scopes that the branches of one filter name.
pub const FILTER_SCOPES_MAX: usize = 64;
/// Names of one entity that are followed.
pub const ENTITY_NAMES_MAX: usize = 64;
/// Memories on one page of an entity.
pub const ENTITY_FACTS_MAX: usize = 200;
/// Memories that are read for the page of an entity: its name, its kind and the count of its memories are from them.
pub const ENTITY_FACTS_READ: usize = 1_000;
/// Entities of a question that a search widens by.
pub const WIDENED_ENTITIES_MAX: usize = 4;
/// Memories of each of them, and of each entity that is related to them.
pub const WIDENED_FACTS_MAX: usize = 16;
/// Entities that are related to them.
pub const WIDENED_RELATED_MAX: usize = 8;
/// Events that only name an entity, as an erasure lists them; it says how many there are.
pub const MENTIONS_LISTED_MAX: usize = 100;
/// Bytes of their texts.
pub const MENTION_BYTES_MAX: usize = 512;
/// Versions that are looked at to count what waits for a review.
pub const REVIEW_COUNTED_MAX: usize = 10_000;
/// Memories that were served lately, for each scope.
pub const SERVED_MAX: usize = 256;
/// Scopes whose served memories are remembered; the one that was used longest ago is dropped.
pub const SERVED_SCOPES_MAX: usize = 4_096;
/// Bytes of one part of an answer that is kept for repetitions.
pub const KEPT_ANSWER_PART_BYTES: usize = 512 << 10;
/// Memories and turns that one part of a kept answer names.
pub const KEPT_ANSWER_PART_NAMES: usize = 2_000;
/// Events of a session that are looked at, the newest first, for the one that its next turn follows.
pub const SESSION_LOOKBACK_MAX: usize = 1_024;
/// Locks of the scopes of a brain: scopes share them by hash.
pub const SCOPE_LOCKS: usize = 256;
/// Times that a whole add begins again because another one under the same idempotency key came first.
pub const ADD_TRIES_MAX: usize = 3;
/// Bytes of the reason of feedback.
pub const FEEDBACK_REASON_BYTES_MAX: usize = 4 << 10;
/// Events of a scope whose vectors are compared one by one.
pub const COMPARED_EVENTS_MAX: u64 = 16_384;
/// Events of a memory that is asked about without a thread of its own.
pub const LIGHT_EVENTS_MAX: u64 = 32;
/// Events since a decision that are read one by one; with more, the index of the scope is read.
pub const RECENT_EVENTS_READ: u64 = 1_024;
/// Entries of a recall that names no limit.
pub const RECALL_ENTRIES_DEFAULT: usize = 20;
/// Entries of a recall.
pub const RECALL_ENTRIES_MAX: usize = 200;
/// Bytes of the passage of a turn that a recall shows, of the first entries.
pub const PASSAGE_BYTES: usize = 300;
/// The same of the others.
pub const SHORT_PASSAGE_BYTES: usize = 160;
/// Entries that have the room of `PASSAGE_BYTES`.
pub const WHOLE_PASSAGES: usize = 3;
/// Entries of a recall that came nearest where nothing likely answers.
pub const NEAREST_MAX: usize = 10;
/// Their least relevance.
pub const NEAREST_RELEVANCE_MIN: f32 = 0.2;
/// Turns with standing instructions of a scope that a recall looks at, the newest first.
pub const STANDING_TURNS_MAX: usize = 200;
/// Terms of a question that they are compared with.
pub const STANDING_TERMS_MAX: usize = 128;
/// Standing instructions beside the entries of a recall.
pub const STANDING_ENTRIES_MAX: usize = 12;
/// Up to so many a recall has all of them, whatever is asked.
pub const STANDING_FEW: usize = 10;
/// The relevance of one with a condition, and of a preference, among more.
pub const STANDING_RELEVANCE_MIN: f32 = 0.25;
/// Turns that one reading of earlier turns looks at; the next one goes on behind them.
pub const STANDING_READ_MAX: usize = 50_000;
/// Turns that it marks: until the next checkpoint each lookup of values reads them.
pub const STANDING_MARKED_MAX: usize = 256;
/// Times that it tries to mark a turn while others change the brain.
pub const STANDING_MARK_TRIES: usize = 8;
/// Turns behind which it notes how far it came, although it marked none.
pub const STANDING_NOTED_AFTER: usize = 1_000;
