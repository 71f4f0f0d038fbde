//! A route: a method, its paths, what it requires of its caller, and the handler.

use std::future::Future;
use std::pin::Pin;

use super::call::RestCall;
use super::output::{ListForm, Output};
use crate::auth::Role;
use crate::ingress::requirement::{CallReach, Requirement};
use crate::limits::HTTP_BODY_BYTES_MAX;
use crate::refusal::Result;

/// Executes a request.
pub(super) type RouteHandler =
    for<'c> fn(&'c mut RestCall) -> Pin<Box<dyn Future<Output = Result<Output>> + Send + 'c>>;

/// What a route requires of its caller.
#[derive(Debug, Clone, Copy)]
pub(super) enum RouteAccess {
    /// As much as this call of gRPC. It counts as that call.
    Call(&'static str),
    /// To see every brain.
    AllBrains,
    /// To be identified.
    Identified,
}

/// A call as routes need it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RouteCall {
    /// Such as `/amem.v1.QueryService/Search`.
    pub(super) path: &'static str,
    /// The messages, without their package.
    pub(super) request: &'static str,
    pub(super) response: &'static str,
    pub(super) place: RouteTarget,
}

/// What the path of a route is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RouteTarget {
    /// The brain that it names.
    Brain,
    /// The daemon.
    Daemon,
}

/// How a route reads its request.
#[derive(Debug, Clone, Copy)]
pub(super) enum RouteInput {
    /// Its query and its body are options, as the operation of this name in `openapi/fragment.json` describes; those
    /// that nobody knows are ignored, and named in the answer.
    Options(&'static str),
    /// It is the message of this call: its body, or its query where the method is GET.
    Message(&'static RouteCall),
}

/// A route.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: &'static str,
    /// Without the slash at the end, which is optional.
    pub(super) paths: &'static [&'static str],
    pub(super) access: RouteAccess,
    pub(super) form: ListForm,
    pub(super) input: RouteInput,
    pub(super) run: RouteHandler,
}

/// The route of a request and the values in its path, among the extensions of its head.
#[derive(Debug, Clone)]
pub(super) struct RouteOf {
    pub(super) route: &'static Route,
    pub(super) params: Result<Vec<String>>,
}

impl Route {
    /// The call of gRPC that it counts as.
    pub(super) fn call(&self) -> Option<&'static str> {
        match self.access {
            RouteAccess::Call(call) => Some(call),
            RouteAccess::AllBrains | RouteAccess::Identified => None,
        }
    }

    /// True if it changes memories.
    pub(super) fn is_change(&self) -> bool {
        let role = self.requirement().and_then(|requirement| requirement.role);
        self.method != "GET" && role.is_some_and(|(role, _)| role >= Role::Write)
    }

    pub(super) fn requirement(&self) -> Option<Requirement> {
        Some(match self.access {
            RouteAccess::Call(call) => Requirement {
                request_bytes_max: HTTP_BODY_BYTES_MAX as u64,
                ..Requirement::of_call(call)?
            },
            RouteAccess::AllBrains => Requirement {
                role: Some((Role::Read, CallReach::All)),
                is_scoped: false,
                ..OPEN
            },
            RouteAccess::Identified => OPEN,
        })
    }
}

/// The requirement of a request that any caller with a name may make.
const OPEN: Requirement = Requirement {
    request_bytes_max: HTTP_BODY_BYTES_MAX as u64,
    ..Requirement::OPEN
};
