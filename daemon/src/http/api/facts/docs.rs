//! What `/openapi.json` says of the routes of fact memory, of items and of the pages: their options and headers.

/// What is said of a route.
#[derive(Debug)]
pub(in super::super) struct RouteDoc {
    /// The name of the operation.
    pub(in super::super) name: &'static str,
    pub(in super::super) tag: &'static str,
    pub(in super::super) summary: &'static str,
    /// Options of the query: name, type, and what they are.
    pub(in super::super) query: &'static [(&'static str, &'static str, &'static str)],
    /// Headers, by their names in `components/parameters`.
    pub(in super::super) headers: &'static [&'static str],
    /// The schema of the body.
    pub(in super::super) body: Option<&'static str>,
    /// The type of the answer and its schema, none for text; `NOTHING` for an answer without a body; `None` if the
    /// route refuses every request.
    pub(in super::super) answer: Option<(&'static str, &'static str)>,
    /// What an answer 202 of the same schema says; `None` if there is none.
    pub(in super::super) accepted: Option<&'static str>,
}

/// The groups of these routes.
pub(in super::super) const TAGS: [(&str, &str); 3] = [
    (
        MEMORIES,
        "Memories of users, agents, apps and runs: the routes of the specification and of mem0's clients.",
    ),
    (
        ITEMS,
        "Values by namespace and key: the store of LangGraph's SDK.",
    ),
    (
        SERVER,
        "What clients ask about the server; metrics and health.",
    ),
];

const MEMORIES: &str = "Memories";
const ITEMS: &str = "Items";
const SERVER: &str = "Server";

/// Name, type, and what it is.
pub(super) type QueryOption = (&'static str, &'static str, &'static str);

const USER: QueryOption = ("user_id", "string", "Whose memories: of this user.");
const AGENT: QueryOption = ("agent_id", "string", "Of this agent.");
const APP: QueryOption = ("app_id", "string", "Of this app.");
const RUN: QueryOption = ("run_id", "string", "Of this run.");
const PAGE: QueryOption = ("page", "integer", "The number of the page, from 1.");
const PAGE_SIZE: QueryOption = ("page_size", "integer", "Entries of a page.");
pub(super) const SCOPE: &[QueryOption] = &[USER, AGENT, APP, RUN];

const READ: &[&str] = &["Brain", "Timeout"];
const CHANGE: &[&str] = &["Brain", "Agent", "Timeout"];
const REPEATABLE: &[&str] = &["Brain", "Agent", "IdempotencyKey", "Timeout"];

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
/// Of an answer 204, which has no body.
pub(in super::super) const NOTHING: &str = "";

const NONE: RouteDoc = RouteDoc {
    name: "",
    tag: MEMORIES,
    summary: "",
    query: &[],
    headers: READ,
    body: None,
    answer: None,
    accepted: None,
};

const ITEM: RouteDoc = RouteDoc { tag: ITEMS, ..NONE };

pub(in super::super) static ADD: RouteDoc = RouteDoc {
    name: "addMemories",
    summary: "Remembers what messages say",
    headers: REPEATABLE,
    body: Some("AddMemories"),
    answer: Some((JSON, "AddedMemories")),
    accepted: Some(
        "The add takes longer than limits.add_wait_millis and goes on: /v1/event/{id} says what became of it.",
    ),
    ..NONE
};
pub(in super::super) static SEARCH: RouteDoc = RouteDoc {
    name: "searchMemories",
    summary: "Returns the memories that match a question best",
    body: Some("SearchMemories"),
    answer: Some((JSON, "FoundMemories")),
    ..NONE
};
pub(in super::super) static SEARCH_BY_GET: RouteDoc = RouteDoc {
    name: "searchMemoriesByGet",
    summary: SEARCH.summary,
    query: &[
        ("q", "string", "The question."),
        ("limit", "integer", "Memories, at most."),
        ("threshold", "number", "The least score, 0 to 1."),
        USER,
        AGENT,
        APP,
        RUN,
    ],
    body: None,
    ..SEARCH
};
pub(in super::super) static LIST: RouteDoc = RouteDoc {
    name: "listMemories",
    summary: "Returns the memories of a scope, the newest first",
    query: &[
        (
            "limit",
            "integer",
            "Memories, at most; 100 if it is not set.",
        ),
        PAGE,
        PAGE_SIZE,
        USER,
        AGENT,
        APP,
        RUN,
    ],
    answer: Some((JSON, "MemoryPage")),
    ..NONE
};
pub(in super::super) static LIST_BY_POST: RouteDoc = RouteDoc {
    name: "listMemoriesByPost",
    summary: LIST.summary,
    query: &[PAGE, PAGE_SIZE],
    body: Some("ListMemories"),
    answer: LIST.answer,
    ..NONE
};
pub(in super::super) static GET: RouteDoc = RouteDoc {
    name: "getMemory",
    summary: "Returns a memory, with a tag of its version",
    query: SCOPE,
    headers: &["Brain", "IfNoneMatch", "Timeout"],
    answer: Some((JSON, "Memory")),
    ..NONE
};
pub(in super::super) static UPDATE: RouteDoc = RouteDoc {
    name: "updateMemory",
    summary: "Gives a memory a new text, new metadata, or both",
    headers: REPEATABLE,
    body: Some("UpdateMemory"),
    answer: Some((JSON, "Memory")),
    ..NONE
};
pub(in super::super) static DELETE: RouteDoc = RouteDoc {
    name: "deleteMemory",
    summary: "Ends a memory; its history stays",
    query: SCOPE,
    headers: REPEATABLE,
    answer: Some((JSON, "Done")),
    ..NONE
};
pub(in super::super) static HISTORY: RouteDoc = RouteDoc {
    name: "getMemoryHistory",
    summary: "Returns the versions of a memory, the first one first",
    query: SCOPE,
    answer: Some((JSON, "MemoryHistory")),
    ..NONE
};
pub(in super::super) static DELETE_ALL: RouteDoc = RouteDoc {
    name: "deleteMemories",
    summary: "Ends the memories of a scope; * as a value means every one, for administrators",
    query: SCOPE,
    headers: CHANGE,
    answer: Some((JSON, "Done")),
    ..NONE
};
pub(in super::super) static RESET: RouteDoc = RouteDoc {
    name: "eraseMemories",
    summary: "Erases everything of a scope; without one everything, for administrators",
    query: SCOPE,
    headers: CHANGE,
    answer: Some((JSON, "Done")),
    ..NONE
};
pub(in super::super) static ENTITIES: RouteDoc = RouteDoc {
    name: "listEntities",
    summary: "Returns the users, agents, apps and runs that have memories",
    query: &[PAGE, PAGE_SIZE, USER, AGENT, APP, RUN],
    answer: Some((JSON, "EntityPage")),
    ..NONE
};
pub(in super::super) static ERASE_ENTITY: RouteDoc = RouteDoc {
    name: "eraseEntity",
    summary: "Erases everything of a user, agent, app or run",
    headers: CHANGE,
    answer: Some((JSON, "Done")),
    ..NONE
};
pub(in super::super) static NAMED: RouteDoc = RouteDoc {
    name: "listNamedEntities",
    summary: "Returns who and what the memories of a scope name, those that most memories name first",
    body: Some("ListNamedEntities"),
    answer: Some((JSON, "NamedEntityPage")),
    ..NONE
};
pub(in super::super) static ENTITY_RELATIONS: RouteDoc = RouteDoc {
    name: "getEntityRelations",
    summary: "Returns an entity by its name, how it is related, and the memories that name it",
    query: &[
        ("at", "string", "What was so at this time."),
        ("limit", "integer", "Memories, at most 200."),
        (
            "page_token",
            "string",
            "The next_page_token of the page before.",
        ),
        USER,
        AGENT,
        APP,
        RUN,
    ],
    answer: Some((JSON, "NamedEntityRelations")),
    ..NONE
};
pub(in super::super) static UPDATE_MANY: RouteDoc = RouteDoc {
    name: "updateMemoriesById",
    summary: "Gives many memories new texts or metadata",
    headers: CHANGE,
    body: Some("MemoryBatch"),
    answer: Some((JSON, "BatchDone")),
    ..NONE
};
pub(in super::super) static DELETE_MANY: RouteDoc = RouteDoc {
    name: "deleteMemoriesById",
    summary: "Ends many memories",
    headers: CHANGE,
    body: Some("MemoryBatch"),
    answer: Some((JSON, "BatchDone")),
    ..NONE
};
pub(in super::super) static EVENTS: RouteDoc = RouteDoc {
    name: "listEvents",
    summary: "Returns the caller's newest adds and deletions since the daemon started",
    query: &[PAGE, PAGE_SIZE],
    answer: Some((JSON, "MemoryEventPage")),
    ..NONE
};
pub(in super::super) static EVENT: RouteDoc = RouteDoc {
    name: "getEvent",
    summary: "Returns an add or a deletion that ran",
    answer: Some((JSON, "MemoryEvent")),
    ..NONE
};
pub(in super::super) static FEEDBACK: RouteDoc = RouteDoc {
    name: "setFeedback",
    summary: "Stores what the caller thinks of a memory, or takes it back",
    headers: CHANGE,
    body: Some("Feedback"),
    answer: Some((JSON, "Feedback")),
    ..NONE
};
pub(in super::super) static EXPORT: RouteDoc = RouteDoc {
    name: "createExport",
    summary: "Creates an export of the memories of a scope",
    body: Some("ListMemories"),
    answer: Some((JSON, "Done")),
    ..NONE
};
pub(in super::super) static EXPORTED: RouteDoc = RouteDoc {
    name: "getExport",
    summary: "Returns the memories of an export, by its id or its filters",
    body: Some("GetExport"),
    answer: Some((JSON, "MemoryPage")),
    ..NONE
};
pub(in super::super) static PING: RouteDoc = RouteDoc {
    name: "ping",
    tag: SERVER,
    summary: "Says that the caller is known",
    answer: Some((JSON, "Settings")),
    ..NONE
};
pub(in super::super) static SETTINGS: RouteDoc = RouteDoc {
    name: "getSettings",
    tag: SERVER,
    summary: "Returns the settings of a project or of the server, in the words of mem0",
    answer: Some((JSON, "Settings")),
    ..NONE
};
pub(in super::super) static NOT_KEPT: RouteDoc = RouteDoc {
    name: "changeSettings",
    tag: SERVER,
    summary: "Refused: amemd keeps no projects, members or settings for HTTP clients",
    ..NONE
};
pub(in super::super) static WEBHOOKS: RouteDoc = RouteDoc {
    name: "listWebhooks",
    tag: SERVER,
    summary: "Lists the webhooks of a brain, for its administrators; `default` is the brain of the request",
    answer: Some((JSON, "Webhooks")),
    ..NONE
};
pub(in super::super) static CREATE_WEBHOOK: RouteDoc = RouteDoc {
    name: "createWebhook",
    tag: SERVER,
    summary: "Creates a webhook: changes of the brain's memories from now on are posted to a URL",
    body: Some("CreateWebhook"),
    answer: Some((JSON, "CreatedWebhook")),
    ..NONE
};
pub(in super::super) static UPDATE_WEBHOOK: RouteDoc = RouteDoc {
    name: "updateWebhook",
    tag: SERVER,
    summary: "Changes a webhook; a paused one goes on where it is",
    body: Some("UpdateWebhook"),
    answer: Some((JSON, "Webhook")),
    ..NONE
};
pub(in super::super) static DELETE_WEBHOOK: RouteDoc = RouteDoc {
    name: "deleteWebhook",
    tag: SERVER,
    summary: "Deletes a webhook",
    answer: Some((JSON, "Done")),
    ..NONE
};
pub(in super::super) static PROFILES: RouteDoc = RouteDoc {
    name: "profiles",
    tag: SERVER,
    summary: "Refused: amemd writes no summaries and no profiles of users",
    ..NONE
};
pub(in super::super) static PUT_ITEM: RouteDoc = RouteDoc {
    name: "putItem",
    summary: "Stores a value by namespace and key",
    headers: REPEATABLE,
    body: Some("PutItem"),
    answer: Some((NOTHING, "")),
    ..ITEM
};
pub(in super::super) static GET_ITEM: RouteDoc = RouteDoc {
    name: "getItem",
    summary: "Returns an item; null if there is none",
    query: &[
        ("namespace", "string", "Labels, with periods between them."),
        ("key", "string", "The key."),
        (
            "refresh_ttl",
            "boolean",
            "Whether its time to live begins again; true if it is not set.",
        ),
    ],
    answer: Some((JSON, "StoredItem")),
    ..ITEM
};
pub(in super::super) static DELETE_ITEM: RouteDoc = RouteDoc {
    name: "deleteItem",
    summary: "Deletes an item",
    headers: REPEATABLE,
    body: Some("DeleteItem"),
    answer: Some((NOTHING, "")),
    ..ITEM
};
pub(in super::super) static SEARCH_ITEMS: RouteDoc = RouteDoc {
    name: "searchItems",
    summary: "Finds items by namespace, filter and words",
    body: Some("SearchItems"),
    answer: Some((JSON, "FoundItems")),
    ..ITEM
};
pub(in super::super) static NAMESPACES: RouteDoc = RouteDoc {
    name: "listNamespaces",
    summary: "Lists the namespaces of items",
    body: Some("ListNamespaces"),
    answer: Some((JSON, "Namespaces")),
    ..ITEM
};
pub(in super::super) static MCP: RouteDoc = RouteDoc {
    name: "mcp",
    tag: SERVER,
    summary: "The Model Context Protocol, for agents: a message of JSON-RPC, and its answer",
    body: Some("Settings"),
    answer: Some((JSON, "Settings")),
    ..NONE
};
pub(in super::super) static HOOK: RouteDoc = RouteDoc {
    name: "hook",
    summary: "A hook of an agent that posts it: the JSON of its client, and the JSON that it reads",
    ..MCP
};
pub(in super::super) static METRICS: RouteDoc = RouteDoc {
    name: "metrics",
    summary: "Metrics for Prometheus, for callers that may read every brain",
    ..HEALTH
};
pub(in super::super) static HEALTH: RouteDoc = RouteDoc {
    name: "health",
    tag: SERVER,
    summary: "Says whether the daemon lives, or serves calls",
    headers: &["Timeout"],
    answer: Some((TEXT, "")),
    ..NONE
};
pub(in super::super) static OPENAPI: RouteDoc = RouteDoc {
    name: "openapi",
    summary: "This document",
    answer: Some((JSON, "Settings")),
    ..HEALTH
};
pub(in super::super) static DOCS: RouteDoc = RouteDoc {
    name: "docs",
    summary: "A page with all routes, for people",
    answer: Some(("text/html", "")),
    ..HEALTH
};
/// Of requests that no route is for. It is in no document.
pub(in super::super) static ELSE: RouteDoc = NONE;
