//! `amemctl brain`: the brains of the daemon.

use amem_client::v1;
use clap::{Args, Subcommand};

use super::{brain_restore, brain_settings, info};
use crate::brain::target::BrainTarget;
use crate::connection::remote::{Remote, whole_list};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::confirm::confirm;
use crate::output::context::{CommandContext, message_json};
use crate::render::{Align, Column, TextPage, agree, bytes, count, plural, printable};
use crate::vitals;
use crate::when;

/// Brains per request.
const PAGE: u32 = 200;

#[derive(Debug, Args)]
pub(crate) struct BrainArgs {
    #[command(subcommand)]
    act: BrainCommand,
}

#[derive(Debug, Subcommand)]
enum BrainCommand {
    /// Creates a brain.
    Create(CreateArgs),
    /// Lists the brains.
    #[command(visible_alias = "list")]
    Ls(LsArgs),
    /// Shows what a brain is and holds.
    Info(info::InfoArgs),
    /// Shows the settings of a brain.
    Show(brain_settings::ShowArgs),
    /// Changes settings of a brain.
    Set(brain_settings::SetArgs),
    /// Puts a copy in the place of a brain, and keeps what stands there.
    Restore(brain_restore::RestoreArgs),
    /// Removes a brain and its file.
    Rm(RmArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl brain create work
  amemctl brain create notes --dimension 384 --model all-MiniLM-L6-v2
  amemctl brain create plain --no-vectors

Without options the built-in embedder embeds texts; it needs no model.")]
struct CreateArgs {
    /// Its name: letters, digits, - and _.
    name: String,
    /// The dimension of your own vectors.
    #[arg(long, value_name = "N", requires = "model")]
    dimension: Option<u32>,
    /// The model of your vectors; brains of one model can be compared.
    #[arg(long, value_name = "NAME", requires = "dimension")]
    model: Option<String>,
    /// Do not embed texts.
    #[arg(long, conflicts_with_all = ["dimension", "model"])]
    no_vectors: bool,
    /// Settings of the brain, as JSON; `amemctl brain show` lists the keys of a brain.
    #[arg(long, value_name = "JSON")]
    settings: Option<String>,
    /// Succeed if a brain of that name exists.
    #[arg(long)]
    if_missing: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl brain ls
  amemctl brain ls --rejected
  amemctl brain ls --json | jq -r '.data.brains[].brain'

Copies of one brain that diverged have the same lineage. The exit code is 1 if a brain cannot be opened;
rejected files are counted below the list and do not change it.")]
struct LsArgs {
    /// Only files that are not served, and why.
    #[arg(long)]
    rejected: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  cp ~/.local/share/amem/brains/work.amem work-backup.amem
  amemctl brain rm work

This cannot be undone; `cp` of the file makes a full copy first.")]
struct RmArgs {
    /// Its name.
    name: String,
    /// Do not ask for confirmation.
    #[arg(short, long)]
    yes: bool,
}

impl BrainArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            BrainCommand::Create(create) => create.run(cx),
            BrainCommand::Ls(ls) => ls.run(cx),
            BrainCommand::Info(info) => info.run(cx),
            BrainCommand::Show(show) => show.run(cx),
            BrainCommand::Set(set) => set.run(cx),
            BrainCommand::Restore(restore) => restore.run(cx),
            BrainCommand::Rm(rm) => rm.run(cx),
        }
    }
}

impl CreateArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let is_path = matches!(self.name.parse(), Ok(BrainTarget::Path(_)));
        if is_path || self.name.starts_with('-') {
            return Err(Failure::refused(
                "brain_name",
                format!("{:?} would be read as a file or a flag", self.name),
                "choose a name of letters, digits, -, _ and dots, not one that ends in .amem",
            ));
        }
        let request = v1::CreateBrainRequest {
            brain: self.name.clone(),
            vectors: self.vectors(),
            settings_json: self.settings()?,
        };
        let remote = cx.daemon()?;
        let made = match remote.call(remote.client.brains().create_brain(request)) {
            Ok(_) => true,
            Err(error) => match Failure::from(error) {
                failure if failure.code == "already_exists" && self.if_missing => false,
                failure => return Err(failure),
            },
        };
        let opened = open(remote, &self.name)?;
        let named = BrainName::served(&opened);
        let mut data = message_json(&opened)?;
        data["made"] = made.into();
        cx.done(Some(&named), &data, |page| {
            let made = if made { "made" } else { "there already" };
            page.line(format!("{}: {made}{}", self.name, file_of(&opened.path)));
        })?;
        Ok(Exit::Ok)
    }

    fn vectors(&self) -> Option<v1::VectorOptions> {
        self.dimension.map(|dimension| v1::VectorOptions {
            dimension,
            kind: self.model.clone().map(v1::vector_options::Kind::Model),
        })
    }

    fn settings(&self) -> Result<String, Failure> {
        let given = self.settings.clone().unwrap_or_default();
        if !self.no_vectors {
            return Ok(given);
        }
        let odd = |why: String| {
            Failure::argument(
                format!("--settings: {why}"),
                "write a JSON object, such as '{\"fading_below\":0.1}'",
            )
        };
        let mut settings: serde_json::Map<_, _> = match given.as_str() {
            "" => serde_json::Map::new(),
            json => serde_json::from_str(json).map_err(|e| odd(e.to_string()))?,
        };
        settings.insert("embed".into(), false.into());
        Ok(serde_json::Value::from(settings).to_string())
    }
}

/// The end of a sentence: the file, unless the daemon does not tell it, by TCP.
fn file_of(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!(", {}", printable(path)),
    }
}

fn open(remote: &Remote, name: &str) -> Result<v1::OpenBrainResponse, Failure> {
    let request = v1::OpenBrainRequest { brain: name.into() };
    Ok(remote.call(remote.client.brains().open_brain(request))?)
}

impl LsArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if self.rejected {
            return rejected(cx);
        }
        let remote = cx.daemon()?;
        let answer = whole_list(
            |page_token| {
                let request = v1::ListBrainsRequest {
                    page_size: PAGE,
                    page_token,
                };
                remote.call(remote.client.brains().list_brains(request))
            },
            |answer| (&mut answer.brains, &mut answer.next_page_token),
        )?;
        cx.message(None, &answer, |page| write_list(&answer, page))?;
        let has_problem = answer.brains.iter().any(|brain| brain.problem.is_some());
        Ok(if has_problem {
            Exit::Findings
        } else {
            Exit::Ok
        })
    }
}

fn rejected(cx: &mut CommandContext) -> Result<Exit, Failure> {
    let remote = cx.daemon()?;
    let answer = vitals::problems(remote)?;
    cx.message(None, &answer, |page| {
        for file in &answer.problems {
            page.field(&printable(&file.brain), &file.message);
        }
        page.aside(match answer.problems.len() {
            0 => "every file in the folder is served".to_owned(),
            n => plural(n as u64, "file"),
        });
    })?;
    Ok(if answer.problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Findings
    })
}

const BRAINS: [Column<v1::ListedBrain>; 8] = [
    ("brain", Align::Left, |brain| brain.brain.clone()),
    ("events", Align::Right, |brain| count_or_dash(brain.events)),
    ("edges", Align::Right, |brain| count_or_dash(brain.edges)),
    ("size", Align::Right, |brain| {
        brain.file_bytes.map_or("-".to_owned(), bytes)
    }),
    ("LSN", Align::Right, |brain| {
        count_or_dash(brain.moment.as_ref().map(|moment| moment.lsn))
    }),
    ("last commit", Align::Left, |brain| {
        when::short_or_dash(brain.moment.as_ref().and_then(|moment| moment.time))
    }),
    ("lineage", Align::Left, |brain| {
        match brain.lineage.as_str() {
            "" => "-".to_owned(),
            // The random end: the first half of some ids is a time.
            lineage => lineage.chars().skip(28).collect(),
        }
    }),
    ("state", Align::Left, |brain| {
        match (&brain.problem, brain.open) {
            (Some(problem), _) => problem.message.clone(),
            (None, true) => "open".to_owned(),
            (None, false) => "closed".to_owned(),
        }
    }),
];

fn count_or_dash(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), count)
}

fn write_list(output: &v1::ListBrainsResponse, page: &mut TextPage) {
    page.rows(&BRAINS, &output.brains);
    page.aside(match output.brains.len() {
        0 => "no brains: `amemctl brain create NAME` creates one".to_owned(),
        n => plural(n as u64, "brain"),
    });
    if output.files_waiting > 0 {
        let are = agree(output.files_waiting, "is", "are");
        let files = plural(output.files_waiting, "file");
        page.aside(format!("{files} {are} arriving"));
    }
    if output.rejected_files > 0 {
        let were = agree(output.rejected_files, "was", "were");
        let files = plural(output.rejected_files, "file");
        page.aside(format!(
            "{files} {were} rejected: `amemctl brain ls --rejected`"
        ));
    }
}

impl RmArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        // Other programs may have created a name with a dot.
        if self.name.contains('/') || self.name.ends_with(".amem") {
            return Err(Failure::refused(
                "file",
                format!(
                    "{} is a path; this command removes brains of amemd",
                    self.name
                ),
                "name a brain, or remove the file with `rm`",
            ));
        }
        let remote = cx.daemon()?;
        let opened = open(remote, &self.name)?;
        let request = v1::GetBrainRequest {
            brain: self.name.clone(),
        };
        let status = remote
            .call(remote.client.brains().get_brain(request))?
            .status;
        let status = status.unwrap_or_default();
        let named = BrainName::served(&opened);
        let instance = opened.moment.unwrap_or_default().instance;
        if !self.yes {
            let stake = format!(
                "{}: {}, {}{}\n",
                self.name,
                plural(status.events, "event"),
                plural(status.edges, "edge"),
                file_of(&opened.path)
            );
            confirm(cx, &stake, "remove it for good?", "--yes")?;
        }
        let request = v1::RemoveBrainRequest {
            brain: self.name.clone(),
            instance,
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.brains().remove_brain(request))?;
        cx.changed(Some(&named), &answer, |page| {
            page.line(format!("{} is removed", self.name));
        })?;
        Ok(Exit::Ok)
    }
}
