//! Sixteen agents share one memory: each a process of its own, eight with the Rust client, eight with the Python
//! package, all of them writing, correcting each other and following, beside checkpoints. Two are killed and go on
//! later.
//!
//! Promises: nothing that an agent was answered is lost, nothing is doubled, all see the same commits in the same
//! order, and a query shows what is contested. `AMEM_AGENTS_RATE` is how much each writes a second (12). Where Python
//! can't be had, all sixteen are in Rust, and the test says so.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use amem_client::{Brain, Client, Reader, v1};
use amem_tests::agents::{self, Act, ActOutcome, THE_END, name};
use amem_tests::daemon::DaemonHome;
use tokio::time::sleep;

use crate::commits::{FollowerLog, quantiles};
use crate::contested::contested;
use crate::kit::{python, say};
use crate::notes::{ActSummary, replaced};
use crate::process::Member;
use crate::sources::Sources;
use crate::{create, folder, seconds};

const AGENTS: usize = 16;
/// Those from this one on are in Python.
const PYTHON: usize = 8;
/// Those that are killed, one of each kind.
const KILLED: [usize; 2] = [5, 13];
/// How long they are gone at most: commits are not held one by one for ever.
const GONE_MAX: Duration = Duration::from_secs(2);
/// How long anything may take to be seen.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where the agents are.
struct AgentGroup<'a> {
    place: &'a DaemonHome,
    notes: &'a Path,
    rate: String,
    /// Runs the script of an agent in Python.
    python: Option<Box<dyn Fn() -> Command + 'a>>,
}

impl AgentGroup<'_> {
    fn spawn(&self, number: usize) -> Member {
        let mut command = match &self.python {
            Some(python) if number >= PYTHON => python(),
            _ => Command::new(env!("CARGO_BIN_EXE_amem-agent")),
        };
        command.arg(number.to_string()).arg(self.place.socket());
        command.arg("b").arg(self.notes).arg(&self.rate);
        Member::spawn(&mut command)
    }

    fn noted(&self, what: &str, number: usize) -> String {
        fs::read_to_string(agents::file(self.notes, what, number)).unwrap()
    }

    /// How much an agent was answered.
    fn answered(&self, number: usize) -> usize {
        let noted = self.noted("acts", number);
        noted
            .lines()
            .filter(|line| line.starts_with("done"))
            .count()
    }

    fn acts(&self, number: usize) -> Vec<(Act, ActOutcome)> {
        agents::acts(&self.noted("acts", number)).unwrap()
    }
}

/// Waits until something is so.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn status(client: &Client) -> v1::BrainStatus {
    let request = v1::GetBrainRequest { brain: "b".into() };
    let answer = client.brains().get_brain(request).await.unwrap();
    answer.into_inner().status.unwrap()
}

async fn followed_by(client: &Client, count: u32) {
    until(&format!("{count} subscriptions"), async || {
        status(client).await.subscribers == count
    })
    .await;
}

/// Goes on for a while, with a checkpoint a second.
async fn go_on(client: &Client, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        let request = v1::CheckpointBrainRequest { brain: "b".into() };
        client.brains().checkpoint_brain(request).await.unwrap();
        let left = until.saturating_duration_since(Instant::now());
        sleep(left.min(Duration::from_secs(1))).await;
    }
}

/// Closes the sessions that killed agents left open, as any other agent may; gives the LSN of that.
async fn close_sessions(brain: &Brain) -> u64 {
    let mut lsn = 0;
    for number in KILLED {
        let question = v1::GetSessionRequest {
            session: Some(v1::get_session_request::Session::Key(name(number))),
            ..Default::default()
        };
        let session = brain.ask(question).await.unwrap().session.unwrap();
        assert_eq!(session.closed_at, None, "{session:?}");
        let close = v1::CloseSessionRequest {
            session_id: session.id,
            outcome: "its agent is gone".into(),
            ..Default::default()
        };
        lsn = brain.write(close).await.unwrap().commit.unwrap().lsn;
    }
    lsn
}

/// All that a follower of its own is sent, up to the last event.
async fn follow(brain: Brain) -> FollowerLog {
    let mut commits = brain.follow(Some(0));
    let mut seen = FollowerLog::default();
    loop {
        let line = agents::line(&commits.next().await.unwrap());
        let is_last = line.ends_with(THE_END);
        seen.commits.push(line);
        if is_last {
            return seen;
        }
    }
}

/// What `ListConflicts` must tell: contradictions, then contested beliefs.
fn expected(done: &ActSummary) -> String {
    let contradictions = done.contradictions().into_iter();
    let contradictions =
        contradictions.map(|(source, target)| format!("contradiction {source} {target}\n"));
    let contested = contested(&done.replaced()).into_iter();
    let contested = contested.map(|(belief, heads)| format!("contested {belief} {heads:?}\n"));
    contradictions.chain(contested).collect()
}

/// Each event that was replaced is answered as contested, or not, with its heads.
async fn check_resolved(brain: &Brain, done: &ActSummary) {
    let contested = contested(&done.replaced());
    let targets: BTreeSet<u64> = done
        .replaced()
        .into_iter()
        .map(|(_, target)| target)
        .collect();
    for event_id in targets {
        let question = v1::ResolveRequest {
            event_id,
            touch: Some(false),
            ..Default::default()
        };
        let resolved = brain.ask(question).await.unwrap();
        let heads: Vec<u64> = resolved.heads.iter().map(|head| head.id).collect();
        assert_eq!(resolved.contested, heads.len() > 1, "{event_id}");
        match contested.iter().find(|(belief, _)| *belief == event_id) {
            Some((_, expected)) => assert_eq!(&heads, expected, "{event_id}"),
            // One may be contested further up its chain only.
            None => assert!(!heads.is_empty(), "{event_id}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_agents_in_two_languages_share_one_memory() {
    let (folder, notes) = (folder(), crate::folder());
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let daemon = place.start();
    let client = create(&place).await;
    let brain = client.brain("b").await.unwrap().by_call();
    let kit = python();
    let sources = Sources::of("python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/agent.py");
    let kit = kit.map(|kit| {
        let site = sources.installed(&kit);
        kit.other(vec![script], Some(("PYTHONPATH", site)))
    });
    let crowd = AgentGroup {
        place: &place,
        notes: notes.path(),
        rate: std::env::var("AMEM_AGENTS_RATE").unwrap_or_else(|_| "12".into()),
        python: kit
            .as_ref()
            .map(|kit| -> Box<dyn Fn() -> Command> { Box::new(|| kit.command()) }),
    };
    let mut members: Vec<Option<Member>> = (0..AGENTS)
        .map(|number| Some(crowd.spawn(number)))
        .collect();
    let each =
        |members: &[Option<Member>], what: fn(&Member)| members.iter().flatten().for_each(what);
    each(&members, |member| member.says("ready"));
    let following = tokio::spawn(follow(brain.clone()));
    followed_by(&client, AGENTS as u32 + 1).await;
    let began = Instant::now();
    each(&members, |member| member.tell("go"));
    let third = Duration::from_secs(seconds()) / 3;
    go_on(&client, third).await;
    // Two are killed. The others go on, and anybody may close what those left open.
    until("the killed ones wrote", async || {
        KILLED.iter().all(|&n| crowd.answered(n) > 2)
    })
    .await;
    for number in KILLED {
        members[number].take().unwrap().kill();
    }
    followed_by(&client, (AGENTS - KILLED.len()) as u32 + 1).await;
    let gone_at = close_sessions(&brain).await;
    let before: Vec<usize> = (0..AGENTS).map(|number| crowd.answered(number)).collect();
    go_on(&client, third.min(GONE_MAX)).await;
    let others: Vec<usize> = (0..AGENTS)
        .filter(|number| !KILLED.contains(number))
        .collect();
    until("an agent was disturbed", async || {
        others
            .iter()
            .all(|&number| crowd.answered(number) > before[number] + 2)
    })
    .await;
    let back_at = status(&client).await.moment.unwrap().lsn;
    for number in KILLED {
        let back = members[number].insert(crowd.spawn(number));
        back.says("ready");
        back.tell("go");
    }
    go_on(&client, third).await;
    until("the killed ones write again", async || {
        KILLED
            .iter()
            .all(|&number| crowd.answered(number) > before[number] + 2)
    })
    .await;
    each(&members, |member| member.tell("stop"));
    each(&members, |member| member.says("stopped"));
    let took = began.elapsed();
    let last = v1::NewEvent {
        text: THE_END.into(),
        ..Default::default()
    };
    let last = brain.ingest(vec![last]).await.unwrap().event_ids[0];
    each(&members, |member| member.says("asked"));
    members
        .into_iter()
        .flatten()
        .for_each(|member| member.ends("asked"));

    let acts: Vec<Vec<(Act, ActOutcome)>> = (0..AGENTS).map(|number| crowd.acts(number)).collect();
    let mut done = ActSummary::of(acts.iter().flatten()).unwrap();
    done.events.insert(last, THE_END.into());
    let reader = Reader::open(folder.path().join("b.amem")).unwrap();
    done.check_brain(&reader.view().unwrap()).unwrap();
    assert_eq!(status(&client).await.events, done.events.len() as u64);
    assert!(done.again > 0, "nothing was begun again");

    let sent = following.await.unwrap();
    sent.check_order().unwrap();
    done.check_seen(&sent).unwrap();
    let seen: Vec<FollowerLog> = (0..AGENTS)
        .map(|number| FollowerLog::of(&crowd.noted("seen", number)))
        .collect();
    for (number, seen) in seen.iter().enumerate() {
        let told = seen.check_order().and_then(|()| seen.check_same(&sent));
        told.unwrap_or_else(|why| panic!("agent {number}: {why}"));
    }
    // The others wrote on when two were killed.
    let wrote = sent.agents(gone_at, back_at);
    assert!(
        others.iter().all(|&number| wrote.contains(&*name(number))),
        "{wrote:?}"
    );
    assert!(
        KILLED.iter().all(|&number| !wrote.contains(&*name(number))),
        "{wrote:?}"
    );

    let told = expected(&done);
    for number in 0..AGENTS {
        assert_eq!(crowd.noted("asked", number), told, "agent {number}");
    }
    check_resolved(&brain, &done).await;
    let of_beliefs = contested(&done.replaced());
    assert!(!of_beliefs.is_empty(), "nothing is contested");
    assert_eq!(
        contested(&replaced(&sent)),
        of_beliefs,
        "as followers can tell"
    );

    let (commits, secs) = (sent.commits.len(), took.as_secs_f64());
    say(&format!(
        "{secs:.1} s, {AGENTS} agents, {} of them in Python: {} events, {commits} commits ({:.0}/s), {} corrections, \
         {} contested beliefs, {} contradictions, {} times settled, {} refused, {} answered again; hash {:016x}",
        if kit.is_some() { AGENTS - PYTHON } else { 0 },
        done.events.len(),
        commits as f64 / secs,
        done.corrections,
        of_beliefs.len(),
        done.contradictions().len(),
        done.settled,
        done.refused,
        done.again,
        sent.hash(),
    ));
    for (kind, numbers) in [("Rust", 0..PYTHON), ("Python", PYTHON..AGENTS)] {
        let numbers = numbers.filter(|number| !KILLED.contains(number));
        let delays = numbers
            .flat_map(|number| seen[number].delays.iter().copied())
            .collect();
        say(&format!(
            "from a commit's time until a follower in {kind} has it: {}",
            quantiles(delays)
        ));
    }
    assert!(daemon.stop().success());
}
