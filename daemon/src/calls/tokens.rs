//! Tokens of callers over TCP.
//!
//! Promises: a token is in the answer to CreateToken and nowhere else.

use amem_proto::v1;

use super::fact_messages::{scope, scope_message};
use super::gateway::page_size;
use super::status;
use super::validate::Validate;
use crate::auth::{Role, Token, TokenRights};
use crate::brains::{blocking, to_its_end};
use crate::control::{Control, LiveConfig, tokens};
use crate::refusal::{Refusal, Result};

/// Creates a token, which is in force at once.
pub(super) async fn create(
    control: &Control,
    (request, role): (v1::CreateTokenRequest, Role),
) -> Result<v1::CreateTokenResponse> {
    let (control, name) = (control.clone(), request.name);
    let rights = TokenRights {
        role,
        brains: request.brains,
        scope: request.scope.map(|message| scope(Some(message))),
    };
    // The token is in force once the file has it: this completes even if the caller leaves.
    let made = to_its_end(async move {
        blocking(move || {
            let secret = control.create_token(&name, &rights)?;
            let TokenRights {
                role,
                brains,
                scope,
            } = &rights;
            let is_scoped = scope.is_some();
            tracing::info!(name, %role, ?brains, is_scoped, "created a token");
            Ok(secret)
        })
        .await?
    });
    Ok(v1::CreateTokenResponse { token: made.await? })
}

/// Removes a token: calls with it are refused from then on.
pub(super) async fn revoke(control: &Control, request: v1::RevokeTokenRequest) -> Result<()> {
    let (control, name) = (control.clone(), request.name);
    to_its_end(async move {
        blocking(move || {
            control.revoke_token(&name)?;
            tracing::info!(name, "revoked a token");
            Ok(())
        })
        .await?
    })
    .await
}

pub(super) fn list(
    live: &LiveConfig,
    request: &v1::ListTokensRequest,
) -> Result<v1::ListTokensResponse> {
    // A token is the last name of its page.
    let all = tokens(live)?.list().iter();
    let mut rest = all.filter(|token| token.name > request.page_token);
    let size = page_size(request.page_size);
    let page: Vec<_> = rest.by_ref().take(size).map(token).collect();
    Ok(v1::ListTokensResponse {
        next_page_token: match page.last() {
            Some(last) if rest.next().is_some() => last.name.clone(),
            _ => String::new(),
        },
        tokens: page,
    })
}

fn token(token: &Token) -> v1::Token {
    v1::Token {
        name: token.name.clone(),
        permission: permission(token.rights.role).into(),
        brains: token.rights.brains.clone(),
        create_time: Some(status::time(token.created())),
        scope: token.rights.scope.as_ref().map(scope_message),
    }
}

impl Validate for v1::CreateTokenRequest {
    type Valid = (Self, Role);

    fn validate(self) -> Result<Self::Valid> {
        let role = match self.permission() {
            v1::Permission::Read => Role::Read,
            v1::Permission::Write => Role::Write,
            v1::Permission::Admin => Role::Admin,
            v1::Permission::Unspecified => {
                let why = "set READ, WRITE or ADMIN";
                return Err(Refusal::invalid("permission", why));
            }
        };
        Ok((self, role))
    }
}

pub(super) fn permission(role: Role) -> v1::Permission {
    match role {
        Role::Read => v1::Permission::Read,
        Role::Write => v1::Permission::Write,
        Role::Admin => v1::Permission::Admin,
    }
}
