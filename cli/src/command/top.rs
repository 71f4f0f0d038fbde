//! `amemctl top`: what amemd is doing, sampled repeatedly.

use std::io::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;

use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::{ROWS, Screen, ScreenFrame, ScreenKey, ViewState};
use crate::output::context::CommandContext;
use crate::vitals::Vitals;

/// The first frame on a terminal comes this soon, whatever the interval.
const FIRST_AFTER: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl top
  amemctl top --interval 5
  amemctl top --once
  amemctl top --once --json | jq .data.rates.brains

On a terminal, h shows the keys: q quits, p pauses, s sorts, arrows scroll; elsewhere frames are printed one
after the other. Rates are those since the previous frame; p50 and p99 are those since amemd started. It starts no daemon: without one the exit code is 7.")]
pub(crate) struct TopArgs {
    /// Seconds between samples.
    #[arg(short = 'n', long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    interval: Duration,
    /// Show one frame, of two samples.
    #[arg(long)]
    once: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let secs: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.1..=3600.0).contains(&secs) {
        Ok(Duration::from_secs_f64(secs))
    } else {
        Err("it is not between 0.1 and 3600".to_owned())
    }
}

struct Sample {
    at: Instant,
    vitals: Vitals,
}

impl Sample {
    fn at(remote: &Remote) -> Result<Self, Failure> {
        Ok(Self {
            at: Instant::now(),
            vitals: Vitals::of(remote)?,
        })
    }

    fn frame(&self, before: &Self) -> ScreenFrame {
        ScreenFrame::of(&before.vitals, &self.vitals, self.at - before.at)
    }
}

impl TopArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        if cx.is_terminal() && !cx.is_json() && !self.once {
            return self.watch(cx, &remote);
        }
        let mut before = Sample::at(&remote)?;
        loop {
            sleep(self.interval);
            let look = Sample::at(&remote)?;
            let frame = look.frame(&before);
            cx.object(None, || frame.json(), |page| frame.write(page))?;
            if self.once {
                return Ok(Exit::Ok);
            }
            if !cx.is_json() {
                cx.stream()
                    .write_all(b"\n")
                    .map_err(|e| Failure::output(&e))?;
            }
            // Show each frame at once, not when the buffer is full.
            cx.finish()?;
            before = look;
        }
    }

    /// On the whole screen, until the user quits.
    fn watch(&self, cx: &mut CommandContext, remote: &Remote) -> Result<Exit, Failure> {
        let mut before = Sample::at(remote)?;
        let mut screen = Screen::enter().map_err(|e| Failure::output(&e))?;
        let (mut view, mut shown) = (ViewState::default(), None::<ScreenFrame>);
        let mut wait = self.interval.min(FIRST_AFTER);
        let draw = |screen: &mut Screen, frame: &ScreenFrame, view: &ViewState| {
            let mut page = screen.page(cx.is_quiet());
            frame.write_screen(view, &mut page);
            screen.show(&page).map_err(|e| Failure::output(&e))
        };
        loop {
            let until = Instant::now() + wait;
            while Instant::now() < until {
                let keys = screen.keys(LOOK_EVERY.min(until - Instant::now()));
                if keys.contains(&ScreenKey::Quit) {
                    return Ok(Exit::Ok);
                }
                let brains = shown.as_ref().map_or(0, ScreenFrame::brain_rows);
                for key in &keys {
                    view.press(*key, brains, ROWS);
                }
                if let Some(frame) = &shown
                    && (!keys.is_empty() || screen.is_resized())
                {
                    draw(&mut screen, frame, &view)?;
                }
            }
            wait = self.interval;
            if view.is_paused() {
                continue;
            }
            let look = Sample::at(remote)?;
            let frame = look.frame(&before);
            draw(&mut screen, &frame, &view)?;
            (before, shown) = (look, Some(frame));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_seconds_within_bounds() {
        assert_eq!(interval("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "NaN", "4000", "soon"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
