//! Limits of tools and their answers.

/// Characters of an answer; clients cut longer ones at about 12,000.
pub const ANSWER_CHARS_MAX: usize = 8_000;
/// Characters that count as one token of a budget.
pub const CHARS_PER_TOKEN: usize = 4;
/// Tokens of an answer for which a caller does not ask.
pub const TOKENS_DEFAULT: u64 = 800;
/// The least budget of an answer.
pub const TOKENS_MIN: u64 = 100;
/// The largest budget of an answer.
pub const TOKENS_MAX: u64 = 8_000;
/// Characters of one memory in a list; `recall` by ids shows more.
pub const LINE_CHARS_MAX: usize = 700;
/// Characters of a question that an answer repeats.
pub const QUESTION_CHARS_SHOWN: usize = 200;
/// Characters of the name of who spoke.
pub const SPEAKER_CHARS_MAX: usize = 40;
/// Memories that a recall looks at.
pub const HITS_MAX: u32 = 50;
/// The same at least, however small the budget is.
pub const HITS_MIN: u32 = 10;
/// Tokens of an entry, about the least: so many fit into a budget.
pub const ENTRY_TOKENS: u64 = 20;
/// Ids of one call.
pub const IDS_MAX: usize = 50;
/// Bytes of a statement.
pub const STATEMENT_BYTES_MAX: usize = 8 << 10;
/// Reasons of which a line names the ids.
pub const CAUSES_SHOWN: usize = 3;
/// Depth of a tree of reasons or consequences.
pub const TREE_DEPTH_MAX: usize = 6;
/// Memories of a tree.
pub const TREE_SIZE_MAX: usize = 60;
/// Memories of a timeline.
pub const TIMELINE_MAX: usize = 500;
/// Entries of a timeline about something.
pub const TIMELINE_ENTRIES: u32 = 100;
/// A pause after which another session begins.
pub const SESSION_GAP_SECS: i64 = 4 * 3600;
/// Hits below this score (0 to 1) do not answer a question. Of 120 questions about conversations all keep their best
/// hit, of 80 about other things half get nothing.
pub const SCORE_FLOOR: f32 = 0.3;
/// Tries of a write while other clients write as well.
pub const WRITE_TRIES_MAX: u32 = 12;
/// Tokens of the tree that the prompt `why` shows.
pub const WHY_TOKENS: u64 = 1_600;
/// Tokens of the brief.
pub const BRIEF_TOKENS: u64 = 600;
/// Memories of one part of the brief.
pub const BRIEF_ITEMS_MAX: usize = 20;
/// Characters of a line of the brief.
pub const BRIEF_LINE_CHARS_MAX: usize = 300;
/// The newest memories that are looked at for the brief, in which instructions and preferences come first.
pub const BRIEF_LOOKED_AT: usize = 200;
/// Tokens of what a prompt is given.
pub const PROMPT_TOKENS: u64 = 200;
/// Standing instructions that concern the question, in per cent of the tokens of an answer.
pub const STANDING_PERCENT: u64 = 30;
/// The others.
pub const STANDING_REST_PERCENT: u64 = 25;
/// Tokens of all of them.
pub const STANDING_TOKENS_MAX: u64 = 200;
/// Memories that a prompt is given.
pub const PROMPT_ITEMS: usize = 6;
/// Memories of a prompt that are noted as close and not given.
pub const NEAR_MAX: usize = 8;
/// Words of a prompt that mean something, without which nothing is given: any memory with the one word would answer.
pub const PROMPT_WORDS_MIN: usize = 2;
/// Words of a question, of any kind, of which one that means something is enough.
pub const QUESTION_WORDS_MIN: usize = 3;
/// Characters of a prompt by which memories are looked for: its beginning and its end.
pub const PROMPT_CHARS_MAX: usize = 1_200;
/// Entities, observations and relations of a knowledge graph.
pub const GRAPH_SIZE_MAX: usize = 20_000;
