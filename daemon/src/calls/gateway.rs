//! The gateway: what all calls share, and their entry points `ask_as`, `call_as` and, in `memory`, `write_as`.

use std::path::PathBuf;
use std::sync::Arc;

use amem_memory::add::SecretPolicy;
use amem_proto::answer::{Code, Question};
use amem_proto::v1;
use tokio::sync::{Semaphore, watch};

use super::answers::AnswerBudget;
use super::fact_memory::FactMemory;
use super::fact_messages::{scope, scope_message};
use super::item_memory::ItemMemory;
use super::validate::Validate;
use crate::auth::{Caller, Role};
use crate::brains::{Brains, blocking};
use crate::call_pool::CallPool;
use crate::config::READERS;
use crate::control::{Control, ReloadOutcome};
use crate::episodes::EpisodeTexts;
use crate::ingress::latency::Latencies;
use crate::ingress::quota::Quota;
use crate::limits::{
    FACT_CALLS_MAX, LIST_PAGE_MAX, READS_MAX, READS_MIN, READS_PER_CPU, SCANS_MAX,
    SUBSCRIPTION_READS_MAX, SUMMARIES_MAX,
};
use crate::models::Models;
use crate::refusal::{Refusal, Result};
use crate::webhooks::Webhooks;

use amem_engine::{BlockingPool, BlockingThreads, Schedules};
use amem_hooks::Ledger;
use amem_memory::FactScope;
use amem_store::folder::OWN;

/// The folder of what sessions were given, among our own files.
const LEDGER_FOLDER: &str = "hooks";

/// What all calls share.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) brains: Brains,
    pub(crate) socket: PathBuf,
    /// Reloads the configuration, and ends the daemon.
    pub(crate) control: Control,
    /// Heavy questions.
    reads: CallPool,
    /// Work that reads a whole file.
    pub(super) scans: CallPool,
    /// Jobs that run on a schedule.
    pub(crate) schedules: Schedules,
    /// `None` if they are off.
    pub(crate) webhooks: Option<Webhooks>,
    /// Exports in progress, by caller.
    pub(super) exports: Quota,
    /// Streams of batches that are open, by caller.
    pub(super) streams: Quota,
    /// Bytes of answers under way.
    answers: Quota,
    /// Subscriptions that read commits at the same time.
    pub(super) follows: Arc<Semaphore>,
    /// True once the daemon stops: streams end.
    pub(super) stop: watch::Receiver<bool>,
    pub(super) latencies: Latencies,
    /// What the calls on the memories of each brain share.
    pub(super) facts: FactMemory,
    /// What the calls on the items of each brain share.
    pub(super) items: ItemMemory,
    /// What sessions of agents were given.
    pub(super) hooks: Ledger,
    /// Threads on which calls about facts and items wait for their commits.
    pub(crate) fact_calls: CallPool,
    /// The models that are set up.
    pub(crate) models: Models,
    pub(super) episodes: EpisodeTexts,
}

impl Gateway {
    pub(crate) fn new(
        brains: Brains,
        socket: PathBuf,
        stop: watch::Receiver<bool>,
        latencies: Latencies,
        control: Control,
        (webhooks, models): (Option<Webhooks>, Models),
    ) -> std::io::Result<Self> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let reads = (READS_PER_CPU * cpus).clamp(READS_MIN, READS_MAX);
        let threads = Arc::new(BlockingThreads::new(
            reads + SCANS_MAX + SUMMARIES_MAX + FACT_CALLS_MAX,
        )?);
        let fact_calls = CallPool(BlockingPool::new(&threads, FACT_CALLS_MAX));
        let scans = BlockingPool::new(&threads, SCANS_MAX);
        let ledger = brains.path().join(OWN).join(LEDGER_FOLDER);
        let episodes = EpisodeTexts::new(models.clone());
        let texts = episodes.clone();
        let schedules = Schedules::new(
            brains.engine().clone(),
            scans.clone(),
            Arc::new(move |view, session| texts.summary(view, session)),
            BlockingPool::new(&threads, SUMMARIES_MAX),
        );
        schedules.set_zone(control.live().zone.clone());
        Ok(Self {
            schedules,
            webhooks,
            brains,
            socket,
            control,
            reads: CallPool(BlockingPool::new(&threads, reads)),
            scans: CallPool(scans),
            answers: Quota::default(),
            exports: Quota::default(),
            streams: Quota::default(),
            follows: Arc::new(Semaphore::new(SUBSCRIPTION_READS_MAX)),
            stop,
            latencies,
            facts: FactMemory::default(),
            items: ItemMemory::default(),
            hooks: Ledger::new(ledger),
            fact_calls,
            models,
            episodes,
        })
    }

    /// What happens to secrets in what is to be remembered.
    pub(crate) fn memory_secrets(&self) -> SecretPolicy {
        self.control.live().memory_secrets
    }

    /// Reads the configuration again and puts it into force.
    pub(crate) async fn reload(&self) -> Result<ReloadOutcome> {
        let control = self.control.clone();
        let reloaded = blocking(move || control.reload()).await?.map_err(|error| {
            let message = format!("the configuration did not change: {error}");
            Refusal::new(Code::InvalidArgument, "CONFIGURATION", message)
        })?;
        self.schedules.set_zone(self.control.live().zone.clone());
        if reloaded.changed.iter().any(|key| key == READERS) {
            let readers = self.control.live().access.readers().clone();
            self.brains.engine().set_readers(readers).await?;
        }
        Ok(reloaded)
    }

    /// What the answers to a caller may hold.
    pub(crate) fn answers_to(&self, caller: &Caller) -> AnswerBudget {
        AnswerBudget::new(&self.answers, &self.control, caller)
    }

    /// Answers a question from the brain's newest view, or its view of an earlier moment; heavy questions wait for
    /// a thread of the pool. Events that an answer shows count as used only if the caller may write the brain.
    pub(crate) async fn ask_as<Q: Question>(
        &self,
        caller: &Caller,
        question: Q,
    ) -> Result<Q::Answer> {
        let brain = self.brains.get(caller, question.brain()).await?;
        let question = self.with_question_vector(caller, &brain, question).await?;
        let may_write = caller.rights.of(&brain.name) >= Some(Role::Write);
        let answered = if question.is_heavy() {
            let brain = brain.clone();
            let answer = move || Ok(question.ask(&brain.view())?);
            self.reads.of_process(caller).run(answer).await?
        } else {
            question.ask(&brain.view())?
        };
        if may_write {
            brain.touch(answered.touched);
        }
        Ok(answered.answer)
    }

    /// Executes any other request.
    pub(crate) async fn call_as<C: Handle>(
        self: &Arc<Self>,
        caller: &Caller,
        request: C,
    ) -> Result<C::Response> {
        C::handle(request.validate()?, self, caller).await
    }

    /// Executes a request about facts, within the scope of the caller's token.
    pub(crate) async fn fact_as<C: Handle + ScopedRequest>(
        self: &Arc<Self>,
        caller: &Caller,
        mut request: C,
    ) -> Result<C::Response> {
        let caller = request.put_within(caller)?;
        self.call_as(&caller, request).await
    }
}

/// A request about facts. The dispatch needs it, so that no call of FactService leaves the scope of a token.
pub(crate) trait ScopedRequest {
    /// The scope of the request.
    fn scope_mut(&mut self) -> &mut Option<v1::Scope>;

    /// Fills in the scope of the caller's token; returns the caller as it may execute the request then.
    fn put_within(&mut self, caller: &Caller) -> Result<Caller> {
        let field = self.scope_mut();
        let (within, caller) = caller.within(&scope(field.take()))?;
        *field = (within != FactScope::default()).then(|| scope_message(&within));
        Ok(caller)
    }
}

macro_rules! scoped {
    ($($method:ident $request:ident $response:ident $path:literal;)*) => {
        $(impl ScopedRequest for v1::$request {
            fn scope_mut(&mut self) -> &mut Option<v1::Scope> {
                &mut self.scope
            }
        })*
    };
}

amem_proto::for_each_fact_call!(scoped);

/// A request that is neither a question nor a change, has one answer and is no stream.
pub(crate) trait Handle: Validate {
    /// The message that answers it.
    type Response;

    /// Executes a valid request.
    fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> impl Future<Output = Result<Self::Response>> + Send;
}

/// The rows of a page for which a request asks; 0 asks for the maximum.
pub(super) fn page_size(asked: u32) -> usize {
    match asked as usize {
        0 => LIST_PAGE_MAX,
        asked => asked.min(LIST_PAGE_MAX),
    }
}
