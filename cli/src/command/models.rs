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
use crate::render::{Align, TextPage, TextTable, printable};
use serde_json::Value;

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
struct CheckJson {
    name: String,
    works: bool,
    said: String,
    millis: u64,
}

#[derive(Serialize)]
struct CheckOutput {
    models: Vec<CheckJson>,
}

#[derive(Serialize)]
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

#[derive(Serialize)]
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
        let reports = self.file.open()?.check().into_iter();
        let models = reports.map(|report| CheckJson {
            name: report.name,
            works: report.verdict.is_ok(),
            said: report.verdict.unwrap_or_else(|why| why),
            millis: report.millis,
        });
        let output = CheckOutput {
            models: models.collect(),
        };
        cx.answer(None, &output, |page| output.write(page))?;
        let all_work = output.models.iter().all(|model| model.works);
        Ok(if all_work { Exit::Ok } else { Exit::Findings })
    }
}

impl CheckOutput {
    fn write(&self, page: &mut TextPage) {
        for model in &self.models {
            let mark = if model.works { "works" } else { "fails" };
            page.line(format!(
                "{mark}  {}: {} in {} ms",
                printable(&model.name),
                printable(&model.said),
                model.millis
            ));
        }
        if self.models.is_empty() {
            page.aside("the file names no model");
        }
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
        cx.answer(None, &output, |page| output.write(page))?;
        Ok(Exit::Ok)
    }
}

impl ProbeOutput {
    fn write(&self, page: &mut TextPage) {
        page.title(printable(&self.model));
        let mut table = TextTable::new(&[
            ("form", Align::Left),
            ("readable of 8", Align::Right),
            ("facts", Align::Right),
            ("grounded", Align::Right),
            ("turns of 6", Align::Right),
            ("calls", Align::Right),
            ("seconds", Align::Right),
        ]);
        for form in &self.tried {
            table.row(vec![
                form.form.to_owned(),
                form.readable.to_string(),
                form.facts.to_string(),
                form.grounded.to_string(),
                form.turns_with_fact.to_string(),
                form.calls.to_string(),
                form.seconds.to_string(),
            ]);
        }
        table.write(page);
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
