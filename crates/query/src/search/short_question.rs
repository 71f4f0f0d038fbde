//! Short questions: turns that hand on to the event behind them.
//!
//! In a conversation the words of a question are often those of a later search, and the answer behind it is what is
//! wanted.

use amem_format::base::terms::Terms;
use amem_format::delta::DeltaTerms;
use amem_format::error::Result;
use amem_format::types::NodeId;
use amem_format::view::View;

/// Terms of a short question, at most.
const TERMS_MAX: u32 = 12;
/// Question marks: of most languages, of Chinese and Japanese, of Arabic.
const MARKS: [char; 3] = ['?', '\u{ff1f}', '\u{61f}'];

/// The part of its own score that a short question keeps.
pub(super) const DAMPING: f32 = 0.8;

/// Recognises short questions in a view.
pub(super) struct ShortQuestions<'v> {
    view: &'v View,
    base: Option<Terms<'v>>,
    delta: &'v DeltaTerms,
}

impl<'v> ShortQuestions<'v> {
    pub(super) fn new(view: &'v View) -> Result<Self> {
        let (base, delta) = view.terms()?;
        Ok(Self { view, base, delta })
    }

    /// True if an event's text is short enough to be one.
    pub(super) fn may_contain(&self, id: u32) -> bool {
        let terms = match self.base {
            Some(base) if id < base.events() => base.length_of(id),
            _ => self.delta.length_of(id),
        };
        terms <= TERMS_MAX
    }

    /// True if an event's text is a short question. Reads the text of short ones alone.
    pub(super) fn contains(&self, id: u32) -> Result<bool> {
        if !self.may_contain(id) {
            return Ok(false);
        }
        let node = self.view.node(NodeId(id.into()))?;
        Ok(!node.is_erased() && node.text()?.trim_end().ends_with(MARKS))
    }
}
