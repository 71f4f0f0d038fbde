//! Tokens of callers by TCP, as messages.
//!
//! Promises: a token is in the answer to who had it made, and in nothing else that is told or logged.

use amem_proto::v1;
use tonic::Code;

use super::{page_size, status};
use crate::access::Role;
use crate::brains::{blocking, to_its_end};
use crate::calls::Says;
use crate::control::{Control, Live, tokens};
use crate::refusal::{Refusal, Result};
use crate::tokens::Token;

/// Makes one.
pub(super) async fn create(
    control: &Control,
    request: v1::CreateTokenRequest,
) -> Result<v1::CreateTokenResponse> {
    let role = request.said()?;
    let (control, name, brains) = (control.clone(), request.name, request.brains);
    // What nobody was told is of no use, but what is in the file is in force.
    let made = to_its_end(async move {
        blocking(move || {
            let secret = control.create_token(&name, role, &brains)?;
            tracing::info!(name, %role, ?brains, "made a token");
            Ok(secret)
        })
        .await?
    });
    Ok(v1::CreateTokenResponse { token: made.await? })
}

/// Takes one away.
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

/// Lists them.
pub(super) fn list(live: &Live, request: &v1::ListTokensRequest) -> Result<v1::ListTokensResponse> {
    // A page's token is the last name of it.
    let all = tokens(live)?.list().iter();
    let mut rest = all.filter(|token| token.name > request.page_token);
    let size = page_size(request.page_size);
    let page: Vec<_> = rest.by_ref().take(size).map(told).collect();
    Ok(v1::ListTokensResponse {
        next_page_token: match page.last() {
            Some(last) if rest.next().is_some() => last.name.clone(),
            _ => String::new(),
        },
        tokens: page,
    })
}

fn told(token: &Token) -> v1::Token {
    v1::Token {
        name: token.name.clone(),
        permission: permission(token.role).into(),
        brains: token.brains.clone(),
        create_time: Some(status::time(token.created())),
    }
}

impl Says for &v1::CreateTokenRequest {
    type What = Role;

    fn said(self) -> Result<Role> {
        match self.permission() {
            v1::Permission::Read => Ok(Role::Read),
            v1::Permission::Write => Ok(Role::Write),
            v1::Permission::Admin => Ok(Role::Admin),
            v1::Permission::Unspecified => Err(Refusal::new(
                Code::InvalidArgument,
                "INVALID",
                "permission: say READ, WRITE or ADMIN",
            )),
        }
    }
}

/// A role as messages have it.
pub(super) fn permission(role: Role) -> v1::Permission {
    match role {
        Role::Read => v1::Permission::Read,
        Role::Write => v1::Permission::Write,
        Role::Admin => v1::Permission::Admin,
    }
}
