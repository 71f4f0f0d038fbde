//! The request and the answer of a search.

use crate::answer::AnswerStamp;
use crate::planner::selection::Selection;
use crate::time_phrase::Clock;
use amem_format::types::NodeId;

/// Finds events by words, by a vector, or by both.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The question in words; empty for none.
    pub question: String,
    /// The question as a vector of the brain's space; empty for none.
    pub vector: Vec<f32>,
    /// The events to search.
    pub selection: Selection,
    /// Maximum hits, 1 to `limits::PAGE_MAX`; default 10.
    pub limit: usize,
    /// The weight of text, 0 or more; default `default_weights`.
    pub text_weight: Option<f32>,
    /// The weight of vectors, 0 or more; default `default_weights`.
    pub vector_weight: Option<f32>,
    /// The share of its base score that a neighbour spreads, 0 to 1; default 0.25. One two steps away spreads half of
    /// it.
    pub neighbour_share: f32,
    /// The share that the best event of a session spreads, 0 to 1; default 0.25.
    pub session_share: f32,
    /// The share of its base score that a short question adds to the event behind it, 0 to 1; default 0.25. Above 0, a
    /// short question's own score is damped: its answer is worth more than itself.
    pub question_share: f32,
    /// What is added to 1 for the events of a speaker whom the question names, or whose role it means, 0 or more;
    /// default 0.5.
    pub speaker_boost: f32,
    /// What is added to 1 for the events of a time that the question names, 0 or more; default 0.5.
    pub time_boost: f32,
    /// The days after which an event counts half as much, measured from the present of `clock` or else from the view's
    /// moment; default 0: age does not count.
    pub recency_half_life: f32,
    /// The share of a score by which hits may differ and still count as equal, so that the newest comes first, 0 to 1;
    /// default 0.03.
    pub tie_margin: f32,
    /// Leaves out the hits of less relevance among the best `limit`, 0 to 1; default 0.
    pub min_relevance: f32,
    /// In a space of vectors other than the built-in embedder's, compare with the question's vector less the mean of
    /// the brain's vectors (a sample of them): what all texts have in common says nothing. Default true.
    pub centred: bool,
    /// The present and the zone of who asks: without a present only times that need none are read in the question,
    /// without a zone in UTC.
    pub clock: Clock,
    /// Return superseded events themselves, beside their heads.
    pub include_superseded: bool,
    /// Return every event, also where its text equals that of another hit.
    pub include_duplicates: bool,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            question: String::new(),
            vector: Vec::new(),
            selection: Selection::default(),
            limit: 10,
            text_weight: None,
            vector_weight: None,
            neighbour_share: 0.25,
            session_share: 0.25,
            question_share: 0.25,
            speaker_boost: 0.5,
            time_boost: 0.5,
            recency_half_life: 0.0,
            tie_margin: 0.03,
            min_relevance: 0.0,
            centred: true,
            clock: Clock::default(),
            include_superseded: false,
            include_duplicates: false,
        }
    }
}

/// The hits of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The greatest score first, but of hits within the margin of ties the newest. Every score is above 0.
    pub hits: Vec<Hit>,
}

/// A hit, and the parts of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The event.
    pub id: NodeId,
    /// The event that the parts describe: the hit itself or, with a greater score, an event that it replaces.
    pub found: NodeId,
    /// `(text + vector + neighbours + session) · speaker · time · recency`, computed in this order.
    pub score: f32,
    /// The part of its words.
    pub text: f32,
    /// The part of its vector.
    pub vector: f32,
    /// The part of its neighbours.
    pub neighbours: f32,
    /// The part of its session.
    pub session: f32,
    /// The factor of its speaker: 1, or more if the question means who spoke.
    pub speaker: f32,
    /// The factor of its time: 1, or more if the question names a time that it is near.
    pub time: f32,
    /// The factor of its age: 1, or less if recency counts.
    pub recency: f32,
    /// How well it answers the question.
    pub relevance: Relevance,
    /// The number of events with this text among those found, this one included.
    pub equal_texts: u32,
    /// A newer hit whose text differs in one value only, such as another port: this one may be outdated.
    pub newer_value: Option<NodeId>,
}

/// How well an event answers a question, on a scale that is the same for every question and brain.
///
/// Of words, `1 / (1 + exp(-x))` with `x = 4.1 · covered + 1.8 · known + 2.25 · named + 0.13 · nats - 0.27 · size -
/// long + script - 2.4`, or 0 if `covered` is 0: `nats` are the rarities of the words that the event has itself,
/// `size` is `ln(texts) + 1.3 · min(0, ln(texts / 100))` of the number of events of the scope, `long` `ln(terms / 30)`
/// of a text of more than 30 terms without stop words, `script` 0.4 for Latin letters that English lacks and for other
/// languages by their stop words, 1.4 for Chinese, Japanese and Korean, 0.75 for other letters. The greater of that and
/// `meaning` counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relevance {
    /// 0 to 1.
    pub value: f32,
    /// The share of the question's words that the event itself contains, each by its rarity `ln(1 + (N + 100 - df + ½)
    /// / (df + ½))`; a word of another form counts 0.8, of another spelling 0.7, a word of requests ("write",
    /// "explain") nothing.
    pub own: f32,
    /// The share that the event, or one just before or after it, contains.
    pub covered: f32,
    /// The share that any event of the scope contains.
    pub known: f32,
    /// Whether the question names who spoke.
    pub is_named: bool,
    /// The cosine with the question's vector as a part of the way from the mean cosine to 1; 0 in the space of the
    /// built-in embedder if the question has words.
    pub meaning: f32,
    /// True if only the vector, the neighbours or the session found the event, not its own words.
    pub is_weak: bool,
}
