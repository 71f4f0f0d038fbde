//! Authorization data: roles and rights, the grants of the configuration, and the secrets of TCP (tokens, TLS).
//!
//! Promises: the daemon's user may do everything, other callers only what the configuration grants; a brain for which a
//! caller has no role does not exist for that caller.
//! Not here: how a caller is identified (`ingress::credentials`), and which brains it sees.

mod caller;
mod rights;

mod grants;

mod secrets;
mod tokens;

mod digest;

pub use crate::config::{Grants, Role};
pub(crate) use caller::Caller;
pub(crate) use digest::{Digest, hex};
pub(crate) use grants::AccessControl;
pub(crate) use rights::Rights;
pub(crate) use secrets::{ClientCa, Secrets, TlsKeys, certificate_name};
pub use tokens::Tokens;
pub(crate) use tokens::{Token, TokenRights};
