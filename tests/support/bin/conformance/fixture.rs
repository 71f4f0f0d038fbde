//! Our handler, with the suite's tools, prompts and resources beside its own.

use std::sync::Arc;

use amem_mcp::MemoryServer;
use amem_mcp::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceTemplate, Role, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use amem_mcp::rmcp::service::RequestContext;
use amem_mcp::rmcp::{RoleServer, ServerHandler};
use serde_json::Map;

use crate::memory::NoMemory;
use crate::questions::{Call, Next, Rounds};
use crate::{samples, tools};

/// What clients are promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// What our server has, and completion, which the sets of both eras ask for.
    Both,
    /// Log levels and subscriptions too, which need a session.
    Sessions,
}

/// Our handler and the suite's.
pub(crate) struct Fixture {
    ours: MemoryServer,
    era: Era,
    rounds: Arc<Rounds>,
}

impl Fixture {
    pub(crate) fn new(era: Era, rounds: Arc<Rounds>) -> Self {
        let ours = MemoryServer::new(NoMemory, Vec::new(), env!("CARGO_PKG_VERSION"));
        Self { ours, era, rounds }
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.ours.get_info();
        info.capabilities.completions = Some(Map::new());
        if self.era == Era::Sessions {
            info.capabilities.logging = Some(Map::new());
            if let Some(resources) = &mut info.capabilities.resources {
                resources.subscribe = Some(true);
            }
        }
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::tool(name).or_else(|| self.ours.get_tool(name))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.ours.list_tools(request, context).await?;
        list.tools.extend(tools::tools());
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(answer) = tools::answer(&request.name, &context).await {
            return Ok(answer.into());
        }
        let call = Call {
            name: &request.name,
            arguments: &request.arguments.clone().unwrap_or_default(),
            replies: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
        };
        match call.go_on(&self.rounds, &context).await {
            None => self.ours.call_tool(request, context).await,
            Some(next) => Ok(match next? {
                Next::Ask(questions) => questions.into(),
                Next::Done(words) => {
                    CallToolResult::success(vec![ContentBlock::text(words)]).into()
                }
            }),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.ours.list_prompts(request, context).await?;
        list.prompts
            .extend(samples::PROMPTS.iter().map(|(name, arguments)| {
                let argument = |name: &&str| PromptArgument::new(*name).with_required(true);
                let arguments = arguments.iter().map(argument).collect();
                Prompt::new(
                    *name,
                    Some("A prompt of the conformance suite"),
                    Some(arguments),
                )
            }));
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.clone().unwrap_or_default();
        if let Some(prompt) = samples::prompt(&request.name, &arguments) {
            return Ok(prompt.into());
        }
        let call = Call {
            name: &request.name,
            arguments: &arguments,
            replies: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
        };
        match call.go_on(&self.rounds, &context).await {
            None => self.ours.get_prompt(request, context).await,
            Some(next) => Ok(match next? {
                Next::Ask(questions) => questions.into(),
                Next::Done(words) => {
                    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, words)]).into()
                }
            }),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.ours.list_resources(request, context).await?;
        list.resources
            .extend(samples::RESOURCES.iter().map(|(uri, mime_type, what)| {
                Resource::new(*uri, *uri)
                    .with_description(*what)
                    .with_mime_type(*mime_type)
            }));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.ours.list_resource_templates(request, context).await?;
        list.resource_templates
            .push(ResourceTemplate::new(samples::TEMPLATE, "template"));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match samples::resource(&request.uri) {
            None => self.ours.read_resource(request, context).await,
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
        }
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}
