//! Vectors of a model for what calls bring: new brains, new events, questions.

use amem_engine::OpenBrain;
use amem_memory::bytes_hash;
use amem_proto::answer::{Code, Question};
use amem_store::NewBrain;
use amem_store::mutation::{NewEvent, Request};

use super::gateway::Gateway;
use crate::auth::Caller;
use crate::models::{embed_events, new_events};
use crate::refusal::{Refusal, Result};

impl Gateway {
    /// What a new brain is, on a thread that may wait.
    pub(super) async fn new_brain(&self, caller: &Caller) -> Result<NewBrain> {
        let models = self.models.clone();
        if models.embedder().is_none() {
            return Ok(NewBrain::default());
        }
        let run = move || {
            models.new_brain().map_err(|why| {
                let message = format!("the embedder of new brains does not answer: {why}");
                Refusal::new(Code::Unavailable, "EMBEDDER", message)
            })
        };
        self.fact_calls.of_process(caller).run(run).await
    }

    /// A change with vectors for its new events, if the brain's are of the embedder.
    pub(super) async fn with_vectors(
        &self,
        caller: &Caller,
        brain: &OpenBrain,
        mut request: Request,
    ) -> Result<Request> {
        let Some(embedder) = self.models.embedder_of(&brain.view()) else {
            return Ok(request);
        };
        let needs = |event: &NewEvent| event.vector.is_none() && !event.text.is_empty();
        if !new_events(&mut request.mutation).iter().any(needs) {
            return Ok(request);
        }
        // A retry is compared with what was asked: vectors may differ in their last digits.
        if request.said.is_none() {
            let asked = format!("{:?}", request.mutation);
            request.said = Some(bytes_hash(asked.as_bytes()));
        }
        let run = move || {
            embed_events(&mut request, embedder.as_ref());
            Ok(request)
        };
        self.fact_calls.of_process(caller).run(run).await
    }

    /// A question with its vector, if it has none and the brain's are of the embedder. One that is away leaves words.
    pub(super) async fn with_question_vector<Q: Question>(
        &self,
        caller: &Caller,
        brain: &OpenBrain,
        mut question: Q,
    ) -> Result<Q> {
        let Some(text) = question.text_without_vector().map(str::to_owned) else {
            return Ok(question);
        };
        let Some(embedder) = self.models.embedder_of(&brain.view()) else {
            return Ok(question);
        };
        let space = embedder.space();
        let run = move || Ok(embedder.embed_query(&text));
        match self.fact_calls.of_process(caller).run(run).await? {
            // The brain got another space meanwhile: words answer.
            Ok(_) if brain.view().identity().space != space => {}
            Ok(vector) => question.set_vector(vector.unwrap_or_default()),
            Err(why) => tracing::warn!(why, "a question was answered by words alone"),
        }
        Ok(question)
    }
}
