//! Bytes of any request of any call: all that a service does with a message before it asks a brain that is there, and
//! what becomes of files that come in messages.
//!
//! A refusal must be the caller's fault, in words, and never a defect's. Not here: what a mutation does (`changes`),
//! and that an answer is the same again (`questions`).

use std::any::type_name;
use std::sync::Arc;

use amem_client::{Question, v1};
use amem_store::disk::Disk;
use amem_store::mutation::Mutation;
use amem_store::{Folder, IncomingFile, MergeSource, Request, Store, create};
use amemd::refusal::{Refusal, Result};
use amemd::{IntoCommand, Validate, decoded_bytes};
use prost::Message;
use tonic::{Code, Status};
use v1::import_brain_request::Part as Imported;
use v1::merge_brain_request::Part as Merged;
use v1::merge_options::From as Source;
use v1::vector_options::Kind;

use super::files::{bases, foreign_files, spec1_files, view};
use super::messages::{
    ASKED_MAX, CHANGES, Messages, QUESTIONS, ask, brain, change_messages, framed, framed_bytes,
    question_messages, settled,
};
use crate::disk::SimDisk;

/// Bytes of a file in one message of a seed.
const PART: usize = 48 << 10;

/// The caller.
const PRINCIPAL: &str = "uid:1000";

/// The files that come in the messages of one input.
#[derive(Default)]
struct ReceivedFiles {
    imported: Option<v1::ImportOptions>,
    merged: Option<v1::MergeOptions>,
    /// The bytes of each.
    import: Vec<u8>,
    merge: Vec<u8>,
}

/// What is done with the bytes of a message.
type Read = fn(&[u8], &mut ReceivedFiles);

macro_rules! requests {
    ($($kind:ident $message:ident;)*) => {
        /// Each message, by its name, and what is done with its bytes.
        const READS: &[(&str, Read)] = &[$((stringify!($message), $kind::<v1::$message>)),*];
    };
}

amem_proto::for_each_request!(requests);

/// The names of the messages that are read.
pub fn requests_read() -> impl Iterator<Item = &'static str> {
    READS.iter().map(|(name, _)| *name)
}

/// Requests of any calls, one after the other; then the files that came in them are read.
pub(super) fn requests(data: &[u8]) {
    let mut received = ReceivedFiles::default();
    for (number, message) in Messages(data).take(ASKED_MAX) {
        READS[number % READS.len()].1(message, &mut received);
    }
    if let Some(options) = &received.imported {
        finish_import(options, &received.import);
    }
    if let Some(options) = received.merged {
        finish_merge(options, &received.merge);
    }
}

fn encoded_bytes(name: &str, encoded: &[u8]) -> u64 {
    decoded_bytes(name, encoded).unwrap_or_else(|| panic!("{name} is turned away at the door"))
}

/// A message, if it is one; what it is encoded to is the same message, and the door finds its way through it.
fn decoded<M: Message + Default>(bytes: &[u8]) -> Option<M> {
    let name = type_name::<M>().rsplit("::").next().unwrap_or_default();
    let walked = decoded_bytes(name, bytes);
    let message = M::decode(bytes).ok()?;
    let encoded = message.encode_to_vec();
    let least = size_of::<M>() as u64;
    for taken in [walked, Some(encoded_bytes(name, &encoded))]
        .into_iter()
        .flatten()
    {
        assert!(taken >= least, "{name}: {taken} bytes of {least}");
    }
    let again = M::decode(&*encoded).unwrap_or_else(|e| panic!("what was encoded: {e}"));
    // As bytes: a number that is none does not equal itself.
    assert_eq!(again.encode_to_vec(), encoded);
    Some(message)
}

/// What was made of a message, or nothing if it is refused as it should be.
fn made<T>(result: Result<T>) -> Option<T> {
    let refuse = |refusal: Refusal| {
        let status = Status::from(refusal);
        let is_defect = matches!(status.code(), Code::Ok | Code::Internal | Code::Unknown);
        assert!(!is_defect && !status.message().is_empty(), "{status:?}");
    };
    result.map_err(refuse).ok()
}

fn change<C: IntoCommand>(bytes: &[u8], _: &mut ReceivedFiles) {
    if let Some(message) = decoded::<C>(bytes) {
        made(message.into_command(PRINCIPAL));
    }
    if let Ok(erase) = named::<C, v1::EraseRequest>(bytes) {
        made(erase.validate());
    }
}

fn question<Q: Question>(bytes: &[u8], _: &mut ReceivedFiles) {
    if let Some(question) = decoded::<Q>(bytes) {
        let _ = question.is_heavy();
        ask(question);
    }
}

/// A brain that is made by a request opens.
fn call<V: Validate>(bytes: &[u8], _: &mut ReceivedFiles) {
    if let Some(message) = decoded::<V>(bytes) {
        made(message.validate());
    }
    let Ok(create_brain) = named::<V, v1::CreateBrainRequest>(bytes) else {
        return;
    };
    let Some((_, options, _)) = made(create_brain.validate()) else {
        return;
    };
    let folder = empty();
    if stored(create(&folder, "made", &options)).is_some() {
        opens(&folder, "made");
    }
}

/// Parts of files are collected: many messages make one request.
fn stream<V: Validate>(bytes: &[u8], received: &mut ReceivedFiles) {
    if let Some(message) = decoded::<V>(bytes) {
        made(message.validate());
    }
    if let Ok(batch) = named::<V, v1::IngestStreamRequest>(bytes) {
        let batch = made(batch.validate());
        batch.and_then(|batch| made(batch.into_command(PRINCIPAL)));
    }
    match named::<V, v1::ImportBrainRequest>(bytes).map(|message| message.part) {
        Ok(Some(Imported::Options(options))) => received.imported = Some(options),
        Ok(Some(Imported::Data(data))) => received.import.extend(data),
        _ => {}
    }
    match named::<V, v1::MergeBrainRequest>(bytes).map(|message| message.part) {
        Ok(Some(Merged::Options(options))) => received.merged = Some(options),
        Ok(Some(Merged::Data(data))) => received.merge.extend(data),
        _ => {}
    }
}

/// The bytes as this message, if that is the one that is read.
fn named<M, Wanted: Message + Default>(bytes: &[u8]) -> Result<Wanted, ()> {
    if type_name::<M>() != type_name::<Wanted>() {
        return Err(());
    }
    Wanted::decode(bytes).map_err(drop)
}

/// What the store made, or nothing if it refused as it should.
fn stored<T>(result: amem_store::Result<T>) -> Option<T> {
    made(result.map_err(Refusal::from))
}

/// A folder without brains.
fn empty() -> Folder {
    let folder = Folder::open(Arc::new(SimDisk::new(1)) as Arc<dyn Disk>, "a test");
    folder.unwrap_or_else(|e| panic!("an empty folder: {e}"))
}

/// What was made is a brain.
fn opens(folder: &Folder, name: &str) {
    let closed = Store::open(folder, name).and_then(Store::close);
    closed.unwrap_or_else(|e| panic!("{name:?} was made and does not open: {e}"));
}

/// A file that has come whole: it is as long as it is, so that changed bytes come past that check.
fn whole(incoming: amem_store::Result<IncomingFile>, bytes: &[u8]) -> Option<IncomingFile> {
    let mut incoming = stored(incoming)?;
    stored(incoming.push(bytes))?;
    Some(incoming)
}

fn finish_import(options: &v1::ImportOptions, bytes: &[u8]) {
    let folder = empty();
    let said = IncomingFile::begin(&folder, &options.brain, options.file_bytes);
    if stored(said).is_none() {
        return;
    }
    let incoming = IncomingFile::begin(&folder, &options.brain, bytes.len() as u64);
    let finished = |incoming: IncomingFile| stored(incoming.finish(!options.no_embed));
    if whole(incoming, bytes).and_then(finished).is_some() {
        opens(&folder, &options.brain);
    }
}

/// Merges what came, or a brain that is there, into another.
fn finish_merge(options: v1::MergeOptions, bytes: &[u8]) {
    let (disk, folder, mut store) = brain();
    let other = match options.from {
        Some(Source::FromFileBytes(_)) => {
            let incoming = IncomingFile::read_only(&folder, bytes.len() as u64);
            let read = whole(incoming, bytes).and_then(|incoming| stored(incoming.into_view()));
            read.map(|(view, _)| view)
        }
        Some(Source::FromBrain(_)) => Some(view()),
        _ => None,
    };
    let Some(other) = other.map(MergeSource::new) else {
        return;
    };
    let planned = stored(other.would_do(&store.view()));
    if options.dry_run {
        return;
    }
    let done = stored(store.execute(Request::new(Mutation::Merge(other))));
    assert!(
        done.is_none() || planned.is_some(),
        "done, and refused before"
    );
    if done.is_some() {
        settled(&disk, store);
    }
}

fn number_of(name: &str) -> usize {
    let number = READS.iter().position(|(read, _)| *read == name);
    number.unwrap_or_else(|| panic!("{name} is not read"))
}

fn of(name: &str, message: &impl Message) -> Vec<u8> {
    framed(number_of(name), message)
}

/// Messages behind their number among others, behind their number among all requests.
fn renumbered(messages: Vec<Vec<u8>>, names: &[&str]) -> Vec<Vec<u8>> {
    let renumber = |framed: Vec<u8>| {
        let each = Messages(&framed)
            .flat_map(|(number, message)| framed_bytes(number_of(names[number]), message));
        each.collect()
    };
    messages.into_iter().map(renumber).collect()
}

/// Requests of every kind.
pub(super) fn request_messages() -> Vec<Vec<u8>> {
    let mut all = renumbered(change_messages(), CHANGES);
    all.extend(renumbered(question_messages(), QUESTIONS));
    all.extend(other_messages());
    let files = bases().into_iter().take(1);
    let files = files.chain(foreign_files()).chain(spec1_files());
    all.extend(files.flat_map(|file| [importing(&file), merging(&file)]));
    let from = Some(Source::FromBrain("other".into()));
    all.push(of("MergeBrainRequest", &merge_options(from)));
    all
}

/// Requests that are neither mutations nor questions, and have more in them than a name.
fn other_messages() -> Vec<Vec<u8>> {
    let brain = || "b".to_owned();
    let instance = || uuid::Uuid::from_u128(7).to_string();
    let vectors = |kind| {
        Some(v1::VectorOptions {
            dimension: 3,
            kind: Some(kind),
        })
    };
    let created = |kind| v1::CreateBrainRequest {
        brain: brain(),
        vectors: vectors(kind),
        settings_json: r#"{"decay": {"fact": 0.5}, "jobs": {"decay": "1h"}}"#.into(),
    };
    let removed = v1::RemoveBrainRequest {
        brain: brain(),
        instance: instance(),
    };
    let exported = v1::ExportBrainRequest {
        brain: brain(),
        form: v1::ExportForm::Compatible.into(),
    };
    let token = v1::CreateTokenRequest {
        name: "n".into(),
        permission: v1::Permission::Write.into(),
        brains: vec![brain()],
        scope: Some(v1::Scope {
            user: Some("u".into()),
            ..Default::default()
        }),
    };
    let jobs = v1::ListJobsRequest {
        page_token: "7".into(),
        ..Default::default()
    };
    let subscribed = v1::SubscribeRequest {
        brain: brain(),
        after_lsn: Some(1),
        instance: instance(),
        types: vec![1, 2],
        session_ids: vec![1],
        scope: Some(v1::Scope {
            user: Some("u".into()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let batch = v1::IngestStreamRequest {
        batch: Some(v1::IngestRequest {
            events: vec![v1::NewEvent::default()],
            ..Default::default()
        }),
    };
    let kept = v1::ResolveKeptFileRequest {
        file: "f".into(),
        action: Some(v1::resolve_kept_file_request::Action::RestoreAs(brain())),
    };
    vec![
        of("CreateBrainRequest", &created(Kind::Model("m".into()))),
        of("CreateBrainRequest", &created(Kind::Space(instance()))),
        of("RemoveBrainRequest", &removed),
        of("ExportBrainRequest", &exported),
        of("CreateTokenRequest", &token),
        of("ListJobsRequest", &jobs),
        of("SubscribeRequest", &subscribed),
        of("IngestStreamRequest", &batch),
        of("ResolveKeptFileRequest", &kept),
    ]
}

fn importing(file: &[u8]) -> Vec<u8> {
    let options = v1::ImportOptions {
        brain: "new".into(),
        file_bytes: file.len() as u64,
        no_embed: false,
        replace: false,
    };
    let part = |part| {
        of(
            "ImportBrainRequest",
            &v1::ImportBrainRequest { part: Some(part) },
        )
    };
    let data = file
        .chunks(PART)
        .map(|data| part(Imported::Data(data.to_vec())));
    [part(Imported::Options(options))]
        .into_iter()
        .chain(data)
        .flatten()
        .collect()
}

fn merge_options(from: Option<Source>) -> v1::MergeBrainRequest {
    let options = v1::MergeOptions {
        brain: "b".into(),
        from,
        ..Default::default()
    };
    v1::MergeBrainRequest {
        part: Some(Merged::Options(options)),
    }
}

fn merging(file: &[u8]) -> Vec<u8> {
    let from = Source::FromFileBytes(file.len() as u64);
    let options = of("MergeBrainRequest", &merge_options(Some(from)));
    let data = |data: &[u8]| v1::MergeBrainRequest {
        part: Some(Merged::Data(data.to_vec())),
    };
    let data = file
        .chunks(PART)
        .map(|part| of("MergeBrainRequest", &data(part)));
    [options].into_iter().chain(data).flatten().collect()
}
