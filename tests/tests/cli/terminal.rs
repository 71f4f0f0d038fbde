//! amemctl in a terminal: colours, widths, drawing, and questions that are answered.
//!
//! The terminal is a pseudo-terminal whose screen is kept by an emulator (`vt100`); one test is in tmux, where there
//! is one.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use amem_tests::machine::skipped;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::brains;
use crate::tool::{Tool, words};

/// A terminal after a command has ended in it.
struct TerminalState {
    screen: vt100::Screen,
    exit: i32,
}

impl TerminalState {
    fn text(&self) -> String {
        self.screen.contents()
    }

    /// True if any cell of a row is bold.
    fn is_bold(&self, row: u16) -> bool {
        let (_, columns) = self.screen.size();
        let cell = |column| self.screen.cell(row, column);
        (0..columns).any(|column| cell(column).is_some_and(vt100::Cell::bold))
    }
}

/// Runs a command in a terminal; what follows each prompt is typed once the prompt is there, or, behind `!`, gone.
/// `columns:40` makes the terminal narrower.
fn run_in(columns: u16, mut command: Command, answers: &[(&str, &str)]) -> TerminalState {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new())
        .unwrap()
        .into_string()
        .unwrap();
    let rows = 50;
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&controller, size).unwrap();
    let side = || File::options().read(true).write(true).open(&name).unwrap();
    command.stdin(side()).stdout(side()).stderr(side());
    let mut child = command.spawn().unwrap();
    // Ours are in the command still: the terminal ends when the last of them is closed.
    drop(command);
    let mut controller = File::from(controller);
    let mut parser = vt100::Parser::new(rows, columns, 0);
    let mut answers = answers.iter();
    let mut next = answers.next();
    let mut bytes = [0; 4096];
    // A terminal whose other side is closed gives an error on Linux.
    while let Ok(n @ 1..) = controller.read(&mut bytes) {
        parser.process(&bytes[..n]);
        let is_there = |prompt: &str| match prompt.strip_prefix('!') {
            Some(gone) => !parser.screen().contents().contains(gone),
            None => parser.screen().contents().contains(prompt),
        };
        if let Some((prompt, answer)) = next
            && is_there(prompt)
        {
            match answer.strip_prefix("columns:") {
                Some(columns) => {
                    let ws_col = columns.parse().unwrap();
                    tcsetwinsize(&controller, Winsize { ws_col, ..size }).unwrap();
                }
                None => controller.write_all(answer.as_bytes()).unwrap(),
            }
            next = answers.next();
        }
    }
    assert!(
        next.is_none(),
        "nothing asked {next:?}: {}",
        parser.screen().contents()
    );
    TerminalState {
        exit: child.wait().unwrap().code().unwrap(),
        screen: parser.screen().clone(),
    }
}

fn story() -> Tool {
    Tool::with("b.amem", &brains::story())
}

/// A command of a tool, in a terminal that says that it is one of UTF-8.
fn command(tool: &Tool, line: &str) -> Command {
    let mut command = tool.command();
    command.args(words(line)).env("LC_ALL", "C.UTF-8");
    command.env("TERM", "xterm-256color");
    command
}

#[test]
fn colours_are_for_terminals_and_on_request() {
    let tool = story();
    let seen = run_in(100, command(&tool, "resolve b.amem 1"), &[]);
    assert_eq!(seen.exit, 0);
    assert!(
        seen.text().contains("believed now: event 5"),
        "{}",
        seen.text()
    );
    assert!(seen.is_bold(0));
    let mut plain = command(&tool, "resolve b.amem 1");
    plain.env("NO_COLOR", "1");
    let plain = run_in(100, plain, &[]);
    assert!(!plain.is_bold(0));
    assert_eq!(plain.text(), seen.text());
    assert!(!tool.text("resolve b.amem 1").contains('\u{1b}'));
}

#[test]
fn lines_are_as_wide_as_the_terminal() {
    let tool = story();
    for columns in [60, 90] {
        let seen = run_in(columns, command(&tool, "why b.amem 2"), &[]);
        let lines = seen.screen.contents().lines().count() as u16;
        assert!(lines > 1);
        for row in 0..lines {
            assert!(!seen.screen.row_wrapped(row), "{columns}: {}", seen.text());
        }
    }
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    let tool = story();
    let mut plain = command(&tool, "why b.amem 2");
    plain.env("LC_ALL", "C");
    let plain = run_in(100, plain, &[]).text();
    assert!(plain.is_ascii(), "{plain}");
    assert!(plain.contains("`- caused-by: 1"), "{plain}");
    let drawn = run_in(100, command(&tool, "why b.amem 2"), &[]).text();
    assert!(drawn.contains("└─ caused-by: 1"), "{drawn}");
}

#[test]
fn irreversible_commands_ask_for_confirmation() {
    let tool = Tool::new();
    tool.text("-q brain create work");
    tool.text("add work 'a secret'");
    let prompt = "erase 1 event for good? [y/N]";
    let no = run_in(100, command(&tool, "erase work 0"), &[(prompt, "\n")]);
    assert_eq!(no.exit, 5, "{}", no.text());
    assert!(no.text().contains("a secret") && no.text().contains("nothing was changed"));
    let yes = run_in(100, command(&tool, "erase work 0"), &[(prompt, "y\n")]);
    assert_eq!(yes.exit, 0, "{}", yes.text());
    assert!(tool.text("get work 0").contains("(erased)"));
    let prompt = "remove it for good? [y/N]";
    let rm = run_in(100, command(&tool, "brain rm work"), &[(prompt, "yes\n")]);
    assert_eq!(rm.exit, 0, "{}", rm.text());
    assert!(rm.text().contains("work is removed"));
}

#[test]
fn it_works_in_tmux() {
    let tool = story();
    let socket = tool.path("tmux");
    let tmux = |arguments: &[&str]| {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&socket).args(["-f", "/dev/null"]);
        tmux.args(arguments).stderr(Stdio::null()).output()
    };
    if tmux(&["-V"]).is_err() {
        skipped("there is no tmux on this machine");
        return;
    }
    let file = tool.path("b.amem");
    let amemctl = tool.command().get_program().to_str().unwrap().to_owned();
    // However this ends, no server stays behind.
    struct Server<'t>(&'t dyn Fn(&[&str]) -> std::io::Result<std::process::Output>);
    impl Drop for Server<'_> {
        fn drop(&mut self) {
            drop((self.0)(&["kill-server"]));
        }
    }
    let _server = Server(&tmux);
    let line = format!(
        "HOME={} LC_ALL=C.UTF-8 {amemctl} why {} 2; tmux -S {} wait-for -S shown; sleep 60",
        tool.home().display(),
        file.display(),
        socket.display()
    );
    let begun = tmux(&["new-session", "-d", "-x", "70", "-y", "20", &line]).unwrap();
    assert!(begun.status.success(), "{begun:?}");
    tmux(&["wait-for", "shown"]).unwrap();
    let seen = tmux(&["capture-pane", "-p"]).unwrap();
    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(seen.starts_with("2 decision"), "{seen}");
    assert!(seen.contains("└─ caused-by: 1 fact"), "{seen}");
}

#[test]
fn a_live_view_uses_the_alternate_screen_until_q_is_typed() {
    let tool = story();
    tool.text("-q brain create work");
    // Frames are drawn before the key: what is typed on seeing one ends it.
    let seen = run_in(
        60,
        command(&tool, "top --interval 0.2"),
        &[("calls/s", "q")],
    );
    assert_eq!(seen.exit, 0, "{}", seen.text());
    assert!(!seen.screen.alternate_screen() && !seen.screen.hide_cursor());
    assert_eq!(seen.text().trim(), "", "the first screen is as it was");
    tool.text("-q shutdown");
}

#[test]
fn a_live_view_has_keys_and_follows_the_width_at_once() {
    let tool = story();
    tool.text("-q brain create work");
    // The second frame would come in an hour: what changes, changes at once.
    let seen = run_in(
        120,
        command(&tool, "top --interval 3600"),
        &[
            ("checkpoint", "columns:40"),
            ("!checkpoint", "s"),
            ("sort: name", "p"),
            ("PAUSED", "h"),
            ("sort brains by", "?"),
            ("calls/s", "q"),
        ],
    );
    assert_eq!(seen.exit, 0, "{}", seen.text());
    tool.text("-q shutdown");
}
