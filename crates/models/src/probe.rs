//! Eight built-in turns through the ladder of forms: which form a model takes, and what it makes of them.

use std::time::{Duration, Instant};

use amem_memory::model::{FormTrial, Model, ModelFailure, ReplyForm, try_form};

use crate::failure::failure_text;

/// Turns, and whether there is a fact in them.
const TURNS: [(&str, bool); 8] = [
    (
        "Hi, I'm Marta and I work as a bridge engineer in Gdansk.",
        true,
    ),
    ("Good morning, how are you today?", false),
    ("I am allergic to peanuts, so please leave them out.", true),
    (
        "We decided to use Postgres instead of MongoDB because we need transactions.",
        true,
    ),
    ("My brother Jonas moved to Lisbon in March 2024.", true),
    ("What is the difference between a fjord and a bay?", false),
    ("I prefer tea to coffee and I never drink soda.", true),
    ("Our dog Bruno is seven years old.", true),
];
/// Answers that must be readable for a form to work.
const READABLE_MIN: usize = 7;
/// Turns of which a grounded fact must be found.
const FOUND_MIN: usize = 4;
/// Pauses after a refused rate for which the provider names none.
const RATE_PAUSE: Duration = Duration::from_secs(2);
const RATE_TRIES: usize = 3;

/// What a form gave.
#[derive(Debug, Clone, PartialEq)]
pub struct FormReport {
    /// The form.
    pub form: ReplyForm,
    /// Why no answer came, if the server refused the form.
    pub refusal: Option<String>,
    /// Answers that can be read, of 8.
    pub readable: usize,
    /// Facts of all answers.
    pub facts: usize,
    /// Those whose words are in their turn.
    pub grounded: usize,
    /// Turns with a grounded fact, of the 6 that have one.
    pub found: usize,
    /// Calls.
    pub calls: usize,
    /// Seconds of all calls.
    pub seconds: f64,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeReport {
    /// The strictest form that works; `None` if patterns do better.
    pub form: Option<ReplyForm>,
    /// The forms that were tried, strictest first.
    pub tried: Vec<FormReport>,
}

/// Runs the turns through the forms, from the strictest down, until one works.
///
/// # Errors
/// If the model cannot be reached, or refuses the key: the failure in words.
pub fn probe(model: &dyn Model) -> Result<ProbeReport, String> {
    let mut tried = Vec::new();
    let mut next = Some(ReplyForm::Schema);
    while let Some(form) = next {
        let report = run(model, form)?;
        let is_working = report.readable >= READABLE_MIN
            && report.found >= FOUND_MIN
            && report.grounded * 2 >= report.facts;
        tried.push(report);
        if is_working {
            let form = Some(form);
            return Ok(ProbeReport { form, tried });
        }
        next = form.next();
    }
    Ok(ProbeReport { form: None, tried })
}

fn run(model: &dyn Model, form: ReplyForm) -> Result<FormReport, String> {
    let started = Instant::now();
    let mut report = FormReport {
        form,
        refusal: None,
        readable: 0,
        facts: 0,
        grounded: 0,
        found: 0,
        calls: 0,
        seconds: 0.0,
    };
    for (text, has_fact) in TURNS {
        match patient(model, form, text, &mut report.calls) {
            Ok(trial) => {
                report.readable += usize::from(trial.is_readable);
                report.facts += trial.facts;
                report.grounded += trial.grounded;
                report.found += usize::from(has_fact && trial.grounded > 0);
            }
            Err(ModelFailure::FormRefused(why)) => {
                report.refusal = Some(why);
                break;
            }
            Err(failure) => return Err(failure_text(&failure)),
        }
    }
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

fn patient(
    model: &dyn Model,
    form: ReplyForm,
    text: &str,
    calls: &mut usize,
) -> Result<FormTrial, ModelFailure> {
    for _ in 0..RATE_TRIES {
        *calls += 1;
        match try_form(model, form, text) {
            Err(ModelFailure::RateLimit(after)) if model.wait(after.unwrap_or(RATE_PAUSE)) => {}
            answered => return answered,
        }
    }
    *calls += 1;
    try_form(model, form, text)
}
