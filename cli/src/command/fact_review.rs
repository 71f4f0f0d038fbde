//! `amemctl fact review`: what waits for a verdict, and the verdict.

use amem_client::v1;
use clap::Args;
use std::io::{BufRead, IsTerminal, Write, stderr, stdin};

use crate::command::fact_args::{FactScopeArgs, options};
use crate::command::fact_output::write_conflicts;
use crate::connection::remote::whole_list;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::TextPage;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact review --user ada                what waits; on a terminal, one after the other
  amemctl fact review --accept ID               it holds; what it may contradict ends
  amemctl fact review --keep ID                 both hold
  amemctl fact review --reject ID               it does not hold
  amemctl fact review --correct ID \"User lives in Rome\"
  amemctl fact review --undo ID                 takes the last change of a memory back

Memories wait that may contradict others, and those that give orders to a model, which are in quarantine: never shown as
context before they are accepted. --undo also brings back a memory that was deleted or updated.")]
pub(super) struct ReviewArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
    /// This memory holds: those that it may contradict end.
    #[arg(long, value_name = "ID", group = "verdict")]
    accept: Option<String>,
    /// This memory holds beside the others.
    #[arg(long, value_name = "ID", group = "verdict")]
    keep: Option<String>,
    /// This memory does not hold.
    #[arg(long, value_name = "ID", group = "verdict")]
    reject: Option<String>,
    /// This memory holds with another text.
    #[arg(long, num_args = 2, value_names = ["ID", "TEXT"], group = "verdict")]
    correct: Vec<String>,
    /// The last change of this memory is taken back.
    #[arg(long, value_name = "ID", group = "verdict")]
    undo: Option<String>,
    /// Why, for its history.
    #[arg(long, value_name = "TEXT", requires = "verdict")]
    reason: Option<String>,
}

/// A verdict on a memory.
struct NamedVerdict<'a> {
    id: &'a str,
    verdict: v1::FactVerdict,
    name: &'static str,
    text: &'a str,
}

impl ReviewArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if let Some(named) = self.named() {
            self.decide(cx, &named)?;
            return Ok(Exit::Ok);
        }
        let waiting = self.waiting(cx)?;
        let is_walk = !cx.is_json() && stdin().is_terminal() && stderr().is_terminal();
        if !is_walk || waiting.conflicts.is_empty() {
            cx.message(None, &waiting, |page| {
                write_conflicts(&waiting.conflicts, page);
            })?;
            return Ok(Exit::Ok);
        }
        for conflict in &waiting.conflicts {
            if !self.ask(cx, conflict)? {
                break;
            }
        }
        Ok(Exit::Ok)
    }

    fn named(&self) -> Option<NamedVerdict<'_>> {
        use v1::FactVerdict::{Accept, Correct, Keep, Reject, Undo};
        if let [id, text] = self.correct.as_slice() {
            return Some(NamedVerdict {
                id,
                verdict: Correct,
                name: "correct",
                text,
            });
        }
        let of_id = [
            (&self.accept, Accept, "accept"),
            (&self.keep, Keep, "keep"),
            (&self.reject, Reject, "reject"),
            (&self.undo, Undo, "undo"),
        ];
        of_id.into_iter().find_map(|(id, verdict, name)| {
            Some(NamedVerdict {
                id: id.as_deref()?,
                verdict,
                name,
                text: "",
            })
        })
    }

    fn waiting(&self, cx: &mut CommandContext) -> Result<v1::ListFactConflictsResponse, Failure> {
        let remote = cx.daemon()?;
        Ok(whole_list(
            |page_token| {
                let request = v1::ListFactConflictsRequest {
                    brain: self.scope.brain(),
                    scope: self.scope.scope(),
                    page_token,
                    ..Default::default()
                };
                remote.call(remote.client.facts().list_fact_conflicts(request))
            },
            |answer| (&mut answer.conflicts, &mut answer.next_page_token),
        )?)
    }

    /// Sends a verdict, and shows what it changed.
    fn decide(&self, cx: &mut CommandContext, named: &NamedVerdict<'_>) -> Result<(), Failure> {
        let request = v1::ReviewFactRequest {
            brain: self.scope.brain(),
            id: named.id.to_owned(),
            scope: self.scope.scope(),
            verdict: named.verdict.into(),
            text: named.text.to_owned(),
            reason: self.reason.clone().unwrap_or_default(),
            options: options(cx),
        };
        let remote = cx.daemon()?;
        let done = remote.call(remote.client.facts().review_fact(request))?;
        cx.changed(None, &done, |page| write_verdict(named, &done, page))
    }

    /// Shows what waits and asks for a verdict; false to stop.
    fn ask(&self, cx: &mut CommandContext, conflict: &v1::FactConflict) -> Result<bool, Failure> {
        let mut page = cx.page();
        write_conflicts(std::slice::from_ref(conflict), &mut page);
        let id = conflict.fact.as_ref().map(|fact| fact.id.clone());
        let id = id.unwrap_or_default();
        loop {
            let mut line = String::new();
            write!(
                stderr(),
                "{}[a]ccept, [k]eep both, [r]eject, [c]orrect, [s]kip, [q]uit: ",
                page.as_str()
            )
            .and_then(|()| stderr().flush())
            .and_then(|()| stdin().lock().read_line(&mut line))
            .map_err(|e| Failure::output(&e))?;
            use v1::FactVerdict::{Accept, Correct, Keep, Reject};
            let answer = line.trim().to_lowercase();
            let (verdict, name) = match answer.as_str() {
                "a" | "accept" => (Accept, "accept"),
                "k" | "keep" => (Keep, "keep"),
                "r" | "reject" => (Reject, "reject"),
                "c" | "correct" => (Correct, "correct"),
                "s" | "skip" => return Ok(true),
                "q" | "quit" | "" => return Ok(false),
                _ => continue,
            };
            let mut text = String::new();
            if verdict == Correct {
                write!(stderr(), "the text: ")
                    .and_then(|()| stderr().flush())
                    .and_then(|()| stdin().lock().read_line(&mut text))
                    .map_err(|e| Failure::output(&e))?;
            }
            let named = NamedVerdict {
                id: &id,
                verdict,
                name,
                text: text.trim(),
            };
            self.decide(cx, &named)?;
            return Ok(true);
        }
    }
}

fn write_verdict(named: &NamedVerdict<'_>, done: &v1::ReviewFactResponse, page: &mut TextPage) {
    page.line(format!("{}: {}", named.name, named.id));
    for id in &done.ended_ids {
        page.line(format!("  ended: {id}"));
    }
    for id in &done.restored_ids {
        page.line(format!("  there again: {id}"));
    }
    if named.verdict != v1::FactVerdict::Undo {
        page.aside(format!(
            "`amemctl fact review --undo {}` takes it back",
            named.id
        ));
    }
}
