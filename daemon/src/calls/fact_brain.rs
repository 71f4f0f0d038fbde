//! The brain of a request about facts, and work on its memories on a thread that may wait.

use std::sync::Arc;

use amem_engine::OpenBrain;
use amem_engine::tasks::{AnyAnswer, typed};
use amem_facts::{EngineBrain, FactMoment, Facts, RandomIds, SpaceEmbedder};
use amem_format::view::AsOf;
use amem_memory::store::Embedder;
use amem_proto::answer::{Code, moment};
use amem_proto::v1;
use tokio::runtime::Handle;

use super::fact_memory::{DEFAULT_BRAIN, brain_name};
use super::gateway::Gateway;
use crate::auth::{Caller, Role};
use crate::refusal::Result;

/// Work on memories without its type: a call is compiled once, and not for each type of work.
type FactWork = Box<dyn FnOnce(&Facts<'_>) -> amem_facts::Result<AnyAnswer> + Send>;

fn untyped<T: Send + 'static>(
    work: impl FnOnce(&Facts<'_>) -> amem_facts::Result<T> + Send + 'static,
) -> FactWork {
    Box::new(move |facts| Ok(Box::new(work(facts)?)))
}

impl Gateway {
    /// The brain of a request about facts; the default one is made for a caller that may write it.
    pub(super) async fn fact_brain(&self, caller: &Caller, name: &str) -> Result<Arc<OpenBrain>> {
        let name = brain_name(name);
        let missing = match self.brains.get(caller, name).await {
            Ok(brain) => return Ok(brain),
            Err(refusal) if refusal.reason == "UNKNOWN_BRAIN" && name == DEFAULT_BRAIN => refusal,
            Err(refusal) => return Err(refusal),
        };
        if caller.check(name, Role::Write).is_err() {
            return Err(missing);
        }
        let options = self.new_brain(caller).await?;
        match self.brains.create(name, options).await {
            Ok(brain) => {
                tracing::info!(brain = name, "created the brain of fact memory");
                Ok(brain)
            }
            // Another caller was first.
            Err(refusal) if refusal.code == Code::AlreadyExists => {
                self.brains.get(caller, name).await
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Runs work on the memories of a brain, on a thread that may wait.
    pub(super) fn with_facts<T: Send + 'static>(
        &self,
        caller: &Caller,
        brain: &Arc<OpenBrain>,
        agent: &str,
        work: impl FnOnce(&Facts<'_>) -> amem_facts::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        let work = untyped(work);
        async move { Ok(typed(self.with_untyped(caller, brain, agent, work).await?)?) }
    }

    async fn with_untyped(
        &self,
        caller: &Caller,
        brain: &Arc<OpenBrain>,
        agent: &str,
        work: FactWork,
    ) -> Result<AnyAnswer> {
        let work = self.fact_work(&caller.principal, brain, agent, work);
        let run = move || Ok(work()?);
        self.fact_calls.of_process(caller).run(run).await
    }

    /// Reads the memories of the brain of a request, at a moment; returns the moment too.
    pub(super) fn read_facts<T: Send + 'static>(
        &self,
        caller: &Caller,
        brain: &str,
        as_of: Option<AsOf>,
        work: impl FnOnce(&Facts<'_>, &FactMoment) -> amem_facts::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<(v1::Moment, T)>> + Send {
        let work = untyped(move |facts: &Facts<'_>| {
            let at = facts.moment(as_of)?;
            Ok((moment(at.view()), work(facts, &at)?))
        });
        async move {
            let brain = self.fact_brain(caller, brain).await?;
            Ok(typed(self.with_untyped(caller, &brain, "", work).await?)?)
        }
    }

    /// The same, at once if little is read for it.
    pub(super) async fn read_light<T: Send + 'static>(
        &self,
        caller: &Caller,
        (brain, as_of): (&str, Option<AsOf>),
        is_light: impl FnOnce(&Facts<'_>) -> amem_facts::Result<bool> + Send + 'static,
        work: impl FnOnce(&Facts<'_>, &FactMoment) -> amem_facts::Result<T> + Send + 'static,
    ) -> Result<(v1::Moment, T)> {
        let brain = self.fact_brain(caller, brain).await?;
        let is_light = self.fact_work(&caller.principal, &brain, "", is_light)()?;
        let work = move |facts: &Facts<'_>| {
            let at = facts.moment(as_of)?;
            Ok((moment(at.view()), work(facts, &at)?))
        };
        match is_light {
            true => Ok(self.fact_work(&caller.principal, &brain, "", work)()?),
            false => self.with_facts(caller, &brain, "", work).await,
        }
    }

    /// Changes the memories of the brain of a request; returns the moment after it too.
    pub(super) fn change_facts<T: Send + 'static>(
        &self,
        caller: &Caller,
        brain: &str,
        agent: &str,
        work: impl FnOnce(&Facts<'_>) -> amem_facts::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<(v1::Moment, T)>> + Send {
        let work = untyped(work);
        async move {
            let brain = self.fact_brain(caller, brain).await?;
            let done = self.with_untyped(caller, &brain, agent, work).await?;
            Ok((moment(&brain.view()), typed(done)?))
        }
    }

    /// Work on the memories of a brain by an author, as a function for a thread that may wait. What it leaves pending
    /// is known at its end.
    pub(super) fn fact_work<T>(
        &self,
        principal: &str,
        brain: &Arc<OpenBrain>,
        agent: &str,
        work: impl FnOnce(&Facts<'_>) -> amem_facts::Result<T> + Send + 'static,
    ) -> impl FnOnce() -> amem_facts::Result<T> + Send + 'static {
        let state = self.facts.state(brain);
        let forms = self.facts.forms.clone();
        let models = self.models.clone();
        let embedder = SpaceEmbedder::of(&brain.view(), models.embedder().as_ref());
        let (author, space) = ((principal, agent), embedder.space());
        let opened = EngineBrain::new(brain.clone(), Handle::current(), author, space);
        let (brain, pending) = (brain.clone(), self.brains.pending_facts().clone());
        move || {
            let model = models.language();
            let facts = Facts {
                brain: &opened,
                state: &state,
                embedder: &embedder,
                ids: &RandomIds,
                model: model.as_deref(),
                forms: &forms,
            };
            let done = work(&facts);
            if pending.is_behind(&brain) {
                pending.look(&brain);
            }
            done
        }
    }
}
