//! What happens behind a hook: a daemon is started, and what was said is stored.

use std::env;
use std::io::Write;
use std::process::Stdio;

use amem_client::v1;
use amem_hooks::HookMoment;
use amem_hooks::limits::{TURNS_BYTES_MAX, TURNS_MAX};

use super::request::{HookRequest, HookResult};
use super::transcript::turns;
use crate::connection::flags::ConnectionArgs;
use crate::connection::own_program::own_command;

/// Set for the process behind.
const BEHIND: &str = "AMEM_HOOK_BEHIND";
/// Turns that are sent after an answer: the others are known, but for what was said while hooks were off, which
/// the end of the session sends.
const LAST_TURNS: usize = 60;

pub(super) fn is_behind() -> bool {
    env::var_os(BEHIND).is_some()
}

/// Starts this command once more, with the same input, as a process that outlives this one.
pub(super) fn start(input: &[u8]) -> HookResult<()> {
    let failed = |e: std::io::Error| format!("cannot go on behind the hook: {e}");
    let program = env::current_exe().map_err(failed)?;
    let mut child = own_command(&program)
        .args(env::args_os().skip(1))
        .env(BEHIND, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("the process has no input")?;
    stdin.write_all(input).map_err(failed)
}

/// The work of the process behind.
pub(super) fn run(reach: &ConnectionArgs, request: &HookRequest) -> HookResult<()> {
    // Clients end the processes of their session with it.
    let _leads_already = rustix::process::setsid();
    let remote = reach.connect().map_err(|failure| failure.message)?.remote;
    let moment = request.input.moment;
    let mut turns = match moment {
        HookMoment::Start => return Ok(()),
        // Of clients that give a prompt nothing, the prompt is all that is known of it.
        HookMoment::Prompt if request.input.transcript.is_some() => return Ok(()),
        _ => turns(&request.input)?,
    };
    if moment == HookMoment::Answer && turns.len() > LAST_TURNS {
        turns.drain(..turns.len() - LAST_TURNS);
    }
    let mut parts = parts(turns);
    if parts.is_empty() {
        parts.push(Vec::new());
    }
    let last = parts.len() - 1;
    for (at, turns) in parts.into_iter().enumerate() {
        let mut message = request.message();
        // What was said is stored at this moment: nothing is given.
        message.prompt.clear();
        if at < last || moment == HookMoment::Prompt {
            message.set_moment(v1::HookMoment::Answer);
        }
        message.turns = turns;
        let done = remote.call_quietly(remote.client.hooks().run_hook(message));
        done.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Turns in parts of which a request takes one.
fn parts(turns: Vec<v1::HookTurn>) -> Vec<Vec<v1::HookTurn>> {
    let mut out: Vec<Vec<v1::HookTurn>> = Vec::new();
    let mut bytes = 0;
    for turn in turns {
        bytes += turn.text.len();
        match out.last_mut() {
            Some(part) if part.len() < TURNS_MAX && bytes <= TURNS_BYTES_MAX => part.push(turn),
            _ => {
                bytes = turn.text.len();
                out.push(vec![turn]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_to_the_limits_of_a_request() {
        let turn = |bytes: usize| v1::HookTurn {
            text: "a".repeat(bytes),
            ..v1::HookTurn::default()
        };
        assert!(parts(Vec::new()).is_empty());
        let many = parts((0..TURNS_MAX * 2 + 1).map(|_| turn(1)).collect());
        assert_eq!(
            many.iter().map(Vec::len).collect::<Vec<_>>(),
            [TURNS_MAX, TURNS_MAX, 1]
        );
        let large = parts((0..5).map(|_| turn(TURNS_BYTES_MAX / 2)).collect());
        assert_eq!(large.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    }
}
