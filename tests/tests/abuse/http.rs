//! Bad requests by HTTP, beside callers by gRPC that are well-behaved.

use amem_locks::LockResultExt;

use crate::healthy::Way;
use crate::process::{Setup, write_private};
use crate::{ALONE, Abuser, Trial};

/// Kinds that are tried one after the other where there is time for it.
const KINDS: [&str; 6] = [
    "http-slow",
    "http-unread",
    "http-packed",
    "http-heads",
    "http-pairs",
    "http-deep",
];

#[test]
fn bad_requests_by_http_neither_take_memory_nor_slow_callers_down() {
    let _alone = ALONE.lock().unpoisoned();
    let place = Setup::new(
        "[http]\nlisten = \"127.0.0.1:0\"\n[tcp]\ntokens_file = \"tokens.toml\"\n\
         [limits]\nbody_millis = 1000\n",
    );
    let daemon = place.start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let token = runtime.block_on(daemon.token());
    write_private(&daemon.place.path("token"), &token);
    let address = daemon.http.unwrap().to_string();
    let mut trial = Trial::start(daemon.pid(), &Way::Socket(daemon.place.socket()));
    let file = daemon.place.path("token");
    let start = |kind: &str| Abuser::start_at(kind, address.as_ref(), file.as_os_str());
    let mut wrong = trial.abuse("http", || start("http"));
    if std::env::var_os("AMEM_ABUSE_SECS").is_some() {
        for kind in KINDS {
            wrong.extend(trial.abuse(kind, || start(kind)));
        }
    }
    trial.healthy.end();
    assert!(daemon.stop().success());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
