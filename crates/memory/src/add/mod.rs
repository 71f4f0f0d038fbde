//! An add: from messages to one commit, in ten steps.

mod answer;
mod decisions;
mod extraction;
mod forgetting;
mod masking;
mod pattern_facts;
mod request;
mod run;
mod spoken;

pub use crate::check::gives_orders;
pub use crate::decide::{SlotRelation, slot_relation};
pub use crate::instructions::{STANDING_RULES, StandingKind, standing_kind, standing_spans};
pub use crate::patterns::is_standing;
pub use crate::secrets::SecretPolicy;
pub use crate::text::sentences::sentence_texts;
pub use answer::{
    AddAnswer, AddEvent, AddStage, AddStatus, AddUsage, DecisionReason, FactResult, RejectedFact,
};
pub use decisions::CONFLICT_WEIGHT;
pub use request::{AddRequest, AssistantPolicy, ModelFallback};
pub use run::{AddPorts, add};
