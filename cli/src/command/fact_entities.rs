//! `amemctl fact entities`: who and what memories name; of one of them, everything that is known.

use std::mem::take;

use amem_client::v1;
use clap::Args;

use crate::command::fact_args::{FactScopeArgs, FactTimeArgs, options};
use crate::command::fact_graph::relation_line;
use crate::command::fact_output::memories;
use crate::connection::remote::{all_pages, whole_list};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, Detail, TextPage, count};
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

impl EntitiesArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let Some(name) = &self.name else {
            let answer = self.list(cx)?;
            cx.message(None, &answer, |page| write_list(&answer.entities, page))?;
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
        let answer = self.entity(cx, shown)?;
        cx.message(None, &answer, |page| write_entity(&answer, page))?;
        Ok(Exit::Ok)
    }

    fn list(&self, cx: &mut CommandContext) -> Result<v1::ListEntitiesResponse, Failure> {
        let remote = cx.daemon()?;
        Ok(whole_list(
            |page_token| {
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
                remote.call(remote.client.facts().list_entities(request))
            },
            |answer| (&mut answer.entities, &mut answer.next_page_token),
        )?)
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

    fn entity(
        &self,
        cx: &mut CommandContext,
        name: &str,
    ) -> Result<v1::GetEntityResponse, Failure> {
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
            let page = (take(&mut answer.facts), take(&mut answer.next_page_token));
            first.get_or_insert(answer);
            Ok(page)
        })?;
        Ok(v1::GetEntityResponse {
            relations,
            facts,
            ..first.unwrap_or_default()
        })
    }
}

const ENTITIES: [Column<v1::KnownEntity>; 4] = [
    ("entity", Align::Left, |entity| entity.name.clone()),
    ("kind", Align::Left, |entity| entity.kind.clone()),
    ("memories", Align::Right, |entity| count(entity.facts)),
    ("also", Align::Left, |entity| entity.aliases.join(", ")),
];

fn write_list(entities: &[v1::KnownEntity], page: &mut TextPage) {
    page.rows(&ENTITIES, entities);
    if entities.is_empty() {
        page.aside("no memory of the scope names anyone or anything");
    }
}

fn write_entity(answer: &v1::GetEntityResponse, page: &mut TextPage) {
    let entity = answer.entity.clone().unwrap_or_default();
    page.title(&entity.name);
    page.details(&DETAILS, &entity);
    for relation in &answer.relations {
        page.field("relation", relation_line(relation));
    }
    for one in &answer.facts {
        let fact = one.fact.clone().unwrap_or_default();
        page.line(format!("{}  {}", fact.memory, fact.id));
        for turn in &one.sources {
            let text: String = turn.text.chars().take(TURN_SHOWN).collect();
            if !text.is_empty() {
                page.line(format!("    {}: {text}", turn.role));
            }
        }
    }
    for change in &answer.changes {
        let also = if change.aliases.is_empty() {
            ""
        } else {
            ", also "
        };
        page.line(format!(
            "{}: named {}{also}{}",
            when::short_of(change.time),
            change.name,
            change.aliases.join(", ")
        ));
    }
    page.aside(memories(answer.facts.len() as u64));
}

const DETAILS: [Detail<v1::KnownEntity>; 4] = [
    ("kind", |entity| entity.kind.clone()),
    ("also", |entity| entity.aliases.join(", ")),
    ("about", |entity| entity.description.clone()),
    ("said", |entity| {
        match (entity.first_said, entity.last_said) {
            (Some(first), Some(last)) => format!(
                "{} to {}",
                when::short_of(Some(first)),
                when::short_of(Some(last))
            ),
            _ => String::new(),
        }
    }),
];
