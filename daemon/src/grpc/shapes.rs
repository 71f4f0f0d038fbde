//! The size in memory of a message once it is decoded, computed from its bytes as they arrive.
//!
//! An empty nested message has two bytes on the wire and hundreds in memory, so a cap on bytes alone bounds no memory.
//! The fields are those of the descriptors; malformed bytes are refused here, before anything decodes them.
//! The wire format: <https://protobuf.dev/programming-guides/encoding/>.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

/// Approximate overhead of an allocation.
const BLOCK: u64 = 16;
/// A growing vector has up to twice the capacity that it needs.
const GROWTH: u64 = 2;
/// Bytes of a string or a vector in its parent.
const OWNED: u64 = 24;
/// Bytes of a number in its parent, or in a vector.
const NUMBER: u64 = 8;
/// Bytes of the discriminant of an `Option`.
const PRESENCE: u64 = 8;

/// The messages of all services.
static SHAPES: LazyLock<MessageShapes> =
    LazyLock::new(|| MessageShapes::read(amem_proto::v1::DESCRIPTORS));

/// The fields of a message type.
#[derive(Debug, Default)]
struct MessageShape {
    /// By field number.
    fields: Vec<(u32, FieldCost)>,
    /// Bytes of the struct, without what it points to.
    size: u64,
}

/// The cost of one occurrence of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldCost {
    /// A message, and its bytes in a vector; 0 if it lies in its parent.
    Message { of: usize, each: u64 },
    /// Text or bytes, and their overhead.
    Bytes { each: u64 },
    /// A number: its bytes in a vector, 0 if it lies in its parent; and its least bytes on the wire.
    Number { each: u64, least: u64 },
}

#[derive(Debug, Default)]
struct MessageShapes {
    all: Vec<MessageShape>,
    /// The request type of each call.
    inputs: HashMap<String, usize>,
    /// All types by name.
    names: HashMap<String, usize>,
}

impl MessageShapes {
    fn read(descriptors: &[u8]) -> Self {
        let files = FileDescriptorSet::decode(descriptors).unwrap_or_default();
        assert!(!files.file.is_empty(), "the build makes descriptors");
        let mut names = HashMap::new();
        let mut messages = Vec::new();
        for file in &files.file {
            let prefix = format!(".{}", file.package());
            name_all(&prefix, &file.message_type, &mut names, &mut messages);
        }
        let mut shapes = Self {
            all: messages.iter().map(|_| MessageShape::default()).collect(),
            ..Self::default()
        };
        for at in 0..messages.len() {
            shapes.size(at, &messages, &names);
        }
        for (at, message) in messages.iter().enumerate() {
            let fields = message.field.iter();
            let mut fields: Vec<_> = fields.map(|f| shapes.field(f, &names)).collect();
            fields.sort_unstable_by_key(|(number, _)| *number);
            shapes.all[at].fields = fields;
        }
        for file in &files.file {
            for service in &file.service {
                for method in &service.method {
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    let input = names.get(method.input_type());
                    shapes.inputs.extend(input.map(|at| (path, *at)));
                }
            }
        }
        shapes.names = names;
        shapes
    }

    /// Bytes of a message in memory. No type of amem.v1 contains itself: this would not terminate.
    fn size(
        &mut self,
        at: usize,
        messages: &[&DescriptorProto],
        names: &HashMap<String, usize>,
    ) -> u64 {
        if self.all[at].size > 0 {
            return self.all[at].size;
        }
        let mut size = 0;
        let mut choices: HashMap<i32, u64> = HashMap::new();
        for field in &messages[at].field {
            let own = match (field.label(), field.r#type()) {
                (Label::Repeated, _) | (_, Type::String | Type::Bytes) => OWNED,
                (_, Type::Message) => {
                    let of = names.get(field.type_name()).copied();
                    let of = of.map_or(OWNED, |of| self.size(of, messages, names));
                    of + PRESENCE
                }
                _ if field.proto3_optional() => NUMBER + PRESENCE,
                _ => NUMBER,
            };
            match field.oneof_index {
                Some(choice) if !field.proto3_optional() => {
                    let most = choices.entry(choice).or_default();
                    *most = own.max(*most);
                }
                _ => size += own,
            }
        }
        size += choices.values().map(|most| most + PRESENCE).sum::<u64>();
        self.all[at].size = size.max(1);
        self.all[at].size
    }

    fn field(
        &self,
        field: &FieldDescriptorProto,
        names: &HashMap<String, usize>,
    ) -> (u32, FieldCost) {
        let is_repeated = field.label() == Label::Repeated;
        let each = |size: u64| if is_repeated { size * GROWTH } else { 0 };
        let kind = match field.r#type() {
            Type::Message => match names.get(field.type_name()) {
                Some(&of) => FieldCost::Message {
                    of,
                    each: each(self.all[of].size),
                },
                None => FieldCost::Bytes { each: BLOCK },
            },
            Type::String | Type::Bytes => FieldCost::Bytes {
                each: each(OWNED) + BLOCK,
            },
            Type::Float | Type::Fixed32 | Type::Sfixed32 => FieldCost::Number {
                each: each(NUMBER / 2),
                least: 4,
            },
            Type::Double | Type::Fixed64 | Type::Sfixed64 => FieldCost::Number {
                each: each(NUMBER),
                least: 8,
            },
            _ => FieldCost::Number {
                each: each(NUMBER),
                least: 1,
            },
        };
        (u32::try_from(field.number()).unwrap_or_default(), kind)
    }
}

/// Maps the full name of every message to its index.
fn name_all<'a>(
    prefix: &str,
    messages: &'a [DescriptorProto],
    names: &mut HashMap<String, usize>,
    all: &mut Vec<&'a DescriptorProto>,
) {
    for message in messages {
        let name = format!("{prefix}.{}", message.name());
        name_all(&name, &message.nested_type, names, all);
        names.insert(name, all.len());
        all.push(message);
    }
}

/// The part of the wire format that the next byte belongs to.
#[derive(Debug, Clone, Copy)]
enum WireState {
    /// A field's number and its wire type.
    Key,
    /// A varint whose value does not matter.
    Value,
    /// A length.
    Length(Option<FieldCost>),
    /// This many bytes to skip.
    Skip(u64),
}

/// The bytes are not a message of amem.v1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MalformedMessage;

/// The position in a message.
#[derive(Debug)]
pub(super) struct SizeCounter {
    /// The current message and those around it, with the end of each.
    within: Vec<(usize, u64)>,
    at: u64,
    next: WireState,
    /// A partial varint, and how many bits of it have arrived.
    number: (u64, u32),
    decoded: u64,
}

/// The approximate bytes in memory of a decoded message of amem.v1; `None` if it is malformed, or has groups.
pub fn decoded_bytes(message: &str, bytes: &[u8]) -> Option<u64> {
    let input = *SHAPES.names.get(&format!(".amem.v1.{message}"))?;
    let mut walk = SizeCounter::new(RequestType(input), bytes.len() as u64);
    walk.take(bytes).ok()?;
    Some(walk.decoded())
}

/// The request type of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestType(usize);

impl RequestType {
    /// `None` if the call is not of amem.v1.
    pub(super) fn of(path: &str) -> Option<Self> {
        SHAPES.inputs.get(path).copied().map(Self)
    }
}

impl SizeCounter {
    /// The beginning of a message of `bytes`.
    pub(super) fn new(RequestType(input): RequestType, bytes: u64) -> Self {
        Self {
            within: vec![(input, bytes)],
            at: 0,
            next: WireState::Key,
            number: (0, 0),
            decoded: SHAPES.all.get(input).map_or(0, |shape| shape.size),
        }
    }

    /// Bytes in memory of the part that has arrived.
    pub(super) fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Advances by bytes of the message.
    pub(super) fn take(&mut self, mut data: &[u8]) -> Result<(), MalformedMessage> {
        while let Some((&byte, rest)) = data.split_first() {
            if let WireState::Skip(left) = self.next {
                let part = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
                data = &data[part..];
                self.at += part as u64;
                self.next = WireState::Skip(left - part as u64);
            } else {
                data = rest;
                self.at += 1;
                let (value, bits) = self.number;
                if bits > 63 {
                    return Err(MalformedMessage);
                }
                self.number = (value | u64::from(byte & 0x7f) << bits, bits + 7);
                if byte & 0x80 == 0 {
                    let (number, _) = std::mem::take(&mut self.number);
                    self.next = self.after(number)?;
                }
            }
            self.leave()?;
        }
        Ok(())
    }

    /// Handles a complete varint.
    fn after(&mut self, number: u64) -> Result<WireState, MalformedMessage> {
        let end = self.within.last().map_or(0, |(_, end)| *end);
        match self.next {
            WireState::Key => {
                let field = u32::try_from(number >> 3).map_err(|_| MalformedMessage)?;
                let field = self.field(field);
                match number & 7 {
                    0 => Ok(self.single(field, WireState::Value)),
                    1 => Ok(self.single(field, WireState::Skip(8))),
                    2 => Ok(WireState::Length(field)),
                    5 => Ok(self.single(field, WireState::Skip(4))),
                    // Groups are obsolete: no type of amem.v1 has one.
                    _ => Err(MalformedMessage),
                }
            }
            WireState::Length(field) => {
                let stop = self.at.checked_add(number).filter(|stop| *stop <= end);
                Ok(self.enter(field, number, stop.ok_or(MalformedMessage)?))
            }
            WireState::Value | WireState::Skip(_) => Ok(WireState::Key),
        }
    }

    fn field(&self, number: u32) -> Option<FieldCost> {
        let (of, _) = self.within.last()?;
        let fields = &SHAPES.all.get(*of)?.fields;
        let at = fields.binary_search_by_key(&number, |(number, _)| *number);
        fields.get(at.ok()?).map(|(_, field)| *field)
    }

    fn count(&mut self, bytes: u64) {
        self.decoded = self.decoded.saturating_add(bytes);
    }

    /// Counts a number that is a value.
    fn single(&mut self, field: Option<FieldCost>, next: WireState) -> WireState {
        if let Some(FieldCost::Number { each, .. }) = field {
            self.count(each);
        }
        next
    }

    /// Enters a field of `bytes`.
    fn enter(&mut self, field: Option<FieldCost>, bytes: u64, stop: u64) -> WireState {
        match field {
            Some(FieldCost::Message { of, each }) => {
                self.count(each);
                self.within.push((of, stop));
                return WireState::Key;
            }
            Some(FieldCost::Bytes { each }) => self.count(each.saturating_add(bytes)),
            // Packed numbers.
            Some(FieldCost::Number { each, least }) => {
                self.count(each.saturating_mul(bytes / least))
            }
            None => {}
        }
        WireState::Skip(bytes)
    }

    /// Leaves the messages that end here.
    fn leave(&mut self) -> Result<(), MalformedMessage> {
        if let WireState::Skip(0) = self.next {
            self.next = WireState::Key;
        }
        while let Some((_, end)) = self.within.last() {
            let is_between = matches!(self.next, WireState::Key) && self.number.1 == 0;
            match self.at.cmp(end) {
                std::cmp::Ordering::Less => break,
                std::cmp::Ordering::Equal if is_between => {
                    self.within.pop();
                }
                // A field extends past the end of its message.
                _ => return Err(MalformedMessage),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_proto::v1::{self as pb, pipeline_source::Source};
    use proptest::prelude::*;

    const INGEST: &str = "/amem.v1.MemoryService/Ingest";
    const PIPELINE: &str = "/amem.v1.QueryService/Pipeline";

    /// The size of a message that arrives in parts of `step` bytes.
    fn walked(path: &str, bytes: &[u8], step: usize) -> Result<u64, MalformedMessage> {
        let mut walk = SizeCounter::new(RequestType::of(path).unwrap(), bytes.len() as u64);
        bytes.chunks(step).try_for_each(|part| walk.take(part))?;
        Ok(walk.decoded())
    }

    fn size(name: &str) -> u64 {
        SHAPES.all[SHAPES.names[name]].size
    }

    #[test]
    fn sizes_are_those_of_the_structures_or_somewhat_more() {
        for (name, real) in [
            (".amem.v1.NewEvent", size_of::<pb::NewEvent>()),
            (".amem.v1.IngestRequest", size_of::<pb::IngestRequest>()),
            (".amem.v1.PipelineSource", size_of::<pb::PipelineSource>()),
            (".amem.v1.Selection", size_of::<pb::Selection>()),
            (".amem.v1.WriteOptions", size_of::<pb::WriteOptions>()),
        ] {
            let (real, size) = (real as u64, size(name));
            assert!(
                (real..=2 * real).contains(&size),
                "{name}: {size} for {real}"
            );
        }
        let calls = crate::ingress::methods::all();
        let ours = calls.iter().filter(|call| call.path.starts_with("/amem."));
        for call in ours {
            assert!(SHAPES.inputs.contains_key(&call.path), "{}", call.path);
        }
    }

    #[test]
    fn empty_messages_count_as_what_they_become() {
        let sources = vec![pb::PipelineSource::default(); 1000];
        let request = pb::PipelineRequest {
            sources,
            ..pb::PipelineRequest::default()
        };
        let bytes = request.encode_to_vec();
        assert_eq!(bytes.len(), 2000);
        let real = (1000 * size_of::<pb::PipelineSource>()) as u64;
        for step in [1, 3, bytes.len()] {
            let decoded = walked(PIPELINE, &bytes, step).unwrap();
            assert!((real..5 * real).contains(&decoded), "{decoded} for {real}");
        }
    }

    #[test]
    fn an_ordinary_request_takes_little_more_than_its_bytes() {
        let event = pb::NewEvent {
            text: "the build on the second machine fails since the update of the linker ".repeat(4),
            vector: Some(pb::Vector {
                values: vec![0.25; 384],
                ..pb::Vector::default()
            }),
            ..pb::NewEvent::default()
        };
        let request = pb::IngestRequest {
            brain: "work".into(),
            events: vec![event; 100],
            ..pb::IngestRequest::default()
        };
        let bytes = request.encode_to_vec();
        let decoded = walked(INGEST, &bytes, 4096).unwrap();
        assert!(
            decoded < 3 * bytes.len() as u64,
            "{decoded} of {}",
            bytes.len()
        );
        assert!(decoded > bytes.len() as u64);
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        for bytes in [
            // A text past the end, one that ends within a number, a group, a number without an end, field types that
            // there are none.
            &b"\x0a\x05ab"[..],
            b"\x0a",
            b"\x08\xff",
            b"\x0b\x0c",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x0e",
            // An event whose text goes past the event.
            b"\x12\x02\x12\x05abcde",
        ] {
            for step in [1, bytes.len()] {
                assert_eq!(
                    walked(INGEST, bytes, step),
                    Err(MalformedMessage),
                    "{bytes:?}"
                );
            }
        }
        assert!(RequestType::of("/grpc.health.v1.Health/Check").is_none());
    }

    proptest! {
        /// The walk accepts what the decoder accepts, however it is split.
        #[test]
        fn what_decodes_is_walked_alike_in_parts(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), (0u8..0x23).prop_filter("no group", |byte| byte & 7 < 3)], 0..60),
            step in 1usize..9,
        ) {
            let whole = walked(PIPELINE, &bytes, bytes.len().max(1));
            prop_assert_eq!(&whole, &walked(PIPELINE, &bytes, step));
            // The decoder skips unknown groups.
            let may_be_group = bytes.iter().any(|byte| matches!(byte & 7, 3 | 4));
            match (pb::PipelineRequest::decode(&*bytes), whole) {
                (Ok(request), Ok(decoded)) => {
                    let real = (request.sources.len() * size_of::<pb::PipelineSource>()) as u64;
                    prop_assert!(decoded >= real);
                }
                (Ok(_), Err(MalformedMessage)) => prop_assert!(may_be_group, "{bytes:?}"),
                (Err(_), _) => {}
            }
        }
    }

    #[test]
    fn a_source_of_a_pipeline_is_seen_within_its_message() {
        let request = pb::PipelineRequest {
            sources: vec![pb::PipelineSource {
                source: Some(Source::Events(pb::EventsSource {
                    event_ids: vec![1; 5000],
                })),
            }],
            ..pb::PipelineRequest::default()
        };
        let decoded = walked(PIPELINE, &request.encode_to_vec(), 7).unwrap();
        assert!(decoded >= 5000 * 8, "{decoded}");
    }
}
