//! Which function plans which mutation.

use amem_format::Micros;
use amem_format::journal::frame::Kind;
use amem_format::limits::EDGES_MAX;
use amem_format::view::View;

use crate::error::{Error, Result};
use crate::mutation::{MergeReport, MergeSource, Mutation};
use crate::plan::builder::{Plan, PlanBuilder};

/// Plans a mutation against a view; `now` is the clock's.
pub(crate) fn plan<'v>(view: &'v View, mutation: &'v Mutation, now: Micros) -> Result<Plan> {
    plan_within(view, mutation, now, EDGES_MAX)
}

/// The same for a brain of at most `edges_max` edges.
pub(crate) fn plan_within<'v>(
    view: &'v View,
    mutation: &'v Mutation,
    now: Micros,
    edges_max: u64,
) -> Result<Plan> {
    let mut p = PlanBuilder::begin(view, now);
    match mutation {
        Mutation::Ingest(ingest) => p.ingest(ingest)?,
        Mutation::Correct(correct) => p.correct(correct)?,
        Mutation::Link(edge) => p.link(edge)?,
        Mutation::Unlink {
            source,
            target,
            edge_type,
        } => p.unlink(*source, *target, *edge_type)?,
        Mutation::Touch(entries) => p.touch(entries)?,
        Mutation::Pin(id) => p.pin(*id, true)?,
        Mutation::Unpin(id) => p.pin(*id, false)?,
        Mutation::Forget(id) => p.hide(*id, true)?,
        Mutation::Restore(id) => p.hide(*id, false)?,
        Mutation::Erase(ids) => p.erase(ids)?,
        Mutation::Compress {
            session,
            text,
            vector,
        } => p.compress(*session, text, vector.as_deref())?,
        Mutation::CompressPart(part) => p.compress_part(part)?,
        Mutation::SetVector {
            target,
            vector,
            space,
        } => p.set_vector(*target, vector.as_deref(), *space)?,
        Mutation::SetAttributes { target, attributes } => {
            p.set_attributes(*target, attributes.as_ref())?
        }
        Mutation::Decay => p.decay(p.now)?,
        Mutation::OpenSession { .. } => {
            return Err(Error::invalid(
                "mutation",
                "a session is opened by an agent",
            ));
        }
        Mutation::CloseSession { session, outcome } => p.close_session(*session, outcome)?,
        Mutation::Merge(other) => p.merge(other)?,
        Mutation::SetSettings(settings) => p.set_settings(settings)?,
    }
    p.check_edges(edges_max)?;
    p.done(mutation.kind())
}

/// Plans the opening of a session by an agent.
pub(crate) fn plan_open_session(view: &View, key: &str, agent: &str, now: Micros) -> Result<Plan> {
    let mut p = PlanBuilder::begin(view, now);
    p.open_session(key, agent)?;
    p.done(Kind::OpenSession)
}

impl MergeSource {
    /// What a merge into a brain would do.
    pub fn would_do(&self, view: &View) -> Result<MergeReport> {
        let mutation = Mutation::Merge(self.clone());
        let planned = plan(view, &mutation, view.time())?;
        Ok(planned.answer.merged.unwrap_or_default())
    }
}
