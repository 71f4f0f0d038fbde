//! Models: the port, the two calls, and the ladder of forms.

mod calls;
mod episode;
mod form;
mod port;
mod probe;
mod prompts;
mod source;

pub use episode::{EpisodeLine, episode_by_model};
pub use form::{FormTable, ReplyForm};
pub use port::{ChatTurn, Model, ModelCall, ModelFailure, ModelReply, ModelRequest};
pub use probe::{FormTrial, try_form};
pub use source::ModelSource;

pub(crate) use calls::{
    CallCount, CallFailure, DecisionQuestion, decide_by_model, extract_by_model,
};
