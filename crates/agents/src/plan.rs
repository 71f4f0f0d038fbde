//! What is to be written: worked out first for every file, then written.
//!
//! Promises: an error in any file means that no file is written; a plan repeated is empty.

use std::path::{Path, PathBuf};

use crate::client::AgentClient;
use crate::client_file::{ClientFile, Content};
use crate::diff::diff;
use crate::disk::{self, PreparedFile};
use crate::document;
use crate::entry::EntryState;
use crate::error::SettingsError;
use crate::locations::Locations;
use crate::plugin;
use crate::program::Program;
use crate::record::{Insertion, Record};

/// Changes of files, worked out and not yet written.
#[derive(Debug)]
pub struct ConnectPlan {
    changes: Vec<SettingsChange>,
    notes: Vec<String>,
    record: Record,
    record_path: PathBuf,
    is_shared: bool,
}

/// One file: its text now, and as it should be. `None` is no file.
#[derive(Debug)]
pub struct SettingsChange {
    client: AgentClient,
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
    insertion: Option<Insertion>,
}

impl SettingsChange {
    /// The client that reads the file.
    pub fn client(&self) -> AgentClient {
        self.client
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What happens to it: "create", "change" or "remove".
    pub fn action(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "create",
            (_, None) => "remove",
            _ => "change",
        }
    }

    /// The lines of a unified diff.
    pub fn diff(&self) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        diff(&text(&self.before), &text(&self.after))
    }
}

impl ConnectPlan {
    /// Plans to connect clients. A client whose plugin is installed gets no entries: the plugin has them.
    pub fn connect(
        locations: &Locations,
        clients: &[AgentClient],
        program: &Program,
    ) -> Result<Self, SettingsError> {
        let mut plan = Self::new(locations)?;
        for &client in clients {
            if let Some((variable, folder)) = client.unused_folder(locations) {
                let folder = folder.display();
                plan.notes.push(format!(
                    "{}: {variable} is set, so {folder} is not used and stays as it is",
                    client.name()
                ));
            }
            if plugin::is_installed(client, locations)? {
                plan.notes.push(format!(
                    "{}: the plugin is installed and brings server and hooks; no entries are needed",
                    client.name()
                ));
                plan.take_back(locations, client, program)?;
                continue;
            }
            let files = files(locations, client, program)?;
            let has_hooks_of_user =
                locations.project().is_some() && user_has_hooks(locations, client, program)?;
            if has_hooks_of_user {
                plan.notes.push(format!(
                    "{}: the hooks are in your own settings, so the project gets none",
                    client.name()
                ));
            }
            for file in files {
                let is_for_hooks = |file: &ClientFile| {
                    let state = document::state(&file.path, None, &file.content)?;
                    Ok::<_, SettingsError>(state.server.is_none())
                };
                if has_hooks_of_user && is_for_hooks(&file)? {
                    continue;
                }
                let file = if has_hooks_of_user {
                    without_hooks(file)
                } else {
                    file
                };
                plan.add(client, &file)?;
            }
        }
        plan.join_hooks_of_project(locations, program)?;
        Ok(plan)
    }

    /// A client that runs the hooks in a project's file of another one gets none of its own with them.
    fn join_hooks_of_project(
        &mut self,
        locations: &Locations,
        program: &Program,
    ) -> Result<(), SettingsError> {
        if locations.project().is_none() {
            return Ok(());
        }
        for client in AgentClient::ALL {
            let hooks = client.row().hooks.as_ref();
            let Some(other) = hooks.and_then(|hooks| hooks.runs_project_hooks_of) else {
                continue;
            };
            let of = |client: AgentClient| client.files(locations, program).into_iter().nth(1);
            let (Some(others), Some(own)) = (of(other), of(client)) else {
                continue;
            };
            let text = self.text(&others.path)?;
            let state = document::state(&others.path, text.as_deref(), &others.content)?;
            if !state.hooks.is_some_and(EntryState::is_satisfied) {
                continue;
            }
            if self.take_back_file(client, own)? {
                self.notes.push(format!(
                    "{client}: it runs the hooks in {} too, so it needs none of its own",
                    others.path.display()
                ));
            }
        }
        Ok(())
    }

    /// Plans to take back what connect wrote. Entries that were written by hand stay, with a note.
    pub fn disconnect(
        locations: &Locations,
        clients: &[AgentClient],
        program: &Program,
    ) -> Result<Self, SettingsError> {
        let mut plan = Self::new(locations)?;
        for &client in clients {
            plan.take_back(locations, client, program)?;
        }
        Ok(plan)
    }

    fn new(locations: &Locations) -> Result<Self, SettingsError> {
        let record_path = locations.record();
        let text = disk::read(&record_path)?;
        Ok(Self {
            changes: Vec::new(),
            notes: Vec::new(),
            record: Record::parse(&record_path, text.as_deref())?,
            record_path,
            is_shared: locations.project().is_some(),
        })
    }

    /// The files that would be written.
    pub fn changes(&self) -> &[SettingsChange] {
        &self.changes
    }

    /// What else is to be said.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The text of a file, as an earlier change of this plan leaves it.
    fn text(&self, path: &Path) -> Result<Option<String>, SettingsError> {
        let planned = self.changes.iter().rev().find(|change| change.path == path);
        match planned {
            Some(change) => Ok(change.after.clone()),
            None => disk::read(path),
        }
    }

    fn add(&mut self, client: AgentClient, file: &ClientFile) -> Result<(), SettingsError> {
        let before = self.text(&file.path)?;
        let state = document::state(&file.path, before.as_deref(), &file.content)?;
        if state.is_satisfied() {
            self.tell_by_hand(client, file, state);
            return Ok(());
        }
        let recorded = self.record.get(&file.path).cloned();
        let mut bare = match &before {
            Some(text) => document::without(&file.path, text, &file.content, recorded.as_ref())?,
            None => None,
        };
        // A file of an older version is replaced.
        if let Content::Whole(_) = file.content
            && bare.as_deref().is_some_and(crate::whole::is_ours)
        {
            bare = None;
        }
        let written = document::with(&file.path, bare.as_deref(), &file.content)?;
        let insertion = Insertion::new(&written.text, &written.spans, bare.is_none());
        self.push(SettingsChange {
            client,
            path: file.path.clone(),
            before,
            after: Some(written.text),
            insertion: Some(insertion),
        });
        Ok(())
    }

    fn take_back(
        &mut self,
        locations: &Locations,
        client: AgentClient,
        program: &Program,
    ) -> Result<(), SettingsError> {
        for file in all_files(locations, client, program) {
            self.take_back_file(client, file)?;
        }
        Ok(())
    }

    /// Whether there was something to take back.
    fn take_back_file(
        &mut self,
        client: AgentClient,
        file: ClientFile,
    ) -> Result<bool, SettingsError> {
        let Some(before) = self.text(&file.path)? else {
            return Ok(false);
        };
        // An insertion of this plan is undone as one that was written.
        let planned = self.changes.iter().find(|change| change.path == file.path);
        let recorded = match planned {
            Some(change) => change.insertion.clone(),
            None => self.record.get(&file.path).cloned(),
        };
        let after = document::without(&file.path, &before, &file.content, recorded.as_ref())?;
        let state = document::state(&file.path, after.as_deref(), &file.content)?;
        self.tell_by_hand(client, &file, state);
        if after.as_ref() == Some(&before) {
            return Ok(false);
        }
        self.push(SettingsChange {
            client,
            path: file.path,
            before: Some(before),
            after,
            insertion: None,
        });
        Ok(true)
    }

    /// Joins the changes of one file.
    fn push(&mut self, mut change: SettingsChange) {
        let earlier = self.changes.iter().position(|c| c.path == change.path);
        if let Some(earlier) = earlier {
            let earlier = self.changes.remove(earlier);
            change.before = earlier.before;
        }
        if change.before != change.after {
            self.changes.push(change);
        }
    }

    fn tell_by_hand(
        &mut self,
        client: AgentClient,
        file: &ClientFile,
        state: document::ContentState,
    ) {
        let is_by_hand = |state: Option<EntryState>| state == Some(EntryState::ByHand);
        let what = match (is_by_hand(state.server), is_by_hand(state.hooks)) {
            (true, true) => "server and hooks of amemctl were",
            (true, false) => "a server of amemctl was",
            (false, true) => "hooks of amemctl were",
            (false, false) => return,
        };
        let path = file.path.display();
        let name = client.name();
        let note = format!("{name}: {what} written by hand into {path}; that stays as it is");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Writes every file, each at once: first beside its place, then into it.
    pub fn write(mut self) -> Result<(), SettingsError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let mut created = Vec::new();
        let prepared = self.prepare(&mut created);
        let prepared = prepared.inspect_err(|_| disk::remove_empty(&created))?;
        if let Some(record) = prepared.record {
            record.publish()?;
        }
        for (change, prepared) in self.changes.iter().zip(prepared.files) {
            match prepared {
                Some(prepared) => prepared.publish()?,
                None => disk::remove(&disk::target(&change.path)?)?,
            }
        }
        if self.record.is_empty() {
            self.remove_record()?;
        }
        disk::remove_empty(&self.record.folders);
        Ok(())
    }

    fn prepare(&mut self, created: &mut Vec<PathBuf>) -> Result<PreparedFiles, SettingsError> {
        let mut files = Vec::new();
        for change in &self.changes {
            let Some(text) = &change.after else {
                files.push(None);
                continue;
            };
            let target = disk::target(&change.path)?;
            disk::create_folders(&disk::folder_of(&target), created)?;
            files.push(Some(PreparedFile::new(&change.path, text, self.is_shared)?));
        }
        for change in &self.changes {
            if disk::read(&change.path)? != change.before {
                return Err(SettingsError::Changed {
                    path: change.path.clone(),
                });
            }
            self.record.set(&change.path, change.insertion.clone());
        }
        if self.record.is_empty() {
            return Ok(PreparedFiles {
                record: None,
                files,
            });
        }
        let path = &self.record_path;
        disk::create_folders(&disk::folder_of(path), created)?;
        self.record.add_folders(created);
        let text = self.record.text().map_err(|e| SettingsError::Record {
            path: path.clone(),
            why: e.to_string(),
        })?;
        let record = Some(PreparedFile::new(path, &text, false)?);
        Ok(PreparedFiles { record, files })
    }

    /// The last entry is gone: the record goes too.
    fn remove_record(&self) -> Result<(), SettingsError> {
        if disk::read(&self.record_path)?.is_some() {
            disk::remove(&self.record_path)?;
        }
        Ok(())
    }
}

/// Every file beside its place; `None` for files to be removed.
#[derive(Debug)]
struct PreparedFiles {
    record: Option<PreparedFile>,
    files: Vec<Option<PreparedFile>>,
}

/// The files of a client. Hooks that may join the file of the server follow those that are there.
fn files(
    locations: &Locations,
    client: AgentClient,
    program: &Program,
) -> Result<Vec<ClientFile>, SettingsError> {
    let mut files = client.files(locations, program);
    let (true, [config, hooks]) = (joins_server_file(client), &mut files[..]) else {
        return Ok(files);
    };
    let text = disk::read(&config.path)?.unwrap_or_default();
    let value = document::value(&config.path, &text)?;
    let events = value["hooks"].as_object();
    let has_events = events.is_some_and(|events| events.keys().any(|key| key != "state"));
    if has_events && !hooks.path.exists() {
        config.content.extend(hooks.content.entries());
        files.pop();
    }
    Ok(files)
}

/// Every file that may have entries.
fn all_files(locations: &Locations, client: AgentClient, program: &Program) -> Vec<ClientFile> {
    let mut files = client.files(locations, program);
    if let (true, [config, hooks]) = (joins_server_file(client), &mut files[..]) {
        config.content.extend(hooks.content.entries());
    }
    files
}

fn joins_server_file(client: AgentClient) -> bool {
    let hooks = client.row().hooks.as_ref();
    hooks.is_some_and(|hooks| hooks.joins_server_file)
}

fn without_hooks(file: ClientFile) -> ClientFile {
    let keep = |entries: Vec<crate::entry::Entry>| {
        let entries = entries.into_iter();
        entries
            .filter(|e| e.role == crate::entry::EntryRole::Server)
            .collect()
    };
    let content = match file.content {
        Content::Json(entries) => Content::Json(keep(entries)),
        Content::Toml(entries) => Content::Toml(keep(entries)),
        whole @ Content::Whole(_) => whole,
    };
    ClientFile { content, ..file }
}

/// Whether the settings of the user have the hooks.
fn user_has_hooks(
    locations: &Locations,
    client: AgentClient,
    program: &Program,
) -> Result<bool, SettingsError> {
    let user = locations.of_user();
    for file in files(&user, client, program)? {
        let text = disk::read(&file.path)?;
        let state = document::state(&file.path, text.as_deref(), &file.content)?;
        if state
            .hooks
            .is_some_and(|state| !matches!(state, EntryState::Missing | EntryState::Foreign))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A client as it is now.
#[derive(Debug)]
pub struct ClientStatus {
    /// The client.
    pub client: AgentClient,
    /// Whether it seems to be installed.
    pub installed: bool,
    /// Whether it reaches the memory: "yes", "no", "outdated", "by hand", "plugin", "another program".
    pub server: &'static str,
    /// The same for its hooks; "none" for a client without hooks.
    pub hooks: &'static str,
    /// The files with its entries.
    pub files: Vec<PathBuf>,
}

/// Looks at a client's files, and changes none.
pub fn status(
    locations: &Locations,
    client: AgentClient,
    program: &Program,
) -> Result<ClientStatus, SettingsError> {
    let mut status = ClientStatus {
        client,
        installed: client.is_installed(locations),
        server: "no",
        hooks: "none",
        files: Vec::new(),
    };
    let is_plugin = plugin::is_installed(client, locations)?;
    let (mut servers, mut hooks) = (Vec::new(), Vec::new());
    for file in files(locations, client, program)? {
        let text = disk::read(&file.path)?;
        let state = document::state(&file.path, text.as_deref(), &file.content)?;
        servers.extend(state.server);
        hooks.extend(state.hooks);
        status.files.push(file.path);
    }
    let word = |states: Vec<EntryState>| match document::least(states) {
        None => "none",
        Some(_) if is_plugin => "plugin",
        Some(EntryState::Current) => "yes",
        Some(EntryState::Missing) => "no",
        Some(EntryState::Outdated) => "outdated",
        Some(EntryState::ByHand) => "by hand",
        Some(EntryState::Foreign) => "another program",
    };
    status.server = word(servers);
    status.hooks = word(hooks);
    Ok(status)
}
