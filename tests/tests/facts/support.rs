//! A brain in a simulated folder as a store of memories, and short words for its calls.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use amem_facts::search::{FactRanking, FactSearch};
use amem_facts::{FactBrain, FactState, Facts, ListRequest, MemoryHistory, RandomIds};
use amem_format::types::{Lsn, Micros, SessionId};
use amem_format::view::View;
use amem_memory::add::{AddAnswer, AddEvent, AddRequest};
use amem_memory::change::UpdateRequest;
use amem_memory::model::{FormTable, Model};
use amem_memory::store::{BuiltinEmbedder, Embedder, MemoryItem};
use amem_memory::{FactFilter, FactScope, Message};
use amem_store::disk::Disk;
use amem_store::mutation::{Answer, Mutation, Request};
use amem_store::{Folder, NewBrain, Store, create};
use amem_tests::disk::SimDisk;
use uuid::Uuid;

/// The present of the first request.
pub(crate) const START: i64 = 1_700_000_000_000_000;

/// A store as `FactBrain`.
pub(crate) struct StoreBrain {
    store: Mutex<Store>,
    /// Commits that are lost: the next ones fail as if the disk did.
    pub(crate) refuse: Mutex<u32>,
    /// Commits that were made.
    pub(crate) commits: AtomicU32,
    /// What another caller does before the next change that stands on a view.
    pub(crate) meanwhile: Mutex<Option<Mutation>>,
}

impl StoreBrain {
    pub(crate) fn of(store: Store) -> Self {
        Self {
            store: Mutex::new(store),
            refuse: Mutex::new(0),
            commits: AtomicU32::new(0),
            meanwhile: Mutex::new(None),
        }
    }
}

impl FactBrain for StoreBrain {
    fn view(&self) -> View {
        self.store.lock().unwrap().view()
    }

    fn commit(&self, mutation: Mutation) -> amem_engine::Result<Answer> {
        let mut refuse = self.refuse.lock().unwrap();
        if *refuse > 0 {
            *refuse -= 1;
            return Err(amem_engine::Error::Closed { name: "b".into() });
        }
        drop(refuse);
        self.commits.fetch_add(1, Ordering::Relaxed);
        let request = Request::new(mutation).by("uid:1", "test");
        Ok(self.store.lock().unwrap().execute(request)?)
    }

    fn commit_after(&self, mutation: Mutation, lsn: Lsn) -> amem_engine::Result<Answer> {
        if let Some(other) = self.meanwhile.lock().unwrap().take() {
            let request = Request::new(other).by("uid:2", "other");
            self.store.lock().unwrap().execute(request)?;
        }
        let request = Request {
            expected_lsn: Some(lsn),
            ..Request::new(mutation).by("uid:1", "test")
        };
        Ok(self.store.lock().unwrap().execute(request)?)
    }
}

/// A brain, and a clock that goes on by a second a request.
pub(crate) struct Bench {
    disk: Arc<SimDisk>,
    pub(crate) brain: StoreBrain,
    pub(crate) state: FactState,
    forms: FormTable,
    clock: Cell<i64>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(&NewBrain::default())
    }

    pub(crate) fn with(options: &NewBrain) -> Self {
        let disk = Arc::new(SimDisk::new(1));
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
        create(&folder, "b", options).unwrap();
        let store = Store::open(&folder, "b").unwrap();
        Self {
            disk,
            brain: StoreBrain::of(store),
            state: FactState::default(),
            forms: FormTable::default(),
            clock: Cell::new(START),
        }
    }

    /// The brain after a crash or a stop: everything in memory is gone.
    pub(crate) fn reopened(self) -> Self {
        let Self {
            disk, brain, clock, ..
        } = self;
        drop(brain);
        let disk = Arc::new(disk.cloned());
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test").unwrap();
        let store = Store::open(&folder, "b").unwrap();
        Self {
            disk,
            brain: StoreBrain::of(store),
            state: FactState::default(),
            forms: FormTable::default(),
            clock,
        }
    }

    /// Makes a new base of everything so far.
    pub(crate) fn checkpoint(&self) {
        self.brain.store.lock().unwrap().checkpoint().unwrap();
    }

    pub(crate) fn erase(&self, ids: Vec<amem_format::NodeId>) {
        let mut store = self.brain.store.lock().unwrap();
        store.execute(Request::new(Mutation::Erase(ids))).unwrap();
        store.checkpoint().unwrap();
    }

    /// Has the store do what no call of fact memory does.
    pub(crate) fn execute(&self, mutation: Mutation) {
        let mut store = self.brain.store.lock().unwrap();
        store.execute(Request::new(mutation)).unwrap();
    }

    /// A session, opened.
    pub(crate) fn session(&self) -> u32 {
        let open = Mutation::OpenSession { key: "s".into() };
        let mut store = self.brain.store.lock().unwrap();
        let answer = store.execute(Request::new(open)).unwrap();
        answer.session.unwrap().0
    }

    /// Summarises a session; returns the episode.
    pub(crate) fn compress(&self, session: u32, text: &str) -> amem_format::NodeId {
        let compress = Mutation::Compress {
            session: SessionId(session),
            text: text.into(),
            vector: None,
        };
        let mut store = self.brain.store.lock().unwrap();
        store.execute(Request::new(compress)).unwrap().ids[0]
    }

    pub(crate) fn now(&self) -> Micros {
        self.clock.set(self.clock.get() + 1_000_000);
        Micros(self.clock.get())
    }

    pub(crate) fn facts(&self) -> Facts<'_> {
        self.facts_with(&BuiltinEmbedder, None)
    }

    pub(crate) fn facts_with<'b>(
        &'b self,
        embedder: &'b dyn Embedder,
        model: Option<&'b dyn Model>,
    ) -> Facts<'b> {
        Facts {
            brain: &self.brain,
            state: &self.state,
            embedder,
            ids: &RandomIds,
            model,
            forms: &self.forms,
        }
    }

    pub(crate) fn request(&self, text: &str, scope: &FactScope) -> AddRequest {
        AddRequest::new(vec![Message::user(text)], scope.clone(), self.now())
    }

    /// Adds a text, facts inferred.
    pub(crate) fn add(&self, text: &str, scope: &FactScope) -> AddAnswer {
        self.run(&self.request(text, scope))
    }

    /// Adds a text as it is.
    pub(crate) fn keep(&self, text: &str, scope: &FactScope) -> Uuid {
        let mut request = self.request(text, scope);
        request.infer = false;
        self.run(&request).results[0].id
    }

    pub(crate) fn keep_with(
        &self,
        text: &str,
        scope: &FactScope,
        metadata: serde_json::Value,
    ) -> Uuid {
        let mut request = self.request(text, scope);
        request.infer = false;
        request.metadata = metadata.as_object().unwrap().clone();
        self.run(&request).results[0].id
    }

    pub(crate) fn run(&self, request: &AddRequest) -> AddAnswer {
        self.facts().add(request).unwrap().0
    }

    pub(crate) fn ask(&self, question: &str, scope: &FactScope) -> FactSearch {
        FactSearch {
            question: question.into(),
            scope: scope.clone(),
            filter: None,
            limit: 10,
            threshold: 0.0,
            at: None,
            with_quarantined: false,
            with_graph: false,
            now: self.now(),
        }
    }

    pub(crate) fn found(&self, search: &FactSearch) -> FactRanking {
        let facts = self.facts();
        facts.search(search, &facts.moment(None).unwrap()).unwrap()
    }

    /// The texts that a question finds.
    pub(crate) fn texts_found(&self, question: &str, scope: &FactScope) -> Vec<String> {
        let ranking = self.found(&self.ask(question, scope));
        ranking
            .hits
            .into_iter()
            .map(|hit| hit.item.memory)
            .collect()
    }

    pub(crate) fn filtered(
        &self,
        question: &str,
        scope: &FactScope,
        filter: serde_json::Value,
    ) -> Vec<String> {
        let mut search = self.ask(question, scope);
        search.filter = Some(FactFilter::parse(&filter).unwrap());
        let mut texts: Vec<String> = self
            .found(&search)
            .hits
            .into_iter()
            .map(|hit| hit.item.memory)
            .collect();
        texts.sort();
        texts
    }

    pub(crate) fn get(&self, id: Uuid) -> Option<MemoryItem> {
        let facts = self.facts();
        let moment = facts.moment(None).unwrap();
        let now = Micros(self.clock.get());
        facts.get(id, &FactScope::default(), now, &moment).unwrap()
    }

    /// All memories of a scope, page by page.
    pub(crate) fn all(&self, scope: &FactScope) -> Vec<MemoryItem> {
        let facts = self.facts();
        let mut request = ListRequest {
            scope: scope.clone(),
            limit: 7,
            now: Micros(self.clock.get()),
            ..ListRequest::default()
        };
        let mut items = Vec::new();
        loop {
            let page = facts.list(&request, &facts.moment(None).unwrap()).unwrap();
            items.extend(page.items);
            request.before = page.next;
            if page.next.is_none() {
                return items;
            }
        }
    }

    pub(crate) fn texts(&self, scope: &FactScope) -> Vec<String> {
        let mut texts: Vec<String> = self
            .all(scope)
            .into_iter()
            .map(|item| item.memory)
            .collect();
        texts.sort();
        texts
    }

    pub(crate) fn update(&self, id: Uuid, text: &str) -> MemoryItem {
        let request = UpdateRequest {
            id,
            text: Some(text.into()),
            metadata: None,
            expected: None,
            reason: None,
            secrets: amem_memory::add::SecretPolicy::Mask,
            now: self.now(),
        };
        let facts = self.facts();
        facts
            .update(&request, &FactScope::default(), None)
            .unwrap()
            .0
    }

    pub(crate) fn delete(&self, id: Uuid) {
        let facts = self.facts();
        facts
            .delete(id, &FactScope::default(), self.now(), None, None)
            .unwrap();
    }

    pub(crate) fn history(&self, id: Uuid) -> MemoryHistory {
        let facts = self.facts();
        let moment = facts.moment(None).unwrap();
        facts
            .history(id, &FactScope::default(), (1_000, None), &moment)
            .unwrap()
    }
}

pub(crate) fn alice() -> FactScope {
    FactScope::user("alice")
}

pub(crate) fn bob() -> FactScope {
    FactScope::user("bob")
}

/// The events of an answer and their texts.
pub(crate) fn events(answer: &AddAnswer) -> Vec<(AddEvent, &str)> {
    let results = answer.results.iter();
    results
        .map(|one| (one.event, one.memory.as_str()))
        .collect()
}

impl Bench {
    /// Commits since the brain was opened.
    pub(crate) fn commits(&self) -> u32 {
        self.brain.commits.load(Ordering::Relaxed)
    }

    /// The newest frame.
    pub(crate) fn brain_lsn(&self) -> u64 {
        self.brain.view().lsn().0
    }
}
