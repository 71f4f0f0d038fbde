//! Passages: of one long text what answers a question, with the words in their order.

use std::ops::Range;

use super::excerpt::{self, Excerpts};

/// Chooses passages of texts for one question.
pub struct Passages {
    excerpts: Excerpts,
}

/// A passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The words, with `…` for each gap.
    pub text: String,
    /// True if parts of the text are left out.
    pub is_cut: bool,
    /// The question's terms in it.
    pub covered: usize,
}

impl Passages {
    /// For a question.
    #[must_use]
    pub fn new(question: &str) -> Self {
        Self {
            excerpts: Excerpts::new(question),
        }
    }

    /// The passage of at most `bytes_max` bytes: the sentences that match the question, then those that follow them,
    /// for an answer stands behind the words it is asked by. `is_left_out` names sentences that are never shown. `None`
    /// if nothing is left.
    pub fn of(
        &mut self,
        text: &str,
        bytes_max: usize,
        is_left_out: &mut dyn FnMut(&str) -> bool,
    ) -> Option<Passage> {
        let pieces: Vec<Range<usize>> = excerpt::pieces(text)
            .into_iter()
            .filter(|piece| !is_left_out(&text[piece.clone()]))
            .collect();
        if pieces.is_empty() {
            return None;
        }
        let whole: usize = pieces.iter().map(|piece| piece.len() + 1).sum();
        let (chosen, covered) = if whole <= bytes_max + 1 {
            let covered = self.excerpts.covered(text, &pieces);
            ((0..pieces.len()).collect(), covered)
        } else {
            self.excerpts.within(text, &pieces, bytes_max)
        };
        let parts = chosen
            .into_iter()
            .map(|at: usize| pieces[at].clone())
            .collect();
        let mut shown = String::new();
        excerpt::write(&mut shown, text, &parts, |out, part| out.push_str(part));
        Some(Passage {
            text: shown,
            is_cut: excerpt::is_cut(text, &parts),
            covered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_has_the_sentences_that_match_and_those_behind() {
        let mut passages = Passages::new("which port does staging have");
        let filler = "This sentence says nothing of any interest at all. ".repeat(12);
        let text =
            format!("{filler}The staging database has a port of its own. It is 5433. {filler}");
        let passage = passages.of(&text, 120, &mut |_| false).unwrap();
        assert!(
            passage.text.contains("port of its own. It is 5433."),
            "{passage:?}"
        );
        assert!(
            passage.is_cut && passage.text.len() <= 140 && passage.covered == 2,
            "{passage:?}"
        );
        let short = passages.of("The port is 1.", 120, &mut |_| false).unwrap();
        assert_eq!(
            (short.text.as_str(), short.is_cut),
            ("The port is 1.", false)
        );
        let left = passages.of("The port is 1. We like tea.", 120, &mut |part| {
            part.contains("port")
        });
        assert_eq!(left.unwrap().text, "… We like tea.");
        assert_eq!(passages.of("The port is 1.", 120, &mut |_| true), None);
    }
}
