//! `amemctl fact entities`: who and what memories name; of one of them, everything that is known.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::command::fact_args::{FactScopeArgs, FactTimeArgs, options};
use crate::command::fact_graph::KnownRelationJson;
use crate::command::fact_output::{FactOutput, SourceJson, memories};
use crate::connection::remote::all_pages;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, count, printable};
use crate::when;

/// Characters of a turn that the page of an entity shows.
const TURN_SHOWN: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact entities --user ada                     who and what her memories name
  amemctl fact entities --user ada --kind person --query mar
  amemctl fact entities Bob --user ada                 all that is known about Bob, and who said so
  amemctl fact entities Bob --user ada --at 2026-01-01 what was so then
  amemctl fact entities Bob --user ada --alias Robert  two names of one person

An entity is its names: memories that name one of them are about it.")]
pub(super) struct EntitiesArgs {
    /// Any name of one entity: shows all that is known about it.
    name: Option<String>,
    #[command(flatten)]
    scope: FactScopeArgs,
    /// Only entities that have a name with these words, or words that begin so.
    #[arg(long, value_name = "WORDS", conflicts_with = "name")]
    query: Option<String>,
    /// Only of this kind: person, organization, concept, location, event, technology or product.
    #[arg(long, value_name = "KIND", conflicts_with = "name")]
    kind: Option<String>,
    #[command(flatten)]
    time: FactTimeArgs,
    /// Says that this is another name of it; may be repeated.
    #[arg(long = "alias", value_name = "NAME", requires = "name")]
    aliases: Vec<String>,
    /// Says that this is no name of it, if --alias said so; may be repeated.
    #[arg(long = "no-alias", value_name = "NAME", requires = "name")]
    removed_aliases: Vec<String>,
    /// Says what it is: person, organization, concept, location, event, technology or product.
    #[arg(long, value_name = "KIND", requires = "name")]
    is: Option<String>,
    /// Describes it.
    #[arg(long, value_name = "TEXT", requires = "name")]
    about: Option<String>,
    /// Gives it this name; the old one stays a name of it.
    #[arg(long, value_name = "NAME", requires = "name")]
    rename: Option<String>,
}

/// An entity.
#[derive(Serialize)]
struct EntityJson {
    name: String,
    aliases: Vec<String>,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    memories: u64,
    first_said: Option<Time>,
    last_said: Option<Time>,
}

impl EntityJson {
    fn of(entity: &v1::KnownEntity) -> Result<Self, Failure> {
        Ok(Self {
            name: entity.name.clone(),
            aliases: entity.aliases.clone(),
            kind: entity.kind.clone(),
            description: entity.description.clone(),
            memories: entity.facts,
            first_said: Time::maybe(entity.first_said)?,
            last_said: Time::maybe(entity.last_said)?,
        })
    }
}

#[derive(Serialize)]
struct EntityListOutput {
    entities: Vec<EntityJson>,
}

#[derive(Serialize)]
struct EntityFactJson {
    #[serde(flatten)]
    fact: FactOutput,
    said: Vec<SourceJson>,
}

/// What a caller said of an entity.
#[derive(Serialize)]
struct EntityChangeJson {
    time: Time,
    name: String,
    aliases: Vec<String>,
    kind: String,
    description: String,
}

/// All that is known about an entity.
#[derive(Serialize)]
struct EntityOutput {
    entity: EntityJson,
    relations: Vec<KnownRelationJson>,
    memories: Vec<EntityFactJson>,
    changes: Vec<EntityChangeJson>,
}

impl EntitiesArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let Some(name) = &self.name else {
            let output = self.list(cx)?;
            cx.answer(None, &output, |page| output.write(page))?;
            return Ok(Exit::Ok);
        };
        let is_change = !self.aliases.is_empty()
            || !self.removed_aliases.is_empty()
            || self.is.is_some()
            || self.about.is_some()
            || self.rename.is_some();
        if is_change {
            self.change(cx, name)?;
        }
        let shown = self.rename.as_ref().unwrap_or(name);
        let output = self.page(cx, shown)?;
        cx.answer(None, &output, |page| output.write(page))?;
        Ok(Exit::Ok)
    }

    fn list(&self, cx: &mut CommandContext) -> Result<EntityListOutput, Failure> {
        let remote = cx.daemon()?;
        let entities = all_pages(|page_token| {
            let request = v1::ListEntitiesRequest {
                brain: self.scope.brain(),
                scope: self.scope.scope(),
                query: self.query.clone().unwrap_or_default(),
                kind: self.kind.clone().unwrap_or_default(),
                page_size: 0,
                page_token,
                as_of: self.time.as_of(),
                at: self.time.at(),
            };
            let answer = remote.call(remote.client.facts().list_entities(request))?;
            Ok((answer.entities, answer.next_page_token))
        })?;
        let entities = entities.iter().map(EntityJson::of);
        Ok(EntityListOutput {
            entities: entities.collect::<Result<_, _>>()?,
        })
    }

    fn change(&self, cx: &mut CommandContext, name: &str) -> Result<(), Failure> {
        let request = v1::SetEntityRequest {
            brain: self.scope.brain(),
            scope: self.scope.scope(),
            name: name.to_owned(),
            new_name: self.rename.clone(),
            kind: self.is.clone().unwrap_or_default(),
            description: self.about.clone(),
            aliases: self.aliases.clone(),
            removed_aliases: self.removed_aliases.clone(),
            options: options(cx),
        };
        let remote = cx.daemon()?;
        remote.call(remote.client.facts().set_entity(request))?;
        Ok(())
    }

    fn page(&self, cx: &mut CommandContext, name: &str) -> Result<EntityOutput, Failure> {
        let remote = cx.daemon()?;
        let mut first: Option<v1::GetEntityResponse> = None;
        let mut relations = Vec::new();
        let facts = all_pages(|page_token| {
            let request = v1::GetEntityRequest {
                brain: self.scope.brain(),
                scope: self.scope.scope(),
                name: name.to_owned(),
                page_size: 0,
                page_token,
                as_of: self.time.as_of(),
                at: self.time.at(),
            };
            let mut answer = remote.call(remote.client.facts().get_entity(request))?;
            relations.append(&mut answer.relations);
            let facts = std::mem::take(&mut answer.facts);
            let next = answer.next_page_token.clone();
            first.get_or_insert(answer);
            Ok((facts, next))
        })?;
        let first = first.unwrap_or_default();
        let fact = |one: &v1::EntityFact| {
            let said = one.sources.iter().map(SourceJson::of);
            Ok(EntityFactJson {
                fact: FactOutput::of(one.fact.as_ref())?,
                said: said.collect::<Result<_, Failure>>()?,
            })
        };
        let change = |one: &v1::EntityChange| {
            Ok(EntityChangeJson {
                time: Time::of(one.time)?,
                name: one.name.clone(),
                aliases: one.aliases.clone(),
                kind: one.kind.clone(),
                description: one.description.clone(),
            })
        };
        let relations = relations.iter().map(KnownRelationJson::of);
        Ok(EntityOutput {
            entity: EntityJson::of(&first.entity.unwrap_or_default())?,
            relations: relations.collect::<Result<_, _>>()?,
            memories: facts.iter().map(fact).collect::<Result<_, Failure>>()?,
            changes: first
                .changes
                .iter()
                .map(change)
                .collect::<Result<_, Failure>>()?,
        })
    }
}

impl EntityListOutput {
    fn write(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("entity", Align::Left),
            ("kind", Align::Left),
            ("memories", Align::Right),
            ("also", Align::Left),
        ]);
        for entity in &self.entities {
            table.row(vec![
                entity.name.clone(),
                entity.kind.clone(),
                count(entity.memories),
                entity.aliases.join(", "),
            ]);
        }
        table.write(page);
        if self.entities.is_empty() {
            page.aside("no memory of the scope names anyone or anything");
        }
    }
}

impl EntityOutput {
    fn write(&self, page: &mut TextPage) {
        let entity = &self.entity;
        page.title(printable(&entity.name));
        if !entity.kind.is_empty() {
            page.field("kind", &entity.kind);
        }
        if !entity.aliases.is_empty() {
            page.field("also", printable(&entity.aliases.join(", ")));
        }
        if !entity.description.is_empty() {
            page.field("about", printable(&entity.description));
        }
        let span = entity.first_said.as_ref().zip(entity.last_said.as_ref());
        if let Some((first, last)) = span {
            page.field(
                "said",
                format!("{} to {}", when::short(first.0), when::short(last.0)),
            );
        }
        for relation in &self.relations {
            page.field("relation", printable(&relation.line()));
        }
        for one in &self.memories {
            page.line(format!(
                "{}  {}",
                printable(one.fact.memory()),
                one.fact.id()
            ));
            for turn in &one.said {
                let text: String = turn.text().chars().take(TURN_SHOWN).collect();
                if !text.is_empty() {
                    page.line(format!(
                        "    {}: {}",
                        printable(turn.role()),
                        printable(&text)
                    ));
                }
            }
        }
        for change in &self.changes {
            page.line(format!(
                "{}: named {}{}{}",
                when::short(change.time.0),
                printable(&change.name),
                if change.aliases.is_empty() {
                    ""
                } else {
                    ", also "
                },
                printable(&change.aliases.join(", "))
            ));
        }
        page.aside(memories(self.memories.len() as u64));
    }
}
