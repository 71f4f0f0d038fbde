//! `amemctl fact relations` and `amemctl fact graph`: how the entities of memories are related.

use std::collections::BTreeSet;

use amem_client::v1;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::command::fact_args::{FactScopeArgs, FactTimeArgs};
use crate::command::fact_output::RelationJson;
use crate::connection::remote::all_pages;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, printable};
use crate::when;

#[derive(Debug, Args)]
struct RelationSelectionArgs {
    #[command(flatten)]
    scope: FactScopeArgs,
    /// Only this relation, such as works_at.
    #[arg(long, value_name = "RELATION")]
    relation: Option<String>,
    #[command(flatten)]
    time: FactTimeArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact relations --user ada
  amemctl fact relations Bob --user ada
  amemctl fact relations --user ada --relation works_at

A relation holds as long as the memory that says so.")]
pub(super) struct RelationsArgs {
    /// Only those of this entity, by any of its names.
    name: Option<String>,
    #[command(flatten)]
    of: RelationSelectionArgs,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphForm {
    /// Lines of text.
    Text,
    /// For Graphviz.
    Dot,
    /// For Mermaid, as Markdown renders it.
    Mermaid,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact graph --user ada
  amemctl fact graph --user ada --format dot | dot -Tsvg > ada.svg
  amemctl fact graph --user ada --format mermaid")]
pub(super) struct GraphArgs {
    #[command(flatten)]
    of: RelationSelectionArgs,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = GraphForm::Text)]
    format: GraphForm,
}

/// A relation, and the memory that says so.
#[derive(Serialize)]
pub(super) struct KnownRelationJson {
    #[serde(flatten)]
    relation: RelationJson,
    memory_id: String,
    memory: String,
    since: Option<Time>,
    until: Option<Time>,
}

impl KnownRelationJson {
    pub(super) fn of(known: &v1::KnownRelation) -> Result<Self, Failure> {
        Ok(Self {
            relation: RelationJson::of(&known.relation.clone().unwrap_or_default()),
            memory_id: known.fact_id.clone(),
            memory: known.memory.clone(),
            since: Time::maybe(known.since)?,
            until: Time::maybe(known.until)?,
        })
    }

    pub(super) fn line(&self) -> String {
        let since = self.since.as_ref().map(|since| when::short(since.0));
        format!(
            "{} since {}",
            self.relation.text(),
            since.unwrap_or_default()
        )
    }
}

#[derive(Serialize)]
struct RelationsOutput {
    relations: Vec<KnownRelationJson>,
}

impl RelationSelectionArgs {
    fn relations(&self, cx: &mut CommandContext, name: &str) -> Result<RelationsOutput, Failure> {
        let remote = cx.daemon()?;
        let all = all_pages(|page_token| {
            let request = v1::ListRelationsRequest {
                brain: self.scope.brain(),
                scope: self.scope.scope(),
                name: name.to_owned(),
                relation: self.relation.clone().unwrap_or_default(),
                page_size: 0,
                page_token,
                as_of: self.time.as_of(),
                at: self.time.at(),
            };
            let answer = remote.call(remote.client.facts().list_relations(request))?;
            Ok((answer.relations, answer.next_page_token))
        })?;
        let relations = all.iter().map(KnownRelationJson::of);
        Ok(RelationsOutput {
            relations: relations.collect::<Result<_, _>>()?,
        })
    }
}

impl RelationsArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let name = self.name.as_deref().unwrap_or_default();
        let output = self.of.relations(cx, name)?;
        cx.answer(None, &output, |page| output.write(page))?;
        Ok(Exit::Ok)
    }
}

impl RelationsOutput {
    fn write(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("source", Align::Left),
            ("relation", Align::Left),
            ("target", Align::Left),
            ("since", Align::Left),
            ("memory", Align::Left),
        ]);
        for known in &self.relations {
            let since = known.since.as_ref().map(|since| when::short(since.0));
            table.row(vec![
                known.relation.source.clone(),
                known.relation.relation.clone(),
                known.relation.target.clone(),
                since.unwrap_or_default(),
                known.memory.clone(),
            ]);
        }
        table.write(page);
        if self.relations.is_empty() {
            page.aside("no memory of the scope relates anyone or anything");
        }
    }

    /// The relations, each once.
    fn edges(&self) -> BTreeSet<(&str, &str, &str)> {
        let edges = self.relations.iter().map(|known| {
            let relation = &known.relation;
            (
                relation.source.as_str(),
                relation.relation.as_str(),
                relation.target.as_str(),
            )
        });
        edges.collect()
    }

    fn nodes(&self) -> BTreeSet<&str> {
        let edges = self.edges().into_iter();
        edges
            .flat_map(|(source, _, target)| [source, target])
            .collect()
    }

    fn dot(&self, page: &mut TextPage) {
        page.line("digraph memory {");
        for (source, relation, target) in self.edges() {
            page.line(format!(
                "  {} -> {} [label={}];",
                quoted(source),
                quoted(target),
                quoted(relation)
            ));
        }
        page.line("}");
    }

    fn mermaid(&self, page: &mut TextPage) {
        page.line("graph LR");
        let nodes: Vec<&str> = self.nodes().into_iter().collect();
        for (at, node) in nodes.iter().enumerate() {
            page.line(format!("  n{at}[{}]", quoted(node)));
        }
        for (source, relation, target) in self.edges() {
            let at = |name: &str| nodes.binary_search(&name).unwrap_or_default();
            page.line(format!(
                "  n{} -- {} --> n{}",
                at(source),
                quoted(relation),
                at(target)
            ));
        }
    }

    fn text(&self, page: &mut TextPage) {
        let mut last = "";
        for (source, relation, target) in self.edges() {
            if source != last {
                page.line(printable(source));
                last = source;
            }
            page.line(format!("  {} {}", printable(relation), printable(target)));
        }
        if self.relations.is_empty() {
            page.aside("no memory of the scope relates anyone or anything");
        }
    }
}

/// A label in both languages of graphs: what would end it is replaced.
fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        printable(text).replace('"', "'").replace('\\', "/")
    )
}

impl GraphArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let output = self.of.relations(cx, "")?;
        cx.answer(None, &output, |page| match self.format {
            GraphForm::Text => output.text(page),
            GraphForm::Dot => output.dot(page),
            GraphForm::Mermaid => output.mermaid(page),
        })?;
        Ok(Exit::Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_cannot_end_its_label() {
        assert_eq!(quoted("a\"b\\"), "\"a'b/\"");
        assert_eq!(quoted("two\nlines").lines().count(), 1);
    }
}
