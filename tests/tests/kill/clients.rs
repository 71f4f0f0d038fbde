//! The clients of a killed daemon: processes that write until they are stopped.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use amem_tests::daemon::DaemonHome;
use amem_tests::ledger::Receipt;
use amem_tests::process::start_ready;

/// How many there are.
const CLIENTS: u64 = 4;

/// Clients that write.
pub(crate) struct Clients(Vec<Client>);

struct Client {
    child: Child,
    ledger: PathBuf,
}

impl Clients {
    /// Starts them, and waits until each is connected.
    pub(crate) fn start(place: &DaemonHome, seed: u64, has_ids: bool) -> Self {
        let one = |n: u64| {
            let ledger = place.run().join(format!("ledger-{n}"));
            let mut command = Command::new(env!("CARGO_BIN_EXE_amem-writer"));
            command
                .arg(place.socket())
                .args(["b", &format!("client-{n}")]);
            command.arg((seed ^ (n << 40)).to_string()).arg(&ledger);
            command.args((!has_ids).then_some("without-ids"));
            let child = start_ready(&mut command);
            Client { child, ledger }
        };
        Self((0..CLIENTS).map(one).collect())
    }

    /// Waits until each has its answers, and gives them.
    pub(crate) fn end(mut self) -> Vec<Vec<Receipt>> {
        for client in &mut self.0 {
            drop(client.child.stdin.take());
        }
        let told = |client: &mut Client| {
            assert!(client.child.wait().unwrap().success());
            let ledger = fs::read_to_string(&client.ledger).unwrap();
            let told = ledger.lines().map(serde_json::from_str);
            told.collect::<Result<_, _>>().unwrap()
        };
        self.0.iter_mut().map(told).collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
