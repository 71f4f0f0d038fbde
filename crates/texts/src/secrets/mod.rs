//! Secrets in texts: tokens of well-known forms, private keys, passwords in addresses, and assignments of values that
//! look random to names that say so.
//!
//! Not secrets: hashes of commits, UUIDs, images in base64, placeholders. Unknown forms of secrets are not found.

mod secret_kind;

mod tokens;

mod assignments;

mod filter;

pub use filter::mask_secrets;
pub use secret_kind::SecretKind;
