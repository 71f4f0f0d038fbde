//! `amemctl models` and the file of models that it, `chat` and `fact probe-model` use.

use std::path::PathBuf;

use amem_client::paths;
use amem_memory::model::ReplyForm;
use amem_models::{FormReport, ModelHost, probe};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::number;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, TextPage, printable};
use serde_json::{Value, json};

/// The file of models beside the settings of amemd.
const FILE: &str = "models.toml";

#[derive(Debug, Args)]
pub(super) struct ModelsFileArgs {
    /// The file of models [default: models.toml beside the settings of amemd].
    #[arg(long = "models", value_name = "PATH", env = "AMEMD_MODELS_FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    act: ModelsCommand,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// Calls each model of the file once, and says what came of it.
    Check(CheckModelsArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl models check
  amemctl models check --models ./models.toml

A file of models has a table for a language model, one for an embedder, or both:

  [language]
  provider = \"openai\"      # or azure, anthropic, google, ollama; base_url for a compatible server
  model = \"gpt-5-mini\"     # the key is in OPENAI_API_KEY, or where key_env, key_file or key_command say

  [embedder]
  provider = \"local\"       # a sentence-transformer in a folder; or a provider
  folder = \"/usr/share/models/all-MiniLM-L6-v2\"

amemd uses it if its setting models.file names it.")]
struct CheckModelsArgs {
    #[command(flatten)]
    file: ModelsFileArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fact probe-model
  amemctl fact probe-model --models ./models.toml --json

Eight turns are asked for in the forms that models take, the strictest first, until one works: a strict schema, JSON, four
examples. Facts whose words are not in their turn do not count.")]
pub(super) struct ProbeModelArgs {
    #[command(flatten)]
    file: ModelsFileArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FormJson {
    form: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    readable: usize,
    facts: usize,
    grounded: usize,
    turns_with_fact: usize,
    calls: usize,
    seconds: Value,
}

struct ProbeOutput {
    model: String,
    form: Option<&'static str>,
    tried: Vec<FormJson>,
}

impl ModelsFileArgs {
    /// The models of the file.
    pub(super) fn open(&self) -> Result<ModelHost, Failure> {
        let usual = || {
            let settings = paths::config_file(|name| std::env::var_os(name))?;
            Some(settings.with_file_name(FILE))
        };
        let file = self.file.clone().or_else(usual).ok_or_else(|| {
            Failure::argument("no file of models is named", "name it with --models")
        })?;
        ModelHost::open(&file).map_err(|error| {
            Failure::new(
                Exit::Usage,
                "models_file",
                error.to_string(),
                "`amemctl models check --help` shows what a file of models has",
            )
        })
    }

    /// The models of the file, of which one answers in words.
    pub(super) fn language(&self) -> Result<ModelHost, Failure> {
        let host = self.open()?;
        if host.language_model().is_none() {
            let remedy = "add it: `amemctl models check --help` shows how";
            let message = "the file of models has no table `language`";
            return Err(Failure::new(Exit::Usage, "models_file", message, remedy));
        }
        Ok(host)
    }
}

/// A model that does not do what it should.
pub(super) fn model_failure(why: &str) -> Failure {
    let remedy = "`amemctl models check` calls each model once";
    Failure::new(Exit::Unavailable, "model", why, remedy)
}

impl ModelsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match &self.act {
            ModelsCommand::Check(check) => check.run(cx),
        }
    }
}

impl CheckModelsArgs {
    fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let reports = self.file.open()?.check();
        let models = reports.iter().map(|report| {
            json!({
                "name": report.name,
                "works": report.verdict.is_ok(),
                "said": said(&report.verdict),
                "millis": report.millis,
            })
        });
        let data = json!({"models": models.collect::<Vec<_>>()});
        cx.answer(None, &data, |page| {
            for report in &reports {
                let works = report.verdict.is_ok();
                let mark = if works { "works" } else { "fails" };
                page.line(format!(
                    "{mark}  {}: {} in {} ms",
                    report.name,
                    said(&report.verdict),
                    report.millis
                ));
            }
            if reports.is_empty() {
                page.aside("the file names no model");
            }
        })?;
        let all_work = reports.iter().all(|report| report.verdict.is_ok());
        Ok(if all_work { Exit::Ok } else { Exit::Findings })
    }
}

/// What a model said, or why it did not.
fn said(verdict: &Result<String, String>) -> &str {
    match verdict {
        Ok(said) | Err(said) => said,
    }
}

fn form_name(form: ReplyForm) -> &'static str {
    match form {
        ReplyForm::Schema => "schema",
        ReplyForm::JsonObject => "json",
        ReplyForm::Demonstration => "examples",
    }
}

impl FormJson {
    fn of(report: &FormReport) -> Self {
        Self {
            form: form_name(report.form),
            refused: report.refusal.clone(),
            readable: report.readable,
            facts: report.facts,
            grounded: report.grounded,
            turns_with_fact: report.found,
            calls: report.calls,
            seconds: number(report.seconds as f32),
        }
    }
}

impl ProbeModelArgs {
    pub(super) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let host = self.file.language()?;
        let Some(model) = host.language_model() else {
            return Ok(Exit::Usage);
        };
        let report = probe(&model.begin()).map_err(|why| model_failure(&why))?;
        let output = ProbeOutput {
            model: model.name(),
            form: report.form.map(form_name),
            tried: report.tried.iter().map(FormJson::of).collect(),
        };
        let data = json!({"model": output.model, "form": output.form, "tried": output.tried});
        cx.answer(None, &data, |page| output.write(page))?;
        Ok(Exit::Ok)
    }
}

const FORMS: [Column<FormJson>; 7] = [
    ("form", Align::Left, |form| form.form.to_owned()),
    ("readable of 8", Align::Right, |form| {
        form.readable.to_string()
    }),
    ("facts", Align::Right, |form| form.facts.to_string()),
    ("grounded", Align::Right, |form| form.grounded.to_string()),
    ("turns of 6", Align::Right, |form| {
        form.turns_with_fact.to_string()
    }),
    ("calls", Align::Right, |form| form.calls.to_string()),
    ("seconds", Align::Right, |form| form.seconds.to_string()),
];

impl ProbeOutput {
    fn write(&self, page: &mut TextPage) {
        page.title(printable(&self.model));
        page.rows(&FORMS, &self.tried);
        for form in &self.tried {
            if let Some(why) = &form.refused {
                page.line(format!("{} is refused: {}", form.form, printable(why)));
            }
        }
        match self.form {
            Some(form) => page.aside(format!("amemd asks it in the form {form}")),
            None => page.aside("no form works: patterns find more than this model"),
        }
    }
}
