//! A fact before it is decided: text, kind, and where it is from.

use crate::graph::FactGraph;
use crate::kind::{FactKind, FactSource};
use crate::validity::Validity;

/// A fact that was extracted from turns.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedFact {
    /// The sentence.
    pub text: String,
    /// What it is.
    pub kind: FactKind,
    /// What found it.
    pub source: FactSource,
    /// The family of the pattern; empty for a model's.
    pub family: &'static str,
    /// 0 to 1.
    pub confidence: f32,
    /// Indexes of the turns that it is from, in the add.
    pub turns: Vec<usize>,
    /// Indexes of earlier facts of the add that it follows from.
    pub because: Vec<usize>,
    /// True if its sentence says that something else is wrong: "no, we use pnpm".
    pub is_correcting: bool,
    /// What a model says of the entities that it names; what its text says is read from that.
    pub graph: FactGraph,
    /// When it is, or was, so.
    pub validity: Validity,
}

impl ExtractedFact {
    /// Takes what a pattern says of the same fact, as far as the model that found it said nothing of it.
    pub(crate) fn learn(&mut self, other: Self) {
        if self.kind == FactKind::Fact {
            self.kind = other.kind;
        }
        if self.because.is_empty() {
            self.because = other.because;
        }
        self.is_correcting |= other.is_correcting;
    }

    /// The same, with the facts that it follows from at their new places; what has none is left out.
    pub(crate) fn behind(self, places: &[Option<usize>]) -> Self {
        let because = self.because.iter();
        let because = because.filter_map(|at| places.get(*at).copied().flatten());
        Self {
            because: because.collect(),
            ..self
        }
    }
}
