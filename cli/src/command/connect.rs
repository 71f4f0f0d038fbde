//! `amemctl connect` and `disconnect`: server and hooks in the settings of agents.

use std::path::{Path, PathBuf};

use amem_agents::{
    AgentClient, ClientStatus, ConnectPlan, Locations, Program, SettingsError, VARIABLES, status,
};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, printable};

/// Reads the name of a client; help and completion list them.
fn client_name() -> impl TypedValueParser<Value = AgentClient> {
    let names = PossibleValuesParser::new(AgentClient::ALL.map(AgentClient::name));
    names.try_map(|name| name.parse::<AgentClient>())
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl connect --list               which agents are installed, and which are connected
  amemctl connect claude-code --print  shows the changes, and writes nothing
  amemctl connect claude-code          writes them
  amemctl connect --project codex      for this project alone, in files that others get with it

Without CLIENT it is every agent that is installed. Comments, order and layout of the files stay, and `amemctl \
disconnect` takes out again what was written. Repeating the command changes nothing. An agent reads its settings when \
it starts.")]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    which: WhichClients,
    /// Show the agents, which are installed and which connected, and change nothing.
    #[arg(long, conflicts_with = "print")]
    list: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl disconnect claude-code          takes server and hooks out of its settings
  amemctl disconnect claude-code --print  shows the changes, and writes nothing

Without CLIENT it is every agent. A file that nobody changed since gets back its bytes; from others the entries of \
amemctl are taken out. Entries that were written by hand stay.")]
pub(crate) struct DisconnectArgs {
    #[command(flatten)]
    which: WhichClients,
}

#[derive(Debug, Args)]
struct WhichClients {
    /// The agents; without any, all that are installed.
    #[arg(value_name = "CLIENT", value_parser = client_name())]
    clients: Vec<AgentClient>,
    /// Show the changes as a diff, and write nothing.
    #[arg(long)]
    print: bool,
    /// Use the files of this project (the folder of the repository, else this one), not those of the user.
    #[arg(long)]
    project: bool,
}

#[derive(Debug, Serialize)]
struct ChangesOutput {
    program: PathBuf,
    /// Whether the files were written.
    written: bool,
    files: Vec<FileOutput>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FileOutput {
    client: &'static str,
    path: PathBuf,
    action: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diff: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListOutput {
    program: PathBuf,
    clients: Vec<ClientOutput>,
}

#[derive(Debug, Serialize)]
struct ClientOutput {
    client: &'static str,
    installed: bool,
    server: &'static str,
    hooks: &'static str,
    files: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl ConnectArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let locations = self.which.locations()?;
        let program = program()?;
        if self.list {
            return self.list(cx, &locations, &program);
        }
        let clients = self.which.named(&locations, true)?;
        let plan = ConnectPlan::connect(&locations, &clients, &program).map_err(failure)?;
        self.which.settle(cx, plan, &program, "connected already")
    }

    fn list(
        &self,
        cx: &mut CommandContext,
        locations: &Locations,
        program: &Program,
    ) -> Result<Exit, Failure> {
        let mut clients = Vec::new();
        for client in self.which.all() {
            clients.push(match status(locations, client, program) {
                Ok(status) => of_status(status),
                Err(error) => ClientOutput {
                    client: client.name(),
                    installed: true,
                    server: "unknown",
                    hooks: "unknown",
                    files: Vec::new(),
                    problem: Some(error.to_string()),
                },
            });
        }
        let output = ListOutput {
            program: program.path().to_owned(),
            clients,
        };
        cx.answer(None, &output, |page| write_list(&output, page))?;
        Ok(Exit::Ok)
    }
}

fn of_status(status: ClientStatus) -> ClientOutput {
    ClientOutput {
        client: status.client.name(),
        installed: status.installed,
        server: status.server,
        hooks: status.hooks,
        files: status.files,
        problem: None,
    }
}

fn write_list(output: &ListOutput, page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("client", Align::Left),
        ("installed", Align::Left),
        ("server", Align::Left),
        ("hooks", Align::Left),
        ("settings", Align::Left),
    ]);
    for client in &output.clients {
        let file = client.files.first().map(|path| path.display().to_string());
        table.row(vec![
            client.client.to_owned(),
            if client.installed { "yes" } else { "no" }.to_owned(),
            client.server.to_owned(),
            client.hooks.to_owned(),
            printable(&file.unwrap_or_default()),
        ]);
    }
    table.write(page);
    for problem in output.clients.iter().filter_map(|c| c.problem.as_ref()) {
        page.line(format!("problem: {}", printable(problem)));
    }
}

impl DisconnectArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let locations = self.which.locations()?;
        let program = program()?;
        let clients = self.which.named(&locations, false)?;
        let plan = ConnectPlan::disconnect(&locations, &clients, &program).map_err(failure)?;
        self.which.settle(cx, plan, &program, "not connected")
    }
}

impl WhichClients {
    /// The named clients, else all that have such settings.
    fn all(&self) -> Vec<AgentClient> {
        if self.clients.is_empty() {
            let clients = AgentClient::ALL.into_iter();
            return clients
                .filter(|client| !self.project || client.has_project())
                .collect();
        }
        self.clients.clone()
    }

    fn named(
        &self,
        locations: &Locations,
        must_be_installed: bool,
    ) -> Result<Vec<AgentClient>, Failure> {
        if self.project
            && let Some(name) = self.clients.iter().find(|client| !client.has_project())
        {
            return Err(Failure::argument(
                format!("{name} has no settings of a project"),
                format!("`amemctl connect {name}` writes those of the user"),
            ));
        }
        let mut clients = self.all();
        if self.clients.is_empty() && must_be_installed {
            clients.retain(|client| client.is_installed(locations));
            if clients.is_empty() {
                return Err(Failure::new(
                    Exit::NotFound,
                    "no_client",
                    "no agent is installed here that amemctl knows",
                    "name one, as in `amemctl connect claude-code`; `amemctl connect --list` lists them",
                ));
            }
        }
        Ok(clients)
    }

    fn locations(&self) -> Result<Locations, Failure> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        let home = home.map(PathBuf::from).ok_or_else(|| {
            let remedy = "set HOME to the folder of the user whose agents are meant";
            Failure::new(Exit::NotFound, "no_home", "HOME is not set", remedy)
        })?;
        let mut locations = Locations::new(&home).map_err(failure)?;
        for name in VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                locations = locations.with_variable(name, value).map_err(failure)?;
            }
        }
        locations = locations.with_search_path(search_path());
        if !self.project {
            return Ok(locations);
        }
        let here = std::env::current_dir().map_err(|e| Failure::io("find", Path::new("."), &e))?;
        let root = here.ancestors().find(|folder| folder.join(".git").exists());
        let project = root.unwrap_or(&here);
        if project == home {
            return Err(Failure::argument(
                "this is the home folder, not a project",
                "run it in the folder of a project, or without --project",
            ));
        }
        Ok(locations.in_project(project))
    }

    /// Shows the plan, or writes it.
    fn settle(
        &self,
        cx: &mut CommandContext,
        plan: ConnectPlan,
        program: &Program,
        nothing: &str,
    ) -> Result<Exit, Failure> {
        let files = plan.changes().iter().map(|change| FileOutput {
            client: change.client().name(),
            path: change.path().to_owned(),
            action: change.action(),
            diff: if self.print {
                change.diff()
            } else {
                Vec::new()
            },
        });
        let output = ChangesOutput {
            program: program.path().to_owned(),
            written: !self.print,
            files: files.collect(),
            notes: plan.notes().to_vec(),
        };
        if !self.print {
            plan.write().map_err(failure)?;
        }
        cx.done(None, &output, |page| {
            for file in &output.files {
                let path = printable(&file.path.display().to_string());
                let done = match (file.action, self.print) {
                    (action, true) => format!("would {action}"),
                    ("create", _) => "created".to_owned(),
                    ("remove", _) => "removed".to_owned(),
                    _ => "changed".to_owned(),
                };
                page.line(format!("{}: {done} {path}", file.client));
                for line in &file.diff {
                    page.line(printable(line));
                }
            }
            for note in &output.notes {
                page.line(format!("note: {}", printable(note)));
            }
            if output.files.is_empty() {
                page.line(nothing);
            }
        })?;
        Ok(Exit::Ok)
    }
}

fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect()
}

/// This program: as PATH has it, whose name outlives an upgrade, else the file that runs.
fn program() -> Result<Program, Failure> {
    let running = std::env::current_exe();
    let running = running.map_err(|e| Failure::io("find", Path::new("amemctl"), &e))?;
    for folder in search_path()
        .into_iter()
        .filter(|folder| folder.is_absolute())
    {
        let candidate = folder.join("amemctl");
        if !candidate.is_file() {
            continue;
        }
        // The first of the name is the one that a shell runs.
        let is_this = candidate
            .canonicalize()
            .is_ok_and(|found| running.canonicalize().is_ok_and(|running| found == running));
        return Ok(if is_this {
            Program::new(candidate, true)
        } else {
            Program::new(running, false)
        });
    }
    Ok(Program::new(running, false))
}

fn failure(error: SettingsError) -> Failure {
    let message = error.to_string();
    let (exit, code, remedy) = match &error {
        SettingsError::Io {
            action,
            path,
            source,
        } => return Failure::io(action, path, source),
        SettingsError::MissingHome { .. } => (
            Exit::NotFound,
            "no_home",
            "set HOME to the folder of the user whose agents are meant",
        ),
        SettingsError::RelativeFolder { .. } => {
            (Exit::Usage, "relative_folder", "give an absolute path")
        }
        SettingsError::Syntax { .. } | SettingsError::Unexpected { .. } => (
            Exit::Refused,
            "invalid_settings",
            "correct the file and repeat this; nothing was written",
        ),
        SettingsError::NameTaken { .. } => (
            Exit::Refused,
            "name_taken",
            "rename that entry and repeat this; nothing was written",
        ),
        SettingsError::File(fault) => return Failure::file(fault),
        SettingsError::ForeignFile { .. } => (
            Exit::Refused,
            "foreign_file",
            "rename the file and repeat this; nothing was written",
        ),
        SettingsError::Changed { .. } => (Exit::Unavailable, "changed", "repeat this"),
        SettingsError::Record { .. } => (
            Exit::Refused,
            "damaged_record",
            "remove that file; entries of amemctl are then known by what they say",
        ),
    };
    Failure::new(exit, code, message, remedy)
}
