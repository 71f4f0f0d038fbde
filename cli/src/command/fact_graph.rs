//! `amemctl fact relations` and `amemctl fact graph`: how the entities of memories are related.

use amem_client::v1;
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;

use crate::command::fact_args::{FactScopeArgs, FactTimeArgs};
use crate::command::fact_output::relation_text;
use crate::connection::remote::whole_list;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, TextPage, printable};
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

/// A relation, and since when it holds.
pub(super) fn relation_line(known: &v1::KnownRelation) -> String {
    format!(
        "{} since {}",
        relation_text(&relation_of(known)),
        when::short_of(known.since)
    )
}

fn relation_of(known: &v1::KnownRelation) -> v1::EntityRelation {
    known.relation.clone().unwrap_or_default()
}

/// The relations as a graph.
struct RelationGraph<'r>(&'r [v1::KnownRelation]);

impl RelationSelectionArgs {
    fn relations(
        &self,
        cx: &mut CommandContext,
        name: &str,
    ) -> Result<v1::ListRelationsResponse, Failure> {
        let remote = cx.daemon()?;
        Ok(whole_list(
            |page_token| {
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
                remote.call(remote.client.facts().list_relations(request))
            },
            |answer| (&mut answer.relations, &mut answer.next_page_token),
        )?)
    }
}

impl RelationsArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let name = self.name.as_deref().unwrap_or_default();
        let answer = self.of.relations(cx, name)?;
        cx.message(None, &answer, |page| {
            page.rows(&RELATIONS, &answer.relations);
            if answer.relations.is_empty() {
                page.aside(NO_RELATION);
            }
        })?;
        Ok(Exit::Ok)
    }
}

const NO_RELATION: &str = "no memory of the scope relates anyone or anything";

const RELATIONS: [Column<v1::KnownRelation>; 5] = [
    ("source", Align::Left, |known| relation_of(known).source),
    ("relation", Align::Left, |known| relation_of(known).relation),
    ("target", Align::Left, |known| relation_of(known).target),
    ("since", Align::Left, |known| when::short_of(known.since)),
    ("memory", Align::Left, |known| known.memory.clone()),
];

impl RelationGraph<'_> {
    /// The relations, each once.
    fn edges(&self) -> BTreeSet<(&str, &str, &str)> {
        let relations = self.0.iter().filter_map(|known| known.relation.as_ref());
        let edges = relations.map(|relation| {
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
        if self.0.is_empty() {
            page.aside(NO_RELATION);
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
        let answer = self.of.relations(cx, "")?;
        let graph = RelationGraph(&answer.relations);
        cx.message(None, &answer, |page| match self.format {
            GraphForm::Text => graph.text(page),
            GraphForm::Dot => graph.dot(page),
            GraphForm::Mermaid => graph.mermaid(page),
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
