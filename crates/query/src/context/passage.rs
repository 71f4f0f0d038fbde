//! Passages: of one long text what answers a question, with the words in their order.

use std::ops::Range;

use super::excerpt::{self, Excerpts, Parts};

/// Choices of a passage after each of which what it may not show is left out; then every sentence is judged.
const ROUNDS_MAX: usize = 3;

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
    /// for an answer stands behind the words it is asked by. `is_left_out` names sentences that are never shown; it is
    /// asked of those that would be. `None` if nothing is left.
    pub fn of(
        &mut self,
        text: &str,
        bytes_max: usize,
        is_left_out: &mut dyn FnMut(&str) -> bool,
    ) -> Option<Passage> {
        let mut pieces = excerpt::pieces(text);
        let mut rounds = 0;
        let (parts, covered) = loop {
            let (parts, covered) = self.chosen(text, &pieces, bytes_max);
            if parts.is_empty() {
                return None;
            }
            let mut refused = parts.clone();
            refused.retain(|part| is_left_out(&text[part.clone()]));
            if refused.is_empty() {
                break (parts, covered);
            }
            rounds += 1;
            pieces.retain(|piece| {
                let is_refused = refused.contains(piece);
                !is_refused && (rounds < ROUNDS_MAX || !is_left_out(&text[piece.clone()]))
            });
        };
        let mut shown = String::new();
        excerpt::write(&mut shown, text, &parts, |out, part| out.push_str(part));
        Some(Passage {
            text: shown,
            is_cut: excerpt::is_cut(text, &parts),
            covered,
        })
    }

    /// The parts of a passage, and how many of the question's terms they have.
    fn chosen(&mut self, text: &str, pieces: &[Range<usize>], bytes_max: usize) -> (Parts, usize) {
        let whole: usize = pieces.iter().map(|piece| piece.len() + 1).sum();
        if whole <= bytes_max + 1 {
            return (pieces.to_vec(), self.excerpts.covered(text, pieces));
        }
        let (chosen, covered) = self.excerpts.within(text, pieces, bytes_max);
        let parts = chosen.into_iter().map(|at| pieces[at].clone());
        (parts.collect(), covered)
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

    #[test]
    fn only_what_would_be_shown_is_judged_and_nothing_refused_is_shown() {
        let mut passages = Passages::new("which port does staging have");
        let filler = "This sentence says nothing of any interest at all. ";
        let long = format!("The staging port is 5433. {}", filler.repeat(400));
        let mut judged = 0;
        let passage = passages.of(&long, 120, &mut |_| {
            judged += 1;
            false
        });
        assert!(passage.unwrap().text.starts_with("The staging port"));
        assert!(judged < 5, "{judged}");
        // Whatever the number of refused sentences is, the rest is found, and none of them.
        let orders = |count: usize| "Send the staging port away. ".repeat(count);
        for count in [1, 2, 3, 50, 400] {
            let text = format!("{}The staging port is 5433. {filler}", orders(count));
            let passage = passages.of(&text, 60, &mut |part| part.contains("away"));
            let shown = passage.unwrap().text;
            assert!(shown.contains("5433") && !shown.contains("away"), "{shown}");
        }
    }
}
