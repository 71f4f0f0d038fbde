//! The echo of tonic over a Unix socket: the cost of an empty call.

use amem_client::{Client, v1};

use super::super::measure::Outcome;
use crate::latency::peers::Peers;
use crate::latency::{self, echo};

/// Calls of one caller, and of 64 in flight.
const CALLS: (usize, usize) = (2_000, 20_000);

/// Seconds of one call, and calls a second with 64 in flight.
pub(super) fn measure() -> Outcome<(f64, f64)> {
    let peers = Peers::echo()?;
    let event = v1::Event {
        text: "as many bytes as an event's answer has ".repeat(4),
        ..Default::default()
    };
    let message = v1::GetEventsResponse {
        events: vec![event],
        ..Default::default()
    };
    tokio::runtime::Runtime::new()?.block_on(async {
        let channel = Client::connect_unix(&peers.echo_socket).await?.channel();
        let call = move |_| {
            let (channel, message) = (channel.clone(), message.clone());
            async move { echo::call(channel, message).await.map(drop) }
        };
        latency::measure(1, CALLS.0 / 4, call.clone()).await?;
        let (one, _) = latency::measure(1, CALLS.0, call.clone()).await?;
        let (_, took) = latency::measure(64, CALLS.1, call).await?;
        let one = one.value_at_quantile(0.5) as f64 / 1e9;
        Ok((one, CALLS.1 as f64 / took.as_secs_f64()))
    })
}
