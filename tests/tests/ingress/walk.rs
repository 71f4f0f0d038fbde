//! Every call that names a brain, as its descriptor has it: the messages that name one in each place where they can.

use std::time::Duration;

use amem_client::v1;
use amem_proto::codec::BytesCodec;
use prost::Message;
use prost::bytes::Bytes;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tonic_types::StatusExt;

/// Messages nest so deep.
const DEPTH: usize = 3;

/// A place in which a request can name a brain.
#[derive(Debug, Clone)]
pub(crate) struct BrainField {
    /// The call.
    pub(crate) path: String,
    /// The fields on the way to the name, outermost first.
    fields: Vec<(u32, String)>,
}

impl BrainField {
    /// The call and the place, in words.
    pub(crate) fn words(&self) -> String {
        let (_, call) = self.path.rsplit_once('/').unwrap();
        let fields: Vec<_> = self.fields.iter().map(|(_, name)| name.as_str()).collect();
        format!("{call} {}", fields.join("."))
    }

    /// A message that says only this name, behind what it says otherwise.
    pub(crate) fn message(&self, brain: &str, other: &[u8]) -> Vec<u8> {
        let mut inner = brain.as_bytes().to_vec();
        for (number, _) in self.fields.iter().rev() {
            let mut outer = Vec::new();
            prost::encoding::encode_key(
                *number,
                prost::encoding::WireType::LengthDelimited,
                &mut outer,
            );
            prost::encoding::encode_varint(inner.len() as u64, &mut outer);
            outer.extend(inner);
            inner = outer;
        }
        [other, &inner].concat()
    }
}

/// All of amem.v1.
pub(crate) fn all() -> Vec<BrainField> {
    let set = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
    let find = |name: &str| -> &DescriptorProto {
        let messages = set.file.iter().flat_map(|file| &file.message_type);
        let short = name.rsplit('.').next().unwrap();
        messages
            .into_iter()
            .find(|message| message.name() == short)
            .unwrap()
    };
    let mut out = Vec::new();
    for service in set.file.iter().flat_map(|file| &file.service) {
        for method in &service.method {
            let mut found = Vec::new();
            places(
                &find,
                find(method.input_type()),
                &mut Vec::new(),
                &mut found,
            );
            out.extend(found.into_iter().map(|fields| BrainField {
                path: format!("/amem.v1.{}/{}", service.name(), method.name()),
                fields,
            }));
        }
    }
    out
}

/// The ways to the fields of a message that are names of brains.
fn places<'a>(
    find: &impl Fn(&str) -> &'a DescriptorProto,
    message: &DescriptorProto,
    way: &mut Vec<(u32, String)>,
    out: &mut Vec<Vec<(u32, String)>>,
) {
    for field in &message.field {
        way.push((field.number() as u32, field.name().to_owned()));
        match field.r#type() {
            Type::String if field.name().split('_').any(|word| word == "brain") => {
                out.push(way.clone());
            }
            Type::Message if way.len() < DEPTH && field.type_name().starts_with(".amem.") => {
                places(find, find(field.type_name()), way, out);
            }
            _ => {}
        }
        way.pop();
    }
}

/// All calls of amem.v1 and of health checks, and the one of the services that tell what there is.
pub(crate) fn calls() -> Vec<String> {
    let mut out: Vec<_> = ["v1", "v1alpha"]
        .map(|of| format!("/grpc.reflection.{of}.ServerReflection/ServerReflectionInfo"))
        .into();
    for set in [v1::DESCRIPTORS, amem_proto::health::DESCRIPTORS] {
        for file in FileDescriptorSet::decode(set).unwrap().file {
            for service in &file.service {
                let path = format!("/{}.{}", file.package(), service.name());
                let calls = service.method.iter();
                out.extend(calls.map(|method| format!("{path}/{}", method.name())));
            }
        }
    }
    out
}

/// What a call comes to, with the name taken out of its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its first answer.
    Answer(String),
    /// Code, reason, words.
    Refused(tonic::Code, String, String),
}

/// Makes a call with one message and a token.
pub(crate) async fn call(
    channel: &Channel,
    token: &str,
    path: &str,
    message: Vec<u8>,
    name: &str,
) -> Outcome {
    let refused = |status: Status| {
        let reason = status.get_details_error_info().map(|info| info.reason);
        let words = status.message().replace(name, "NAME");
        Outcome::Refused(status.code(), reason.unwrap_or_default(), words)
    };
    match send(channel, token, path, message).await {
        Err(status) => refused(status),
        Ok(answers) => match answers.into_inner().message().await {
            Err(status) => refused(status),
            Ok(answer) => {
                // What is in it as text stands in there as it is.
                let told = String::from_utf8_lossy(&answer.unwrap_or_default()).into_owned();
                Outcome::Answer(told.replace(name, "NAME"))
            }
        },
    }
}

async fn send(
    channel: &Channel,
    token: &str,
    path: &str,
    message: Vec<u8>,
) -> Result<Response<Streaming<Bytes>>, Status> {
    let mut request = Request::new(tokio_stream::iter([message]));
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
        .metadata_mut()
        .insert("grpc-timeout", "20S".parse().unwrap());
    let mut grpc = Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    grpc.streaming(request, path.parse().unwrap(), BytesCodec::<Vec<u8>>::new())
        .await
}

/// All that a call is answered, headers and details of a refusal included, as text; and whether it was authorized.
/// A stream that goes on is left when it has nothing more to say for now.
pub(crate) async fn hear(
    channel: &Channel,
    token: &str,
    path: &str,
    message: Vec<u8>,
) -> (bool, String) {
    let refused = |status: Status| {
        let details = String::from_utf8_lossy(status.details()).into_owned();
        format!("{status:?} {details}")
    };
    let mut answers = match send(channel, token, path, message).await {
        Err(status) => return (false, refused(status)),
        Ok(answers) => answers,
    };
    let mut told = format!("{:?}", answers.metadata());
    let mut patience = Duration::from_secs(20);
    while let Ok(next) = timeout(patience, answers.get_mut().message()).await {
        match next {
            Err(status) => return (false, told + &refused(status)),
            Ok(None) => return (true, told),
            Ok(Some(bytes)) => told += &String::from_utf8_lossy(&bytes),
        }
        patience = Duration::from_millis(200);
    }
    (true, told)
}
