//! The server: requests of the protocol to tools, prompts and resources.

use std::pin::Pin;

use amem_texts::for_model;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode,
    ErrorData, Extensions, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};

use crate::arguments::{Arguments, Words};
use crate::calls::{AnyCalls, MemoryCalls};
use crate::catalogue::{self, CompatSet, INSTRUCTIONS, schema_of, set_of};
use crate::memories::Memories;
use crate::memory_place::MemoryPlace;
use crate::prompts::{self, PROMPTS};
use crate::{compat, resources, tools};

/// How long a client may keep the lists, which change with the version only.
const LISTS_TTL_MS: u64 = 3_600_000;

/// Where a request reads and writes, and the calls by which it does.
#[derive(Debug)]
pub struct OpenMemory<C> {
    /// The calls.
    pub calls: C,
    /// The place.
    pub place: MemoryPlace,
}

/// Opens the memory of each request.
pub trait MemorySource: Send + Sync + 'static {
    /// The calls of a request.
    type Calls: MemoryCalls + 'static;

    /// The memory that a request is about; `extensions` are those of its transport. An error is shown to the model.
    fn open(
        &self,
        extensions: &Extensions,
    ) -> impl Future<Output = Result<OpenMemory<Self::Calls>, String>> + Send;
}

/// A source without its type, as [`AnyCalls`] are calls without theirs.
trait BoxedSource: Send + Sync {
    fn open<'s>(&'s self, extensions: &'s Extensions) -> OpenFuture<'s>;
}

type OpenFuture<'s> =
    Pin<Box<dyn Future<Output = Result<OpenMemory<AnyCalls>, String>> + Send + 's>>;

impl<S: MemorySource> BoxedSource for S {
    fn open<'s>(&'s self, extensions: &'s Extensions) -> OpenFuture<'s> {
        Box::pin(async move {
            let OpenMemory { calls, place } = MemorySource::open(self, extensions).await?;
            let calls = AnyCalls::new(calls);
            Ok(OpenMemory { calls, place })
        })
    }
}

/// The server of a source of memory.
pub struct MemoryServer {
    source: Box<dyn BoxedSource>,
    compat: Vec<CompatSet>,
    version: &'static str,
}

impl MemoryServer {
    /// A server that names itself by a version, with the tools of other servers beside its own.
    pub fn new(source: impl MemorySource, compat: Vec<CompatSet>, version: &'static str) -> Self {
        Self {
            source: Box::new(source),
            compat,
            version,
        }
    }

    /// Serves a client on stdin and stdout until it closes them.
    ///
    /// # Errors
    /// If the client's first message is no request of the protocol.
    pub fn serve_stdio(self) -> StdioFuture {
        Box::pin(async move {
            let running = self.serve(stdio_pipes()).await?;
            // Why it ends is the client's business: it closed the pipe.
            let _reason = running.waiting().await;
            Ok(())
        })
    }

    async fn tool(
        &self,
        request: CallToolRequestParams,
        set: Option<CompatSet>,
        context: &RequestContext<RoleServer>,
    ) -> Words<String> {
        let name = request.name.as_ref();
        let schema = match set {
            None => schema_of(name),
            Some(set) => catalogue::compat_schema(set, name),
        };
        let schema = schema.ok_or_else(|| format!("there is no tool {name:?}"))?;
        // Bad arguments are refused before a daemon is needed.
        let arguments = Arguments::new(name, schema, request.arguments)?;
        let open = self.source.open(&context.extensions).await?;
        let agent = agent(context);
        let memories = Memories {
            calls: &open.calls,
            place: &open.place,
            agent: &agent,
        };
        let answer = match set {
            None => tools::run(&memories, name, arguments).await,
            Some(set) => compat::run(&memories, set, name, arguments).await,
        };
        answer.unwrap_or_else(|| Err(format!("there is no tool {name:?}")))
    }
}

/// A client that is served. The future is boxed here, so that the protocol is compiled in this crate and not in each
/// program that serves it.
type StdioFuture = Pin<Box<dyn Future<Output = Result<(), ServerInitializeError>> + Send>>;

/// The client, as it names itself.
fn agent(context: &RequestContext<RoleServer>) -> String {
    let client = context.client_info().map(|client| client.name);
    let name: String = client
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    if name.is_empty() {
        "mcp".to_owned()
    } else {
        name
    }
}

/// An answer as a model may be given it, whichever tool it is from.
fn result(answer: Words<String>) -> CallToolResult {
    let shown = |text: String| vec![ContentBlock::text(for_model(&text))];
    match answer {
        Ok(text) => CallToolResult::success(shown(text)),
        Err(words) => CallToolResult::error(shown(words)),
    }
}

impl ServerHandler for MemoryServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .build();
        let server = Implementation::new("amem", self.version).with_title("amem memory");
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let list = ListToolsResult::with_all_items(catalogue::tools(&self.compat));
        Ok(list
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(set) = set_of(&request.name, &self.compat) else {
            let why = format!("there is no tool {:?}", request.name);
            return Err(ErrorData::invalid_params(why, None));
        };
        Ok(result(self.tool(request, set, &context).await).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |form: &prompts::PromptForm| {
            let argument = form.argument.map(|(name, what)| {
                let argument = PromptArgument::new(name).with_description(what);
                vec![argument.with_required(true)]
            });
            Prompt::new(form.name, Some(form.description), argument)
        };
        let list = ListPromptsResult::with_all_items(PROMPTS.iter().map(prompt).collect());
        Ok(list
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let invalid = |why: String| ErrorData::invalid_params(why, None);
        let form = PROMPTS.iter().find(|form| form.name == request.name);
        let form = form.ok_or_else(|| invalid(format!("there is no prompt {:?}", request.name)))?;
        let arguments = request.arguments.unwrap_or_default();
        let argument = form
            .argument
            .and_then(|(name, _)| arguments.get(name)?.as_str());
        let open = self.source.open(&context.extensions).await;
        let open = open.map_err(|why| ErrorData::internal_error(why, None))?;
        let agent = agent(&context);
        let memories = Memories {
            calls: &open.calls,
            place: &open.place,
            agent: &agent,
        };
        let text = prompts::text(&memories, form.name, argument).await;
        let text = text.unwrap_or_else(|| Err(format!("there is no prompt {:?}", form.name)));
        let message = PromptMessage::new_text(Role::User, for_model(&text.map_err(invalid)?));
        let prompt = GetPromptResult::new(vec![message]).with_description(form.description);
        Ok(prompt.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let brief = Resource::new(resources::BRIEF, "brief")
            .with_description("What is known of this project and user, in short")
            .with_mime_type("text/plain");
        let list = ListResourcesResult::with_all_items(vec![brief]);
        Ok(list
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = |form: &str, name: &str, what: &str| {
            let template = ResourceTemplate::new(form, name).with_description(what);
            template.with_mime_type("text/plain")
        };
        let list = ListResourceTemplatesResult::with_all_items(vec![
            template(resources::EVENT, "event", "A memory, by its id"),
            template(
                resources::TIMELINE,
                "timeline",
                "What was learned on a day, such as 2026-11-14",
            ),
        ]);
        Ok(list
            .with_ttl_ms(LISTS_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let data = serde_json::json!({"uri": request.uri});
        let missing = |why: String| ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, why, Some(data));
        let open = self.source.open(&context.extensions).await;
        let open = open.map_err(|why| ErrorData::internal_error(why, None))?;
        let agent = agent(&context);
        let memories = Memories {
            calls: &open.calls,
            place: &open.place,
            agent: &agent,
        };
        let text = resources::read(&memories, &request.uri).await;
        let text = text.unwrap_or_else(|| Err(format!("there is no resource {:?}", request.uri)));
        let contents = ResourceContents::text(for_model(&text.map_err(missing)?), request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
