//! Why a call has no answer, before the port hears of it.

use amem_memory::model::ModelFailure;

use crate::wire::ServerRefusal;

/// No text in it has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The server answers, and refuses.
    Refusal(ServerRefusal),
    /// There is no answer, or none that can be read.
    Lost(String),
    /// There is no key.
    Key(String),
    /// The budget is spent.
    Budget(String),
}

impl CallError {
    /// `has_form` if JSON was asked for.
    pub(crate) fn failure(self, has_form: bool) -> ModelFailure {
        match self {
            Self::Refusal(refusal) => refusal.failure(has_form),
            Self::Lost(why) => ModelFailure::Unreachable(why),
            Self::Key(why) => ModelFailure::Refused(why),
            Self::Budget(why) => ModelFailure::Budget(why),
        }
    }
}

/// A failure as people read it.
pub(crate) fn failure_text(failure: &ModelFailure) -> String {
    match failure {
        ModelFailure::Unreachable(why) => format!("unreachable: {why}"),
        ModelFailure::RateLimit(Some(pause)) => {
            format!(
                "too many requests; the server wants a pause of {} s",
                pause.as_secs()
            )
        }
        ModelFailure::RateLimit(None) => "too many requests".into(),
        ModelFailure::Refused(why) => format!("refused: {why}"),
        ModelFailure::FormRefused(why) => format!("the form is refused: {why}"),
        ModelFailure::Budget(why) => format!("budget: {why}"),
    }
}
