//! Messages of every kind, made by chance of what the protos say: their fields are of the right type, and hold what
//! makes sense, what is odd, or nothing.

use std::collections::HashMap;

use amem_client::v1;
use amem_tests::random::Random;
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

/// Messages within messages, at most so deep.
const DEPTH_MAX: usize = 6;
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    60,
    1_000,
    65_536,
    u32::MAX as u64,
    i64::MAX as u64,
    u64::MAX,
    1 << 62,
];
const TEXTS: [&str; 16] = [
    "",
    "b",
    "b",
    "other",
    "../b",
    "{}",
    "{\"a\": [1, 2.5, null]}",
    "{\"decay\": {\"fact\": 0.5}}",
    "[",
    "user",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "not-a-uuid",
    "rivers and stones",
    "strength > 0.5",
    "größe\u{0}\u{202e}",
    "4f2a",
];

/// A call of the daemon.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// As in HTTP/2.
    pub(crate) path: String,
    /// The full name of its request.
    input: String,
    /// The caller sends a stream.
    pub(crate) sends_stream: bool,
    /// The daemon answers by a stream.
    pub(crate) answers_stream: bool,
}

/// What the protos say.
pub(crate) struct Forms {
    messages: HashMap<String, DescriptorProto>,
    pub(crate) calls: Vec<Call>,
}

impl Forms {
    pub(crate) fn read() -> Self {
        let set = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
        let mut forms = Self {
            messages: HashMap::new(),
            calls: Vec::new(),
        };
        for file in set.file {
            let package = file.package().to_owned();
            for service in &file.service {
                forms.calls.extend(service.method.iter().map(|method| Call {
                    path: format!("/{package}.{}/{}", service.name(), method.name()),
                    input: method.input_type().to_owned(),
                    sends_stream: method.client_streaming(),
                    answers_stream: method.server_streaming(),
                }));
            }
            forms.add(&format!(".{package}"), file.message_type);
        }
        forms
    }

    fn add(&mut self, within: &str, messages: Vec<DescriptorProto>) {
        for message in messages {
            let name = format!("{within}.{}", message.name());
            self.add(&name, message.nested_type.clone());
            self.messages.insert(name, message);
        }
    }

    /// A request of a call.
    pub(crate) fn request(&self, call: &Call, random: &mut Random) -> Vec<u8> {
        let mut out = Vec::new();
        self.message(&call.input, random, 0, &mut out);
        out
    }

    fn message(&self, name: &str, random: &mut Random, depth: usize, out: &mut Vec<u8>) {
        let message = &self.messages[name];
        for field in &message.field {
            let is_name = depth == 0 && field.name() == "brain";
            let count = match field.label() {
                _ if is_name => 1,
                Label::Repeated if random.below(2) == 0 => random.below(5),
                _ => random.below(2),
            };
            for _ in 0..count {
                if is_name && random.below(8) > 0 {
                    bytes(field, b"b", out)
                } else {
                    self.field(field, random, depth, out)
                }
            }
        }
    }

    fn field(
        &self,
        field: &FieldDescriptorProto,
        random: &mut Random,
        depth: usize,
        out: &mut Vec<u8>,
    ) {
        match field.r#type() {
            Type::Message if depth < DEPTH_MAX => {
                let mut inner = Vec::new();
                self.message(field.type_name(), random, depth + 1, &mut inner);
                bytes(field, &inner, out);
            }
            Type::Message | Type::Group => {}
            Type::String => {
                let text = random.text();
                let own = random.below(4) == 0;
                let text = if own { &text } else { random.pick(&TEXTS) };
                bytes(field, text.as_bytes(), out);
            }
            Type::Bytes => {
                let count = random.below(200);
                let noise: Vec<u8> = (0..count).map(|_| random.number() as u8).collect();
                bytes(field, &noise, out);
            }
            Type::Double | Type::Fixed64 | Type::Sfixed64 => {
                key(field, 1, out);
                let number = f64::from(float(random));
                out.extend(number.to_le_bytes());
            }
            Type::Float | Type::Fixed32 | Type::Sfixed32 => {
                key(field, 5, out);
                out.extend(float(random).to_le_bytes());
            }
            Type::Enum => {
                key(field, 0, out);
                varint(random.pick(&[0, 1, 1, 2, 3, 4, 5, 6, 7, 99]), out);
            }
            Type::Bool => {
                key(field, 0, out);
                varint(random.below(2), out);
            }
            Type::Int64
            | Type::Uint64
            | Type::Int32
            | Type::Uint32
            | Type::Sint32
            | Type::Sint64 => {
                key(field, 0, out);
                varint(random.pick(&NUMBERS), out);
            }
        }
    }
}

fn float(random: &mut Random) -> f32 {
    let odd = [0.0, 1.0, 0.5, -1.0, 1e30, f32::NAN, f32::INFINITY];
    match random.below(3) {
        0 => random.unit(),
        _ => random.pick(&odd),
    }
}

/// The wire format: <https://protobuf.dev/programming-guides/encoding>.
fn key(field: &FieldDescriptorProto, wire_type: u64, out: &mut Vec<u8>) {
    varint(
        u64::from(field.number().unsigned_abs()) << 3 | wire_type,
        out,
    );
}

fn bytes(field: &FieldDescriptorProto, bytes: &[u8], out: &mut Vec<u8>) {
    key(field, 2, out);
    varint(bytes.len() as u64, out);
    out.extend(bytes);
}

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
