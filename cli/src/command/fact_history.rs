//! `amemctl fact export --sqlite`: the history of memories in the specification's table, for `sqlite3`.

use std::fs;
use std::path::Path;

use amem_client::v1;
use amem_query::time;
use amem_sources::SourceError;
use amem_sources::export::{FactHistoryRow, FactHistoryWriter};
use serde_json::json;

use crate::brain::new_file::check_free;
use crate::connection::remote::all_pages;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};
use crate::render::{TextPage, count, plural, printable};

/// What was written.
#[derive(Default)]
struct FactHistoryOutput {
    path: String,
    memories: u64,
    rows: u64,
    /// Memories of apps, for which the table has no column.
    apps: u64,
}

/// Writes the history of a scope, of all if none is named, into a new database.
pub(super) fn export(
    cx: &mut CommandContext,
    request: v1::ExportFactsRequest,
    path: &Path,
) -> Result<Exit, Failure> {
    check_free(path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let made = tempfile::Builder::new()
        .prefix(".amemctl-export-")
        .tempdir_in(folder)
        .map_err(|e| Failure::io("make a folder in", folder, &e))?;
    let file = made.path().join("history.sqlite");
    let mut table = FactHistoryWriter::create(&file).map_err(|e| unwritten(&e))?;
    let scopes = match (&request.scope, request.filter_json.is_empty()) {
        (None, true) => scopes(cx, &request.brain)?,
        _ => vec![request.scope.clone()],
    };
    let mut output = FactHistoryOutput {
        path: path.display().to_string(),
        ..FactHistoryOutput::default()
    };
    let mut progress = Progress::new(cx, Unit::Things("rows"));
    for scope in scopes {
        let request = v1::ExportFactsRequest {
            scope,
            history: true,
            ended: true,
            ..request.clone()
        };
        let remote = cx.daemon()?;
        let mut parts = remote.call(remote.client.facts().export_facts(request))?;
        // The memory whose records go on in the next part.
        let mut begun: Option<v1::Fact> = None;
        while let Some(part) = cx.daemon()?.next(&mut parts)? {
            for exported in part.facts {
                let fact = begun.take().or(exported.fact).unwrap_or_default();
                let mut is_new = false;
                for record in &exported.records {
                    if let Some(row) = row(&fact, record)? {
                        let is_written = table.row(&row).map_err(|e| unwritten(&e))?;
                        is_new |= is_written && row.event == "ADD";
                        output.rows += u64::from(is_written);
                    }
                }
                output.memories += u64::from(is_new);
                let has_app = fact.scope.as_ref().is_some_and(|scope| scope.app.is_some());
                output.apps += u64::from(is_new && has_app);
                progress.show(output.rows, 0);
                begun = exported.more.then_some(fact);
            }
        }
    }
    drop(progress);
    table.finish().map_err(|e| unwritten(&e))?;
    // Unlike a new name for it, a link never replaces a file.
    fs::hard_link(&file, path).map_err(|e| Failure::io("make", path, &e))?;
    let data = json!({
        "path": output.path,
        "memories": output.memories,
        "rows": output.rows,
        "apps": output.apps,
    });
    cx.answer(None, &data, |page| write(&output, page))?;
    Ok(Exit::Ok)
}

/// Every user, agent, app and run.
fn scopes(cx: &mut CommandContext, brain: &str) -> Result<Vec<Option<v1::Scope>>, Failure> {
    let remote = cx.daemon()?;
    let all = all_pages(|page_token| {
        let request = v1::ListFactScopesRequest {
            brain: brain.to_owned(),
            page_token,
            ..v1::ListFactScopesRequest::default()
        };
        let answer = remote.call(remote.client.facts().list_fact_scopes(request))?;
        Ok((answer.scopes, answer.next_page_token))
    })?;
    let scopes = all.into_iter().map(|one| {
        let mut scope = v1::Scope::default();
        let value = Some(one.value);
        match one.field.as_str() {
            "agent_id" => scope.agent = value,
            "app_id" => scope.app = value,
            "run_id" => scope.run = value,
            _ => scope.user = value,
        }
        Some(scope)
    });
    Ok(scopes.collect())
}

/// The row of a record; feedback has none.
fn row(fact: &v1::Fact, record: &v1::FactRecord) -> Result<Option<FactHistoryRow>, Failure> {
    let event = match record.event() {
        v1::FactEvent::Add => "ADD",
        v1::FactEvent::Update => "UPDATE",
        v1::FactEvent::Delete => "DELETE",
        v1::FactEvent::None | v1::FactEvent::Feedback | v1::FactEvent::Unspecified => {
            return Ok(None);
        }
    };
    let scope = fact.scope.clone().unwrap_or_default();
    Ok(Some(FactHistoryRow {
        id: record.id.clone(),
        memory_id: fact.id.clone(),
        event,
        old_value: record.old_memory.clone(),
        new_value: record.new_memory.clone(),
        timestamp: time::display(Time::of(record.time)?.0).to_string(),
        scope: [scope.user, scope.agent, scope.run],
    }))
}

fn unwritten(error: &SourceError) -> Failure {
    Failure::new(
        Exit::Io,
        "io",
        error.to_string(),
        "free space in the folder of the file",
    )
}

fn write(output: &FactHistoryOutput, page: &mut TextPage) {
    page.title(printable(&output.path));
    page.field("memories", count(output.memories));
    page.field("rows", count(output.rows));
    if output.apps > 0 {
        page.field(
            "lost",
            format!("the app of {}", plural(output.apps, "memory")),
        );
    }
}
