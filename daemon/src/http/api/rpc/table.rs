//! The routes of the calls, made from the list that the build makes of the `.proto` files.

use super::super::output::ListForm;
use super::super::route::{Route, RouteAccess, RouteCall, RouteInput, RouteTarget};
use super::brains;
use super::request::executed;
use super::subscribe;

/// A route, given its method, path, place, call and messages, and what executes it.
macro_rules! route {
    ($method:literal $at:expr, $place:ident $path:literal $request:ident $response:ident
        |$call:ident, $rpc:ident| $run:expr) => {
        Route {
            method: $method,
            paths: &[$at],
            access: RouteAccess::Call($path),
            form: ListForm::Object,
            input: RouteInput::Message(&RouteCall {
                path: $path,
                request: stringify!($request),
                response: stringify!($response),
                place: RouteTarget::$place,
            }),
            run: |$call| {
                const RPC: &RouteCall = &RouteCall {
                    path: $path,
                    request: stringify!($request),
                    response: stringify!($response),
                    place: RouteTarget::$place,
                };
                let $rpc = RPC;
                Box::pin($run)
            },
        }
    };
}

/// The route of a call at a path.
macro_rules! posted {
    ($at:expr, $place:ident $path:literal $request:ident $response:ident) => {
        route! { "POST" $at, $place $path $request $response |call, rpc| executed(call, rpc) }
    };
}

/// The routes of each call: of a brain, of the daemon, or both.
macro_rules! calls {
    ($($kind:ident $place:ident $name:literal $path:literal $request:ident $response:ident;)*) => {
        &[$(calls!(@$place $name $path $request $response)),*]
    };
    (@brain $name:literal $path:literal $request:ident $response:ident) => {
        &[posted!(concat!("/v1/brains/{brain}/", $name), Brain $path $request $response)] as &[Route]
    };
    (@daemon $name:literal $path:literal $request:ident $response:ident) => {
        &[posted!(concat!("/v1/daemon/", $name), Daemon $path $request $response)] as &[Route]
    };
    (@both $name:literal $path:literal $request:ident $response:ident) => {
        &[
            posted!(concat!("/v1/brains/{brain}/", $name), Brain $path $request $response),
            posted!(concat!("/v1/daemon/", $name), Daemon $path $request $response),
        ] as &[Route]
    };
}

/// Every call without streams.
static CALLS: &[&[Route]] = amem_proto::for_each_unary_call!(calls);

/// Routes to read by GET.
static READS: &[Route] = &[
    route! { "GET" "/v1/brains", Daemon "/amem.v1.BrainService/ListBrains" ListBrainsRequest ListBrainsResponse
    |call, rpc| brains::list(call, rpc) },
    route! { "GET" "/v1/brains/{brain}", Brain "/amem.v1.BrainService/GetBrain" GetBrainRequest GetBrainResponse
    |call, rpc| brains::get(call, rpc) },
    route! { "GET" "/v1/brains/{brain}/subscribe", Brain "/amem.v1.MemoryService/Subscribe" SubscribeRequest
    SubscribeResponse |call, rpc| subscribe::subscribe(call, rpc) },
];

/// Every route of a call.
pub(in super::super) static ROUTES: &[&[&[Route]]] = &[CALLS, &[READS]];

#[cfg(test)]
mod tests {
    use super::*;
    use amem_proto::calls::CALLS;
    use std::collections::BTreeMap;

    /// Calls with streams that HTTP does not have: files, and streams of batches.
    const WITHOUT: [&str; 5] = [
        "/amem.v1.BrainService/ExportBrain",
        "/amem.v1.BrainService/ImportBrain",
        "/amem.v1.BrainService/MergeBrain",
        "/amem.v1.FactService/ExportFacts",
        "/amem.v1.MemoryService/IngestStream",
    ];

    /// `GetEvents` as `get-events`.
    fn kebab(name: &str) -> String {
        let mut out = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() && !out.is_empty() {
                out.push('-');
            }
            out.push(letter.to_ascii_lowercase());
        }
        out
    }

    #[test]
    fn every_call_of_the_descriptors_has_its_route() {
        let mut routes: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for route in ROUTES.iter().copied().flatten().copied().flatten() {
            let RouteInput::Message(rpc) = route.input else {
                panic!("{route:?}");
            };
            assert_eq!(route.call(), Some(rpc.path));
            let of_call = routes.entry(rpc.path).or_default();
            of_call.push((route.method, route.paths[0]));
        }
        let mut without = Vec::new();
        for service in amem_proto::json::descriptors().services() {
            for method in service.methods() {
                let path = format!("/{}/{}", service.full_name(), method.name());
                let found = routes.remove(&*path).unwrap_or_default();
                let name = kebab(method.name());
                let has_brain = method.input().get_field_by_name("brain").is_some();
                let wanted = match has_brain {
                    true => format!("/v1/brains/{{brain}}/{name}"),
                    false => format!("/v1/daemon/{name}"),
                };
                if method.is_client_streaming() || method.is_server_streaming() {
                    if found.is_empty() {
                        without.push(path);
                    } else {
                        assert_eq!(found, [("GET", &*wanted)]);
                    }
                } else {
                    assert!(found.contains(&("POST", &*wanted)), "{path}: {found:?}");
                }
            }
        }
        without.sort();
        assert_eq!(without, WITHOUT);
        assert!(routes.is_empty(), "{routes:?}");
        assert!(CALLS.len() > 50);
    }
}
