//! An embedder of a provider: texts in batches, checked vectors.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ring::digest::{SHA256, digest};
use tokio::time::{sleep, timeout};
use uuid::{Builder, Uuid};

use amem_memory::Calibration;
use amem_memory::model::ModelFailure;
use amem_memory::store::Embedder;

use crate::budget::DayUsage;
use crate::check::CheckReport;
use crate::client::{ProviderClient, now_secs};
use crate::error::{Error, Result};
use crate::failure::{CallError, failure_text};
use crate::limits::{BAD_TEXTS_MAX, RATE_PAUSES};
use crate::provider::Provider;
use crate::runtime::ModelRuntime;
use crate::settings::ModelSettings;
use crate::wire::{CallOptions, TextBatch, WireRequest, embed_request, read_vectors, vector_of};

/// What Google takes in one request.
const GOOGLE_TEXTS_MAX: usize = 100;

type TextVector = Result<Option<Vec<f32>>, String>;

/// An embedder. Clones share budget and limits.
#[derive(Clone)]
pub struct TextEmbedder {
    shared: Arc<EmbedderShared>,
    runtime: ModelRuntime,
}

struct EmbedderShared {
    client: ProviderClient,
    /// Values of a vector: by the settings, or as the first answer has them.
    dimensions: OnceLock<usize>,
}

impl fmt::Debug for TextEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TextEmbedder").field(&self.name()).finish()
    }
}

impl TextEmbedder {
    /// Sets an embedder up; nothing is called yet, and no key is read.
    ///
    /// # Errors
    /// If a setting cannot be used, TLS cannot be set up, or the provider embeds nothing.
    pub fn new(settings: ModelSettings, runtime: &ModelRuntime) -> Result<Self> {
        if settings.provider == Provider::Anthropic {
            return Err(Error::setting("provider", "anthropic has no embeddings"));
        }
        let dimensions = settings
            .dimensions
            .map_or_else(OnceLock::new, OnceLock::from);
        let client = ProviderClient::new(settings)?;
        Ok(Self {
            shared: Arc::new(EmbedderShared { client, dimensions }),
            runtime: runtime.clone(),
        })
    }

    /// Provider, model and server, for people.
    pub fn name(&self) -> String {
        self.shared.client.name()
    }

    /// Values of a vector; `None` until the first answer, if the settings do not say.
    pub fn dimensions(&self) -> Option<usize> {
        self.shared.dimensions.get().copied()
    }

    /// What was used today (UTC), to be kept over restarts.
    pub fn usage(&self) -> DayUsage {
        self.shared.client.budget.usage(now_secs())
    }

    /// Continues the day of an earlier process.
    pub fn restore(&self, usage: DayUsage) {
        self.shared.client.budget.restore(usage, now_secs());
    }

    /// One tiny call, with what came of it.
    pub fn check(&self) -> CheckReport {
        CheckReport::of(self.name(), || match self.embed(&["yes"]).pop() {
            Some(Ok(Some(vector))) => {
                Ok(format!("it answers (vectors of {} values)", vector.len()))
            }
            Some(Err(why)) => Err(why),
            _ => Err("it has no vector".into()),
        })
    }
}

impl Embedder for TextEmbedder {
    /// By model, dimensions and protocol. OpenAI and Azure have the same models, and one space.
    fn space(&self) -> Uuid {
        let settings = &self.shared.client.settings;
        let form = match settings.provider {
            Provider::Openai | Provider::Azure | Provider::Anthropic => 1,
            Provider::Google => 2,
            Provider::Ollama => 3,
        };
        let dimensions = settings.dimensions.unwrap_or(0);
        let named = format!("amem vectors\0{form}\0{dimensions}\0{}", settings.model);
        let hash = digest(&SHA256, named.as_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.as_ref()[..16]);
        Builder::from_custom_bytes(bytes).into_uuid()
    }

    fn calibration(&self) -> Calibration {
        let settings = &self.shared.client.settings;
        Calibration {
            middle: settings.score_middle,
            slope: settings.score_slope,
        }
    }

    fn embed(&self, texts: &[&str]) -> Vec<TextVector> {
        let after = self.shared.client.settings.deadline();
        let shared = self.shared.clone();
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        // Each call has its own limit below the deadline; this one is for what has none.
        let done = self
            .runtime
            .wait(after + Duration::from_secs(1), async move {
                shared.embed(&owned, Instant::now() + after).await
            });
        let failed = |_| vec![Err("the embedder did not end in time".into()); texts.len()];
        done.unwrap_or_else(failed)
    }
}

/// What is left to do for one call of `embed`.
struct EmbedWork<'t> {
    texts: &'t [String],
    until: Instant,
    results: Vec<TextVector>,
    /// Texts that failed by themselves.
    bad_texts: usize,
}

impl EmbedderShared {
    async fn embed(&self, texts: &[String], until: Instant) -> Vec<TextVector> {
        let mut work = EmbedWork {
            texts,
            until,
            results: vec![Ok(None); texts.len()],
            bad_texts: 0,
        };
        // A text without words has no vector, and some servers refuse it.
        let filled: Vec<usize> = (0..texts.len())
            .filter(|at| !texts[*at].trim().is_empty())
            .collect();
        // The last batch is on top.
        let mut batches = self.batches(&filled, texts);
        batches.reverse();
        while let Some(batch) = batches.pop() {
            let Err(failure) = self.batch(&batch, &mut work).await else {
                continue;
            };
            let is_split =
                batch.len() > 1 && failure.is_of_content && work.bad_texts < BAD_TEXTS_MAX;
            if is_split {
                let (front, back) = batch.split_at(batch.len() / 2);
                batches.extend([back.to_vec(), front.to_vec()]);
                continue;
            }
            work.bad_texts += usize::from(failure.is_of_content);
            let rest = if failure.is_of_content {
                Vec::new()
            } else {
                // The server, the key or the budget: other batches would fail alike.
                std::mem::take(&mut batches).concat()
            };
            for at in batch.into_iter().chain(rest) {
                work.results[at] = Err(failure.why.clone());
            }
        }
        work.results
    }

    /// Texts by their places, limited by count and bytes.
    fn batches(&self, places: &[usize], texts: &[String]) -> Vec<Vec<usize>> {
        let settings = &self.client.settings;
        let most = match settings.provider {
            Provider::Google => settings.batch_texts.min(GOOGLE_TEXTS_MAX),
            _ => settings.batch_texts,
        };
        let mut out: Vec<Vec<usize>> = Vec::new();
        let mut bytes = 0;
        for at in places {
            let own = texts[*at].len();
            match out.last_mut() {
                Some(batch) if batch.len() < most && bytes + own <= settings.batch_bytes => {
                    batch.push(*at);
                    bytes += own;
                }
                _ => {
                    out.push(vec![*at]);
                    bytes = own;
                }
            }
        }
        out
    }

    /// Asks for one batch; a refused rate is waited for.
    async fn batch(&self, places: &[usize], work: &mut EmbedWork<'_>) -> Result<(), BatchFailure> {
        let texts: Vec<&str> = places.iter().map(|at| work.texts[*at].as_str()).collect();
        let mut pauses = RATE_PAUSES.iter();
        loop {
            let left = work.until.saturating_duration_since(Instant::now());
            let limit = left.min(self.client.settings.call_after());
            let asked = timeout(limit, self.call(&texts)).await;
            let failure = match asked {
                Ok(Ok(vectors)) => {
                    for (at, vector) in places.iter().zip(vectors) {
                        work.results[*at] = vector.map(Some);
                    }
                    return Ok(());
                }
                Ok(Err(failure)) => failure,
                Err(_) => {
                    let seconds = limit.as_secs_f32();
                    BatchFailure::of_server(format!(
                        "unreachable: no vectors within {seconds:.0} s"
                    ))
                }
            };
            let (Some(after), Some(pause)) = (failure.rate, pauses.next()) else {
                return Err(failure);
            };
            let pause = after.unwrap_or(*pause);
            if pause >= work.until.saturating_duration_since(Instant::now()) {
                return Err(failure);
            }
            sleep(pause).await;
        }
    }

    /// One call; the outer error is of the whole batch.
    async fn call(&self, texts: &[&str]) -> Result<Vec<Result<Vec<f32>, String>>, BatchFailure> {
        let settings = &self.client.settings;
        let batch = TextBatch {
            texts,
            dimensions: settings.dimensions,
        };
        let build = |options: &CallOptions<'_>| {
            let request = embed_request(settings.provider, &batch, options);
            request.unwrap_or_else(|| WireRequest {
                path: String::new(),
                body: serde_json::Value::Null,
                sent: Vec::new(),
            })
        };
        let slot = self.client.slots.acquire().await;
        let answered = async {
            let mut answer = self.client.send(build).await?;
            self.client.json(&mut answer).await
        };
        let answer = answered.await.map_err(BatchFailure::of_call)?;
        drop(slot);
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let estimated = u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
        let counted = answer["usage"]["prompt_tokens"]
            .as_u64()
            .or(answer["prompt_eval_count"].as_u64());
        self.client
            .budget
            .add_tokens(counted.unwrap_or(estimated), now_secs());
        let vectors = read_vectors(settings.provider, &answer);
        let vectors =
            vectors.ok_or_else(|| BatchFailure::of_server("the answer has no vectors".into()))?;
        if vectors.len() != texts.len() {
            let (found, wanted) = (vectors.len(), texts.len());
            return Err(BatchFailure::of_content(format!(
                "the server answered {found} vectors for {wanted} texts"
            )));
        }
        Ok(vectors
            .into_iter()
            .map(|vector| self.checked(vector))
            .collect())
    }

    /// A vector of the right size.
    fn checked(&self, value: &serde_json::Value) -> Result<Vec<f32>, String> {
        let vector = vector_of(value)?;
        let wanted = *self.dimensions.get_or_init(|| vector.len());
        if vector.len() != wanted {
            return Err(format!(
                "the vector has {} values, not {wanted}",
                vector.len()
            ));
        }
        Ok(vector)
    }
}

/// Why a batch has no vectors.
struct BatchFailure {
    why: String,
    /// True if one of its texts may be the cause.
    is_of_content: bool,
    /// If the rate is refused: the pause that the server wants.
    rate: Option<Option<Duration>>,
}

impl BatchFailure {
    fn of_server(why: String) -> Self {
        Self {
            why,
            is_of_content: false,
            rate: None,
        }
    }

    fn of_content(why: String) -> Self {
        Self {
            is_of_content: true,
            ..Self::of_server(why)
        }
    }

    fn of_call(error: CallError) -> Self {
        let is_of_content =
            matches!(&error, CallError::Refusal(refusal) if refusal.is_about_content());
        let failure = error.failure(false);
        let rate = match &failure {
            ModelFailure::RateLimit(after) => Some(*after),
            _ => None,
        };
        Self {
            why: failure_text(&failure),
            is_of_content,
            rate,
        }
    }
}
