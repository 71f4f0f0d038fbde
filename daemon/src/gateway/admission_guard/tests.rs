//! Calls on their way in, and what becomes of them while they wait.

use std::convert::Infallible;
use std::fs;
use std::future::pending;
use std::path::Path;

use amem_proto::answer::Code;
use hyper::header;
use tokio::sync::watch;
use tokio::task::yield_now;
use tonic::Status;
use tonic_types::StatusExt;
use tower::Service;

use super::*;
use crate::auth::{Caller, Role, TokenRights};
use crate::config::{Config, Flags};
use crate::control::Control;
use crate::gateway::encoding::tests::ENCODINGS;
use crate::gateway::guarded;
use crate::ingress::Peer;

const ASK: &str = "/amem.v1.AdminService/GetStatus";
const INGEST: &str = "/amem.v1.MemoryService/Ingest";
const VERIFY: &str = "/amem.v1.BrainService/VerifyBrain";
const IMPORT: &str = "/amem.v1.BrainService/ImportBrain";
const REMOVE: &str = "/amem.v1.BrainService/RemoveBrain";
const CREATE_TOKEN: &str = "/amem.v1.AdminService/CreateToken";
const RELOAD: &str = "/amem.v1.AdminService/Reload";

fn guard_of(control: &Control) -> AdmissionGuard {
    AdmissionGuard::new(Admission::new(control.clone()), ENCODINGS[0])
}

fn guard() -> AdmissionGuard {
    let flags = Flags {
        folder: Some("/b".into()),
        socket: Some("/s".into()),
        set: vec!["limits.deadline_secs=1".into()],
        ..Flags::default()
    };
    let config = Config::load(flags, Arc::new(|_| None)).unwrap();
    guard_of(&Control::new(&config).unwrap())
}

/// What is in force by a file of settings.
fn control(folder: &Path, settings: &str) -> Control {
    configure(folder, settings);
    let flags = Flags {
        config: Some(folder.join("config.toml")),
        ..Flags::default()
    };
    let config = Config::load(flags, Arc::new(|_| None)).unwrap();
    Control::new(&config).unwrap()
}

fn configure(folder: &Path, settings: &str) {
    let gid = rustix::process::getegid().as_raw();
    let group = format!("access.socket_group = \"{gid}\"");
    let text = format!("folder = \"brains\"\nsocket = \"s\"\n{group}\n{settings}\n");
    fs::write(folder.join("config.toml"), text).unwrap();
}

/// The setting by which another user has a role.
fn grant(uid: u32, role: &str) -> String {
    format!("access.users = {{ {uid} = \"{role}\" }}\n")
}

fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A call of our own user, or of another.
fn request(path: &str, uid: u32, timeout: Option<&str>) -> Request<Body> {
    let mut request = Request::builder().uri(path);
    if let Some(timeout) = timeout {
        request = request.header("grpc-timeout", timeout);
    }
    let mut request = request.body(Body::empty()).unwrap();
    let info = ConnectionInfo::without_slot(Peer::Unix { uid, gid: 0 });
    request.extensions_mut().insert(info);
    request
}

fn refused(answer: &Response<Body>) -> Option<(Code, String)> {
    let status = Status::from_header_map(answer.headers())?;
    let reason = status.get_details_error_info().map(|info| info.reason);
    Some((status.code().into(), reason.unwrap_or_default()))
}

#[tokio::test]
async fn a_call_is_served_with_its_caller_or_refused_before_it_begins() {
    let service = tower::service_fn(|request: Request<Body>| async move {
        let caller = request.extensions().get::<Caller>();
        assert!(caller.is_some_and(|caller| caller.principal.starts_with("uid:")));
        Ok::<_, Infallible>(Response::new(Body::empty()))
    });
    let mut service = guarded(guard(), service);
    let ours = our_uid();
    for (path, uid, timeout, wanted) in [
        (ASK, ours, None, None),
        (ASK, ours, Some("1H"), None),
        (
            ASK,
            ours,
            Some("1n"),
            Some((Code::DeadlineExceeded, "DEADLINE")),
        ),
        (
            ASK,
            ours,
            Some("x"),
            Some((Code::InvalidArgument, "INVALID")),
        ),
        (
            ASK,
            ours + 1,
            None,
            Some((Code::Unauthenticated, "PRINCIPAL")),
        ),
        (
            "/no/Such",
            ours,
            None,
            Some((Code::Unimplemented, "UNKNOWN_CALL")),
        ),
    ] {
        let answer = service.call(request(path, uid, timeout)).await.unwrap();
        let wanted = wanted.map(|(code, reason)| (code, reason.to_owned()));
        assert_eq!(refused(&answer), wanted, "{path} {uid} {timeout:?}");
    }
    let nobody = Request::builder().uri(ASK).body(Body::empty()).unwrap();
    let answer = service.call(nobody).await.unwrap();
    assert_eq!(refused(&answer).unwrap().1, "PRINCIPAL");
}

#[tokio::test]
async fn a_call_that_does_not_end_is_dropped_at_its_deadline_and_leaves_no_load() {
    struct Work(tokio::sync::mpsc::Sender<()>);
    let (dropped, mut drops) = tokio::sync::mpsc::channel(1);
    let service = tower::service_fn(move |_: Request<Body>| {
        let work = Work(dropped.clone());
        async move {
            let answer = pending::<Result<Response<Body>, Infallible>>().await;
            drop(work.0);
            answer
        }
    });
    let guard = guard();
    let mut service = guarded(guard.clone(), service);
    let ours = our_uid();
    let answer = service.call(request(ASK, ours, Some("20m"))).await.unwrap();
    let wanted = (Code::DeadlineExceeded, "DEADLINE".to_owned());
    assert_eq!(refused(&answer), Some(wanted));
    drop(service);
    assert_eq!(drops.recv().await, None, "the work goes on");
    assert_eq!(
        guard.admission.calls_held(),
        0,
        "it still counts as under way"
    );
}

#[tokio::test]
async fn a_waiting_call_ends_when_its_caller_loses_rights_not_when_it_gains_some() {
    let folder = tempfile::tempdir().unwrap();
    let uid = our_uid() + 1;
    let control = control(folder.path(), &grant(uid, "write"));
    let guard = guard_of(&control);
    let (answer, answered) = watch::channel(false);
    let mut service = guarded(
        guard.clone(),
        tower::service_fn(move |_: Request<Body>| {
            let mut answered = answered.clone();
            async move {
                answered.wait_for(|answered| *answered).await.unwrap();
                Ok::<_, Infallible>(Response::new(Body::empty()))
            }
        }),
    );
    let mut call = |path, uid| tokio::spawn(service.call(request(path, uid, Some("1H"))));
    let [ingest, verify, import] = [INGEST, VERIFY, IMPORT].map(|path| call(path, uid));
    let ours = call(INGEST, our_uid());
    // What it is given it has from its next call on.
    for role in ["admin", "read"] {
        configure(folder.path(), &grant(uid, role));
        control.reload().unwrap();
        for _ in 0..10 {
            yield_now().await;
        }
        let ended = [&ingest, &verify, &import].map(tokio::task::JoinHandle::is_finished);
        assert_eq!(ended, [role == "read"; 3]);
    }
    for (call, may_be_done) in [(ingest, true), (verify, false), (import, false)] {
        let answer = call.await.unwrap().unwrap();
        let wanted = (Code::Unavailable, "ACCESS_CHANGED".to_owned());
        assert_eq!(refused(&answer), Some(wanted));
        let told = Status::from_header_map(answer.headers()).unwrap();
        assert_eq!(
            told.message().contains("same request_id"),
            may_be_done,
            "{told}"
        );
    }
    assert!(!ours.is_finished(), "another's call has ended");
    assert_eq!(
        guard.admission.calls_held(),
        1,
        "they still count as under way"
    );
    answer.send(true).unwrap();
    assert_eq!(refused(&ours.await.unwrap().unwrap()), None);
}

#[tokio::test]
async fn a_connection_is_counted_for_the_callers_of_its_open_calls() {
    let folder = tempfile::tempdir().unwrap();
    let tcp = "tcp.listen = \"127.0.0.1:0\"\ntcp.tokens_file = \"tokens.toml\"\n";
    let control = control(folder.path(), tcp);
    let mut service = guarded(
        guard_of(&control),
        tower::service_fn(|_| async { pending::<Result<Response<Body>, Infallible>>().await }),
    );
    let info = ConnectionInfo::without_slot(Peer::Tcp {
        from: "127.0.0.1:2".parse().unwrap(),
        to: "127.0.0.1:1".parse().unwrap(),
        tls: false,
        certificate: None,
        client_ca: None,
    });
    let mut call = |name| {
        let token = control
            .create_token(name, &TokenRights::of(Role::Read))
            .unwrap();
        let mut request = request(VERIFY, 0, None);
        *request.uri_mut() = format!("http://localhost:1{VERIFY}").parse().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
        request.extensions_mut().insert(info.clone());
        tokio::spawn(service.call(request))
    };
    let (goes, stays) = (call("goes"), call("stays"));
    for name in ["goes", "stays"] {
        assert!(
            info.session.is_authorized(&control.live()),
            "{name} is let in"
        );
        control.revoke_token(name).unwrap();
        for _ in 0..10 {
            yield_now().await;
        }
    }
    assert!(!info.session.is_authorized(&control.live()));
    for call in [goes, stays] {
        let answer = call.await.unwrap().unwrap();
        assert_eq!(refused(&answer).unwrap().1, "TOKEN");
    }
}

#[tokio::test]
async fn a_caller_that_revokes_its_own_rights_gets_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let uid = our_uid() + 1;
    let control = control(folder.path(), "");
    let of = control.clone();
    let mut service = guarded(
        guard_of(&control),
        tower::service_fn(move |_| {
            let control = of.clone();
            async move {
                control.reload().unwrap();
                yield_now().await;
                Ok::<_, Infallible>(Response::new(Body::empty()))
            }
        }),
    );
    let unknown = (Code::Unauthenticated, "PRINCIPAL".to_owned());
    for (path, wanted) in [(RELOAD, None), (CREATE_TOKEN, Some(unknown))] {
        configure(folder.path(), &grant(uid, "admin"));
        control.reload().unwrap();
        configure(folder.path(), "");
        let answer = service.call(request(path, uid, None)).await.unwrap();
        assert_eq!(refused(&answer), wanted, "{path}");
    }
}

#[tokio::test]
async fn calls_that_are_refused_count_as_others_do() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, nobody) = (our_uid() + 1, our_uid() + 2);
    let settings = format!("limits.calls_per_second = 2\n{}", grant(reader, "read"));
    let control = control(folder.path(), &settings);
    let service = tower::service_fn(|_: Request<Body>| async {
        Ok::<_, Infallible>(Response::new(Body::empty()))
    });
    let mut service = guarded(guard_of(&control), service);
    for (path, uid, reason, whose) in [
        ("/no/Such", our_uid(), "UNKNOWN_CALL", "uid:"),
        (REMOVE, reader, "ROLE", "uid:"),
        (ASK, nobody, "PRINCIPAL", "user "),
    ] {
        let info = ConnectionInfo::without_slot(Peer::Unix { uid, gid: 0 });
        let call = || {
            let mut request = request(path, uid, None);
            request.extensions_mut().insert(info.clone());
            request
        };
        let mut too_many = 0;
        for number in 0..50 {
            let answer = service.call(call()).await.unwrap();
            let (_, told) = refused(&answer).unwrap();
            if told == reason {
                continue;
            }
            assert_eq!((told.as_str(), number > 0), ("LOAD", true), "{path}");
            let status = Status::from_header_map(answer.headers()).unwrap();
            assert!(
                status.message().starts_with(&format!("{whose}{uid} ")),
                "{status}"
            );
            too_many += 1;
        }
        assert!(too_many > 25, "{path}: {too_many}");
    }
}
