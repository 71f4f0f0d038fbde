//! Any request of any call: it is answered or refused in words, in time, and the daemon goes on. `AMEM_FUZZ_SECS` says
//! how long they come (2).

use std::collections::BTreeMap;
use std::env;
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_proto::codec::BytesCodec;
use amem_tests::fuzz::mutate;
use amem_tests::random::Random;
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};

use crate::forms::{Call, Forms};
use crate::process::{Daemon, create_bare, folder};

/// It ends the daemon, as it should.
const ENDS: &str = "/amem.v1.AdminService/Shutdown";
/// How long a call may take; those that answer by a stream end then.
const PATIENCE: Duration = Duration::from_secs(20);
const STREAM: Duration = Duration::from_millis(20);

/// Calls; the code of the answer.
async fn call(client: &Client, call: &Call, messages: Vec<Vec<u8>>) -> Result<(), Status> {
    let streams = call.sends_stream || call.answers_stream;
    let mut request = Request::new(tokio_stream::iter(messages));
    request.set_timeout(if streams { STREAM } else { PATIENCE });
    let mut grpc = Grpc::new(client.channel());
    let ready = grpc.ready().await;
    ready.map_err(|e| Status::unavailable(format!("not ready: {e}")))?;
    let path: PathAndQuery = call.path.parse().unwrap();
    let answer = grpc
        .streaming(request, path, BytesCodec::<Vec<u8>>::new())
        .await?;
    let mut answers = answer.into_inner();
    while let Some(answer) = answers.next().await {
        answer?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_request_is_answered_or_refused_and_the_daemon_goes_on() {
    let asked = env::var("AMEM_FUZZ_SECS").ok();
    let seconds = asked.map_or(2, |asked| asked.parse().unwrap());
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let forms = Forms::read();
    let calls: Vec<_> = forms
        .calls
        .iter()
        .filter(|call| call.path != ENDS)
        .collect();
    assert!(calls.len() > 50, "{}", calls.len());
    let (begun, mut random) = (Instant::now(), Random::new(11));
    let mut codes: BTreeMap<String, u64> = BTreeMap::new();
    let mut round = 0;
    while begun.elapsed() < Duration::from_secs(seconds) {
        for one in &calls {
            let count = if one.sends_stream {
                1 + random.below(4)
            } else {
                1
            };
            let messages: Vec<_> = (0..count)
                .map(|_| {
                    let message = forms.request(one, &mut random);
                    match random.below(4) {
                        0 => mutate(&message, &mut random),
                        _ => message,
                    }
                })
                .collect();
            let shown = messages
                .iter()
                .map(|message| message.escape_ascii().to_string());
            let shown = format!(
                "round {round}, {}: {:?}",
                one.path,
                shown.collect::<Vec<_>>()
            );
            let since = Instant::now();
            let answer = tokio::time::timeout(2 * PATIENCE, call(&client, one, messages)).await;
            let answer = answer.unwrap_or_else(|_| panic!("{shown}: it hangs"));
            let code = answer.as_ref().err().map_or(Code::Ok, Status::code);
            // What is no message of its kind is refused by the codec, which has this code for it.
            let is_garbage = matches!(&answer, Err(refused) if refused.message().contains("failed to decode Protobuf"));
            let is_defect = !is_garbage
                && matches!(
                    code,
                    Code::Internal | Code::Unknown | Code::DataLoss | Code::Unavailable
                );
            let is_late =
                code == Code::DeadlineExceeded && !one.sends_stream && !one.answers_stream;
            assert!(
                !is_defect && !is_late,
                "{answer:?} after {:?} to {shown}",
                since.elapsed()
            );
            *codes.entry(format!("{code:?}")).or_default() += 1;
        }
        round += 1;
    }
    println!("{} calls, {round} rounds: {codes:?}", calls.len());
    // Whatever was written is whole.
    let mut brains = client.brains();
    let listed = brains.list_brains(v1::ListBrainsRequest::default()).await;
    for brain in listed.unwrap().into_inner().brains {
        let request = v1::VerifyBrainRequest {
            brain: brain.brain.clone(),
        };
        let verified = client
            .brains()
            .verify_brain(request)
            .await
            .unwrap()
            .into_inner();
        assert!(verified.whole, "{}: {verified:?}", brain.brain);
    }
    assert!(codes["Ok"] > 20, "{codes:?}");
}
