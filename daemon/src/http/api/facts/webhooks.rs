//! Webhooks of a brain, for its administrators, in mem0's shapes.

use amem_format::Micros;
use amem_proto::answer::Code;
use amem_query::time::display;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::call::RestCall;
use super::super::output::Output;
use super::settings::PROJECT;
use crate::auth::Role;
use crate::brains::blocking;
use crate::calls::fact_memory::{DEFAULT_BRAIN, now};
use crate::refusal::{Refusal, Result};
use crate::webhooks::{
    Webhook, WebhookChange, WebhookEvent, WebhookPosition, Webhooks, unknown_webhook,
};

/// The webhooks of a brain.
pub(in super::super) async fn list(call: &mut RestCall) -> Result<Output> {
    let brain = brain(call)?;
    let webhooks = webhooks(call)?;
    let listed = blocking(move || webhooks.list(&brain)).await?;
    let listed: Vec<_> = listed.iter().map(shape).collect();
    Ok(Value::from(listed).into())
}

/// Creates a webhook. The answer is the only one that shows its secret.
pub(in super::super) async fn create(call: &mut RestCall) -> Result<Output> {
    let brain = brain(call)?;
    let webhooks = webhooks(call)?;
    let change = change(call)?;
    let position = position(call, &brain).await?;
    let made = blocking(move || webhooks.create(&brain, change, position, now())).await??;
    let mut answer = shape(&made);
    answer["secret"] = made.secret.text().into();
    Ok(answer.into())
}

/// Changes a webhook.
pub(in super::super) async fn update(call: &mut RestCall) -> Result<Output> {
    let (webhooks, id) = of_caller(call).await?;
    let change = change(call)?;
    let changed = blocking(move || webhooks.change(id, change, now())).await??;
    let mut answer = shape(&changed);
    answer["message"] = "the webhook was changed".into();
    Ok(answer.into())
}

/// Deletes a webhook. What it was not sent yet is not sent.
pub(in super::super) async fn delete(call: &mut RestCall) -> Result<Output> {
    let (webhooks, id) = of_caller(call).await?;
    blocking(move || webhooks.delete(id)).await??;
    Ok(json!({"message": "the webhook was deleted", "id": id}).into())
}

/// The webhooks of the daemon; a refusal if they are off.
fn webhooks(call: &RestCall) -> Result<Webhooks> {
    let webhooks = call.site.gateway.webhooks.clone();
    webhooks.ok_or_else(|| {
        let message = "webhooks are off: list the hosts that they may call in webhooks.hosts (or in webhooks.private_hosts, those \
                       with private addresses) and restart amemd, or subscribe to changes (MemoryService.Subscribe)";
        Refusal::new(Code::Unimplemented, "NO_WEBHOOKS", message)
    })
}

/// The brain that the path names, which the caller must administer.
fn brain(call: &RestCall) -> Result<String> {
    let project = call.param(0)?;
    let brain = match &call.named_brain {
        _ if project == PROJECT => call.brain.as_str(),
        Some(named) if named != project => {
            let why = format!("the path names {project:?}, and the request {named:?}: name one");
            return Err(Refusal::invalid("brain", why));
        }
        _ => project,
    };
    call.caller.check(brain, Role::Admin)?;
    Ok(brain.to_owned())
}

/// The webhook that the path names, whose brain the caller must administer. A caller without a role for the brain
/// learns no more than of an id that is none.
async fn of_caller(call: &RestCall) -> Result<(Webhooks, Uuid)> {
    call.caller.check_unscoped()?;
    call.caller.check_any(Role::Admin)?;
    let webhooks = webhooks(call)?;
    let text = call.param(0)?.to_owned();
    let unknown = || unknown_webhook(&text);
    let id = Uuid::try_parse(&text).map_err(|_| unknown())?;
    let of = webhooks.clone();
    let webhook = blocking(move || of.get(id)).await??;
    if !call.caller.sees(&webhook.brain) {
        return Err(unknown());
    }
    call.caller.check(&webhook.brain, Role::Admin)?;
    Ok((webhooks, id))
}

fn change(call: &mut RestCall) -> Result<WebhookChange> {
    let options = &mut call.options;
    let events = match options.has("event_types") {
        false => None,
        true => Some(options.names("event_types")?),
    };
    let event = |name: String| {
        let event: std::result::Result<WebhookEvent, _> = name.parse();
        event.map_err(|why| Refusal::invalid("event_types", why))
    };
    let events = events.map(|names| names.into_iter().map(event).collect());
    Ok(WebhookChange {
        name: options.text("name")?,
        url: options.text("url")?,
        events: events.transpose()?,
        is_active: options.switch("is_active")?,
    })
}

/// The end of a brain: a webhook is sent what comes from then on. Everything of the default brain, if that does not
/// exist yet.
async fn position(call: &RestCall, brain: &str) -> Result<Option<WebhookPosition>> {
    let brains = &call.site.gateway.brains;
    match brains.get_as(&call.caller, brain, Role::Admin).await {
        Ok(open) => Ok(Some(WebhookPosition::end(&open.view()))),
        Err(refusal) if refusal.code == Code::NotFound && brain == DEFAULT_BRAIN => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

fn time(micros: i64) -> Value {
    display(Micros(micros)).to_string().into()
}

fn shape(webhook: &Webhook) -> Value {
    let events: Vec<_> = webhook.events.iter().map(|event| event.name()).collect();
    let progress = &webhook.progress;
    json!({
        "webhook_id": webhook.id,
        "name": webhook.name,
        "url": webhook.url,
        "project": webhook.brain,
        "event_types": events,
        "is_active": webhook.is_active,
        "created_at": time(webhook.created),
        "updated_at": time(webhook.updated),
        "failures": progress.failures,
        "last_error": progress.last_error,
        "next_try_at": progress.next_try.map_or(Value::Null, time),
    })
}
