//! A refusal, before it has the shape of a provider.

/// Why a request is refused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fault {
    pub(crate) status: u16,
    pub(crate) message: String,
    /// OpenAI's `code`.
    pub(crate) code: Option<&'static str>,
    /// The field that it is about.
    pub(crate) param: Option<String>,
    pub(crate) retry_after: Option<String>,
}

impl Fault {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            ..Self::default()
        }
    }

    pub(crate) fn about(mut self, param: &str) -> Self {
        self.param = Some(param.to_owned());
        self
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }
}
