//! Corrections: an event that replaces another.

use amem_format::NodeId;
use amem_format::attributes::REASON;
use amem_format::event::Attributes;

use crate::error::{Error, Result};
use crate::mutation::Correct;
use crate::plan::belief;
use crate::plan::builder::PlanBuilder;
use crate::plan::values::unit;

impl PlanBuilder<'_> {
    pub(super) fn correct(&mut self, correct: &Correct) -> Result<()> {
        self.visible(correct.target)?;
        let target = if correct.to_head {
            belief::newest_head(self.view, correct.target)?
        } else {
            correct.target
        };
        let own = belief::own_confidence(self.view, target)?;
        let weight = match correct.target_confidence {
            None => 1.0,
            Some(left) => {
                unit("target_confidence", left)?;
                if left > own {
                    let why = format!(
                        "{left} is more than the {own} that event {target} was created with"
                    );
                    return Err(Error::invalid("target_confidence", why));
                }
                if own > 0.0 {
                    (1.0 - left / own).clamp(0.0, 1.0)
                } else {
                    1.0
                }
            }
        };
        let mut event = correct.event.clone();
        if event.session.is_none() {
            event.session =
                Some(self.view.node(target)?.session()).filter(|&s| self.open(s).is_ok());
        }
        if let Some(reason) = &correct.reason {
            let attributes = event.attributes.get_or_insert_with(Attributes::new);
            attributes.insert(REASON.into(), reason.as_str().into());
        }
        self.event(&event)?;
        let source = NodeId(self.view.nodes());
        self.answer.target = Some(target);
        self.supersede(source, target, weight)?;
        self.apply_pending()
    }
}
