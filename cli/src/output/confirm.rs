//! Asks before a change that cannot be undone.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// Shows what is at stake, and asks; refuses unless the answer is yes. Without a terminal `flag` is required instead.
pub(crate) fn confirm(
    cx: &mut CommandContext,
    stake: &str,
    question: &str,
    flag: &str,
) -> Result<(), Failure> {
    if cx.is_json() || !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(Failure::refused(
            "unconfirmed",
            format!("this cannot be undone, and there is no terminal to ask on: {question}"),
            format!("confirm with {flag}"),
        ));
    }
    cx.finish()?;
    let mut answer = String::new();
    write!(stderr(), "{stake}{question} [y/N] ")
        .and_then(|()| stderr().flush())
        .and_then(|()| stdin().lock().read_line(&mut answer))
        .map_err(|e| Failure::output(&e))?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(
            Exit::Refused,
            "unconfirmed",
            "not confirmed; nothing was changed",
            format!("repeat the command to be asked again; {flag} confirms"),
        )),
    }
}
