//! Bytes of requests: messages of amem.v1.

use std::any::type_name;
use std::sync::{Arc, LazyLock};

use amem_client::{Question, v1};
use amem_format::bytes::get_u16;
use amem_store::disk::Disk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create};
use amemd::IntoCommand;
use prost::Message;

use super::files::view;
use crate::damaged::open;
use crate::disk::SimDisk;

/// Requests that one input may ask for.
pub(super) const ASKED_MAX: usize = 8;
/// The front of each: which message, and its bytes.
const FRONT: usize = 3;

/// Messages, each behind its number and its length.
pub(super) struct Messages<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (front, rest) = self.0.split_at_checked(FRONT)?;
        let (message, rest) = rest.split_at(usize::from(get_u16(front, 1)).min(rest.len()));
        self.0 = rest;
        Some((front[0].into(), message))
    }
}

pub(super) fn framed(number: usize, message: &impl Message) -> Vec<u8> {
    framed_bytes(number, &message.encode_to_vec())
}

pub(super) fn framed_bytes(number: usize, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number as u8];
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
    out
}

/// A brain of a few events, closed.
static DISK: LazyLock<SimDisk> = LazyLock::new(|| {
    let disk = SimDisk::new(1);
    let made = || {
        let folder = Folder::open(Arc::new(disk.clone()) as Arc<dyn Disk>, "a test")?;
        let options = NewBrain {
            dimension: 3,
            space: uuid::Uuid::from_u128(0xA11CE),
            ..NewBrain::default()
        };
        create(&folder, "b", &options)?;
        let mut store = Store::open(&folder, "b")?;
        let texts = ["the river", "a stone", "the garden", "a lamp"];
        let events = texts.map(|text| NewEvent::new(amem_format::EventType::FACT, text));
        let events = Mutation::Ingest(Ingest {
            events: events.into(),
            ..Ingest::default()
        });
        store.execute(Request::new(events))?;
        store.execute(Request::new(Mutation::OpenSession { key: "k".into() }))?;
        store.close()
    };
    made().unwrap_or_else(|e| panic!("a brain for requests: {e}"));
    disk
});

/// That brain, open, on a disk of its own.
pub(super) fn brain() -> (SimDisk, Folder, Store) {
    let disk = DISK.cloned();
    let folder = Folder::open(Arc::new(disk.clone()) as Arc<dyn Disk>, "a test");
    let opened = folder.and_then(|folder| Ok((Store::open(&folder, "b")?, folder)));
    let (store, folder) = opened.unwrap_or_else(|e| panic!("the brain does not open: {e}"));
    (disk, folder, store)
}

/// Requests that change a brain, one after the other; then the file says what the store says.
pub(super) fn changes(data: &[u8]) {
    let (disk, _folder, mut store) = brain();
    let mut done = 0;
    for (number, message) in Messages(data).take(ASKED_MAX) {
        let Some(request) = request(number, message) else {
            continue;
        };
        done += usize::from(store.execute(request).is_ok());
        assert_eq!(store.poisoned(), None);
    }
    if done > 0 {
        settled(&disk, store);
    }
}

/// What was written to that brain is in its file, now and after a checkpoint.
pub(super) fn settled(disk: &SimDisk, mut store: Store) {
    let file = disk.contents("b.amem").unwrap_or_default();
    let shown = open(&file).unwrap_or_else(|e| panic!("what was written is not read: {e}"));
    assert_eq!(shown.moment(), store.view().moment());
    let folded = store.checkpoint();
    assert!(folded.is_ok(), "{folded:?}");
    let file = disk.contents("b.amem").unwrap_or_default();
    let report =
        amem_doctor::verify::native(Arc::new(amem_format::mapping::Map::owned(&file)), None);
    let findings = report.map(|report| report.findings);
    assert!(findings.as_ref().is_ok_and(Vec::is_empty), "{findings:?}");
}

macro_rules! changes {
    ($($call:ident $message:ident $response:ident $path:literal;)*) => {
        /// The messages, in the order of their numbers.
        pub(super) const CHANGES: &[&str] = &[$(stringify!($message)),*];

        /// What a message asks of the store, if it makes sense.
        fn request(number: usize, bytes: &[u8]) -> Option<Request> {
            const READS: &[fn(&[u8]) -> Option<Request>] = &[$(command::<v1::$message>),*];
            READS[number % READS.len()](bytes)
        }
    };
}

amem_proto::for_each_memory_call!(changes);

fn command<C: IntoCommand>(bytes: &[u8]) -> Option<Request> {
    let command = C::decode(bytes).ok()?.into_command("uid:1000").ok();
    command.map(|(_, request)| request)
}

/// A message behind its number among these.
fn numbered<M: Message>(names: &[&str], message: &M) -> Vec<u8> {
    let name = type_name::<M>().rsplit("::").next().unwrap_or_default();
    let number = names.iter().position(|known| *known == name);
    let number = number.unwrap_or_else(|| panic!("{name} is none of {names:?}"));
    framed(number, message)
}

/// Requests that change the brain.
pub(super) fn change_messages() -> Vec<Vec<u8>> {
    let vector = || {
        Some(v1::Vector {
            values: vec![0.5, 1.0, -1.0],
            ..Default::default()
        })
    };
    let event = |text: &str| v1::NewEvent {
        text: text.into(),
        r#type: 1,
        session_id: Some(1),
        confidence: Some(0.5),
        vector: vector(),
        attributes_json: r#"{"a": {"b": [1, 2.5]}}"#.into(),
        event_time: Some(amem_client::Timestamp {
            seconds: 1_700_000_000,
            nanos: 5000,
        }),
        ..Default::default()
    };
    let ends = [
        v1::link_end::End::BatchIndex(0),
        v1::link_end::End::EventId(1),
    ];
    let [source, target] = ends.map(|end| Some(v1::LinkEnd { end: Some(end) }));
    let ingest = v1::IngestRequest {
        events: vec![event("one"), event("two")],
        links: vec![v1::NewLink {
            source,
            target,
            r#type: 5,
            weight: Some(0.5),
        }],
        follow: true,
        relate: Some(v1::Relate {
            k: 2,
            min_similarity: 0.1,
        }),
        options: Some(v1::WriteOptions {
            agent: "a".into(),
            expected_lsn: Some(2),
            ..Default::default()
        }),
        ..Default::default()
    };
    let correct = v1::CorrectRequest {
        target_id: 1,
        event: Some(event("otherwise")),
        to_head: true,
        reason: "why".into(),
        ..Default::default()
    };
    let link = v1::LinkRequest {
        source_id: 1,
        target_id: 2,
        r#type: 3,
        ..Default::default()
    };
    let touched = vec![v1::Touched {
        event_id: 1,
        count: 3,
    }];
    let mut all = vec![
        numbered(CHANGES, &ingest),
        numbered(CHANGES, &correct),
        numbered(CHANGES, &link),
    ];
    let unlink = v1::UnlinkRequest {
        source_id: 1,
        target_id: 2,
        r#type: 3,
        ..Default::default()
    };
    all.push(numbered(CHANGES, &unlink));
    all.push(numbered(
        CHANGES,
        &v1::TouchRequest {
            touched,
            ..Default::default()
        },
    ));
    all.push(numbered(
        CHANGES,
        &v1::PinRequest {
            event_id: 1,
            ..Default::default()
        },
    ));
    all.push(numbered(
        CHANGES,
        &v1::ForgetRequest {
            event_id: 1,
            ..Default::default()
        },
    ));
    all.push(numbered(
        CHANGES,
        &v1::EraseRequest {
            event_ids: vec![1, 2],
            ..Default::default()
        },
    ));
    let compress = v1::CompressSessionRequest {
        session_id: 1,
        text: "all of it".into(),
        ..Default::default()
    };
    all.push(numbered(CHANGES, &compress));
    let set = v1::SetVectorRequest {
        event_id: 1,
        vector: vector(),
        ..Default::default()
    };
    all.push(numbered(CHANGES, &set));
    let attributes_json = r#"{"user": "u"}"#.into();
    all.push(numbered(
        CHANGES,
        &v1::SetAttributesRequest {
            event_id: 1,
            attributes_json,
            ..Default::default()
        },
    ));
    all.push(numbered(CHANGES, &v1::DecayRequest::default()));
    all.push(numbered(
        CHANGES,
        &v1::OpenSessionRequest {
            key: "key".into(),
            ..Default::default()
        },
    ));
    all.push(numbered(
        CHANGES,
        &v1::CloseSessionRequest {
            session_id: 1,
            outcome: "o".into(),
            ..Default::default()
        },
    ));
    let settings_json = r#"{"decay": {"fact": 0.5}, "jobs": {"decay": "1h"}}"#.into();
    all.push(numbered(
        CHANGES,
        &v1::SetSettingsRequest {
            settings_json,
            ..Default::default()
        },
    ));
    // One life of all of them.
    all.push(all.concat());
    all
}

/// What a brain answers, if it does.
pub(super) fn ask<Q: Question>(question: Q) -> Option<Q::Answer> {
    question.ask(&view()).ok().map(|answered| answered.answer)
}

/// Questions to a brain.
pub(super) fn questions(data: &[u8]) {
    for (number, message) in Messages(data).take(ASKED_MAX) {
        question(number, message);
    }
}

macro_rules! questions {
    ($($call:ident $message:ident $response:ident $path:literal;)*) => {
        /// The messages, in the order of their numbers.
        pub(super) const QUESTIONS: &[&str] = &[$(stringify!($message)),*];

        fn question(number: usize, bytes: &[u8]) {
            const READS: &[fn(&[u8])] = &[$(ask_twice::<v1::$message>),*];
            READS[number % READS.len()](bytes);
        }
    };
}

amem_proto::for_each_query_call!(questions);

fn ask_twice<Q: Question>(bytes: &[u8]) {
    if let Ok(message) = Q::decode(bytes) {
        let (first, again) = (ask(message.clone()), ask(message));
        // NaN is no answer, so that an answer equals itself.
        assert_eq!(first, again, "an answer is a function of the request");
    }
}

/// Questions of every kind.
pub(super) fn question_messages() -> Vec<Vec<u8>> {
    let as_of = || {
        Some(v1::AsOf {
            moment: Some(v1::as_of::Moment::Lsn(3)),
        })
    };
    let selection = || {
        Some(v1::Selection {
            types: vec![1, 2],
            session_ids: vec![1],
            recorded: Some(v1::Window {
                from: Some(amem_client::Timestamp::default()),
                until: None,
            }),
            confidence: Some(v1::Bounds {
                min: Some(0.1),
                max: Some(1.0),
            }),
            keyword: "river".into(),
            filter_json: r#"{"not": {"a.b": {"gte": 3}}}"#.into(),
            ..Default::default()
        })
    };
    let text = || "the river garden".to_owned();
    let types = || vec![1, 4];
    let event_id = 2;
    let get = v1::GetEventsRequest {
        event_ids: vec![0, 1, 99],
        as_of: as_of(),
        include_edges: true,
        include_vectors: true,
        ..Default::default()
    };
    let traverse = v1::TraverseRequest {
        event_id,
        types: types(),
        follow: 3,
        depth: 4,
        ..Default::default()
    };
    let pattern = v1::PatternRequest {
        selection: selection(),
        order: 3,
        page_size: 2,
        ..Default::default()
    };
    let timeline = v1::TimelineRequest {
        selection: selection(),
        axis: 2,
        as_of: as_of(),
        ..Default::default()
    };
    let vector = v1::Vector {
        values: vec![0.5; view().vector_dimension() as usize],
        ..Default::default()
    };
    let like = Some(v1::similar_request::Like::Vector(vector.clone()));
    let similar = v1::SimilarRequest {
        like,
        limit: 5,
        approximate: true,
        ..Default::default()
    };
    let search = v1::SearchRequest {
        text: text(),
        vector: Some(vector),
        selection: selection(),
        text_weight: Some(0.5),
        neighbour_share: Some(0.5),
        ..Default::default()
    };
    let session = Some(v1::get_session_request::Session::SessionId(1));
    vec![
        numbered(QUESTIONS, &get),
        numbered(QUESTIONS, &traverse),
        numbered(
            QUESTIONS,
            &v1::PathRequest {
                from_id: 1,
                to_id: 2,
                depth: 9,
                ..Default::default()
            },
        ),
        numbered(
            QUESTIONS,
            &v1::WhyRequest {
                event_id,
                ..Default::default()
            },
        ),
        numbered(
            QUESTIONS,
            &v1::ImpactRequest {
                event_id,
                include_parts: true,
                ..Default::default()
            },
        ),
        numbered(QUESTIONS, &pattern),
        numbered(QUESTIONS, &timeline),
        numbered(QUESTIONS, &similar),
        numbered(
            QUESTIONS,
            &v1::TextRequest {
                text: text(),
                as_of: as_of(),
                ..Default::default()
            },
        ),
        numbered(QUESTIONS, &search),
        numbered(
            QUESTIONS,
            &v1::ResolveRequest {
                event_id,
                ..Default::default()
            },
        ),
        numbered(
            QUESTIONS,
            &v1::ListConflictsRequest {
                page_size: 1,
                ..Default::default()
            },
        ),
        numbered(
            QUESTIONS,
            &v1::ContextRequest {
                text: text(),
                ..Default::default()
            },
        ),
        numbered(
            QUESTIONS,
            &v1::ListSessionsRequest {
                page_size: 2,
                ..Default::default()
            },
        ),
        numbered(
            QUESTIONS,
            &v1::GetSessionRequest {
                session,
                ..Default::default()
            },
        ),
    ]
}
