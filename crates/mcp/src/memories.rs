//! The memories of a place: what all tools do with them.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amem_format::Micros;
use amem_proto::answer::{Code, Refusal, timestamp};
use amem_proto::v1;
use amem_query::time_phrase::Clock;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::answer::{id_of, is_spoken};
use crate::arguments::Words;
use crate::calls::{CallResult, MemoryCalls};
use crate::limits::{CAUSES_SHOWN, WRITE_TRIES_MAX};
use crate::memory_place::{MemoryPlace, Reach};

/// The memories of a place, for one request.
pub(crate) struct Memories<'a, C> {
    pub(crate) calls: &'a C,
    pub(crate) place: &'a MemoryPlace,
    /// The client, for the author of commits.
    pub(crate) agent: &'a str,
}

/// A memory as a request names it.
pub(crate) enum AskedMemory {
    Event(u64),
    Id(String),
}

/// A memory, and what the id says by which it was found.
pub(crate) struct NamedMemory {
    pub(crate) fact: v1::Fact,
    /// The event of the id, if it is of an earlier version.
    pub(crate) replaced: Option<u64>,
}

impl AskedMemory {
    fn name(&self) -> v1::FactName {
        match self {
            Self::Event(event) => v1::FactName {
                event_id: Some(*event),
                ..v1::FactName::default()
            },
            Self::Id(id) => v1::FactName {
                id: id.clone(),
                ..v1::FactName::default()
            },
        }
    }
}

impl NamedMemory {
    fn of(asked: &AskedMemory, fact: v1::Fact, is_turns: bool) -> Self {
        let replaced = match asked {
            AskedMemory::Event(event) if !is_turns && *event != fact.event_id => Some(*event),
            _ => None,
        };
        Self { fact, replaced }
    }
}

/// Reads an id: e43, [e43], 43, or a UUID.
pub(crate) fn asked(text: &str) -> Words<AskedMemory> {
    let id = text.trim().trim_matches(['[', ']']).trim();
    if Uuid::try_parse(id).is_ok() {
        return Ok(AskedMemory::Id(id.to_owned()));
    }
    let number = id.strip_prefix(['e', 'E']).unwrap_or(id);
    let event = number.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        format!("{shown:?} is no id of a memory: recall shows ids such as e43")
    })?;
    Ok(AskedMemory::Event(event))
}

/// A refusal of the daemon in words for a model.
pub(crate) fn in_words(refusal: Refusal) -> String {
    match (refusal.code, refusal.reason.as_ref()) {
        (Code::Unavailable, _) => {
            format!("memory is not available now ({refusal}); go on without it, nothing was stored")
        }
        (Code::NotFound, "UNKNOWN_BRAIN") => {
            format!("{refusal}; `amemctl brain create` makes one")
        }
        (Code::Aborted, _) => format!("{refusal}; others write at the same time: try again"),
        (Code::DeadlineExceeded, _) => format!("{refusal}; it may have been done: recall first"),
        _ => refusal.to_string(),
    }
}

/// What is said of a memory that no model is given.
pub(crate) fn in_quarantine(event: u64) -> String {
    format!(
        "[{}] is in quarantine: it reads like an order to a model; a person decides with \"amemctl fact review\"",
        id_of(event)
    )
}

/// The present.
pub(crate) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Micros(since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }))
}

/// The state of a memory at a time.
pub(crate) fn as_of(time: Option<Micros>) -> Option<v1::AsOf> {
    let moment = v1::as_of::Moment::Time(timestamp(time?));
    Some(v1::AsOf {
        moment: Some(moment),
    })
}

/// Writes, again while others change the memories of the scope.
///
/// # Errors
/// What the call refuses, at its last try.
pub async fn write_again<T, F: Future<Output = CallResult<T>>>(
    mut call: impl FnMut() -> F,
) -> CallResult<T> {
    let mut tries = 1;
    loop {
        match call().await {
            Err(refusal)
                if refusal.code == Code::Aborted
                    && refusal.reason == "CONDITION"
                    && tries < WRITE_TRIES_MAX =>
            {
                // Writers that collide wait for different times.
                let spread = u64::from(Uuid::new_v4().as_bytes()[0]);
                tokio::time::sleep(Duration::from_millis(u64::from(tries) * spread / 16)).await;
                tries += 1;
            }
            done => return done,
        }
    }
}

impl<C: MemoryCalls> Memories<'_, C> {
    pub(crate) fn clock(&self) -> Clock {
        Clock::new(now(), self.place.zone.clone())
    }

    pub(crate) fn brain(&self) -> String {
        self.place.brain.clone()
    }

    /// Author and id of a write.
    pub(crate) fn options(&self) -> Option<v1::WriteOptions> {
        Some(v1::WriteOptions {
            agent: self.agent.chars().take(60).collect(),
            request_id: Uuid::now_v7().to_string(),
            ..v1::WriteOptions::default()
        })
    }

    /// The current version of a memory that is the project's or the user's; `None` if there is none here.
    pub(crate) async fn find(
        &self,
        memory: &AskedMemory,
        at: Option<Micros>,
    ) -> CallResult<Option<v1::Fact>> {
        Ok(self.look_up(memory, at).await?.map(|found| found.fact))
    }

    /// The same, with what its id names.
    pub(crate) async fn look_up(
        &self,
        memory: &AskedMemory,
        at: Option<Micros>,
    ) -> CallResult<Option<NamedMemory>> {
        let mut request = v1::GetFactRequest {
            brain: self.brain(),
            as_of: as_of(at),
            ..v1::GetFactRequest::default()
        };
        match memory {
            AskedMemory::Event(event) => request.event_id = Some(*event),
            AskedMemory::Id(id) => request.id.clone_from(id),
        }
        match self.calls.get_fact(request).await {
            Ok(answer) => {
                let fact = answer
                    .fact
                    .filter(|fact| self.place.is_visible(fact.scope.as_ref()));
                Ok(fact.map(|fact| NamedMemory::of(memory, fact, answer.from_turn)))
            }
            Err(refusal) if refusal.code == Code::NotFound && refusal.reason != "UNKNOWN_BRAIN" => {
                Ok(None)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// The memory that a model names.
    pub(crate) async fn named(&self, text: &str, at: Option<Micros>) -> Words<v1::Fact> {
        Ok(self.named_version(text, at).await?.fact)
    }

    /// The same, with what its id names.
    pub(crate) async fn named_version(&self, text: &str, at: Option<Micros>) -> Words<NamedMemory> {
        let found = self.look_up(&asked(text)?, at).await.map_err(in_words)?;
        found.ok_or_else(|| {
            let id = text.trim().trim_matches(['[', ']']);
            format!(
                "there is no memory [{id}] in {}: it was forgotten, or never was; recall shows ids",
                self.place.in_words()
            )
        })
    }

    /// The same, unless it was said or written: such words are not changed, and nothing rests on them.
    pub(crate) async fn formed_version(&self, text: &str) -> Words<NamedMemory> {
        let named = self.named_version(text, None).await?;
        match is_spoken(&named.fact) {
            true => Err(format!(
                "[{}] is what was {}, and stays as it is: remember what holds now, or forget it",
                id_of(named.fact.event_id),
                named.fact.kind
            )),
            false => Ok(named),
        }
    }

    /// The same memory alone.
    pub(crate) async fn formed(&self, text: &str) -> Words<v1::Fact> {
        Ok(self.formed_version(text).await?.fact)
    }

    /// The same, unless it is in quarantine: then it is for a person to read.
    pub(crate) async fn readable(&self, text: &str, at: Option<Micros>) -> Words<v1::Fact> {
        let fact = self.named(text, at).await?;
        match fact.quarantined {
            true => Err(in_quarantine(fact.event_id)),
            false => Ok(fact),
        }
    }

    /// The same for many, in one call: each as it was asked for, `None` where there is none here.
    pub(crate) async fn look_up_all(
        &self,
        asked: &[AskedMemory],
        at: Option<Micros>,
    ) -> CallResult<Vec<Option<NamedMemory>>> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let request = v1::GetFactRequest {
            brain: self.brain(),
            as_of: as_of(at),
            more: asked.iter().map(AskedMemory::name).collect(),
            ..v1::GetFactRequest::default()
        };
        let found = self.calls.get_fact(request).await?.more;
        let of = |asked: &AskedMemory| {
            let name = Some(asked.name());
            let named = found.iter().find(|named| named.name == name)?;
            let fact = named.fact.clone()?;
            let is_visible = self.place.is_visible(fact.scope.as_ref());
            is_visible.then(|| NamedMemory::of(asked, fact, named.from_turn))
        };
        Ok(asked.iter().map(of).collect())
    }

    /// The short ids of what memories rest on, the first few of each, by the ids of those: in one call.
    pub(crate) async fn causes(
        &self,
        facts: &[&v1::Fact],
        at: Option<Micros>,
    ) -> CallResult<HashMap<String, String>> {
        let mut ids: Vec<&String> = Vec::new();
        for fact in facts {
            ids.extend(fact.because_ids.iter().take(CAUSES_SHOWN));
        }
        ids.sort_unstable();
        ids.dedup();
        let asked: Vec<AskedMemory> = ids
            .iter()
            .map(|id| AskedMemory::Id((*id).clone()))
            .collect();
        // A reason that is gone is shown by `why`; here it is left out.
        let found = self.look_up_all(&asked, at).await?;
        let there = found.into_iter().flatten();
        Ok(there
            .map(|cause| (cause.fact.id, id_of(cause.fact.event_id)))
            .collect())
    }

    /// The memories in reach that match a condition, the newest versions first, up to a number.
    pub(crate) async fn list(
        &self,
        reach: Reach,
        and: Vec<Value>,
        most: usize,
        at: Option<Micros>,
    ) -> Words<Vec<v1::Fact>> {
        let filter_json = self.place.filter(reach, and)?;
        self.list_by(filter_json, most, at).await
    }

    /// The newest, each with the sentence that it is from.
    pub(crate) async fn list_said(
        &self,
        reach: Reach,
        and: Vec<Value>,
        most: usize,
    ) -> Words<Vec<v1::Fact>> {
        let request = v1::ListFactsRequest {
            filter_json: self.place.filter(reach, and)?,
            with_said: true,
            ..v1::ListFactsRequest::default()
        };
        self.pages(request, most).await
    }

    /// What persons asked for in every session, the newest first.
    pub(crate) async fn standing(&self, most: usize) -> Words<Vec<v1::RecallEntry>> {
        let request = v1::RecallRequest {
            brain: self.brain(),
            filter_json: self.place.filter(Reach::All, Vec::new())?,
            limit: u32::try_from(most).unwrap_or(u32::MAX),
            standing_only: true,
            ..v1::RecallRequest::default()
        };
        Ok(self.calls.recall(request).await.map_err(in_words)?.standing)
    }

    /// The same by a filter.
    pub(crate) async fn list_by(
        &self,
        filter_json: String,
        most: usize,
        at: Option<Micros>,
    ) -> Words<Vec<v1::Fact>> {
        let request = v1::ListFactsRequest {
            filter_json,
            as_of: as_of(at),
            ..v1::ListFactsRequest::default()
        };
        self.pages(request, most).await
    }

    /// The memories of a list, page by page.
    async fn pages(&self, list: v1::ListFactsRequest, most: usize) -> Words<Vec<v1::Fact>> {
        let (mut out, mut page_token) = (Vec::new(), String::new());
        loop {
            let request = v1::ListFactsRequest {
                brain: self.brain(),
                page_size: u32::try_from(most.min(1_000)).unwrap_or(1_000),
                page_token,
                ..list.clone()
            };
            let page = self.calls.list_facts(request).await.map_err(in_words)?;
            out.extend(page.facts.into_iter().filter(|fact| !fact.quarantined));
            if out.len() >= most || page.next_page_token.is_empty() {
                out.truncate(most);
                return Ok(out);
            }
            page_token = page.next_page_token;
        }
    }

    /// The memories that rest on one.
    pub(crate) async fn resting_on(&self, id: &str, at: Option<Micros>) -> Words<Vec<v1::Fact>> {
        let and = vec![json!({"because": id})];
        self.list(Reach::All, and, crate::limits::TREE_SIZE_MAX, at)
            .await
    }

    /// The scope of a new memory.
    pub(crate) fn scope(&self, reach: Reach) -> Words<v1::Scope> {
        let mut scope = v1::Scope::default();
        match (reach, &self.place.project) {
            (Reach::User, _) | (Reach::All, None) => scope.user = Some(self.place.user.clone()),
            (_, Some(project)) => scope.app = Some(project.id.clone()),
            (Reach::Project, None) => return Err(self.place.no_project()),
        }
        Ok(scope)
    }
}
