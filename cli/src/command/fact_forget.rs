//! `amemctl fact forget`: erases a person from every brain.
//!
//! Promises: nothing is erased before it was shown and confirmed; a brain that cannot be changed is named, and the
//! command fails after the others; what only names the person is listed, and erased if that is asked for.

use amem_client::v1;
use clap::Args;
use serde_json::{Value, json};

use crate::brain::every_event::each_event;
use crate::brain::target::BrainTarget;
use crate::brain::writable::Writable;
use crate::command::fact_args::options;
use crate::command::fact_output::memories;
use crate::connection::remote::{RemoteError, all_pages};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::confirm::confirm;
use crate::output::context::{CommandContext, message_json};
use crate::render::{TextPage, count, plural, printable};

/// Events of one erase.
const ERASE_AT_ONCE: usize = 1_000;
/// Events that only name the person, as a page lists them.
const MENTIONS_SHOWN: usize = 20;
/// Memories that a page shows of each person.
const MEMORIES_SHOWN: usize = 5;
/// Characters of their texts.
const TEXT_SHOWN: usize = 70;
/// The attribute that names the user of an event.
const USER_ATTRIBUTE: &str = "amem.user";
/// The name of the user who speaks, as an entity.
const SPEAKER: &str = "User";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact forget ada --dry-run           what there is of her, in which brains
  amemctl fact forget ada --name \"Ada Low\"    and what names her
  amemctl fact forget ada --name \"Ada Low\" --mentions --yes
  amemctl fact forget ada --entity Bob          what ada said about Bob, and no more

Erased are the memories of the user in every brain: their history, and the turns that they are from. Events that only
name the person (--name, and the user) are listed; --mentions erases them too. Copies of files that you made are not
erased, nor what a program imports again from its own files. The name that the user gave counts as a --name. With --entity
the memories of the user that name it, by any of its names, are erased, and everything else stays.")]
pub(super) struct ForgetPersonArgs {
    /// The user.
    user: String,
    /// A name of the person in texts; may be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Erase also the events that only name the person.
    #[arg(long)]
    mentions: bool,
    /// Only what the user said about this person or thing, by any of its names.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["names", "mentions"])]
    entity: Option<String>,
    /// Only this brain [default: every brain].
    #[arg(long, value_name = "NAME")]
    brain: Option<String>,
    /// Show what would be erased, and change nothing.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// What goes of one person.
struct PersonShare {
    /// Whom the memories are about, or who said them; empty if nothing tells.
    person: String,
    count: u64,
    texts: Vec<String>,
}

/// Groups texts by person, those with the most first.
fn by_person<'t>(all: impl IntoIterator<Item = (&'t str, &'t str)>) -> Vec<PersonShare> {
    let mut shares: Vec<PersonShare> = Vec::new();
    for (person, text) in all {
        let known = shares.iter().position(|share| share.person == person);
        let at = known.unwrap_or_else(|| {
            shares.push(PersonShare {
                person: person.to_owned(),
                count: 0,
                texts: Vec::new(),
            });
            shares.len() - 1
        });
        shares[at].count += 1;
        shares[at].texts.push(text.to_owned());
    }
    shares.sort_by_key(|share| std::cmp::Reverse(share.count));
    shares
}

impl PersonShare {
    fn write(&self, page: &mut TextPage) {
        let person = match self.person.as_str() {
            "" => "no person",
            person => person,
        };
        page.line(format!("  {}: {}", printable(person), count(self.count)));
        for text in self.texts.iter().take(MEMORIES_SHOWN) {
            let text: String = text.chars().take(TEXT_SHOWN).collect();
            page.line(format!("    {}", printable(&text)));
        }
        let more = self.count.saturating_sub(MEMORIES_SHOWN as u64);
        if more > 0 {
            page.line(format!("    and {} more", count(more)));
        }
    }
}

/// What a user said about an entity, brain by brain.
struct ErasedEntity<'a> {
    user: &'a str,
    entity: &'a str,
    dry_run: bool,
    brains: Vec<(String, v1::EraseEntityResponse)>,
}

impl ErasedEntity<'_> {
    fn json(&self) -> Result<Value, Failure> {
        let brains = self.brains.iter().map(|(brain, erased)| {
            let erased = message_json(erased)?;
            Ok(json!({"brain": brain, "erased": erased}))
        });
        Ok(json!({
            "user": self.user,
            "entity": self.entity,
            "dryRun": self.dry_run,
            "brains": brains.collect::<Result<Vec<_>, Failure>>()?,
        }))
    }

    fn write(&self, page: &mut TextPage) {
        page.title(self.entity);
        for (brain, erased) in &self.brains {
            let what = memories(erased.fact_count);
            let events = plural(erased.events, "event");
            page.field("brain", format!("{brain}: {what}, {events}"));
            page.field("names", erased.names.join(", "));
            let facts = erased.facts.iter();
            for share in by_person(facts.map(|fact| (fact.about.as_str(), fact.memory.as_str()))) {
                share.write(page);
            }
            if erased.mention_count > 0 {
                page.field(
                    "also named in",
                    plural(erased.mention_count, "event that stays"),
                );
            }
            for mention in erased.mentions.iter().take(MENTIONS_SHOWN) {
                let text: String = mention.text.chars().take(TEXT_SHOWN).collect();
                page.line(format!("  {}: {text}", mention.event_id));
            }
        }
        if self.brains.is_empty() {
            page.field("brains", "in none a memory of this user names it");
        }
        if self.dry_run {
            page.aside("nothing was erased");
        }
    }
}

/// An event that only names the person.
struct PersonMention {
    brain: String,
    id: u64,
    text: String,
    /// Whose memories it is among; empty if it is of no user.
    user: String,
}

/// What a brain has of the person.
struct PersonBrain {
    brain: String,
    /// Events of the user: memories, their versions and ends, turns.
    events: u64,
    /// The first of their texts.
    texts: Vec<String>,
    /// Why nothing was erased here; empty if it was.
    refused: String,
}

#[derive(Default)]
struct ForgetPersonOutput {
    user: String,
    dry_run: bool,
    brains: Vec<PersonBrain>,
    /// Events that only name the person.
    mentions: Vec<PersonMention>,
    /// True if they were erased as well.
    mentions_erased: bool,
}

impl ForgetPersonOutput {
    /// As messages have it: nothing stands for an empty text.
    fn json(&self) -> Value {
        let named = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let brains = self.brains.iter().map(|one| {
            json!({
                "brain": one.brain,
                "events": one.events.to_string(),
                "refused": named(&one.refused),
            })
        });
        let mentions = self.mentions.iter().map(|mention| {
            json!({
                "brain": mention.brain,
                "eventId": mention.id.to_string(),
                "text": mention.text,
                "user": named(&mention.user),
            })
        });
        json!({
            "user": self.user,
            "dryRun": self.dry_run,
            "brains": brains.collect::<Vec<_>>(),
            "mentions": mentions.collect::<Vec<_>>(),
            "mentionsErased": self.mentions_erased,
        })
    }
}

impl ForgetPersonArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        if self.user.trim().is_empty() || self.names.iter().any(|name| name.trim().is_empty()) {
            return Err(Failure::argument(
                "a name is empty",
                "name the user, and with --name how texts name the person",
            ));
        }
        if let Some(name) = &self.entity {
            return self.forget_entity(cx, name);
        }
        let mut output = self.look(cx)?;
        output.dry_run = self.dry_run;
        if output.brains.is_empty() && (output.mentions.is_empty() || !self.mentions) {
            cx.answer(None, &output.json(), |page| write(&output, page))?;
            return Ok(Exit::Ok);
        }
        if self.dry_run {
            cx.answer(None, &output.json(), |page| write(&output, page))?;
            return Ok(Exit::Ok);
        }
        if !self.yes {
            let mut page = cx.page();
            write(&output, &mut page);
            let question = format!("erase all of this of {} for good?", printable(&self.user));
            confirm(cx, page.as_str(), &question, "--yes")?;
        }
        let readable = output.brains.iter_mut();
        for brain in readable.filter(|brain| brain.refused.is_empty()) {
            if let Err(failure) = self.erase(cx, &brain.brain) {
                brain.refused = failure.message;
            }
        }
        if self.mentions {
            erase_mentions(cx, &output.mentions)?;
            output.mentions_erased = true;
        }
        let refused = output.brains.iter().find(|brain| !brain.refused.is_empty());
        let failure = refused.map(|brain| {
            Failure::refused(
                "not_everywhere",
                format!("nothing was erased in {}: {}", brain.brain, brain.refused),
                "erase as a user who may administer that brain",
            )
        });
        cx.answer(None, &output.json(), |page| write(&output, page))?;
        failure.map_or(Ok(Exit::Ok), Err)
    }

    /// Erases what the user said about an entity: shown first, brain by brain.
    fn forget_entity(&self, cx: &mut CommandContext, name: &str) -> Result<Exit, Failure> {
        let all = match &self.brain {
            Some(brain) => vec![brain.clone()],
            None => brains(cx)?,
        };
        let mut output = ErasedEntity {
            user: &self.user,
            entity: name,
            dry_run: self.dry_run,
            brains: Vec::new(),
        };
        for brain in all {
            if let Some(found) = self.erase_entity(cx, (&brain, name), true)? {
                output.brains.push((brain, found));
            }
        }
        if self.dry_run || output.brains.is_empty() {
            cx.answer(None, &output.json()?, |page| output.write(page))?;
            return Ok(Exit::Ok);
        }
        if !self.yes {
            let mut page = cx.page();
            output.write(&mut page);
            confirm(cx, page.as_str(), "erase these memories for good?", "--yes")?;
        }
        for (brain, erased) in &mut output.brains {
            let done = self.erase_entity(cx, (brain, name), false)?;
            *erased = done.unwrap_or_default();
        }
        cx.answer(None, &output.json()?, |page| output.write(page))?;
        Ok(Exit::Ok)
    }

    /// Erases an entity from a brain, or looks what there is; `None` if nothing names it.
    fn erase_entity(
        &self,
        cx: &mut CommandContext,
        (brain, name): (&str, &str),
        dry_run: bool,
    ) -> Result<Option<v1::EraseEntityResponse>, Failure> {
        let request = v1::EraseEntityRequest {
            brain: brain.to_owned(),
            scope: self.of_user(),
            name: name.to_owned(),
            dry_run,
            options: options(cx),
        };
        let remote = cx.daemon()?;
        match remote.call(remote.client.facts().erase_entity(request)) {
            Ok(answer) => Ok(Some(answer)),
            Err(RemoteError::Refused(refusal)) if refusal.reason == "UNKNOWN_MEMORY" => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    fn of_user(&self) -> Option<v1::Scope> {
        Some(v1::Scope {
            user: Some(self.user.clone()),
            ..v1::Scope::default()
        })
    }

    /// The names that the user gave, as far as the brain is one of facts.
    fn own_names(&self, cx: &mut CommandContext, brain: &str) -> Vec<String> {
        let request = v1::GetEntityRequest {
            brain: brain.to_owned(),
            scope: self.of_user(),
            name: SPEAKER.to_owned(),
            page_size: 1,
            ..v1::GetEntityRequest::default()
        };
        let Ok(remote) = cx.daemon() else {
            return Vec::new();
        };
        // Most brains know no name; that they are read at all is seen by what follows.
        let found = remote.call(remote.client.facts().get_entity(request));
        let entity = found.ok().and_then(|answer| answer.entity);
        let names = entity.map(|entity| [vec![entity.name], entity.aliases].concat());
        let names = names.unwrap_or_default().into_iter();
        names.filter(|name| name != SPEAKER).collect()
    }

    /// What every brain has of the person.
    fn look(&self, cx: &mut CommandContext) -> Result<ForgetPersonOutput, Failure> {
        let mut output = ForgetPersonOutput {
            user: self.user.clone(),
            ..ForgetPersonOutput::default()
        };
        let all = match &self.brain {
            Some(brain) => vec![brain.clone()],
            None => brains(cx)?,
        };
        let given: Vec<String> = self.names.iter().chain([&self.user]).cloned().collect();
        for brain in all {
            let names = [given.clone(), self.own_names(cx, &brain)].concat();
            let opened = match Writable::open(cx, &BrainTarget::Name(brain.clone())) {
                Ok(opened) => opened,
                // The others are looked at; this one is named.
                Err(failure) if self.brain.is_none() => {
                    output.brains.push(PersonBrain {
                        brain,
                        events: 0,
                        texts: Vec::new(),
                        refused: failure.message,
                    });
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            let of_user = v1::Selection {
                scope: Some(v1::Scope {
                    user: Some(self.user.clone()),
                    ..v1::Scope::default()
                }),
                ..v1::Selection::default()
            };
            let (mut own, mut texts) = (Vec::new(), Vec::new());
            each_event(cx, &opened.opened, of_user, |event| {
                own.push(event.id);
                let is_new = !event.text.is_empty() && !texts.contains(&event.text);
                if is_new && texts.len() < MEMORIES_SHOWN {
                    texts.push(event.text.clone());
                }
            })?;
            let everything = v1::Selection::default();
            each_event(cx, &opened.opened, everything, |event| {
                let is_own = own.binary_search(&event.id).is_ok();
                let is_named = || {
                    let said = [&event.text, &event.attributes_json];
                    said.iter()
                        .any(|text| names.iter().any(|name| has_name(text, name)))
                };
                if !is_own && !event.erased && is_named() {
                    output.mentions.push(PersonMention {
                        brain: brain.clone(),
                        id: event.id,
                        text: event.text.clone(),
                        user: user_of(&event.attributes_json),
                    });
                }
            })?;
            if !own.is_empty() {
                output.brains.push(PersonBrain {
                    brain,
                    events: own.len() as u64,
                    texts,
                    refused: String::new(),
                });
            }
        }
        Ok(output)
    }

    fn erase(&self, cx: &mut CommandContext, brain: &str) -> Result<(), Failure> {
        let request = v1::ResetFactsRequest {
            brain: brain.to_owned(),
            scope: Some(v1::Scope {
                user: Some(self.user.clone()),
                ..v1::Scope::default()
            }),
            options: options(cx),
            ..v1::ResetFactsRequest::default()
        };
        let remote = cx.daemon()?;
        remote.call(remote.client.facts().reset_facts(request))?;
        Ok(())
    }
}

/// The names of all brains.
fn brains(cx: &mut CommandContext) -> Result<Vec<String>, Failure> {
    let remote = cx.daemon()?;
    let all = all_pages(|page_token| {
        let request = v1::ListBrainsRequest {
            page_token,
            ..v1::ListBrainsRequest::default()
        };
        let page = remote.call(remote.client.brains().list_brains(request))?;
        Ok((page.brains, page.next_page_token))
    })?;
    Ok(all.into_iter().map(|brain| brain.brain).collect())
}

fn erase_mentions(cx: &mut CommandContext, mentions: &[PersonMention]) -> Result<(), Failure> {
    for of_brain in mentions.chunk_by(|one, other| one.brain == other.brain) {
        let name = of_brain.first().map(|mention| mention.brain.clone());
        let mut brain = Writable::open(cx, &BrainTarget::Name(name.unwrap_or_default()))?;
        for some in of_brain.chunks(ERASE_AT_ONCE) {
            let request = v1::EraseRequest {
                options: options(cx),
                event_ids: some.iter().map(|mention| mention.id).collect(),
                ..v1::EraseRequest::default()
            };
            brain.write(cx, request)?;
        }
    }
    Ok(())
}

/// The user whose memories an event is among; empty for an event of none.
fn user_of(attributes_json: &str) -> String {
    let attributes = serde_json::from_str::<Value>(attributes_json);
    let user = attributes
        .ok()
        .and_then(|all| Some(all.get(USER_ATTRIBUTE)?.as_str()?.to_owned()));
    user.unwrap_or_default()
}

/// True if a text has the name as words of its own, in capitals or not.
fn has_name(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(&name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !is_word(before) && !is_word(after)
    })
}

fn write(output: &ForgetPersonOutput, page: &mut TextPage) {
    page.title(printable(&output.user));
    for brain in &output.brains {
        let what = match brain.refused.as_str() {
            "" => plural(brain.events, "event"),
            why => format!("nothing was erased: {}", printable(why)),
        };
        page.field("brain", format!("{}: {what}", printable(&brain.brain)));
        for text in &brain.texts {
            let text: String = text.chars().take(TEXT_SHOWN).collect();
            page.line(format!("  {}", printable(&text)));
        }
    }
    if output.brains.is_empty() {
        page.field("brains", "none has memories of this user");
    }
    let mentions = output.mentions.len() as u64;
    if mentions > 0 {
        let also = if output.mentions_erased {
            ", erased too"
        } else {
            ""
        };
        page.field(
            "named in",
            format!("{}{also}", plural(mentions, "other event")),
        );
        let named = output.mentions.iter();
        for share in by_person(named.map(|one| (one.user.as_str(), one.text.as_str()))) {
            share.write(page);
        }
    }
    if output.dry_run {
        page.aside("nothing was erased");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_grouped_by_person() {
        let all = [
            ("User", "User lives in Rome"),
            ("Ottilie", "Ottilie likes tea"),
            ("User", "User has a dog"),
        ];
        let shares = by_person(all);
        let counts: Vec<_> = shares
            .iter()
            .map(|share| (share.person.as_str(), share.count))
            .collect();
        assert_eq!(counts, [("User", 2), ("Ottilie", 1)]);
    }

    #[test]
    fn a_name_is_found_as_words_of_its_own() {
        for (text, name, is_there) in [
            ("Ada Low was there", "ada low", true),
            ("(ada)", "Ada", true),
            ("{\"speaker\":\"Ada\"}", "ada", true),
            ("Adaline was there", "Ada", false),
            ("Canada", "ada", false),
            ("größe", "GRÖSSE", false),
            ("김아다 said", "김아다", true),
        ] {
            assert_eq!(has_name(text, name), is_there, "{text}");
        }
    }
}
