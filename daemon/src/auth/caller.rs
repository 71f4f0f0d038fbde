//! The caller of a request, and its rights for a brain.

use amem_memory::FactScope;
use amem_proto::answer::Code;
use amem_store::{Error as Store, folder};

use super::{Rights, Role};
use crate::refusal::{Refusal, Result};

/// The caller of a request, which carries it among its extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// As commits record it: `uid:1000`, `token:laptop`, `certificate:4f2a…`.
    pub(crate) principal: String,
    pub(crate) rights: Rights,
    /// Whose memories it may use, if its token has a scope. It sees no brain then, and opens none, but for a request
    /// about facts that was put within the scope (`within`).
    pub(crate) scope: Option<FactScope>,
    /// The user and the group at the other end of the Unix socket.
    pub(crate) user: Option<(u32, u32)>,
    /// The process, or by TCP the connection, from which the request comes, if that is known.
    pub(crate) source: Option<u64>,
    /// The role that the call needs for each brain that it names; `Admin` until admission sets it.
    pub(crate) needs: Role,
}

impl Caller {
    /// A caller whose call is not known yet.
    pub(crate) fn new(principal: String, rights: Rights) -> Self {
        Self {
            principal,
            rights,
            scope: None,
            user: None,
            source: None,
            needs: Role::Admin,
        }
    }

    /// True if it is a process of this machine: paths and process ids mean something to it, and are no news.
    pub(crate) fn is_local(&self) -> bool {
        self.user.is_some()
    }

    /// True if it may learn whether a brain of this name exists.
    pub(crate) fn sees(&self, brain: &str) -> bool {
        self.scope.is_none() && self.rights.of(brain).is_some()
    }

    /// True if it administers every brain.
    pub(crate) fn administers(&self) -> bool {
        self.scope.is_none() && self.rights.of_all() >= Some(Role::Admin)
    }

    /// True if it sees every brain.
    pub(crate) fn sees_all(&self) -> bool {
        self.scope.is_none() && self.rights.of_all().is_some()
    }

    /// Refuses a call that does not keep to the scope of a token.
    pub(crate) fn check_unscoped(&self) -> Result<()> {
        let Some(scope) = &self.scope else {
            return Ok(());
        };
        let message = format!(
            "{} may use the memories of {} only: it may make the calls of FactService (`amemctl fact`) and ask for health; \
             other calls need a token without a scope",
            self.principal,
            in_words(scope)
        );
        Err(Refusal::new(Code::PermissionDenied, "TOKEN_SCOPE", message))
    }

    /// The scope of a request about facts, with the fields of the token's scope filled in, and the caller as it may
    /// execute that request. Refuses a request for another scope.
    pub(crate) fn within(&self, asked: &FactScope) -> Result<(FactScope, Self)> {
        let mut caller = self.clone();
        let Some(own) = caller.scope.take() else {
            return Ok((asked.clone(), caller));
        };
        let within = asked.within(&own).map_err(|_| {
            let message = format!(
                "{} may use the memories of {} only, and the request is about {}: leave the scope out, or name the same",
                self.principal,
                in_words(&own),
                in_words(asked)
            );
            Refusal::new(Code::PermissionDenied, "TOKEN_SCOPE", message)
        })?;
        Ok((within, caller))
    }

    /// Refuses a brain for which the caller lacks a role. A brain that it must not see is refused with the message, and
    /// in the time, of one that does not exist: nothing is looked up.
    pub(crate) fn check(&self, brain: &str, role: Role) -> Result<()> {
        self.check_unscoped()?;
        match self.rights.of(brain) {
            Some(has) if has >= role => Ok(()),
            Some(has) => Err(self.denied(&format!("has the role {has} for {brain:?}"), role)),
            None => {
                folder::file_name(brain)?;
                Err(Store::NotFound { name: brain.into() }.into())
            }
        }
    }

    /// Refuses a call over all brains, or over new ones.
    pub(crate) fn check_all(&self, role: Role) -> Result<()> {
        self.check_unscoped()?;
        match self.rights.of_all() {
            Some(has) if has >= role => Ok(()),
            Some(has) => Err(self.denied(&format!("has the role {has}"), role)),
            None => Err(self.denied("has no role for all brains", role)),
        }
    }

    /// Refuses a call that needs a role which the caller has for no brain.
    pub(crate) fn check_any(&self, role: Role) -> Result<()> {
        match self.rights.most() {
            Some(has) if has >= role => Ok(()),
            Some(has) => Err(self.denied(&format!("has the role {has}"), role)),
            None => Err(self.denied("has no role", role)),
        }
    }

    fn denied(&self, has: &str, role: Role) -> Refusal {
        let message = format!(
            "{} {has}, and the call needs the role {role}: see [access], or the role of the token",
            self.principal
        );
        Refusal::new(Code::PermissionDenied, "ROLE", message)
    }
}

/// The fields of a scope, such as `user_id "ada", app_id "mail"`.
fn in_words(scope: &FactScope) -> String {
    let fields = scope.fields();
    let named = fields.filter_map(|(field, value)| Some(format!("{field} {:?}", value?)));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_with_a_scope_opens_a_brain_only_for_a_request_within_it() {
        let ada = FactScope::user("ada");
        let caller = Caller {
            scope: Some(ada.clone()),
            ..Caller::new("token:x".into(), Rights::with_all(Role::Admin))
        };
        assert!(!caller.sees("b") && !caller.sees_all() && !caller.administers());
        for refused in [
            caller.check("b", Role::Read),
            caller.check_all(Role::Read),
            caller.check_unscoped(),
            caller.within(&FactScope::user("bob")).map(drop),
        ] {
            let refusal = refused.unwrap_err();
            assert_eq!(
                (refusal.code, &*refusal.reason),
                (Code::PermissionDenied, "TOKEN_SCOPE")
            );
            assert!(refusal.message.contains("user_id \"ada\""), "{refusal:?}");
        }
        for asked in [FactScope::default(), ada.clone()] {
            let (scope, within) = caller.within(&asked).unwrap();
            assert_eq!(scope, ada);
            within.check("b", Role::Read).unwrap();
        }
        let open = Caller::new("uid:1".into(), Rights::with_all(Role::Read));
        let (scope, same) = open.within(&ada).unwrap();
        assert_eq!((scope, same), (ada, open));
    }

    #[test]
    fn a_brain_that_is_not_for_a_caller_is_refused_as_one_that_is_not_there() {
        let mut rights = Rights::default();
        rights.add(Some("mine"), Role::Write);
        let caller = Caller::new("token:x".into(), rights);
        caller.check("mine", Role::Write).unwrap();
        let refusal = caller.check("mine", Role::Admin).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::PermissionDenied, "ROLE")
        );
        let refusal = caller.check("yours", Role::Read).unwrap_err();
        let absent = Refusal::from(Store::NotFound {
            name: "yours".into(),
        });
        assert_eq!(refusal, absent);
        let refusal = caller.check("no/name", Role::Read).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument);
        assert!(caller.sees("mine") && !caller.sees("yours") && !caller.sees_all());
        assert!(caller.check_all(Role::Read).is_err());
        assert!(caller.check_any(Role::Write).is_ok() && caller.check_any(Role::Admin).is_err());
    }
}
