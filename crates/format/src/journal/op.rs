//! The operations of a payload, in one table.
//!
//! Operations are physical: they carry the values that result (ids, times, confidences), so replay needs no clock
//! and every reader arrives at the same graph. Which mutation they make up together is the frame's kind.
//!
//! An operation is a code (u8) and its fields, unaligned, little-endian; strings and lists have their length as u32 in
//! front; a vector begins at a multiple of 4 from the payload's start, so that readers borrow it as f32.
//!
//! A row of `operations!` gives an operation's code, name, fields with their codecs (`field`), and rules. The macro
//! derives the type, encode, decode, bounds, the walk over fields, erasure, and `TABLE`, which docs/FORMAT.md repeats.
//! Not here: what an operation does to the graph (`brain::apply`).

use super::field::{
    ActorField, AttributesField, BlobField, CarriedField, Codec, ContentField, EdgeTypeField,
    EventField, EventFieldsField, EventTypeField, FieldValue, FlagsField, HashField, JsonField,
    NameField, OptionalCodec, OptionalTimeField, RateField, RatesField, SessionField, StampField,
    TimeField, TouchesField, UnitField, UuidField, VectorField,
};
pub use super::operands::{ImportedState, NewNode, Touches};
use crate::bytes::{Cursor, get_f32};
use crate::error::{Error, Result};
use crate::limits;
use crate::other_space::OtherSpace;
use crate::stamp::EventFields;
use crate::types::{ActorId, EdgeType, Flags, Lsn, Micros, NodeId, SessionId};
use uuid::Uuid;

/// Bytes of an event's attributes with its origin.
const ATTRIBUTES_LEN: usize = limits::ATTRIBUTES_BYTES_MAX + limits::ORIGIN_BYTES_MAX;

/// An operation as docs/FORMAT.md describes it.
#[derive(Debug, Clone, Copy)]
pub struct OperationRow {
    /// The first byte of the operation.
    pub code: u8,
    /// In lower case, words joined by hyphens.
    pub name: &'static str,
    /// In order of their bytes.
    pub fields: &'static [FieldRow],
    /// What replay checks beyond the bounds of each field.
    pub rules: &'static str,
}

/// A field of an operation.
#[derive(Debug, Clone, Copy)]
pub struct FieldRow {
    /// Its key in `amemctl dump-journal`.
    pub name: &'static str,
    /// Its bytes, such as `u64` or `str`.
    pub form: &'static str,
    /// The bit of `has` that announces it; 0 for a field that is always present.
    pub bit: u8,
}

impl OperationRow {
    /// The fields in the notation of docs/FORMAT.md.
    pub fn layout(&self) -> String {
        let optional = self.fields.iter().filter(|field| field.bit != 0);
        let bits: Vec<_> = optional.map(|f| format!("{} {}", f.bit, f.name)).collect();
        let fields = self.fields.iter().map(|field| {
            let mut text = field.form.to_owned();
            if field.name != field.form {
                text = format!("{text} {}", field.name);
            }
            if field.name == HAS {
                text = format!("{text} ({})", bits.join(", "));
            }
            if field.bit != 0 {
                text.push('?');
            }
            text
        });
        fields.collect::<Vec<_>>().join(" · ")
    }
}

/// The field whose bits announce optional fields.
const HAS: &str = "has";

/// A record with optional fields behind a byte `has`.
macro_rules! record {
    (
        $codec:ident for $record:ident {
            $($front:ident: $front_codec:ty = $front_name:literal,)*
        } has {
            $($field:ident: $field_codec:ty = $name:literal,)*
        } optional {
            $($bit:literal $optional:ident: $optional_codec:ty = $optional_name:literal,)*
        }
    ) => {
        struct $codec;

        impl $codec {
            const FIELDS: &'static [FieldRow] = &[
                $(FieldRow { name: $front_name, form: <$front_codec>::FORM, bit: 0 },)*
                FieldRow { name: HAS, form: "u8", bit: 0 },
                $(FieldRow { name: $name, form: <$field_codec>::FORM, bit: 0 },)*
                $(FieldRow { name: $optional_name, form: <$optional_codec>::FORM, bit: $bit },)*
            ];

            #[inline]
            fn write(out: &mut Vec<u8>, record: &$record<'_>) {
                $(<$front_codec>::write(out, &record.$front);)*
                let mut has = 0;
                $(has |= u8::from(!<$optional_codec>::is_absent(&record.$optional)) * $bit;)*
                out.push(has);
                $(<$field_codec>::write(out, &record.$field);)*
                $(
                    if has & $bit != 0 {
                        <$optional_codec>::write(out, &record.$optional);
                    }
                )*
            }

            #[inline]
            fn decode<'a>(c: &mut Cursor<'a>) -> Result<$record<'a>> {
                $(let $front = <$front_codec>::decode(c)?;)*
                let has = c.u8()?;
                $(let $field = <$field_codec>::decode(c)?;)*
                $(
                    let $optional = if has & $bit != 0 {
                        <$optional_codec>::decode(c)?
                    } else {
                        <$optional_codec>::absent()
                    };
                )*
                Ok($record { $($front,)* $($field,)* $($optional,)* })
            }

            fn refusal(record: &$record<'_>) -> Option<String> {
                None
                    $(.or_else(|| <$front_codec>::refusal(&record.$front)))*
                    $(.or_else(|| <$field_codec>::refusal(&record.$field)))*
                    $(.or_else(|| <$optional_codec>::refusal(&record.$optional)))*
            }

            fn erase(record: &mut $record<'_>) -> bool {
                let mut has_content = false;
                $(has_content |= <$front_codec>::erase(&mut record.$front);)*
                $(has_content |= <$field_codec>::erase(&mut record.$field);)*
                $(has_content |= <$optional_codec>::erase(&mut record.$optional);)*
                has_content
            }

            fn walk<'a>(record: &$record<'a>, each: &mut dyn FnMut(&'static str, FieldValue<'a>)) {
                $(each($front_name, <$front_codec>::show(&record.$front));)*
                $(each($name, <$field_codec>::show(&record.$field));)*
                $(each($optional_name, <$optional_codec>::show(&record.$optional));)*
            }
        }
    };
}

/// A field's name: its own, or the literal behind it.
macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

macro_rules! operations {
    (
        $(#[$event_doc:meta])*
        $event_code:literal $event_name:literal $event:ident($record:ty = $record_codec:ident),
        $event_rules:literal;
        $(
            $(#[$doc:meta])*
            $code:literal $name:literal $op:ident {
                $($(#[$field_doc:meta])* $field:ident $($label:literal)?: $type:ty = $codec:ty,)*
            },
            $rules:literal;
        )*
    ) => {
        /// One operation, borrowed from a payload, or from a request before it is encoded.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Op<'a> {
            $(#[$event_doc])*
            $event($record),
            $($(#[$doc])* $op { $($(#[$field_doc])* $field: $type,)* },)*
        }

        /// Every operation, by code.
        pub const TABLE: &[OperationRow] = &[
            OperationRow {
                code: $event_code,
                name: $event_name,
                fields: $record_codec::FIELDS,
                rules: $event_rules,
            },
            $(OperationRow {
                code: $code,
                name: $name,
                fields: &[$(FieldRow {
                    name: name!($field $($label)?),
                    form: <$codec>::FORM,
                    bit: 0,
                },)*],
                rules: $rules,
            },)*
        ];

        impl<'a> Op<'a> {
            /// The operation's name, as in `TABLE`.
            pub fn name(&self) -> &'static str {
                match self {
                    Self::$event(_) => $event_name,
                    $(Self::$op { .. } => $name,)*
                }
            }

            /// Calls `each` with the name and the value of every field, in order of their bytes.
            pub fn walk(&self, each: &mut dyn FnMut(&'static str, FieldValue<'a>)) {
                match self {
                    Self::$event(record) => $record_codec::walk(record, each),
                    $(Self::$op { $($field),* } => {
                        $(each(name!($field $($label)?), <$codec>::show($field));)*
                    })*
                }
            }

            /// The first event that the operation names: the one whose content it has, if it has any.
            pub fn event(&self) -> Option<NodeId> {
                match self {
                    Self::$event(record) => Some(record.id),
                    $(Self::$op { $($field),* } => None$(.or_else(|| <$codec>::event($field)))*,)*
                }
            }

            /// Removes an erased event's content: text, vector, attributes. Returns whether the operation has fields
            /// for it.
            pub fn erase(&mut self) -> bool {
                match self {
                    Self::$event(record) => $record_codec::erase(record),
                    $(Self::$op { $($field),* } => false $(| <$codec>::erase($field))*,)*
                }
            }

            fn refusal(&self) -> Option<String> {
                match self {
                    Self::$event(record) => $record_codec::refusal(record),
                    $(Self::$op { $($field),* } => None$(.or_else(|| <$codec>::refusal($field)))*,)*
                }
            }
        }

        /// Appends an operation to a payload.
        pub fn encode(out: &mut Vec<u8>, op: &Op<'_>) {
            match op {
                Op::$event(record) => {
                    out.push($event_code);
                    $record_codec::write(out, record);
                }
                $(Op::$op { $($field),* } => {
                    out.push($code);
                    $(<$codec>::write(out, $field);)*
                })*
            }
        }

        fn decode<'a>(c: &mut Cursor<'a>) -> Result<Op<'a>> {
            Ok(match c.u8()? {
                $event_code => Op::$event($record_codec::decode(c)?),
                $($code => Op::$op { $($field: <$codec>::decode(c)?,)* },)*
                code => return Err(Error::Newer { what: format!("operation {code}") }),
            })
        }
    };
}

record! {
    EventRecord for NewNode {
        id: EventField = "id",
        event_type: EventTypeField = "type",
    } has {
        session: SessionField = "session",
        created_at: TimeField = "created_at",
        confidence: UnitField = "confidence",
        lambda: RateField = "lambda",
        text: ContentField<{ limits::TEXT_BYTES_MAX }> = "text",
    } optional {
        1 event_time: OptionalTimeField = "event_time",
        2 attributes: AttributesField<ATTRIBUTES_LEN> = "attributes",
        4 vector: VectorField = "vector",
        8 carried: CarriedField = "carried",
    }
}

operations! {
    /// A new event; its id is the next one.
    1 "event" Event(NewNode<'a> = EventRecord),
    "the id is the next one; recorded not before the previous event and not after the commit";

    /// A new edge, or another weight for an existing one (same source, target and type).
    2 "link" Link {
        /// An event.
        source: NodeId = EventField,
        /// Another event.
        target: NodeId = EventField,
        /// Unknown types are preserved.
        edge_type "type": EdgeType = EdgeTypeField,
        /// 0..=1.
        weight: f32 = UnitField,
        /// Recorded time.
        created_at: Micros = TimeField,
    },
    "both exist and differ; of an existing edge only the weight changes";

    /// An edge is retracted.
    3 "unlink" Unlink {
        /// An event.
        source: NodeId = EventField,
        /// Another event.
        target: NodeId = EventField,
        /// Of the edge.
        edge_type "type": EdgeType = EdgeTypeField,
    },
    "the edge exists";

    /// An event's confidence, flags and decay rate from now on.
    4 "belief" Belief {
        /// The event.
        target: NodeId = EventField,
        /// 0..=1.
        confidence: f32 = UnitField,
        /// Pinned, forgotten, compressed; the others follow from the data.
        flags: Flags = FlagsField,
        /// Per day; 0 is the type's default.
        lambda: f32 = RateField,
    },
    "all three as they are from now on; of the flags only pinned, forgotten, compressed count";

    /// An event's attributes from now on.
    5 "attributes" Attributes {
        /// The event.
        target: NodeId = EventField,
        /// A JSON object, or empty for none.
        json "attributes": &'a str = AttributesField<ATTRIBUTES_LEN>,
    },
    "empty: none from now on";

    /// An event's vector from now on.
    6 "vector" Vector {
        /// The event.
        target: NodeId = EventField,
        /// f32 little-endian, of the brain's dimension; empty for none.
        vector: &'a [u8] = VectorField,
    },
    "empty: none from now on";

    /// Accesses of events.
    7 "touch" Touch {
        /// Time of the accesses.
        at: Micros = TimeField,
        /// Accesses by event.
        entries: Touches<'a> = TouchesField,
    },
    "";

    /// A decay run: from now on strength is that of this time with these rates.
    8 "decay" Decay {
        /// Time of the run.
        at: Micros = TimeField,
        /// Per day, by event type 0–5; other types use the rate of facts.
        rates: [f32; 6] = RatesField,
    },
    "strength is that of the moment from now on; rates by type";

    /// A session begins, or goes on after a close.
    9 "open-session" OpenSession {
        /// The next number.
        session: SessionId = SessionField,
        /// Time of the opening.
        at: Micros = TimeField,
        /// The client's own name for it; empty for none.
        key: &'a str = NameField<{ limits::NAME_BYTES_MAX }>,
        /// The agent that opens it.
        agent: &'a str = NameField<{ limits::NAME_BYTES_MAX }>,
    },
    "of a session that is closed: it begins another span";

    /// A session ends.
    10 "close-session" CloseSession {
        /// The session.
        session: SessionId = SessionField,
        /// Time of the close.
        at: Micros = TimeField,
        /// May be empty.
        outcome: &'a str = NameField<{ limits::OUTCOME_BYTES_MAX }>,
    },
    "";

    /// The settings from now on.
    11 "settings" Settings {
        /// A JSON object.
        json "settings": &'a str = JsonField<{ limits::SETTINGS_BYTES_MAX }>,
    },
    "";

    /// A name for an actor number.
    12 "actor" Actor {
        /// The next number.
        actor: ActorId = ActorField,
        /// The authenticated principal.
        principal: &'a str = NameField<{ limits::NAME_BYTES_MAX }>,
        /// The agent's name, as it claims.
        agent: &'a str = NameField<{ limits::NAME_BYTES_MAX }>,
    },
    "the number is the next one";

    /// The request that this transaction answers.
    13 "request" Request {
        /// The request's id, a UUIDv7.
        id: Uuid = UuidField,
        /// XXH3-128 of its body.
        body: u128 = HashField,
        /// The stored answer.
        answer: &'a [u8] = BlobField<{ limits::ANSWER_BYTES_MAX }>,
    },
    "the body by its XXH3-128; an id is answered once";

    /// An event's text, vector, attributes and all that is derived from them are to vanish.
    14 "erase" Erase {
        /// The event.
        target: NodeId = EventField,
    },
    "text, vector and attributes are shown no more; the next base is without them. Attributes of it that say more than `amem.origin` are passed over";

    /// Who recorded the events that follow in the transaction, if not the actor of its frames.
    15 "author" Author {
        /// The actor; 0 if it is unknown.
        actor: ActorId = ActorField,
    },
    "the actor has a name, or is 0; of the events that follow in the transaction, up to the next such operation";

    /// When fields of an event, as this transaction leaves them, were changed in the brain where they were changed.
    16 "stamp" Stamp {
        /// The event.
        target: NodeId = EventField,
        /// Which of its fields.
        fields: EventFields = EventFieldsField,
        /// Within the range of recorded times.
        at: Micros = StampField,
    },
    "the fields (1 attributes, 2 vector, 4 decay rate, 8 pinned, 16 forgotten), as the transaction leaves them, were changed at this time in the brain that a merge read";

    /// The same of an edge or its retraction.
    17 "stamp-edge" StampEdge {
        /// An event.
        source: NodeId = EventField,
        /// Another event.
        target: NodeId = EventField,
        /// Of the edge.
        edge_type "type": EdgeType = EdgeTypeField,
        /// Within the range of recorded times.
        at: Micros = StampField,
    },
    "so was the edge, or its retraction: the events exist and differ, the edge need not";

    /// The same of the last opening or close of a session.
    18 "stamp-session" StampSession {
        /// The session.
        session: SessionId = SessionField,
        /// Within the range of recorded times.
        at: Micros = StampField,
    },
    "so was the session opened or closed: it exists";
}

/// Fails if no reader would accept the operation: in a file, it would keep the brain from being opened.
pub fn check(op: &Op<'_>) -> Result<()> {
    match op.refusal() {
        None => Ok(()),
        Some(why) => {
            let why = format!("it cannot be written: {}: {why}", op.name());
            Err(Error::invalid("mutation", why))
        }
    }
}

/// Codes from here on belong to newer versions. Their operations have their length as u32 behind the code, and readers
/// skip them.
pub const SKIPPED_CODES: u8 = 0x80;
/// Codes from here on, of those, belong to operations that a new base would lose: a program that does not know them
/// writes nothing to the file.
pub const KEPT_CODES: u8 = 0xC0;

/// Skips an operation of a newer version.
fn skip(c: &mut Cursor<'_>) -> Result<()> {
    c.u8()?;
    let len = c.u32()?;
    c.take(len as usize).map(drop)
}

/// The operations of a payload, decoded one by one. Those of newer versions that may be skipped are.
#[derive(Debug, Clone)]
pub struct Ops<'a>(Cursor<'a>, u8);

impl<'a> Ops<'a> {
    /// The operations of a payload that stands at `position` in the file.
    pub fn new(payload: &'a [u8], position: u64) -> Self {
        Self(Cursor::new(payload, "frame", position), 0)
    }

    /// The greatest code that was skipped; 0 if none was.
    pub fn skipped(&self) -> u8 {
        self.1
    }
}

/// A payload with the vectors of another space for the events whose vectors it has, or which it makes; `None` if it
/// has no such event.
pub fn with_vectors(payload: &[u8], other: &OtherSpace) -> Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    let mut is_changed = false;
    for op in Ops::new(payload, 0) {
        let mut op = op?;
        let made = match &op {
            Op::Event(NewNode { id, vector, .. })
            | Op::Vector {
                target: id, vector, ..
            } => Some(vector_for(*id, vector, other)?),
            _ => None,
        };
        if let (Some(made), Op::Event(NewNode { vector, .. }) | Op::Vector { vector, .. }) =
            (&made, &mut op)
        {
            *vector = made;
            is_changed = true;
        }
        encode(&mut out, &op);
    }
    Ok(is_changed.then_some(out))
}

/// The bytes of an event's vector in another space.
fn vector_for(id: NodeId, own: &[u8], other: &OtherSpace) -> Result<Vec<u8>> {
    let own: Vec<f32> = own.chunks_exact(4).map(|bytes| get_f32(bytes, 0)).collect();
    let own = (!own.is_empty()).then_some(own.as_slice());
    let made = other.vector_for(id, own)?.unwrap_or_default();
    Ok(made.iter().flat_map(|x| x.to_le_bytes()).collect())
}

impl<'a> Iterator for Ops<'a> {
    type Item = Result<Op<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let op = loop {
            match self.0.peek() {
                None => return None,
                Some(code) if code >= SKIPPED_CODES => {
                    self.1 = self.1.max(code);
                    if let Err(e) = skip(&mut self.0) {
                        break Err(e);
                    }
                }
                Some(_) => break decode(&mut self.0),
            }
        };
        if op.is_err() {
            // Nothing after a bad operation can be trusted to begin where it seems to.
            self.0 = Cursor::new(&[], "frame", 0);
        }
        Some(op)
    }
}

/// A whole transaction, as subscribers and recovery see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    /// Its number: the LSN of its last frame.
    pub lsn: Lsn,
    /// Recorded time.
    pub time: Micros,
    /// The committing actor.
    pub actor: ActorId,
    /// The mutation.
    pub kind: super::frame::Kind,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::EventType;

    fn samples() -> Vec<Op<'static>> {
        const VECTOR_BYTES: &[u8] = &[0, 0, 128, 63, 0, 0, 0, 64];
        const TOUCHES: &[u8] = &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0];
        let node = NewNode {
            id: NodeId(7),
            event_type: EventType::SKILL,
            session: SessionId(3),
            created_at: Micros(1_000),
            event_time: None,
            confidence: 0.5,
            lambda: 0.0,
            text: "how to",
            attributes: "",
            vector: &[],
            carried: None,
        };
        vec![
            Op::Event(node.clone()),
            Op::Event(NewNode {
                event_time: Some(Micros(-5)),
                attributes: r#"{"a":1}"#,
                vector: VECTOR_BYTES,
                carried: Some(ImportedState {
                    flags: Flags::PINNED,
                    access_count: 3,
                    last_accessed: Micros(9),
                    decay_score: 0.25,
                }),
                ..node
            }),
            Op::Link {
                source: NodeId(1),
                target: NodeId(2),
                edge_type: EdgeType::PART_OF,
                weight: 1.0,
                created_at: Micros(3),
            },
            Op::Unlink {
                source: NodeId(1),
                target: NodeId(2),
                edge_type: EdgeType(200),
            },
            Op::Belief {
                target: NodeId(1),
                confidence: 0.0,
                flags: Flags::FORGOTTEN,
                lambda: 0.1,
            },
            Op::Attributes {
                target: NodeId(1),
                json: "{}",
            },
            Op::Vector {
                target: NodeId(1),
                vector: VECTOR_BYTES,
            },
            Op::Touch {
                at: Micros(1),
                entries: Touches::from_bytes(TOUCHES).unwrap(),
            },
            Op::Decay {
                at: Micros(1),
                rates: [0.1; 6],
            },
            Op::OpenSession {
                session: SessionId(1),
                key: "k",
                agent: "a",
                at: Micros(1),
            },
            Op::CloseSession {
                session: SessionId(1),
                outcome: "done",
                at: Micros(2),
            },
            Op::Settings { json: "{}" },
            Op::Actor {
                actor: ActorId(1),
                principal: "uid 1000",
                agent: "claude",
            },
            Op::Request {
                id: Uuid::from_u128(5),
                body: 77,
                answer: b"yes",
            },
            Op::Erase { target: NodeId(4) },
            Op::Author { actor: ActorId(1) },
            Op::Stamp {
                target: NodeId(1),
                fields: EventFields::VECTOR.with(EventFields::PINNED),
                at: Micros(3),
            },
            Op::StampEdge {
                source: NodeId(1),
                target: NodeId(2),
                edge_type: EdgeType::SUPPORTS,
                at: Micros(3),
            },
            Op::StampSession {
                session: SessionId(1),
                at: Micros(3),
            },
        ]
    }

    #[test]
    fn operations_read_back() {
        let mut payload = Vec::new();
        samples().iter().for_each(|op| encode(&mut payload, op));
        let back: Result<Vec<_>> = Ops::new(&payload, 0).collect();
        assert_eq!(back.unwrap(), samples());
    }

    #[test]
    fn cut_or_changed_payloads_are_errors_or_other_operations_but_never_a_panic() {
        let mut payload = Vec::new();
        samples().iter().for_each(|op| encode(&mut payload, op));
        for cut in 0..payload.len() {
            Ops::new(&payload[..cut], 0).for_each(drop);
        }
        for at in 0..payload.len() {
            for value in [0, 1, 127, 255] {
                let mut bad = payload.clone();
                bad[at] = value;
                Ops::new(&bad, 0).for_each(drop);
            }
        }
    }

    #[test]
    fn every_code_has_one_row_and_every_row_an_operation() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(usize::from(row.code), at + 1, "{}", row.name);
            let sample = samples().into_iter().find(|op| op.name() == row.name);
            let (mut payload, mut names) = (Vec::new(), Vec::new());
            let sample = sample.unwrap();
            encode(&mut payload, &sample);
            assert_eq!(payload[0], row.code);
            sample.walk(&mut |name, _| names.push(name));
            let fields = row.fields.iter().map(|field| field.name);
            assert_eq!(
                names,
                fields.filter(|name| *name != HAS).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn what_a_reader_refuses_is_refused_before_it_is_written() {
        let refused = [
            Op::Belief {
                target: NodeId(1),
                confidence: 1.5,
                flags: Flags::default(),
                lambda: 0.0,
            },
            Op::Belief {
                target: NodeId(1),
                confidence: f32::NAN,
                flags: Flags::default(),
                lambda: 0.0,
            },
            Op::Decay {
                at: Micros(1),
                rates: [0.0, 0.0, 0.0, 0.0, 0.0, f32::INFINITY],
            },
            Op::Vector {
                target: NodeId(1),
                vector: &[0, 0, 128],
            },
            Op::Settings {
                json: &" ".repeat(limits::SETTINGS_BYTES_MAX + 1),
            },
            Op::Stamp {
                target: NodeId(1),
                fields: EventFields(32),
                at: Micros(3),
            },
            Op::StampSession {
                session: SessionId(1),
                at: Micros(limits::TIME_MICROS_MAX + 1),
            },
        ];
        for op in refused {
            let mut payload = Vec::new();
            encode(&mut payload, &op);
            assert!(Ops::new(&payload, 0).any(|op| op.is_err()), "{}", op.name());
            assert!(check(&op).is_err(), "{}", op.name());
        }
        samples().iter().for_each(|op| check(op).unwrap());
    }

    #[test]
    fn erasing_leaves_ids_and_times_and_no_content() {
        let erased: Vec<_> = samples()
            .into_iter()
            .filter_map(|mut op| op.erase().then_some(op))
            .collect();
        let names: Vec<_> = erased.iter().map(Op::name).collect();
        assert_eq!(names, ["event", "event", "attributes", "vector"]);
        for op in erased {
            assert!(op.event().is_some());
            op.walk(&mut |name, value| match value {
                FieldValue::Text(text) | FieldValue::Json(text) => assert_eq!(text, "", "{name}"),
                FieldValue::Vector(vector) => assert!(vector.is_empty(), "{name}"),
                _ => {}
            });
        }
    }
}
