//! The table of routes, and the router made from it.

use axum::Router;
use axum::body::Body;
use axum::extract::RawPathParams;
use axum::extract::rejection::RawPathParamsRejection;
use axum::routing::{MethodFilter, on};
use hyper::{Request, Response};
use tower::Service;

use super::facts::{
    add, batch, delete, entities, events, exports, feedback, list, memory, search, settings,
    webhooks,
};
use super::hooks;
use super::mcp;
use super::output::ListForm::{BareForMem0, Object};
use super::pages;
use super::route::RouteAccess::{AllBrains, Call, Identified};
use super::route::{Route, RouteAccess, RouteInput, RouteOf};
use super::rpc;
use super::store;
use crate::gateway::GuardedCalls;
use crate::refusal::{Refusal, Result};

const ADD: RouteAccess = Call("/amem.v1.FactService/AddFacts");
const SEARCH: RouteAccess = Call("/amem.v1.FactService/SearchFacts");
const LIST: RouteAccess = Call("/amem.v1.FactService/ListFacts");
const GET: RouteAccess = Call("/amem.v1.FactService/GetFact");
const UPDATE: RouteAccess = Call("/amem.v1.FactService/UpdateFact");
const DELETE: RouteAccess = Call("/amem.v1.FactService/DeleteFact");
const DELETE_ALL: RouteAccess = Call("/amem.v1.FactService/DeleteFacts");
const HISTORY: RouteAccess = Call("/amem.v1.FactService/GetFactHistory");
const SCOPES: RouteAccess = Call("/amem.v1.FactService/ListFactScopes");
const NAMED: RouteAccess = Call("/amem.v1.FactService/ListEntities");
const ENTITY: RouteAccess = Call("/amem.v1.FactService/GetEntity");
const RESET: RouteAccess = Call("/amem.v1.FactService/ResetFacts");
const FEEDBACK: RouteAccess = Call("/amem.v1.FactService/SetFactFeedback");
const UPDATE_MANY: RouteAccess = Call("/amem.v1.FactService/BatchUpdateFacts");
const DELETE_MANY: RouteAccess = Call("/amem.v1.FactService/BatchDeleteFacts");
const HEALTH: RouteAccess = Call("/grpc.health.v1.Health/Check");

const RUN_HOOK: RouteAccess = Call("/amem.v1.HookService/RunHook");
const PUT_ITEM: RouteAccess = Call("/amem.v1.ItemService/PutItem");
const GET_ITEM: RouteAccess = Call("/amem.v1.ItemService/GetItem");
const DELETE_ITEM: RouteAccess = Call("/amem.v1.ItemService/DeleteItem");
const SEARCH_ITEMS: RouteAccess = Call("/amem.v1.ItemService/SearchItems");
const NAMESPACES: RouteAccess = Call("/amem.v1.ItemService/ListItemNamespaces");

/// A memory, at the platform and at a self-hosted server.
const MEMORY: &[&str] = &["/v1/memories/{id}", "/memories/{id}"];
const MEMORY_HISTORY: &[&str] = &["/v1/memories/{id}/history", "/memories/{id}/history"];
const PROJECT: &[&str] = &["/api/v1/orgs/organizations/{org}/projects/{project}"];
const WEBHOOKS: &[&str] = &["/api/v1/webhooks/projects/{project}"];
const WEBHOOK: &[&str] = &["/api/v1/webhooks/{id}"];
const PROJECTS: &[&str] = &[
    "/api/v1/orgs/organizations/{org}/projects",
    "/api/v1/orgs/organizations/{org}/projects/{project}/members",
];
const PROFILES: &[&str] = &[
    "/v2/entities/user/{name}/profile",
    "/v2/profiles/settings",
    "/v2/profiles/jobs",
    "/v2/profiles/jobs/{id}",
];

/// Rows of the table: method, paths, what the caller needs, form of lists, handler, name of the operation in
/// `openapi/fragment.json`.
macro_rules! routes {
    ($($method:literal $paths:expr, $access:expr, $form:expr => $run:path, $name:literal;)*) => {
        &[$(Route {
            method: $method,
            paths: $paths,
            access: $access,
            form: $form,
            input: RouteInput::Options($name),
            run: |call| Box::pin($run(call)),
        },)*]
    };
}

/// The routes of fact memory, and of the pages. Those of the other calls are made (`rpc`).
static ROUTES: &[Route] = routes! {
    "GET" &["/v1/ping"], HEALTH, Object => settings::ping, "ping";
    "POST" &["/v3/memories/add", "/memories"], ADD, Object => add::add, "addMemories";
    "POST" &["/v1/memories"], ADD, BareForMem0 => add::add, "addMemories";
    "POST" &["/v3/memories/search", "/search"], SEARCH, Object => search::search, "searchMemories";
    "POST" &["/v1/memories/search", "/v2/memories/search"], SEARCH, BareForMem0 => search::search, "searchMemories";
    "GET" &["/v1/memories/search"], SEARCH, Object => search::search, "searchMemoriesByGet";
    "POST" &["/v3/memories"], LIST, Object => list::page, "listMemoriesByPost";
    "POST" &["/v2/memories"], LIST, BareForMem0 => list::list, "listMemoriesByPost";
    "GET" &["/v1/memories"], LIST, BareForMem0 => list::list, "listMemories";
    "GET" &["/memories"], LIST, Object => list::list, "listMemories";
    "GET" MEMORY, GET, Object => memory::get, "getMemory";
    "PUT" MEMORY, UPDATE, Object => memory::update, "updateMemory";
    "DELETE" MEMORY, DELETE, Object => memory::delete, "deleteMemory";
    "GET" MEMORY_HISTORY, HISTORY, Object => memory::history, "getMemoryHistory";
    "DELETE" &["/v1/memories", "/memories"], DELETE_ALL, Object => delete::delete_all, "deleteMemories";
    "POST" &["/v1/reset", "/reset"], RESET, Object => delete::reset, "eraseMemories";
    "GET" &["/v1/entities"], SCOPES, Object => entities::list, "listEntities";
    "DELETE" &["/v2/entities/{kind}/{name}", "/v1/entities/{kind}/{name}"], RESET, Object => entities::delete, "eraseEntity";
    "POST" &["/v1/entities"], NAMED, Object => entities::named, "listNamedEntities";
    "GET" &["/v1/entities/{kind}/relations"], ENTITY, Object => entities::relations, "getEntityRelations";
    "PUT" &["/v1/batch"], UPDATE_MANY, Object => batch::update, "updateMemoriesById";
    "DELETE" &["/v1/batch"], DELETE_MANY, Object => batch::delete, "deleteMemoriesById";
    "GET" &["/v1/events"], GET, Object => events::list, "listEvents";
    "GET" &["/v1/event/{id}"], GET, Object => events::get, "getEvent";
    "POST" &["/v1/feedback"], FEEDBACK, Object => feedback::set, "setFeedback";
    "POST" &["/v1/exports"], LIST, Object => exports::create, "createExport";
    "POST" &["/v1/exports/get"], LIST, Object => exports::get, "getExport";
    "GET" PROJECT, HEALTH, Object => settings::project, "getSettings";
    "PATCH" PROJECT, Identified, Object => settings::not_kept, "changeSettings";
    "DELETE" PROJECT, Identified, Object => settings::not_kept, "changeSettings";
    "GET" PROJECTS, Identified, Object => settings::not_kept, "changeSettings";
    "POST" PROJECTS, Identified, Object => settings::not_kept, "changeSettings";
    "PUT" PROJECTS, Identified, Object => settings::not_kept, "changeSettings";
    "DELETE" PROJECTS, Identified, Object => settings::not_kept, "changeSettings";
    "GET" &["/configure"], HEALTH, Object => settings::configuration, "getSettings";
    "POST" &["/configure"], Identified, Object => settings::not_kept, "changeSettings";
    "GET" WEBHOOKS, Identified, Object => webhooks::list, "listWebhooks";
    "POST" WEBHOOKS, Identified, Object => webhooks::create, "createWebhook";
    "PUT" WEBHOOK, Identified, Object => webhooks::update, "updateWebhook";
    "DELETE" WEBHOOK, Identified, Object => webhooks::delete, "deleteWebhook";
    "GET" PROFILES, Identified, Object => settings::no_profiles, "profiles";
    "POST" PROFILES, Identified, Object => settings::no_profiles, "profiles";
    "POST" &["/v1/summary"], Identified, Object => settings::no_profiles, "profiles";
    "PUT" &["/store/items"], PUT_ITEM, Object => store::put, "putItem";
    "GET" &["/store/items"], GET_ITEM, Object => store::get, "getItem";
    "DELETE" &["/store/items"], DELETE_ITEM, Object => store::delete, "deleteItem";
    "POST" &["/store/items/search"], SEARCH_ITEMS, Object => store::search, "searchItems";
    "POST" &["/store/namespaces"], NAMESPACES, Object => store::namespaces, "listNamespaces";
    "POST" hooks::PATHS, RUN_HOOK, Object => hooks::unread, "hook";
    "POST" mcp::PATHS, SEARCH, Object => mcp::unread, "mcp";
    "GET" &["/openapi.json"], Identified, Object => pages::openapi, "openapi";
    "GET" &["/docs"], Identified, Object => pages::docs, "docs";
    "GET" &["/metrics"], AllBrains, Object => pages::metrics, "metrics";
    "GET" &["/healthz"], HEALTH, Object => pages::alive, "health";
    "GET" &["/readyz"], HEALTH, Object => pages::ready, "health";
};

/// The operation of requests that no route is for: it is in no document.
const UNDESCRIBED: &str = "";

/// Requests of no route: callers that are not identified do not learn that there is none.
static NO_PATH: Route = Route {
    method: "any",
    paths: &[],
    access: Identified,
    form: Object,
    input: RouteInput::Options(UNDESCRIBED),
    run: |call| Box::pin(pages::no_path(call)),
};

/// Requests of a path that has other methods.
static NO_METHOD: Route = Route {
    method: "any",
    paths: &[],
    access: Identified,
    form: Object,
    input: RouteInput::Options(UNDESCRIBED),
    run: |call| Box::pin(pages::no_method(call)),
};

/// The values in a path.
fn values(params: Result<RawPathParams, RawPathParamsRejection>) -> Result<Vec<String>> {
    let params = params.map_err(|why| Refusal::invalid("path", why))?;
    Ok(params.iter().map(|(_, value)| value.to_owned()).collect())
}

fn filter(method: &str) -> MethodFilter {
    match method {
        "GET" => MethodFilter::GET,
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "PATCH" => MethodFilter::PATCH,
        _ => MethodFilter::DELETE,
    }
}

/// Every route.
pub(super) fn all() -> impl Iterator<Item = &'static Route> {
    let calls = rpc::ROUTES.iter().copied().flatten().copied().flatten();
    ROUTES.iter().chain(calls)
}

/// The router of all routes, whose requests are answered by their `RouteOf`.
pub(super) fn router(calls: &GuardedCalls) -> Router {
    let mut router = Router::new();
    for route in all() {
        for path in route.paths {
            for path in [(*path).to_owned(), format!("{path}/")] {
                let calls = calls.clone();
                let serve = move |params, request| {
                    let params = values(params);
                    routed(calls.clone(), RouteOf { route, params }, request)
                };
                router = router.route(&path, on(filter(route.method), serve));
            }
        }
    }
    let none = |route: &'static Route| {
        let calls = calls.clone();
        move |request| {
            let params = Ok(Vec::new());
            routed(calls.clone(), RouteOf { route, params }, request)
        }
    };
    router
        .fallback(none(&NO_PATH))
        .method_not_allowed_fallback(none(&NO_METHOD))
}

async fn routed(
    mut calls: GuardedCalls,
    of: RouteOf,
    mut request: Request<Body>,
) -> Response<Body> {
    request.extensions_mut().insert(of);
    let answer = calls.call(request).await;
    answer.unwrap_or_else(|never| match never {})
}
