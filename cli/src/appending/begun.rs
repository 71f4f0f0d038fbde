//! Whether a text was imported already, and by which run.
//!
//! The first event of the text is searched in its session. The daemon remembers requests for 24 hours; whether it
//! remembers a run's first batch shows when an invalid request is sent under the same id.

use amem_client::Code;
use amem_client::v1;
use amem_format::Micros;
use amem_importing::RunId;
use serde_json::json;
use uuid::Uuid;

use crate::brain::opened::BrainHandle;
use crate::connection::remote::RemoteError;
use crate::entries::{EntrySession, TextEntry};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::when::{long, now};

/// Characters of a text that fit into a filter even if all are escaped.
const CONDITION_CHARS_MAX: usize = 4096;
const _: () = assert!(12 * CONDITION_CHARS_MAX < amem_query::limits::QUERY_BYTES_MAX);

pub(super) struct RunLookup<'a> {
    pub(super) brain: &'a str,
    pub(super) instance: Uuid,
    /// Names the text and everything that its requests depend on.
    pub(super) of: &'a [u8],
    pub(super) first: &'a TextEntry,
    pub(super) name: &'a str,
}

impl RunLookup<'_> {
    /// The run to continue, or a new one. Refused if the text was imported by a run that is no longer known.
    pub(super) fn run(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
    ) -> Result<RunId, Failure> {
        let mut newest = None;
        for event in self.same(cx, opened)? {
            let recorded = Time::of(event.created_at)?.0;
            for run in RunId::before(self.instance, self.of, recorded, now()) {
                if self.is_known(cx, run)? {
                    return Ok(run);
                }
            }
            newest = newest.max(Some((recorded, event.id)));
        }
        match newest {
            None => Ok(RunId::begun(self.instance, self.of, now())),
            Some((recorded, id)) => Err(self.is_there(id, recorded)),
        }
    }

    fn is_there(&self, id: u64, recorded: Micros) -> Failure {
        Failure::refused(
            "already_there",
            format!(
                "the beginning of {} is already in {}: event {id}, recorded {}; the import that wrote it is unknown (imports are remembered for 24 hours, for the same text and options)",
                self.name,
                self.brain,
                long(recorded)
            ),
            "nothing was written; --again imports all of it again",
        )
    }

    /// Events equal to the first one of the text.
    fn same(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
    ) -> Result<Vec<v1::Event>, Failure> {
        let session_ids = match &self.first.session {
            EntrySession::Absent | EntrySession::Unnamed(_) => Vec::new(),
            // A session named by digits is a key here.
            EntrySession::Key(key) => match by_key(cx, opened, key) {
                Ok(id) => vec![id],
                Err(failure) if failure.exit == Exit::NotFound => return Ok(Vec::new()),
                Err(failure) => return Err(failure),
            },
        };
        let event = &self.first.event;
        let filter = match event.text.char_indices().nth(CONDITION_CHARS_MAX) {
            None => json!({"text": {"eq": event.text}}),
            Some((end, _)) => json!({"text": {"contains": event.text[..end]}}),
        };
        let request = v1::PatternRequest {
            selection: Some(v1::Selection {
                session_ids,
                filter_json: filter.to_string(),
                include_forgotten: true,
                include_compressed: true,
                ..Default::default()
            }),
            order: v1::Order::Oldest.into(),
            page_size: 100,
            ..Default::default()
        };
        let mut events = opened.ask(cx, request)?.events;
        events.retain(|there| {
            (&there.text, there.r#type, &there.event_time)
                == (&event.text, event.r#type, &event.event_time)
        });
        Ok(events)
    }

    /// Whether the daemon remembers the first batch of a run.
    fn is_known(&self, cx: &mut CommandContext, run: RunId) -> Result<bool, Failure> {
        let agent = cx.reach().agent.clone();
        // An empty batch is always refused, but the daemon looks up the request id first.
        let request = v1::IngestRequest {
            brain: self.brain.into(),
            options: Some(run.options(&agent, &batch(0))),
            ..Default::default()
        };
        let remote = cx.daemon()?;
        match remote.call(remote.client.memory().ingest(request)) {
            Ok(_) => Ok(false),
            Err(RemoteError::Refused(refusal)) => match refusal.code {
                Code::AlreadyExists => Ok(true),
                Code::InvalidArgument | Code::FailedPrecondition => Ok(false),
                _ => Err((*refusal).into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}

fn by_key(cx: &mut CommandContext, opened: &BrainHandle, key: &str) -> Result<u32, Failure> {
    use v1::get_session_request::Session;
    let request = v1::GetSessionRequest {
        session: Some(Session::Key(key.to_owned())),
        ..Default::default()
    };
    let found = opened.ask(cx, request)?.session;
    match found {
        Some(found) => Ok(found.id),
        None => Err(Failure::new(
            Exit::NotFound,
            "unknown_session",
            format!("there is no session {key:?}"),
            "`amemctl sessions list BRAIN` lists sessions",
        )),
    }
}

/// The name of the step that writes a batch.
pub(super) fn batch(index: u64) -> String {
    format!("batch {index}")
}
