//! A request that was admitted and read, as handlers see it.

use std::pin::Pin;
use std::sync::Arc;

use amem_proto::v1;
use hyper::header::HOST;
use hyper::http::request::Parts;
use serde_json::{Map, Value};
use uuid::{Builder, Uuid, Version};

use super::background::BackgroundWork;
use super::conditions::Conditions;
use super::options::Options;
use super::output::ListForm;
use super::recent::{RecentEvents, RecentExports};
use crate::auth::{Caller, Role};
use crate::calls::Gateway;
use crate::calls::fact_memory::DEFAULT_BRAIN;
use crate::calls::gateway::{Handle, ScopedRequest};
use crate::http::page_cache::PageCache;
use crate::http::pages::PageSources;
use crate::ingress::credentials::is_mem0_client;
use crate::ingress::load::CallSlot;
use crate::refusal::{Refusal, Result};

/// The description of all routes. It is made of the table of routes, which names the handlers that send it: so they get
/// it from here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Description {
    /// For programs.
    pub(super) document: fn() -> &'static str,
    /// For people.
    pub(super) page: fn() -> &'static str,
}

/// What all requests share.
#[derive(Debug)]
pub(super) struct RestSite {
    pub(super) gateway: Arc<Gateway>,
    pub(super) sources: PageSources,
    pub(super) description: Description,
    pub(super) metrics: PageCache,
    pub(super) background: BackgroundWork,
    pub(super) events: RecentEvents,
    pub(super) exports: RecentExports,
}

/// A request.
#[derive(Debug)]
pub(super) struct RestCall {
    pub(super) site: Arc<RestSite>,
    pub(super) caller: Caller,
    pub(super) brain: String,
    /// The brain by a header or an option of the query, if they name one.
    pub(super) named_brain: Option<String>,
    /// The name that the caller gives itself.
    pub(super) agent: String,
    /// `Idempotency-Key`.
    pub(super) key: Option<String>,
    /// The values in the path.
    pub(super) params: Vec<String>,
    pub(super) options: Options,
    /// Of a route whose body is a message.
    pub(super) body: Map<String, Value>,
    /// Its place among the requests in progress.
    pub(super) slot: CallSlot,
    pub(super) conditions: Conditions,
    form: ListForm,
    is_mem0: bool,
    /// The URL without its query; only the path if the request names no host.
    url: String,
    query: String,
}

/// What a request brings besides its head.
#[derive(Debug)]
pub(super) struct RestInput {
    /// The values in its path.
    pub(super) params: Vec<String>,
    pub(super) options: Options,
    /// Of a route whose body is a message.
    pub(super) body: Map<String, Value>,
    pub(super) slot: CallSlot,
}

/// An answer that is on its way. The handler of a route does not hold the call itself, so that it is compiled once.
type AnswerFuture<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// The header that names the brain.
const BRAIN: &str = "x-amem-brain";

/// The header with the name of the calling agent.
const AGENT: &str = "x-amem-agent";

/// The id of a request that has a key. Each caller has keys of its own. Ids are of version 7, whose time means nothing.
fn request_id(principal: &str, key: &str) -> Uuid {
    let name = format!("{principal}\0{key}");
    let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
    let id = Builder::from_bytes(hash.into_bytes());
    id.with_version(Version::SortRand).into_uuid()
}

impl RestCall {
    pub(super) fn new(
        site: &Arc<RestSite>,
        caller: Caller,
        head: &Parts,
        input: RestInput,
        (form, is_tls): (ListForm, bool),
    ) -> Result<Self> {
        let RestInput {
            params,
            mut options,
            body,
            slot,
        } = input;
        let header = |name: &str| {
            let value = head.headers.get(name).map(|value| value.to_str());
            let value = value.transpose();
            value.map_err(|_| Refusal::invalid(name, "it must be text in ASCII"))
        };
        let (named, asked) = (header(BRAIN)?, options.text("brain")?);
        let named_brain = match (named, asked) {
            (Some(named), Some(asked)) if named != asked => {
                let why = "the header x-amem-brain names another: name one";
                return Err(Refusal::invalid("brain", why));
            }
            (Some(named), _) => Some(named.to_owned()),
            (None, asked) => asked,
        };
        let brain = named_brain.clone();
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = head.uri.authority().map(|host| host.as_str()).or(host);
        let scheme = if is_tls { "https" } else { "http" };
        let front = host.map_or(String::new(), |host| format!("{scheme}://{host}"));
        Ok(Self {
            site: site.clone(),
            caller,
            brain: brain.unwrap_or_else(|| DEFAULT_BRAIN.to_owned()),
            named_brain,
            agent: header(AGENT)?.unwrap_or_default().to_owned(),
            key: header("idempotency-key")?.map(str::to_owned),
            params,
            options,
            body,
            slot,
            conditions: Conditions::of(&head.headers)?,
            form,
            is_mem0: is_mem0_client(&head.headers),
            url: front + head.uri.path(),
            query: head.uri.query().unwrap_or_default().to_owned(),
        })
    }

    /// Executes a request about facts, within the scope of the caller's token.
    pub(super) fn fact<'c, C>(&'c self, request: C) -> AnswerFuture<'c, C::Response>
    where
        C: Handle + ScopedRequest + 'c,
    {
        Box::pin(async move {
            self.options.check_left()?;
            self.site.gateway.fact_as(&self.caller, request).await
        })
    }

    /// Executes a request about items.
    pub(super) fn item<'c, C>(&'c self, request: C) -> AnswerFuture<'c, C::Response>
    where
        C: Handle + 'c,
    {
        Box::pin(self.site.gateway.call_as(&self.caller, request))
    }

    /// A value of the path.
    pub(super) fn param(&self, at: usize) -> Result<&str> {
        let param = self.params.get(at).map(String::as_str);
        param.ok_or_else(|| Refusal::internal("the path has no such value"))
    }

    /// The options of a change that the key makes repeatable.
    pub(super) fn repeatable(&self) -> v1::WriteOptions {
        let key = self.key.as_ref();
        v1::WriteOptions {
            request_id: key.map_or(String::new(), |key| {
                request_id(&self.caller.principal, key).to_string()
            }),
            ..self.once()
        }
    }

    /// The options of any other change.
    pub(super) fn once(&self) -> v1::WriteOptions {
        v1::WriteOptions {
            agent: self.agent.clone(),
            ..v1::WriteOptions::default()
        }
    }

    /// True if the answer is a bare list. Takes `output_format`.
    pub(super) fn wants_bare_list(&mut self) -> Result<bool> {
        let format = self.options.text("output_format")?;
        let is_bare = self.form == ListForm::BareForMem0 && self.is_mem0;
        Ok(is_bare && format.as_deref() != Some("v1.1"))
    }

    /// Refuses a caller that does not administer the brain, or has a scope.
    pub(super) fn check_admin(&self) -> Result<()> {
        self.caller.check(&self.brain, Role::Admin)
    }

    /// The URL of another page of this request.
    pub(super) fn page_url(&self, page: u32) -> String {
        let is_page = |option: &&str| option.split('=').next() == Some("page");
        let options = self.query.split('&').filter(|option| !option.is_empty());
        let mut options: Vec<_> = options
            .filter(|option| !is_page(option))
            .map(str::to_owned)
            .collect();
        options.insert(0, format!("page={page}"));
        format!("{}?{}", self.url, options.join("&"))
    }
}
