//! A brain of the daemon, as an import writes into it.

use std::path::Path;

use amem_client::v1;
use amem_host::project::Project;
use amem_host::project::allow::AllowedProjects;
use amem_importing::{ChangeAnswer, EventChange, ImportTarget};
use tokio::task::JoinHandle;

use crate::brain::every_event::each_event;
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::mcp::{allowed_projects, folder_place};
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};

/// A batch whose answer comes while the next items are read.
type SentBatch = JoinHandle<amem_client::Result<v1::IngestResponse>>;

pub(crate) struct DaemonTarget<'a> {
    cx: &'a mut CommandContext,
    brain: String,
    agent: String,
    /// Once it was needed.
    opened: Option<Writable>,
    /// The folders that the user allowed to be projects, once they were needed.
    allowed: Option<AllowedProjects>,
    sending: Option<SentBatch>,
    progress: Progress,
}

impl<'a> DaemonTarget<'a> {
    pub(crate) fn new(cx: &'a mut CommandContext, brain: &str) -> Self {
        Self {
            progress: Progress::new(cx, Unit::Things("items")),
            agent: cx.reach().agent.clone(),
            cx,
            brain: brain.to_owned(),
            opened: None,
            allowed: None,
            sending: None,
        }
    }

    /// The open brain, with the context of its calls.
    fn open(&mut self) -> Result<(&mut Writable, &mut CommandContext), Failure> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => Writable::open(self.cx, &BrainTarget::Name(self.brain.clone()))?,
        };
        Ok((self.opened.insert(opened), self.cx))
    }
}

impl ImportTarget for DaemonTarget<'_> {
    type Failure = Failure;

    fn brain(&self) -> &str {
        &self.brain
    }

    fn agent(&self) -> &str {
        &self.agent
    }

    fn each_event(
        &mut self,
        filter_json: String,
        each: &mut dyn FnMut(&v1::Event),
    ) -> Result<(), Failure> {
        let (brain, cx) = self.open()?;
        let selection = v1::Selection {
            filter_json,
            ..v1::Selection::default()
        };
        each_event(cx, &brain.opened, selection, each)
    }

    fn events(&mut self, request: v1::GetEventsRequest) -> Result<Vec<v1::Event>, Failure> {
        let (brain, cx) = self.open()?;
        Ok(brain.opened.ask(cx, request)?.events)
    }

    fn change(&mut self, change: EventChange) -> Result<ChangeAnswer, Failure> {
        // What names its brain does not need an open one.
        if let EventChange::OpenSession(request) = &change
            && !request.brain.is_empty()
        {
            let remote = self.cx.daemon()?;
            let opened = remote.call(remote.client.memory().open_session(request.clone()))?;
            return Ok(ChangeAnswer::Session(opened.session_id));
        }
        let (brain, cx) = self.open()?;
        Ok(match change {
            EventChange::OpenSession(request) => {
                ChangeAnswer::Session(brain.write(cx, request)?.session_id)
            }
            EventChange::Correct(request) => {
                ChangeAnswer::Event(brain.write(cx, request)?.event_id)
            }
            EventChange::SetAttributes(request) => {
                brain.write(cx, request)?;
                ChangeAnswer::Done
            }
            EventChange::Unlink(request) => {
                brain.write(cx, request)?;
                ChangeAnswer::Done
            }
            EventChange::Forget(request) => {
                brain.write(cx, request)?;
                ChangeAnswer::Done
            }
        })
    }

    fn send(&mut self, batch: v1::IngestRequest) -> Result<(), Failure> {
        let (brain, cx) = self.open()?;
        let brain = brain.opened.served()?.brain.clone();
        let sending = cx.daemon()?.start(async move { brain.write(batch).await });
        self.sending = Some(sending);
        Ok(())
    }

    fn answered(&mut self) -> Result<Option<v1::IngestResponse>, Failure> {
        match self.sending.take() {
            Some(sending) => Ok(Some(self.cx.daemon()?.finish(sending)?)),
            None => Ok(None),
        }
    }

    fn list_facts(
        &mut self,
        request: v1::ListFactsRequest,
    ) -> Result<v1::ListFactsResponse, Failure> {
        let remote = self.cx.daemon()?;
        Ok(remote.call(remote.client.facts().list_facts(request))?)
    }

    fn has_fact(&mut self, request: v1::GetFactRequest) -> Result<bool, Failure> {
        let remote = self.cx.daemon()?;
        match remote.call(remote.client.facts().get_fact(request)) {
            Ok(_) => Ok(true),
            Err(error) => match Failure::from(error) {
                failure if failure.exit == Exit::NotFound => Ok(false),
                failure => Err(failure),
            },
        }
    }

    fn add_facts(&mut self, request: v1::AddFactsRequest) -> Result<v1::AddFactsResponse, Failure> {
        let remote = self.cx.daemon()?;
        Ok(remote.call(remote.client.facts().add_facts(request))?)
    }

    fn update_fact(&mut self, request: v1::UpdateFactRequest) -> Result<(), Failure> {
        let remote = self.cx.daemon()?;
        remote.call(remote.client.facts().update_fact(request))?;
        Ok(())
    }

    fn delete_fact(&mut self, request: v1::DeleteFactRequest) -> Result<(), Failure> {
        let remote = self.cx.daemon()?;
        remote.call(remote.client.facts().delete_fact(request))?;
        Ok(())
    }

    fn project_of(&mut self, folder: &Path) -> Result<Option<String>, Failure> {
        let allowed = match self.allowed.take() {
            Some(allowed) => allowed,
            None => allowed_projects().map_err(|e| {
                let remedy = "mend or move the file away, then repeat the command";
                Failure::refused("project", e.to_string(), remedy)
            })?,
        };
        let found = folder_place(folder, &allowed);
        self.allowed = Some(allowed);
        let project = match found {
            Ok(place) => place.project,
            // What was said there is not said everywhere: it stays with the folder.
            Err(why) => {
                let note = format!("{why}; its folder is taken as a project by its path");
                self.cx.note(&note);
                Some(Project::of_path(folder))
            }
        };
        Ok(project.map(|project| project.id))
    }

    fn progress(&mut self, items: u64) {
        self.progress.show(items, 0);
    }
}
