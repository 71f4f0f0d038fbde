//! Asking before what can't be undone.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::Context;

/// Shows what is at stake and asks; refuses unless the answer is yes. Without a terminal nobody can answer, and what
/// says so instead is a flag.
pub(crate) fn confirm(
    cx: &mut Context,
    stake: &str,
    question: &str,
    flag: &str,
) -> Result<(), Failure> {
    if cx.is_json() || !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(Failure::refused(
            "unconfirmed",
            format!("this can't be undone, and there is nobody to ask: {question}"),
            format!("say {flag} if it is meant"),
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
            "it was not wanted, and nothing was changed",
            format!("give the command again when it is; {flag} asks nothing"),
        )),
    }
}
