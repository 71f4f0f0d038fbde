//! The agent of twenty lines that docs/guide.md shows, as it stands there, beside the real daemon.

use crate::kit::{python, say};
use crate::place;

const GUIDE: &str = include_str!("../../../docs/guide.md");
/// Lines that the guide promises at most.
const LINES: usize = 26;

#[test]
fn the_guides_python_agent_remembers_and_explains() {
    let (_, rest) = GUIDE.split_once("```python\n").unwrap();
    let (code, _) = rest.split_once("```").unwrap();
    let lines = code.lines().filter(|line| !line.is_empty()).count();
    assert!(lines <= LINES, "{lines} lines");
    let Some(kit) = python() else { return };
    let (folder, place) = place();
    let script = folder.path().join("agent.py");
    std::fs::write(&script, code).unwrap();
    let daemon = place.start();
    // An agent comes back to its memory.
    for times in [1, 2] {
        let mut command = kit.interpreter();
        command.env("PYTHONPATH", kit.stubs().unwrap());
        command.arg(&script);
        command.arg(format!("unix:{}", place.socket().display()));
        let output = command.output().unwrap();
        let (out, err) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert!(output.status.success(), "{out}{err}");
        out.lines()
            .for_each(|line| say(&format!("the guide's agent, {times}: {line}")));
        let last =
            "['protoc is no longer needed to build', 'the build fails when protoc is missing']";
        assert!(out.ends_with(&format!("{last}\n")), "{out}");
    }
    assert!(daemon.stop().success());
}
