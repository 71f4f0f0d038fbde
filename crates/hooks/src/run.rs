//! A moment of a session: what it is given, and what is learnt.

use std::collections::HashSet;

use amem_agents::HookMoment;
use amem_mcp::given_context::LEARNED_LAST;
use amem_mcp::given_context::PromptContext;
use amem_mcp::{CallResult, MemoryCalls, MemoryPlace, brief_of, recall_for};
use amem_memory::text_hash;
use amem_proto::{Timestamp, v1};
use amem_texts::{for_model, mask_secrets, strip_injected};
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64;

use crate::client::HookClient;
use crate::entry::{GivenId, LedgerEntry, NearId};
use crate::error::HookError;
use crate::ledger::{Ledger, SessionKey, SessionLedger};
use crate::limits::{
    ANSWER_CHARS_MAX, CLIENT_BYTES_MAX, SAID_CHARS_MAX, SESSION_BYTES_MAX, TURNS_BYTES_MAX,
    TURNS_MAX, TURNS_PER_ADD,
};
use crate::prompt::beginning;

/// The calls of a moment: those of fact memory, and sessions of the brain.
pub trait HookCalls: MemoryCalls {
    /// Opens the session of a key, again if it is closed.
    fn open_session(
        &self,
        request: v1::OpenSessionRequest,
    ) -> impl Future<Output = CallResult<v1::OpenSessionResponse>> + Send;

    /// Closes a session.
    fn close_session(
        &self,
        request: v1::CloseSessionRequest,
    ) -> impl Future<Output = CallResult<v1::CloseSessionResponse>> + Send;
}

/// What was said.
#[derive(Debug, Clone, PartialEq)]
pub struct HookTurn {
    /// The same whenever it is sent; by its content if empty.
    pub id: String,
    /// True if the agent says it.
    pub is_agents: bool,
    /// What is said.
    pub text: String,
    /// When; now if `None`.
    pub time: Option<Timestamp>,
}

/// A moment of a session.
#[derive(Debug, Clone)]
pub struct HookRun {
    /// The client's name.
    pub client: String,
    /// The client's id of the session.
    pub session: String,
    /// The moment.
    pub moment: HookMoment,
    /// Whose memory it is.
    pub place: MemoryPlace,
    /// The prompt, at its moment.
    pub prompt: String,
    /// True if the context was compacted or cleared.
    pub is_cleared: bool,
    /// What was said.
    pub turns: Vec<HookTurn>,
    /// The present, in microseconds since 1970.
    pub now: i64,
}

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookDone {
    /// Text for the model; empty if there is nothing.
    pub context: String,
    /// The memories in it.
    pub given: Vec<v1::Fact>,
    /// Turns that are new.
    pub turns: usize,
    /// What became of their facts.
    pub facts: Vec<v1::FactResult>,
    /// True if something is still to be formed.
    pub is_pending: bool,
}

impl HookRun {
    fn check(&self) -> Result<(), HookError> {
        let invalid = |field, why: &str| HookError::Invalid {
            field,
            why: why.to_owned(),
        };
        HookError::check("the client in bytes", self.client.len(), CLIENT_BYTES_MAX)?;
        HookError::check(
            "the session in bytes",
            self.session.len(),
            SESSION_BYTES_MAX,
        )?;
        if self.client.is_empty() || self.client.chars().any(char::is_control) {
            return Err(invalid("client", "name the client, such as claude-code"));
        }
        if self.session.is_empty() || self.session.chars().any(char::is_control) {
            return Err(invalid("session", "give the client's id of the session"));
        }
        HookError::check("turns", self.turns.len(), TURNS_MAX)?;
        let bytes = self.turns.iter().map(|turn| turn.text.len()).sum();
        HookError::check("the turns in bytes", bytes, TURNS_BYTES_MAX)
    }

    fn key(&self) -> SessionKey {
        SessionKey {
            brain: self.place.brain.clone(),
            client: self.client.clone(),
            session: self.session.clone(),
        }
    }

    fn takes_context(&self) -> bool {
        let client = HookClient::named(&self.client);
        client.map_or(self.moment.is_giving(), |client| {
            client.agent().takes_context(self.moment)
        })
    }
}

/// Runs a moment. The brain of the place has its name.
///
/// # Errors
/// What is wrong with the moment; what fact memory refuses; a ledger that cannot be used. Turns that were stored before
/// are stored.
pub async fn run<C: HookCalls>(
    calls: &C,
    ledger: &Ledger,
    run: &HookRun,
) -> Result<HookDone, HookError> {
    run.check()?;
    let key = run.key();
    let session = ledger.session(&key).await?;
    let mut session = session.lock().await;
    let mut moment = Moment {
        calls,
        ledger,
        run,
        key,
        session: &mut session,
        done: HookDone::default(),
    };
    if run.is_cleared && moment.session.is_opened() {
        moment.write(LedgerEntry::Cleared { at: run.now }).await?;
    }
    if run.takes_context() {
        match run.moment {
            HookMoment::Start => moment.start().await?,
            _ => moment.prompt().await?,
        }
    }
    moment.store().await?;
    if run.moment == HookMoment::End {
        moment.end().await?;
    }
    Ok(moment.done)
}

struct Moment<'m, C> {
    calls: &'m C,
    ledger: &'m Ledger,
    run: &'m HookRun,
    key: SessionKey,
    session: &'m mut SessionLedger,
    done: HookDone,
}

impl<C: HookCalls> Moment<'_, C> {
    async fn write(&mut self, entry: LedgerEntry) -> Result<(), HookError> {
        if !self.session.is_opened() {
            let project = self.run.place.project.as_ref();
            self.session
                .write(&LedgerEntry::Opened {
                    at: self.run.now,
                    brain: self.key.brain.clone(),
                    client: self.key.client.clone(),
                    session: self.key.session.clone(),
                    project: project.map(|project| project.id.clone()),
                })
                .await?;
        }
        self.session.write(&entry).await
    }

    /// The brief, unless the session has it.
    async fn start(&mut self) -> Result<(), HookError> {
        if self.session.is_briefed {
            return Ok(());
        }
        let project = self.run.place.project.as_ref();
        let last = self
            .ledger
            .last_of(&self.key, project.map(|project| project.id.as_str()))
            .await;
        let title = last.map_or_else(
            || LEARNED_LAST.to_owned(),
            |last| {
                let when = amem_mcp::minute_of(last.to, &self.run.place);
                format!("learned last (session of {}, {when}):", last.client)
            },
        );
        let brief = brief_of(self.calls, &self.run.place, &title).await;
        let brief = PromptContext {
            given: brief.map_err(HookError::Words)?,
            ..PromptContext::default()
        };
        self.give(brief, String::new(), 0).await
    }

    /// What the prompt is about.
    async fn prompt(&mut self) -> Result<(), HookError> {
        let prompt = clean(beginning(&self.run.prompt));
        let chars = u32::try_from(prompt.chars().count()).unwrap_or(u32::MAX);
        // What was said in this session stands in it.
        let own_session = match self.session.turns.is_empty() {
            true => 0,
            false => self.opened().await?,
        };
        let (place, has) = (&self.run.place, &self.session.has);
        let given = recall_for(self.calls, place, &prompt, has, own_session).await;
        self.give(given.map_err(HookError::Words)?, text_hash(&prompt), chars)
            .await
    }

    async fn give(
        &mut self,
        found: PromptContext,
        prompt: String,
        chars: u32,
    ) -> Result<(), HookError> {
        let entry = self.entry(&found, prompt, chars);
        let Some(given) = found.given else {
            // The list has prompts that got nothing, too.
            return match chars {
                0 => Ok(()),
                _ => self.write(entry).await,
            };
        };
        let context = wrapped(&given.text);
        // It is written first: what is not in the ledger must not be given.
        self.write(entry).await?;
        self.done.context = context;
        self.done.given = given.facts;
        Ok(())
    }

    fn entry(&self, found: &PromptContext, prompt: String, chars: u32) -> LedgerEntry {
        let tokens = found.given.as_ref().map_or(0, |given| given.tokens);
        let facts = found.given.iter().flat_map(|given| &given.facts);
        LedgerEntry::Given {
            at: self.run.now,
            moment: self.run.moment,
            prompt,
            chars,
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            memories: facts
                .map(|fact| GivenId {
                    id: fact.id.clone(),
                    event: fact.event_id,
                })
                .collect(),
            near: found.near.iter().map(NearId::from).collect(),
            short: found.is_short,
        }
    }

    /// Stores the turns that are new, and finds facts in them.
    async fn store(&mut self) -> Result<(), HookError> {
        let mut seen = HashSet::new();
        let mut fresh = Vec::new();
        for turn in &self.run.turns {
            let id = turn_id(turn);
            if !self.session.turns.contains(&id) && seen.insert(id) {
                fresh.push((id, turn));
            }
        }
        for part in fresh.chunks(TURNS_PER_ADD) {
            let messages: Vec<v1::FactMessage> = part
                .iter()
                .filter_map(|(_, turn)| self.message(turn))
                .collect();
            let (mut memories, mut said) = (Vec::new(), Vec::new());
            if !messages.is_empty() {
                let added = self.add(messages).await?;
                memories = added
                    .results
                    .iter()
                    .filter(|result| result.event() != v1::FactEvent::None)
                    .map(|result| GivenId {
                        id: result.id.clone(),
                        event: result.event_id,
                    })
                    .collect();
                said = added.turn_ids;
                self.done.is_pending |= !added.pending.is_empty();
                self.done.facts.extend(added.results);
            }
            self.done.turns += part.len();
            self.write(LedgerEntry::Stored {
                at: self.run.now,
                moment: self.run.moment,
                turns: part.iter().map(|(id, _)| *id).collect(),
                memories,
                said,
            })
            .await?;
        }
        Ok(())
    }

    /// A turn without secrets and without what was given; `None` if nothing is left.
    fn message(&self, turn: &HookTurn) -> Option<v1::FactMessage> {
        let (role, chars) = match turn.is_agents {
            true => (v1::FactRole::Assistant, ANSWER_CHARS_MAX),
            false => (v1::FactRole::User, SAID_CHARS_MAX),
        };
        let text: String = clean(&turn.text).chars().take(chars).collect();
        let text = text.trim();
        let now = Timestamp {
            seconds: self.run.now.div_euclid(1_000_000),
            nanos: i32::try_from(self.run.now.rem_euclid(1_000_000)).unwrap_or_default() * 1_000,
        };
        (!text.is_empty()).then(|| v1::FactMessage {
            role: role.into(),
            text: text.to_owned(),
            name: String::new(),
            time: Some(turn.time.unwrap_or(now)),
        })
    }

    async fn add(&self, messages: Vec<v1::FactMessage>) -> Result<v1::AddFactsResponse, HookError> {
        let place = &self.run.place;
        let mut scope = v1::Scope::default();
        match &place.project {
            Some(project) => scope.app = Some(project.id.clone()),
            None => scope.user = Some(place.user.clone()),
        }
        let session_id = self.opened().await?;
        let metadata = json!({"client": self.run.client, "session": self.run.session});
        let request = v1::AddFactsRequest {
            brain: self.key.brain.clone(),
            messages,
            scope: Some(scope),
            infer: Some(true),
            metadata_json: metadata.to_string(),
            options: self.options(),
            session_id,
            ..v1::AddFactsRequest::default()
        };
        // Another session of the project may change its memories at the same time.
        let added = amem_mcp::write_again(|| self.calls.add_facts(request.clone())).await;
        added.map_err(HookError::Refused)
    }

    /// The session in the brain; opened if need be.
    async fn opened(&self) -> Result<u32, HookError> {
        let opened = self.calls.open_session(v1::OpenSessionRequest {
            brain: self.key.brain.clone(),
            key: self.session_key(),
            options: self.options(),
        });
        Ok(opened.await.map_err(HookError::Refused)?.session_id)
    }

    fn options(&self) -> Option<v1::WriteOptions> {
        Some(v1::WriteOptions {
            agent: self.run.client.clone(),
            ..v1::WriteOptions::default()
        })
    }

    fn session_key(&self) -> String {
        session_key(&self.run.client, &self.run.session)
    }

    /// Closes the session in the brain, if it has one.
    async fn end(&mut self) -> Result<(), HookError> {
        if !self.session.is_opened() {
            return Ok(());
        }
        self.write(LedgerEntry::Ended { at: self.run.now }).await?;
        if self.session.turns.is_empty() {
            return Ok(());
        }
        let session_id = self.opened().await?;
        let closed = self.calls.close_session(v1::CloseSessionRequest {
            brain: self.key.brain.clone(),
            session_id,
            outcome: "ended".to_owned(),
            options: self.options(),
        });
        closed.await.map_err(HookError::Refused)?;
        Ok(())
    }
}

/// The key of a session in a brain, at most 256 bytes.
#[must_use]
pub fn session_key(client: &str, session: &str) -> String {
    let key = format!("{client}/{session}");
    match key.len() <= SESSION_BYTES_MAX {
        true => key,
        false => format!("{client}/{:016x}", xxh3_64(session.as_bytes())),
    }
}

fn turn_id(turn: &HookTurn) -> u64 {
    if !turn.id.is_empty() {
        return xxh3_64(turn.id.as_bytes());
    }
    let time = turn.time.map(|time| (time.seconds, time.nanos));
    xxh3_64(format!("{time:?}{}{}", turn.is_agents, turn.text).as_bytes())
}

/// A text without secrets and without context that was injected.
fn clean(text: &str) -> String {
    let (text, _) = strip_injected(text);
    mask_secrets(&text).0.into_owned()
}

/// The text in the element that marks what was given. A memory cannot end the element.
fn wrapped(text: &str) -> String {
    let text = for_model(text);
    format!("<memory source=\"amem\">\n{text}\n</memory>")
}
