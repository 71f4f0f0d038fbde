//! `amemctl hook`: what clients run at the moments of a session.

use std::io::Write;

use amem_hooks::HookClient;
use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::hook::{HookOptions, run};
use crate::mcp::SourceOptions;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo '{\"session_id\":\"s1\",\"cwd\":\"/srv/shop\"}' | amemctl hook --client claude-code --explain SessionStart

Clients run it, as `amemctl connect` sets them up: they write JSON to it and read JSON. At the start of a session
it prints a brief of what is known, with a prompt the memories that it is about, and nothing twice; after an answer and
at the end it stores what was said. It always ends with 0, and prints nothing if there is nothing to say.

AMEM_HOOKS=off, or `hooks = false` in .amem.toml of a project, switches it off. `amemctl sessions show` shows what sessions
were given.")]
pub(crate) struct HookArgs {
    #[arg(long, value_name = "CLIENT", help = client_help())]
    client: Option<String>,
    /// The brain [default: that of .amem.toml, else memories]
    #[arg(long, env = "AMEM_BRAIN", value_name = "NAME", hide_env_values = true)]
    brain: Option<String>,
    /// Say on stderr why nothing is printed
    #[arg(long)]
    explain: bool,
    /// The client's name of the event [default: hook_event_name of the input]
    event: Option<String>,
}

fn client_help() -> String {
    let names: Vec<_> = HookClient::names().collect();
    let names = names.join(", ");
    format!("The client: {names} [default: by what it sends]")
}

impl HookArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let options = HookOptions {
            client: self.client.clone(),
            event: self.event.clone(),
            is_explained: self.explain,
            source: SourceOptions {
                brain: self.brain.clone().filter(|name| !name.is_empty()),
                project: None,
            },
        };
        match run(cx.reach(), &options) {
            Ok(Some(json)) => writeln!(cx.stream(), "{json}").map_err(|e| Failure::output(&e))?,
            Ok(None) => {}
            // A client that sees a failure of its memory would show it at every prompt.
            Err(why) if self.explain => cx.note(&format!("nothing is printed: {why}")),
            Err(_) => {}
        }
        Ok(Exit::Ok)
    }
}
