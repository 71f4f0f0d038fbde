//! `amemctl fading`: events that have almost faded.

use amem_client::v1;
use amem_format::Micros;
use amem_format::base::settings::Settings;
use clap::Args;

use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::{self, TimeAxis};
use crate::output::context::CommandContext;
use crate::render::{float, plural};
use crate::when::{self, parse_time, timestamp};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl fading work
  amemctl fading work --at now          by the strength now, not that of the last decay run
  amemctl fading work --below 0.5

Fading events are listed, never deleted. `amemctl pin BRAIN ID` keeps an event from fading; using it (get,
resolve, context) slows its fading. Events nearest to the mark come first.")]
pub(crate) struct FadingArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The strength below which events fade [default: the brain's setting]
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    below: Option<f32>,
    /// Use the strength at this time, instead of that of the last decay run (which --json always shows).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    at: Option<Micros>,
    /// At most this many.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Continue after a page, with the token at its end.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    #[command(flatten)]
    looking: MomentArgs,
}

impl FadingArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let below = match self.below {
            Some(below) => below,
            None => settings(cx, &opened)?.fading_below,
        };
        let request = v1::PatternRequest {
            selection: Some(v1::Selection {
                strength: Some(v1::Bounds {
                    min: None,
                    max: Some(below.next_down()),
                }),
                strength_at: self.at.map(timestamp),
                // Replaced events have no confidence left to fade.
                confidence: Some(v1::Bounds {
                    min: Some(f32::MIN_POSITIVE),
                    max: None,
                }),
                include_forgotten: self.looking.include_forgotten,
                agents: cx.reach().agent_on_line.clone().into_iter().collect(),
                ..Default::default()
            }),
            order: v1::Order::Strongest.into(),
            page_size: self.limit,
            page_token: self.after.clone().unwrap_or_default(),
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            match self.at {
                None => listing::table(&answer.events, TimeAxis::Recorded, page),
                // The strength of the last run is not what was asked for.
                Some(_) => {
                    listing::table_without_strength(&answer.events, TimeAxis::Recorded, page)
                }
            }
            let events = plural(answer.events.len() as u64, "event");
            let at = self.at.map(|at| format!(" at {}", when::exact(at)));
            page.aside(format!(
                "{events} below strength {}{}",
                float(below),
                at.unwrap_or_default()
            ));
            listing::write_next(&answer.next_page_token, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

fn settings(cx: &mut CommandContext, opened: &BrainHandle) -> Result<Settings, Failure> {
    let BrainHandle::Served(served) = opened else {
        return Ok(opened.view()?.settings()?.into_owned());
    };
    let request = v1::GetBrainRequest {
        brain: served.brain.name().to_owned(),
    };
    let remote = cx.daemon()?;
    let answer = remote.call(remote.client.brains().get_brain(request))?;
    Ok(Settings::parse(&answer.settings_json)?)
}
