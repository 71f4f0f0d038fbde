//! A killed agent: its session ends by itself, and the agent may come back.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use amem_client::{Brain, v1};
use amem_tests::agents;
use amem_tests::daemon::DaemonHome;

use crate::process::Member;
use crate::{create, folder};

async fn session(brain: &Brain, session_id: u32) -> v1::Session {
    let question = v1::GetSessionRequest {
        session: Some(v1::get_session_request::Session::SessionId(session_id)),
        ..Default::default()
    };
    brain.ask(question).await.unwrap().session.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_agents_session_is_closed_as_idle_and_the_agent_opens_another() {
    let (folder, notes) = (folder(), crate::folder());
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let daemon = place.start();
    let brain = create(&place).await.brain("b").await.unwrap().by_call();
    let spawn = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_amem-agent"));
        command.arg("0").arg(place.socket()).arg("b");
        let agent = Member::spawn(command.arg(notes.path()).arg("50"));
        agent.says("ready");
        agent.tell("go");
        agent
    };
    let noted = || fs::read_to_string(agents::file(notes.path(), "acts", 0)).unwrap();
    let wait = async |what: &str, is_so: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let agent = spawn();
    wait("it writes", &|| noted().contains("done")).await;
    agent.kill();
    assert_eq!(session(&brain, 1).await.closed_at, None);
    let settings = v1::SetSettingsRequest {
        settings_json: r#"{"jobs":{"close_sessions":"every 1s","session_idle":"1s"}}"#.into(),
        ..Default::default()
    };
    brain.write(settings).await.unwrap();
    let began = Instant::now();
    while session(&brain, 1).await.closed_at.is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "it stays open");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(session(&brain, 1).await.outcome, "idle");
    let before = noted().lines().count();
    let agent = spawn();
    wait("it writes again", &|| noted().lines().count() > before + 4).await;
    agent.kill();
    // Of what it was about to write when it was killed, everybody knows what became.
    let acts = agents::acts(&noted()).unwrap();
    let (_, earlier) = acts.split_last().unwrap();
    let is_known = |fate: &agents::ActOutcome| fate.answer.is_some() || fate.refused.is_some();
    assert!(earlier.iter().all(|(_, fate)| is_known(fate)), "{acts:?}");
    assert!(acts.iter().any(|(act, _)| act.session == 2), "{acts:?}");
    assert!(daemon.stop().success());
}
