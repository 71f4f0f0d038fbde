//! The hook as the client waits for it.

use std::env;
use std::io::{Read, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use amem_client::v1;
use amem_hooks::limits::INPUT_BYTES_MAX;
use amem_hooks::{HookClient, HookInput, HookMoment, answer_json};

use super::behind;
use super::request::{HookRequest, HookResult};
use crate::connection::flags::ConnectionArgs;
use crate::mcp::{SourceOptions, memory_place};

/// Switches all hooks of a process off: `off`, `0` or `false`.
const SWITCH: &str = "AMEM_HOOKS";
/// How long the client's input is waited for.
const INPUT_WAIT: Duration = Duration::from_secs(3);
/// How long a running daemon is waited for: clients end a hook after some seconds, and a person waits for each.
const ANSWER_WAIT: Duration = Duration::from_millis(900);

/// How long a hook lasts in all, whatever holds it up: a slow disk, a file of another program. Clients wait longer.
const HOOK_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for the process behind it, which reads a transcript and forms memories.
const BEHIND_TIME_MAX: Duration = Duration::from_secs(300);

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub(crate) struct HookOptions {
    /// The client, if it is named.
    pub(crate) client: Option<String>,
    /// The client's name of the event; that of the input if `None`.
    pub(crate) event: Option<String>,
    /// Say on stderr why nothing is printed.
    pub(crate) is_explained: bool,
    pub(crate) source: SourceOptions,
}

/// Runs a hook; returns what is to be printed, or why nothing is.
pub(crate) fn run(reach: &ConnectionArgs, options: &HookOptions) -> Result<Option<String>, String> {
    let is_off = env::var(SWITCH).is_ok_and(|value| {
        matches!(
            value.trim().to_ascii_lowercase().as_str(),
            "off" | "0" | "false" | "no"
        )
    });
    if is_off {
        return Err(format!("{SWITCH} switches hooks off"));
    }
    end_in_time(options.is_explained);
    let bytes = input()?;
    let client = options.client.as_deref().and_then(HookClient::named);
    let input = HookInput::read(&bytes, options.event.as_deref(), client);
    let input = input.map_err(|e| e.to_string())?;
    let current = match &input.folder {
        Some(folder) => folder.clone(),
        None => env::current_dir().unwrap_or_default(),
    };
    let memory = memory_place(&options.source, current)?;
    if !memory.hooks_enabled {
        return Err("hooks = false in .amem.toml of this project".to_owned());
    }
    // A session that goes on has it.
    let is_first = input.moment == HookMoment::Start && !input.is_resumed;
    let notice = memory.place.notice.clone().filter(|_| is_first);
    let request = HookRequest {
        input,
        place: memory.place,
    };
    if behind::is_behind() {
        return behind::run(reach, &request).map(|()| None);
    }
    let (client, moment) = (request.input.client, request.input.moment);
    if !client.agent().takes_context(moment) {
        behind::start(&bytes)?;
        return Ok(None);
    }
    let event = request.input.event.clone();
    match answer(reach.clone(), request.message()) {
        Ok(context) => {
            let context = match notice {
                Some(notice) => with_notice(context, &notice),
                None => context,
            };
            Ok(answer_json(client, &event, &context))
        }
        Err(why) => {
            // The daemon starts behind this answer, for the next hook.
            behind::start(&bytes)?;
            Err(why)
        }
    }
}

/// The context of a start, with what the place has to say beside its memories.
fn with_notice(context: String, notice: &str) -> String {
    let notice = format!("<memory source=\"amem\">\n{notice}\n</memory>");
    match context.is_empty() {
        true => notice,
        false => format!("{context}\n{notice}"),
    }
}

/// Ends the process in time, with the code of a hook that has nothing to print; `is_explained` says why on stderr.
fn end_in_time(is_explained: bool) {
    let most = match behind::is_behind() {
        true => BEHIND_TIME_MAX,
        false => HOOK_TIME_MAX,
    };
    thread::spawn(move || {
        thread::sleep(most);
        if is_explained {
            let secs = most.as_secs();
            let why = format!("nothing is printed: the hook did not end within {secs} s\n");
            // Nobody may be there to read it.
            let _closed = std::io::stderr().write_all(why.as_bytes());
        }
        std::process::exit(0);
    });
}

/// Reads stdin. A client that keeps it open is not waited for without end.
fn input() -> HookResult<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let most = INPUT_BYTES_MAX as u64 + 1;
        let read = std::io::stdin().lock().take(most).read_to_end(&mut bytes);
        // Nobody waits any more.
        let _late = send.send(read.map(|_| bytes));
    });
    match receive.recv_timeout(INPUT_WAIT) {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(e)) => Err(format!("cannot read the input: {e}")),
        Err(_) => Err("the client did not end the input of the hook".to_owned()),
    }
}

/// The context that a running daemon gives, within a time.
fn answer(reach: ConnectionArgs, message: v1::RunHookRequest) -> HookResult<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let asked = || {
            let remote = reach.running().map_err(|failure| failure.message)?;
            let answer = remote.call_quietly(remote.client.hooks().run_hook(message));
            answer
                .map(|answer| answer.context)
                .map_err(|error| error.to_string())
        };
        let _late = send.send(asked());
    });
    let answer = receive.recv_timeout(ANSWER_WAIT);
    answer.unwrap_or_else(|_| Err("amemd did not answer in time".to_owned()))
}
