//! What sessions of agents were given, what was close and was not given, and what was learnt: HookService.ListGiven.

use std::collections::HashMap;
use std::sync::Arc;

use amem_facts::{FactMoment, Facts};
use amem_format::Micros;
use amem_hooks::entry::{GivenId, NearId, NearReason};
use amem_hooks::limits::{GIVEN_PAGE_DEFAULT, GIVEN_PAGE_MAX};
use amem_hooks::{LedgerEntry, SessionSummary, moment_message};
use amem_mcp::MemoryCalls;
use amem_memory::text_hash;
use amem_proto::answer::{Code, moment, timestamp};
use amem_proto::v1;
use amem_query::search::LIKELY_RELEVANCE;
use uuid::Uuid;

use super::caller_memory::CallerMemory;
use super::gateway::{Gateway, Handle};
use super::validate::unknown_page_token;
use crate::auth::Caller;
use crate::limits::{
    SESSION_TURNS_SHOWN, UNFORMED_CHARS_MAX, UNFORMED_SENTENCES_MAX, UNFORMED_TURNS_MAX,
};
use crate::refusal::{Refusal, Result};

impl Gateway {
    /// Sessions of a brain, by the beginning of their ids: files are read on a thread that may wait.
    async fn given_sessions(
        &self,
        caller: &Caller,
        (brain, session): (&str, &str),
        page: (usize, usize),
    ) -> Result<Vec<(SessionSummary, Vec<LedgerEntry>)>> {
        let (ledger, brain, session) = (self.hooks.clone(), brain.to_owned(), session.to_owned());
        let find = move || Ok(ledger.find(&brain, &session, page)?);
        self.fact_calls.of_process(caller).run(find).await
    }

    /// What memories and other events say now, by their events.
    async fn texts_now(
        self: &Arc<Self>,
        caller: &Caller,
        brain: &str,
        given: impl Iterator<Item = (&str, u64)>,
    ) -> Result<HashMap<u64, TextNow>> {
        let calls = CallerMemory::new(self, caller);
        let mut out = HashMap::new();
        for (id, event) in given {
            if out.contains_key(&event) {
                continue;
            }
            let request = v1::GetFactRequest {
                brain: brain.to_owned(),
                id: id.to_owned(),
                ..v1::GetFactRequest::default()
            };
            let answer = match id.is_empty() {
                true => None,
                false => match calls.get_fact(request).await {
                    Ok(answer) => answer.fact,
                    Err(refusal) if refusal.code == Code::NotFound => None,
                    Err(refusal) => return Err(Refusal(refusal)),
                },
            };
            let now = match answer {
                Some(fact) => TextNow {
                    text: fact.memory,
                    is_quarantined: fact.quarantined,
                },
                // Words without an id are an event of their own; what has one is gone.
                None => TextNow {
                    text: match id.is_empty() {
                        true => self.words_now(caller, brain, event).await?,
                        false => String::new(),
                    },
                    is_quarantined: false,
                },
            };
            out.insert(event, now);
        }
        Ok(out)
    }

    /// The sentences of turns of which no memory was formed, by the turns.
    async fn unformed(
        self: &Arc<Self>,
        caller: &Caller,
        brain: &str,
        entries: &[LedgerEntry],
    ) -> Result<HashMap<String, Vec<String>>> {
        let turns = entries.iter().flat_map(|entry| match entry {
            LedgerEntry::Stored { said, .. } => said.as_slice(),
            _ => &[],
        });
        let turns: Vec<String> = turns.take(UNFORMED_TURNS_MAX).cloned().collect();
        if turns.is_empty() {
            return Ok(HashMap::new());
        }
        let work = move |facts: &Facts<'_>, at: &FactMoment| {
            let mut out = HashMap::new();
            for turn in turns {
                // The ledger is a file: what is not an id names no turn.
                if let Ok(id) = Uuid::try_parse(&turn) {
                    out.insert(turn, facts.unformed(id, at)?);
                }
            }
            Ok(out)
        };
        Ok(self.read_facts(caller, brain, None, work).await?.1)
    }

    /// The words of an event now; empty if it is gone.
    async fn words_now(
        self: &Arc<Self>,
        caller: &Caller,
        brain: &str,
        event: u64,
    ) -> Result<String> {
        let asked = v1::GetEventsRequest {
            brain: brain.to_owned(),
            event_ids: vec![event],
            touch: Some(false),
            ..v1::GetEventsRequest::default()
        };
        let events = match self.ask_as(caller, asked).await {
            Ok(answer) => answer.events,
            Err(refusal) if refusal.code == Code::NotFound => Vec::new(),
            Err(refusal) => return Err(refusal),
        };
        let there = events
            .into_iter()
            .find(|event| !event.forgotten && !event.erased);
        Ok(there.map(|event| event.text).unwrap_or_default())
    }

    /// The turns of a session by the hashes of their texts.
    async fn turns_by_hash(
        self: &Arc<Self>,
        caller: &Caller,
        brain: &str,
        summary: &SessionSummary,
    ) -> Result<HashMap<String, String>> {
        let key = amem_hooks::session_key(&summary.client, &summary.session);
        let found = v1::GetSessionRequest {
            brain: brain.to_owned(),
            session: Some(v1::get_session_request::Session::Key(key)),
            as_of: None,
        };
        let session = match self.ask_as(caller, found).await {
            Ok(answer) => answer.session.map(|session| session.id),
            Err(refusal) if refusal.code == Code::NotFound => None,
            Err(refusal) => return Err(refusal),
        };
        let Some(session) = session else {
            return Ok(HashMap::new());
        };
        let asked = v1::PatternRequest {
            brain: brain.to_owned(),
            selection: Some(v1::Selection {
                session_ids: vec![session],
                ..v1::Selection::default()
            }),
            page_size: SESSION_TURNS_SHOWN,
            touch: Some(false),
            ..v1::PatternRequest::default()
        };
        let events = self.ask_as(caller, asked).await?.events;
        Ok(events
            .into_iter()
            .map(|event| (text_hash(&event.text), event.text))
            .collect())
    }
}

/// What a memory, or another event, says now.
struct TextNow {
    /// Empty if it is gone.
    text: String,
    is_quarantined: bool,
}

/// What a list shows of the entries of a session.
struct ShownTexts {
    memories: HashMap<u64, TextNow>,
    /// Prompts, by the hashes of their texts.
    prompts: HashMap<String, String>,
    /// Sentences without a memory, by turns.
    unformed: HashMap<String, Vec<String>>,
}

impl ShownTexts {
    fn memory(&self, id: &str, event: u64) -> v1::GivenMemory {
        let now = self.memories.get(&event);
        v1::GivenMemory {
            id: id.to_owned(),
            event_id: event,
            memory: now.map(|now| now.text.clone()).unwrap_or_default(),
            quarantined: now.is_some_and(|now| now.is_quarantined),
        }
    }

    fn memories(&self, ids: &[GivenId]) -> Vec<v1::GivenMemory> {
        let of = |given: &GivenId| self.memory(&given.id, given.event);
        ids.iter().map(of).collect()
    }

    fn near(&self, near: &NearId) -> v1::NearMemory {
        let why = match near.why {
            NearReason::Relevance => v1::NotGivenReason::Relevance,
            NearReason::Had => v1::NotGivenReason::Had,
            NearReason::Said => v1::NotGivenReason::Said,
            NearReason::Room => v1::NotGivenReason::Room,
        };
        v1::NearMemory {
            memory: Some(self.memory(&near.id, near.event)),
            relevance: f32::from(near.relevance) / 1_000.0,
            floor: LIKELY_RELEVANCE,
            why: why.into(),
        }
    }

    /// The first sentences of turns that no memory is from.
    fn unformed(&self, turns: &[String]) -> Vec<String> {
        let sentences = turns.iter().filter_map(|turn| self.unformed.get(turn));
        sentences
            .flatten()
            .take(UNFORMED_SENTENCES_MAX)
            .map(|sentence| sentence.chars().take(UNFORMED_CHARS_MAX).collect())
            .collect()
    }
}

fn session_message(summary: &SessionSummary) -> v1::GivenSession {
    v1::GivenSession {
        client: summary.client.clone(),
        session: summary.session.clone(),
        project: summary.project.clone().unwrap_or_default(),
        from: Some(timestamp(Micros(summary.from))),
        to: Some(timestamp(Micros(summary.to))),
        given: summary.given,
        turns: summary.turns,
        facts: summary.learned,
    }
}

/// The entries of a session that say what was given or learnt, with texts.
fn entry_messages(entries: &[LedgerEntry], texts: &ShownTexts) -> Vec<v1::GivenEntry> {
    let message = |entry: &LedgerEntry| {
        let mut out = v1::GivenEntry {
            time: Some(timestamp(Micros(entry.at()))),
            ..v1::GivenEntry::default()
        };
        match entry {
            LedgerEntry::Given {
                moment,
                prompt,
                chars,
                tokens,
                memories: given,
                near,
                short,
                ..
            } => {
                out.set_moment(moment_message(*moment));
                out.prompt = texts.prompts.get(prompt).cloned().unwrap_or_default();
                out.prompt_chars = *chars;
                out.tokens = *tokens;
                out.given = texts.memories(given);
                out.near = near.iter().map(|near| texts.near(near)).collect();
                out.short_prompt = *short;
            }
            LedgerEntry::Stored {
                moment,
                turns,
                memories: learned,
                said,
                ..
            } => {
                out.set_moment(moment_message(*moment));
                out.turns = u32::try_from(turns.len()).unwrap_or(u32::MAX);
                out.learned = texts.memories(learned);
                out.unformed = texts.unformed(said);
            }
            _ => return None,
        }
        Some(out)
    };
    entries.iter().filter_map(message).collect()
}

impl Handle for v1::ListGivenRequest {
    type Response = v1::ListGivenResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let brain = gateway.hook_brain(caller, &request.brain).await?;
        let size = match request.page_size as usize {
            0 => GIVEN_PAGE_DEFAULT,
            size => size.min(GIVEN_PAGE_MAX),
        };
        let from = match request.page_token.as_str() {
            "" => 0,
            token => token.parse().map_err(|_| unknown_page_token(token))?,
        };
        let token_after = |count: usize| match count > size {
            true => (from + size).to_string(),
            false => String::new(),
        };
        let mut response = v1::ListGivenResponse {
            moment: Some(moment(&brain.view())),
            ..v1::ListGivenResponse::default()
        };
        if request.session.is_empty() {
            let found = gateway
                .given_sessions(caller, (&brain.name, ""), (from, size + 1))
                .await?;
            response.next_page_token = token_after(found.len());
            let sessions = found.iter().take(size);
            response.sessions = sessions.map(|(one, _)| session_message(one)).collect();
            return Ok(response);
        }
        let asked = (brain.name.as_str(), request.session.as_str());
        let found = gateway
            .given_sessions(caller, asked, (0, GIVEN_PAGE_MAX))
            .await?;
        // A whole id is meant even if another session's begins with it.
        let exact = found
            .iter()
            .filter(|(one, _)| one.session == request.session);
        let exact: Vec<_> = exact.collect();
        let meant: Vec<_> = match exact.is_empty() {
            true => found.iter().collect(),
            false => exact,
        };
        let [(summary, entries)] = meant.as_slice() else {
            let message = match meant.len() {
                0 => format!(
                    "no session {:?} was given anything: the list has those that were",
                    request.session
                ),
                several => format!(
                    "{several} sessions begin with {:?}: write more of the id",
                    request.session
                ),
            };
            let code = match meant.len() {
                0 => Code::NotFound,
                _ => Code::InvalidArgument,
            };
            return Err(Refusal::new(code, "SESSION", message));
        };
        let told = entries.iter().filter(|entry| {
            matches!(
                entry,
                LedgerEntry::Given { .. } | LedgerEntry::Stored { .. }
            )
        });
        let mut page: Vec<LedgerEntry> = told.skip(from).take(size + 1).cloned().collect();
        response.next_page_token = token_after(page.len());
        page.truncate(size);
        let mut ids: Vec<(&str, u64)> = Vec::new();
        for entry in &page {
            if let LedgerEntry::Given { memories, .. } | LedgerEntry::Stored { memories, .. } =
                entry
            {
                ids.extend(memories.iter().map(|one| (one.id.as_str(), one.event)));
            }
            if let LedgerEntry::Given { near, .. } = entry {
                ids.extend(near.iter().map(|one| (one.id.as_str(), one.event)));
            }
        }
        let name = brain.name.as_str();
        let texts = ShownTexts {
            memories: gateway.texts_now(caller, name, ids.into_iter()).await?,
            prompts: gateway.turns_by_hash(caller, name, summary).await?,
            unformed: gateway.unformed(caller, name, &page).await?,
        };
        response.sessions = vec![session_message(summary)];
        response.entries = entry_messages(&page, &texts);
        Ok(response)
    }
}
