//! Answers that are read, that are not, and that take too long.

use super::*;
use crate::auth::{Caller, Rights};
use crate::config::Limits;
use crate::ingress::latency::Latencies;
use crate::ingress::load::LoadLimits;
use crate::ingress::methods;
use crate::ingress::quota::Quota;
use crate::ingress::requirement::Requirement;
use crate::limits::CONNECTION_UNSENT_BYTES;
use std::collections::VecDeque;
use std::future::poll_fn;

use hyper::HeaderMap;
use tonic::Status;

use crate::gateway::encoding::tests::ENCODINGS;
use crate::limits::ANSWER_PART_BYTES;

/// A body of these parts; after them it waits for ever.
struct Parts(VecDeque<Bytes>);

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<FrameResult>> {
        match self.0.pop_front() {
            Some(part) if part.is_empty() => {
                Poll::Ready(Some(Ok(Frame::trailers(HeaderMap::new()))))
            }
            Some(part) => Poll::Ready(Some(Ok(Frame::data(part)))),
            None => Poll::Pending,
        }
    }
}

/// How an answer of this protocol ends.
fn end_of(encoding: &'static dyn Encoding) -> AnswerEnd {
    let (head, ()) = hyper::Response::new(()).into_parts();
    AnswerEnd {
        end: encoding.end_of(&head),
        encoding,
    }
}

struct Sent {
    load: Arc<LoadLimits>,
    answers: Arc<PendingAnswers>,
    body: Body,
}

impl Sent {
    fn new(sizes: &[usize], deadline: Option<Deadline>) -> Self {
        Self::of(Arc::default(), Arc::default(), sizes, deadline)
    }

    /// One beside others.
    fn beside(&self, sizes: &[usize]) -> Self {
        Self::of(self.load.clone(), self.answers.clone(), sizes, None)
    }

    fn of(
        load: Arc<LoadLimits>,
        answers: Arc<PendingAnswers>,
        sizes: &[usize],
        deadline: Option<Deadline>,
    ) -> Self {
        let slot = load
            .acquire_as_admin(&HeaderMap::new(), &Limits::default())
            .unwrap();
        let parts = sizes.iter().map(|bytes| Bytes::from(vec![7; *bytes]));
        let body = answers.send(
            Body::new(Parts(parts.collect())),
            slot,
            deadline,
            (Arc::default(), end_of(ENCODINGS[0])),
            AnswerHold::default(),
        );
        Self {
            load,
            answers,
            body,
        }
    }

    async fn next(&mut self) -> Option<FrameResult> {
        poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await
    }

    async fn data(&mut self) -> usize {
        self.next()
            .await
            .unwrap()
            .unwrap()
            .into_data()
            .unwrap()
            .len()
    }

    fn under_way(&self) -> u64 {
        self.load.calls_held()
    }
}

fn deadline(millis: u64) -> Deadline {
    let requirement = Requirement::of_call("/amem.v1.MemoryService/Subscribe").unwrap();
    let asked = Some(Duration::from_millis(millis));
    Deadline::new(asked, &requirement, &Limits::default()).unwrap()
}

#[tokio::test]
async fn a_call_is_under_way_until_the_last_of_its_answer_was_taken() {
    let mut sent = Sent::new(&[ANSWER_PART_BYTES + 9, 3, 0], None);
    assert_eq!(sent.data().await, ANSWER_PART_BYTES);
    assert_eq!(sent.data().await, 9);
    assert_eq!(sent.data().await, 3);
    assert_eq!(sent.under_way(), 1);
    assert!(sent.next().await.unwrap().unwrap().is_trailers());
    assert_eq!(sent.under_way(), 0);
    assert!(sent.next().await.is_none());

    let sent = Sent::new(&[3], None);
    assert_eq!(sent.under_way(), 1);
    drop(sent.body);
    assert_eq!(sent.load.calls_held(), 0);
    assert!(sent.answers.pending.lock().unpoisoned().is_empty());
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_given_up_and_one_that_waits_for_more_is_not() {
    let mut sent = Sent::new(&[3 * ANSWER_PART_BYTES], None);
    sent.data().await;
    let began = Instant::now();
    sent.answers.check(began + UNREAD_AFTER / 2);
    assert_eq!(sent.under_way(), 1);
    sent.answers.check(began + UNREAD_AFTER);
    assert_eq!(sent.under_way(), 0);
    let status = Status::from_error(sent.next().await.unwrap().unwrap_err().into_inner());
    assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
    assert!(status.message().contains("not read"), "{status}");
    assert!(sent.next().await.is_none());

    let mut waits = Sent::new(&[3], None);
    waits.data().await;
    let next = std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut waits.body).poll_frame(cx)));
    assert!(next.await.is_pending());
    waits.answers.check(Instant::now() + 9 * UNREAD_AFTER);
    assert_eq!(waits.under_way(), 1);
}

#[tokio::test]
async fn where_too_much_waits_to_be_read_what_has_waited_longest_is_given_up_earlier() {
    const PART: usize = UNREAD_BYTES / 4;
    let mut first = Sent::new(&[PART + ANSWER_PART_BYTES], None);
    first.data().await;
    let mut all: Vec<Sent> = (0..4)
        .map(|_| first.beside(&[PART + ANSWER_PART_BYTES]))
        .collect();
    for sent in &mut all {
        sent.data().await;
    }
    let began = Instant::now();
    first.answers.check(began + UNREAD_AFTER_WHEN_MANY / 2);
    assert_eq!(first.under_way(), 5, "it may still be read");
    // Of five quarters one is too much.
    first.answers.check(began + UNREAD_AFTER_WHEN_MANY);
    assert_eq!(first.under_way(), 4);
    let error = first.next().await.unwrap().unwrap_err().to_string();
    assert!(error.contains("not read the answer for 5 s"), "{error}");
    for sent in &mut all {
        assert_eq!(sent.data().await, ANSWER_PART_BYTES);
    }
}

#[tokio::test]
async fn an_answer_waits_while_its_connection_has_too_much_and_its_patience_is_counted() {
    let mut sent = Sent::new(&[2 * CONNECTION_UNSENT_BYTES], None);
    let mut held = Vec::new();
    let began = Instant::now();
    loop {
        let next = poll_fn(|cx| Poll::Ready(Pin::new(&mut sent.body).poll_frame(cx))).await;
        match next {
            Poll::Ready(frame) => held.push(frame.unwrap().unwrap()),
            Poll::Pending => break,
        }
    }
    assert_eq!(held.len() * ANSWER_PART_BYTES, CONNECTION_UNSENT_BYTES);
    // The server lets go of one: there is room for the next.
    held.pop();
    assert_eq!(sent.data().await, ANSWER_PART_BYTES);
    sent.answers.check(began + 2 * UNREAD_AFTER);
    assert_eq!(sent.under_way(), 0);
}

#[tokio::test]
async fn a_stream_ends_at_its_deadline_with_the_reason_in_its_trailers() {
    let deadline = deadline(30);
    let mut sent = Sent::new(&[3], Some(deadline));
    assert_eq!(sent.data().await, 3);
    let trailers = sent.next().await.unwrap().unwrap().into_trailers().unwrap();
    let status = Status::from_header_map(&trailers).unwrap();
    assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
    assert_eq!(sent.under_way(), 0);
    assert!(sent.next().await.is_none());
}

#[tokio::test]
async fn an_answer_that_is_given_up_returns_its_bytes_and_ends_its_call() {
    const PATH: &str = "/amem.v1.QueryService/GetEvents";
    let latencies = Latencies::new(methods::all());
    let timer = SharedCallTimer::begin(&latencies, PATH);
    let quota = Quota::default();
    let reader = Caller::new("token:reader".into(), Rights::default());
    let lease = quota.take(&reader, 3 << 20, 256 << 20).unwrap();
    let load = Arc::new(LoadLimits::default());
    let slot = load.acquire_as_admin(&HeaderMap::new(), &Limits::default());
    let answers = Arc::<PendingAnswers>::default();
    let hold = AnswerHold {
        lease: Some(lease.into()),
        timer: Some(timer.clone()),
    };
    let parts = Parts([Bytes::from(vec![7; 3 << 20])].into());
    let body = Body::new(parts);
    // The client has closed its window: the server never asks for the answer.
    let connection = (Arc::default(), end_of(ENCODINGS[0]));
    let _body = answers.send(body, slot.unwrap(), None, connection, hold);
    let in_flight = || latencies.page("", 100).0[0].1.in_flight;
    let held: usize = answers
        .pending
        .lock()
        .unpoisoned()
        .values()
        .map(|answer| answer.lock().unpoisoned().rest.len())
        .sum();
    assert_eq!(held, 3 << 20, "it is encoded once, and counts");
    assert_eq!(
        (quota.all(), in_flight(), load.calls_held()),
        (3 << 20, 1, 1)
    );
    let now = Instant::now();
    answers.check(now + UNREAD_AFTER_WHEN_MANY);
    assert_eq!(in_flight(), 1);
    answers.check(now + UNREAD_AFTER);
    assert_eq!((quota.all(), in_flight(), load.calls_held()), (0, 0, 0));
    assert_eq!(latencies.refused()[SLOW_READER], 1);
    // The end of the body counts no second time.
    drop((timer, _body));
    assert_eq!(latencies.refused().len(), 1);
}

#[tokio::test]
async fn an_answer_by_either_protocol_whose_client_opens_no_window_is_given_up() {
    for encoding in ENCODINGS {
        let (load, answers) = (LoadLimits::default(), Arc::<PendingAnswers>::default());
        let slot = load.acquire_as_admin(&HeaderMap::new(), &Limits::default());
        let (unsent, end) = (Arc::<UnsentBytes>::default(), end_of(encoding));
        let connection = (unsent.clone(), end);
        let hold = AnswerHold::default();
        // The server never asks for it.
        let _body = answers.send(Body::from("{}"), slot.unwrap(), None, connection, hold);
        let began = Instant::now();
        answers.check(began + UNREAD_AFTER / 2);
        assert_eq!(load.calls_held(), 1, "{encoding:?}");
        answers.check(began + UNREAD_AFTER);
        assert_eq!(load.calls_held(), 0, "{encoding:?}");
        // A connection that can send nothing else ends.
        unsent.given_up().await;
    }
}

#[tokio::test]
async fn whole_answers_by_http_and_those_by_grpc_share_what_may_wait_to_be_read() {
    const BYTES: usize = UNREAD_BYTES / 2 + 2 * ANSWER_PART_BYTES;
    let (load, answers) = (LoadLimits::default(), Arc::<PendingAnswers>::default());
    let mut bodies: Vec<_> = ENCODINGS
        .iter()
        .map(|encoding| {
            let slot = load.acquire_as_admin(&HeaderMap::new(), &Limits::default());
            let connection = (Arc::default(), end_of(*encoding));
            let body = Body::from(vec![7; BYTES]);
            let hold = AnswerHold::default();
            answers.send(body, slot.unwrap(), None, connection, hold)
        })
        .collect();
    for body in &mut bodies {
        assert_eq!(body.size_hint().exact(), Some(BYTES as u64));
        let part = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        assert_eq!(
            part.unwrap().unwrap().into_data().unwrap().len(),
            ANSWER_PART_BYTES
        );
    }
    let began = Instant::now();
    answers.check(began + UNREAD_AFTER_WHEN_MANY);
    assert_eq!(
        load.calls_held(),
        1,
        "of two halves and a little, one is too much"
    );
}

#[tokio::test]
async fn a_whole_answer_goes_in_parts_and_ends_with_its_last_one() {
    let (load, answers) = (LoadLimits::default(), Arc::<PendingAnswers>::default());
    let slot = load.acquire_as_admin(&HeaderMap::new(), &Limits::default());
    let connection = (Arc::default(), end_of(ENCODINGS[1]));
    let body = Body::from(vec![7; ANSWER_PART_BYTES + 1]);
    let hold = AnswerHold::default();
    let mut body = answers.send(body, slot.unwrap(), None, connection, hold);
    for bytes in [ANSWER_PART_BYTES, 1] {
        assert!(!body.is_end_stream());
        let part = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        assert_eq!(part.unwrap().unwrap().into_data().unwrap().len(), bytes);
    }
    assert!(body.is_end_stream());
    assert_eq!(load.calls_held(), 1);
    drop(body);
    assert_eq!(load.calls_held(), 0);
    assert!(answers.pending.lock().unpoisoned().is_empty());
}
