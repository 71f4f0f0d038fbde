//! Limits of hooks.

/// Bytes of the JSON that a client sends to a hook.
pub const INPUT_BYTES_MAX: usize = 32 << 20;
/// Bytes of a client's name.
pub const CLIENT_BYTES_MAX: usize = 64;
/// Bytes of a client's id of a session.
pub const SESSION_BYTES_MAX: usize = 256;
/// Bytes of a prompt that are looked at.
pub const PROMPT_BYTES_MAX: usize = 64 << 10;
/// Turns of one request.
pub const TURNS_MAX: usize = 500;
/// Bytes of the turns of one request.
pub const TURNS_BYTES_MAX: usize = 2 << 20;
/// Turns that become facts in one commit.
pub const TURNS_PER_ADD: usize = 100;
/// Characters of an agent's turn that are kept: it only explains what the person says.
pub const ANSWER_CHARS_MAX: usize = 4_000;
/// Characters of a person's turn that are kept: longer ones are pasted files.
pub const SAID_CHARS_MAX: usize = 16_000;
/// Sessions whose ledger is in memory.
pub const SESSIONS_OPEN_MAX: usize = 512;
/// Sessions whose ledger is kept.
pub const SESSIONS_KEPT_MAX: usize = 5_000;
/// Days for which a ledger is kept after its last entry.
pub const LEDGER_DAYS: u64 = 90;
/// Bytes of the ledger of a session; beyond, nothing is given to it any more.
pub const LEDGER_BYTES_MAX: u64 = 8 << 20;
/// Sessions or entries of a page, unless a request says how many.
pub const GIVEN_PAGE_DEFAULT: usize = 100;
/// Sessions or entries of a page.
pub const GIVEN_PAGE_MAX: usize = 1_000;
