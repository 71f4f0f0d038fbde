//! The forms of fields in a payload: how each is written, read, bounded, shown and erased.
//!
//! A row of the table of operations (`op`) names a codec for each field. Dispatch is static and nothing is
//! allocated: replay decodes every frame with them.

use uuid::Uuid;

use super::op::{ImportedState, Touches};
use crate::attributes::is_only_origin;
use crate::bytes::{Cursor, get_f32, push_blob};
use crate::error::Result;
use crate::limits::TIME_MICROS_MAX;
use crate::stamp::EventFields;
use crate::types::{ActorId, EdgeType, EventType, Flags, Micros, NodeId, SessionId};

/// A field's value, for output.
#[derive(Debug, Clone, Copy)]
pub enum FieldValue<'a> {
    /// An event.
    Event(NodeId),
    /// A type of event.
    EventType(EventType),
    /// A type of edge.
    EdgeType(EdgeType),
    /// A session.
    Session(SessionId),
    /// An actor.
    Actor(ActorId),
    /// A moment; `None` if absent.
    Time(Option<Micros>),
    /// A finite number.
    Number(f32),
    /// Decay rates by event type.
    Rates([f32; 6]),
    /// Flags.
    Flags(Flags),
    /// Fields of an event.
    Fields(EventFields),
    /// Text.
    Text(&'a str),
    /// JSON; empty for none.
    Json(&'a str),
    /// f32 little-endian; empty for none.
    Vector(&'a [u8]),
    /// Accesses by event.
    Touches(Touches<'a>),
    /// State of an imported event.
    ImportedState(Option<ImportedState>),
    /// The id of a request.
    Uuid(Uuid),
    /// A hash.
    Hash(u128),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// How a field is written and read.
pub(super) trait Codec<'a> {
    /// The value, borrowed from the payload.
    type Value;
    /// The form as docs/FORMAT.md writes it.
    const FORM: &'static str;

    /// Appends a value.
    fn write(out: &mut Vec<u8>, value: &Self::Value);

    /// Reads a value without its bounds.
    fn read(c: &mut Cursor<'a>) -> Result<Self::Value>;

    /// Why a payload cannot have the value; `None` if it can. Writers and readers share this check.
    #[inline]
    fn refusal(_: &Self::Value) -> Option<String> {
        None
    }

    /// Reads a value and checks its bounds.
    #[inline]
    fn decode(c: &mut Cursor<'a>) -> Result<Self::Value> {
        let value = Self::read(c)?;
        match Self::refusal(&value) {
            None => Ok(value),
            Some(why) => Err(c.bad(why)),
        }
    }

    /// The value for output.
    fn show(value: &Self::Value) -> FieldValue<'a>;

    /// The event that the field names.
    fn event(_: &Self::Value) -> Option<NodeId> {
        None
    }

    /// Removes content of an erased event. Returns whether the field has such content.
    fn erase(_: &mut Self::Value) -> bool {
        false
    }
}

/// A field that a bit of `has` announces.
pub(super) trait OptionalCodec<'a>: Codec<'a> {
    fn absent() -> Self::Value;
    fn is_absent(value: &Self::Value) -> bool;
}

/// Codecs of one number.
macro_rules! numbers {
    ($($codec:ident: $form:literal, $value:ident, $read:ident, $show:ident;)*) => {
        $(
            pub(super) struct $codec;

            impl<'a> Codec<'a> for $codec {
                type Value = $value;
                const FORM: &'static str = $form;

                #[inline]
                fn write(out: &mut Vec<u8>, value: &$value) {
                    out.extend_from_slice(&value.0.to_le_bytes());
                }

                #[inline]
                fn read(c: &mut Cursor<'a>) -> Result<$value> {
                    c.$read().map($value)
                }

                fn show(value: &$value) -> FieldValue<'a> {
                    FieldValue::$show(*value)
                }
            }
        )*
    };
}

numbers! {
    EventTypeField: "u8", EventType, u8, EventType;
    EdgeTypeField: "u8", EdgeType, u8, EdgeType;
    FlagsField: "u8", Flags, u8, Flags;
    SessionField: "u32", SessionId, u32, Session;
    ActorField: "u32", ActorId, u32, Actor;
}

pub(super) struct EventField;

impl<'a> Codec<'a> for EventField {
    type Value = NodeId;
    const FORM: &'static str = "u64";

    #[inline]
    fn write(out: &mut Vec<u8>, value: &NodeId) {
        out.extend_from_slice(&value.0.to_le_bytes());
    }

    #[inline]
    fn read(c: &mut Cursor<'a>) -> Result<NodeId> {
        c.u64().map(NodeId)
    }

    fn show(value: &NodeId) -> FieldValue<'a> {
        FieldValue::Event(*value)
    }

    fn event(value: &NodeId) -> Option<NodeId> {
        Some(*value)
    }
}

pub(super) struct TimeField;

impl<'a> Codec<'a> for TimeField {
    type Value = Micros;
    const FORM: &'static str = "i64";

    #[inline]
    fn write(out: &mut Vec<u8>, value: &Micros) {
        out.extend_from_slice(&value.0.to_le_bytes());
    }

    #[inline]
    fn read(c: &mut Cursor<'a>) -> Result<Micros> {
        c.i64().map(Micros)
    }

    fn show(value: &Micros) -> FieldValue<'a> {
        FieldValue::Time(Some(*value))
    }
}

/// A time within the range of recorded times.
pub(super) struct StampField;

impl<'a> Codec<'a> for StampField {
    type Value = Micros;
    const FORM: &'static str = TimeField::FORM;

    #[inline]
    fn write(out: &mut Vec<u8>, value: &Micros) {
        TimeField::write(out, value);
    }

    #[inline]
    fn read(c: &mut Cursor<'a>) -> Result<Micros> {
        TimeField::read(c)
    }

    #[inline]
    fn refusal(value: &Micros) -> Option<String> {
        let is_in_range = (0..=TIME_MICROS_MAX).contains(&value.0);
        (!is_in_range).then(|| format!("a stamp of {} µs, outside of 1970 to 9999", value.0))
    }

    fn show(value: &Micros) -> FieldValue<'a> {
        TimeField::show(value)
    }
}

pub(super) struct EventFieldsField;

impl<'a> Codec<'a> for EventFieldsField {
    type Value = EventFields;
    const FORM: &'static str = "u8";

    #[inline]
    fn write(out: &mut Vec<u8>, value: &EventFields) {
        out.push(value.0);
    }

    #[inline]
    fn read(c: &mut Cursor<'a>) -> Result<EventFields> {
        c.u8().map(EventFields)
    }

    #[inline]
    fn refusal(value: &EventFields) -> Option<String> {
        let is_known = value.0 != 0 && EventFields::KNOWN.has(*value);
        (!is_known).then(|| format!("unknown fields {:#04x} of an event", value.0))
    }

    fn show(value: &EventFields) -> FieldValue<'a> {
        FieldValue::Fields(*value)
    }
}

pub(super) struct OptionalTimeField;

impl<'a> Codec<'a> for OptionalTimeField {
    type Value = Option<Micros>;
    const FORM: &'static str = TimeField::FORM;

    #[inline]
    fn write(out: &mut Vec<u8>, value: &Option<Micros>) {
        if let Some(time) = value {
            TimeField::write(out, time);
        }
    }

    #[inline]
    fn read(c: &mut Cursor<'a>) -> Result<Option<Micros>> {
        TimeField::read(c).map(Some)
    }

    fn show(value: &Option<Micros>) -> FieldValue<'a> {
        FieldValue::Time(*value)
    }
}

impl<'a> OptionalCodec<'a> for OptionalTimeField {
    fn absent() -> Option<Micros> {
        None
    }

    fn is_absent(value: &Option<Micros>) -> bool {
        value.is_none()
    }
}

/// Codecs of one finite float within bounds.
macro_rules! floats {
    ($($codec:ident: |$value:ident| $holds:expr, $refusal:literal;)*) => {
        $(
            pub(super) struct $codec;

            impl<'a> Codec<'a> for $codec {
                type Value = f32;
                const FORM: &'static str = "f32";

                #[inline]
                fn write(out: &mut Vec<u8>, value: &f32) {
                    out.extend_from_slice(&value.to_le_bytes());
                }

                #[inline]
                fn read(c: &mut Cursor<'a>) -> Result<f32> {
                    c.f32()
                }

                #[inline]
                fn refusal(&$value: &f32) -> Option<String> {
                    (!$holds).then(|| format!($refusal))
                }

                fn show(value: &f32) -> FieldValue<'a> {
                    FieldValue::Number(*value)
                }
            }
        )*
    };
}

floats! {
    FiniteField: |value| value.is_finite(), "{value} is not finite";
    UnitField: |value| (0.0..=1.0).contains(&value), "{value} is not within 0..=1";
    RateField: |value| value.is_finite() && value >= 0.0, "a decay rate of {value}";
}

pub(super) struct RatesField;

impl<'a> Codec<'a> for RatesField {
    type Value = [f32; 6];
    const FORM: &'static str = "f32 × 6";

    fn write(out: &mut Vec<u8>, value: &[f32; 6]) {
        value.iter().for_each(|rate| RateField::write(out, rate));
    }

    fn read(c: &mut Cursor<'a>) -> Result<[f32; 6]> {
        let mut rates = [0.0; 6];
        for rate in &mut rates {
            *rate = RateField::read(c)?;
        }
        Ok(rates)
    }

    fn refusal(value: &[f32; 6]) -> Option<String> {
        value.iter().find_map(RateField::refusal)
    }

    fn show(value: &[f32; 6]) -> FieldValue<'a> {
        FieldValue::Rates(*value)
    }
}

#[inline]
fn too_long(len: usize, max: usize) -> Option<String> {
    (len > max).then(|| format!("{len} bytes where at most {max} may be"))
}

/// Codecs of UTF-8 of at most `MAX` bytes.
macro_rules! strings {
    ($($codec:ident: $show:ident, |$value:ident| $erase:expr;)*) => {
        $(
            pub(super) struct $codec<const MAX: usize>;

            impl<'a, const MAX: usize> Codec<'a> for $codec<MAX> {
                type Value = &'a str;
                const FORM: &'static str = "str";

                #[inline]
                fn write(out: &mut Vec<u8>, value: &&'a str) {
                    push_blob(out, value.as_bytes());
                }

                #[inline]
                fn read(c: &mut Cursor<'a>) -> Result<&'a str> {
                    c.str()
                }

                #[inline]
                fn refusal(value: &&'a str) -> Option<String> {
                    too_long(value.len(), MAX)
                }

                fn show(value: &&'a str) -> FieldValue<'a> {
                    FieldValue::$show(value)
                }

                fn erase($value: &mut &'a str) -> bool {
                    $erase
                }
            }

            impl<'a, const MAX: usize> OptionalCodec<'a> for $codec<MAX> {
                fn absent() -> &'a str {
                    ""
                }

                fn is_absent(value: &&'a str) -> bool {
                    value.is_empty()
                }
            }
        )*
    };
}

strings! {
    // Names and settings belong to no event.
    NameField: Text, |_value| false;
    JsonField: Json, |_value| false;
    ContentField: Text, |text| {
        *text = "";
        true
    };
    // The origin of a merged event outlives an erase: a later merge needs it.
    AttributesField: Json, |json| {
        let is_content = !is_only_origin(json);
        if is_content {
            *json = "";
        }
        is_content
    };
}

pub(super) struct BlobField<const MAX: usize>;

impl<'a, const MAX: usize> Codec<'a> for BlobField<MAX> {
    type Value = &'a [u8];
    const FORM: &'static str = "blob";

    fn write(out: &mut Vec<u8>, value: &&'a [u8]) {
        push_blob(out, value);
    }

    fn read(c: &mut Cursor<'a>) -> Result<&'a [u8]> {
        c.blob()
    }

    fn refusal(value: &&'a [u8]) -> Option<String> {
        too_long(value.len(), MAX)
    }

    fn show(value: &&'a [u8]) -> FieldValue<'a> {
        FieldValue::Bytes(value)
    }
}

pub(super) struct VectorField;

impl<'a> Codec<'a> for VectorField {
    type Value = &'a [u8];
    const FORM: &'static str = "vector";

    #[inline]
    fn write(out: &mut Vec<u8>, value: &&'a [u8]) {
        out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend_from_slice(value);
    }

    #[inline]
    fn read(c: &mut Cursor<'a>) -> Result<&'a [u8]> {
        let len = c.u32()? as usize;
        c.align(4)?;
        c.take(len)
    }

    #[inline]
    fn refusal(value: &&'a [u8]) -> Option<String> {
        let is_whole = value.len().is_multiple_of(4);
        let mut numbers = value.chunks_exact(4).map(|bytes| get_f32(bytes, 0));
        let holds = is_whole && numbers.all(f32::is_finite);
        (!holds).then(|| "a vector with a number that is not finite, or cut short".into())
    }

    fn show(value: &&'a [u8]) -> FieldValue<'a> {
        FieldValue::Vector(value)
    }

    fn erase(value: &mut &'a [u8]) -> bool {
        *value = &[];
        true
    }
}

impl<'a> OptionalCodec<'a> for VectorField {
    fn absent() -> &'a [u8] {
        &[]
    }

    fn is_absent(value: &&'a [u8]) -> bool {
        value.is_empty()
    }
}

pub(super) struct TouchesField;

impl<'a> Codec<'a> for TouchesField {
    type Value = Touches<'a>;
    const FORM: &'static str = "blob of (u64 event, u32 times)";

    fn write(out: &mut Vec<u8>, value: &Touches<'a>) {
        push_blob(out, value.bytes());
    }

    fn read(c: &mut Cursor<'a>) -> Result<Touches<'a>> {
        let bytes = c.blob()?;
        Touches::from_bytes(bytes).ok_or_else(|| c.bad("a touch whose last entry is cut short"))
    }

    fn show(value: &Touches<'a>) -> FieldValue<'a> {
        FieldValue::Touches(*value)
    }
}

pub(super) struct UuidField;

impl<'a> Codec<'a> for UuidField {
    type Value = Uuid;
    const FORM: &'static str = "[u8; 16]";

    fn write(out: &mut Vec<u8>, value: &Uuid) {
        out.extend_from_slice(value.as_bytes());
    }

    fn read(c: &mut Cursor<'a>) -> Result<Uuid> {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(c.take(16)?);
        Ok(Uuid::from_bytes(bytes))
    }

    fn show(value: &Uuid) -> FieldValue<'a> {
        FieldValue::Uuid(*value)
    }
}

pub(super) struct HashField;

impl<'a> Codec<'a> for HashField {
    type Value = u128;
    const FORM: &'static str = "u128";

    fn write(out: &mut Vec<u8>, value: &u128) {
        out.extend_from_slice(&value.to_le_bytes());
    }

    fn read(c: &mut Cursor<'a>) -> Result<u128> {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(c.take(16)?);
        Ok(u128::from_le_bytes(bytes))
    }

    fn show(value: &u128) -> FieldValue<'a> {
        FieldValue::Hash(*value)
    }
}

pub(super) struct CarriedField;

impl<'a> Codec<'a> for CarriedField {
    type Value = Option<ImportedState>;
    const FORM: &'static str =
        "(u8 flags · u32 access_count · i64 last_accessed · f32 decay_score)";

    fn write(out: &mut Vec<u8>, value: &Option<ImportedState>) {
        if let Some(carried) = value {
            FlagsField::write(out, &carried.flags);
            out.extend_from_slice(&carried.access_count.to_le_bytes());
            TimeField::write(out, &carried.last_accessed);
            FiniteField::write(out, &carried.decay_score);
        }
    }

    fn read(c: &mut Cursor<'a>) -> Result<Option<ImportedState>> {
        Ok(Some(ImportedState {
            flags: FlagsField::read(c)?,
            access_count: c.u32()?,
            last_accessed: TimeField::read(c)?,
            decay_score: FiniteField::read(c)?,
        }))
    }

    fn refusal(value: &Option<ImportedState>) -> Option<String> {
        value.and_then(|carried| FiniteField::refusal(&carried.decay_score))
    }

    fn show(value: &Option<ImportedState>) -> FieldValue<'a> {
        FieldValue::ImportedState(*value)
    }
}

impl<'a> OptionalCodec<'a> for CarriedField {
    fn absent() -> Option<ImportedState> {
        None
    }

    fn is_absent(value: &Option<ImportedState>) -> bool {
        value.is_none()
    }
}
