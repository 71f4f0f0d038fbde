//! What is erased is gone: from every file of the demo's, and from every answer.

use amem_client::{Duration, v1};
use amem_format::NodeId;

use super::beliefs::{at_commit, by};
use super::cleanup::Cleanup;
use super::run::{BRAIN, Demo};
use super::stage::{DemoError, Result, Stage};
use super::traces::{has, lets_go, scan};
use crate::render::{bytes, plural};

/// What must not be kept. It is said twice, so that one is in the file's base and the other in its journal.
const SECRETS: [&str; 2] = [
    "The gate of pier C opens with the code 5923-zorvanik.",
    "Mind that the code zorvanik is changed in June.",
];
/// A word of both that is said nowhere else, in the form in which the index of words keeps it.
const WORD: &str = "zorvanik";

/// A secret that was told.
struct Told {
    /// Its events.
    ids: Vec<u64>,
    /// The last commit before it.
    before: u64,
    /// The last commit that has all of it.
    after: u64,
    /// What to look for: the texts, the word, the vectors.
    traces: Vec<Vec<u8>>,
}

impl Demo {
    pub(super) fn erase(&self, stage: &mut Stage<'_>, cleanup: &Cleanup) -> Result<()> {
        stage.step(
            "erase",
            "A secret was remembered by mistake. Erased means: its bytes are in no file any more.",
        )?;
        let mut follower = self.follower(cleanup)?;
        follower.begun()?;
        let told = self.tell()?;
        for (id, secret) in told.ids.iter().zip(SECRETS) {
            stage.row(format_args!("[{id}] fact: {secret}"))?;
        }
        let (found, _) = scan(cleanup.folder(), &told.traces)?;
        let here = found.iter().find(|hit| hit.file == self.file);
        stage.check("before: the file has both texts and both vectors", {
            here.is_some_and(|hit| hit.traces == told.traces.len()) && told.traces.len() == 5
        })?;
        let known = self.answers(&told)?;
        stage.check("before: search, history and the other process know it", {
            known.iter().all(|(_, has)| *has) && follower.find(WORD)? == told.ids.len() as u64
        })?;
        let request = v1::EraseRequest {
            brain: BRAIN.into(),
            options: Some(by("planner")),
            event_ids: told.ids.clone(),
            // The other process looks when it is asked.
            reader_wait: Some(Duration::default()),
        };
        self.remote
            .call(self.remote.client.memory().erase(request))?;
        self.gone(stage, cleanup, &told)?;
        stage.check(
            "the other process, which follows the file, finds nothing",
            follower.find(WORD)? == 0,
        )?;
        stage.check(
            "neither it nor the daemon holds the old file any more",
            lets_go(follower.pid())? && lets_go(self.daemon.pid())?,
        )?;
        stage.show(
            "What stays is that something was remembered, when and by whom. A copy that was made while the secret \
             was in the file is another file, which amemd cannot reach; ours were made before.",
        )
    }

    /// Tells the secret: once for the base, once for the journal.
    fn tell(&self) -> Result<Told> {
        let before = self.view()?.lsn().0;
        let first = self.tell_one(SECRETS[0])?;
        let fold = v1::CheckpointBrainRequest {
            brain: BRAIN.into(),
        };
        self.remote
            .call(self.remote.client.brains().checkpoint_brain(fold))?;
        let ids = vec![first, self.tell_one(SECRETS[1])?];
        let view = self.view()?;
        let mut traces: Vec<Vec<u8>> = SECRETS.map(|text| text.as_bytes().to_vec()).into();
        traces.push(WORD.as_bytes().to_vec());
        for &id in &ids {
            if let Some(vector) = view.node(NodeId(id))?.vector()? {
                traces.push(vector.iter().flat_map(|x| x.to_le_bytes()).collect());
            }
        }
        Ok(Told {
            ids,
            before,
            after: view.lsn().0,
            traces,
        })
    }

    fn tell_one(&self, text: &str) -> Result<u64> {
        let request = v1::IngestRequest {
            brain: BRAIN.into(),
            options: Some(by("planner")),
            events: vec![v1::NewEvent {
                text: text.into(),
                attributes_json: format!(r#"{{"code": "{WORD}"}}"#),
                ..Default::default()
            }],
            ..Default::default()
        };
        let mut memory = self.remote.client.memory();
        let ids = self.remote.call(memory.ingest(request))?.event_ids;
        let none = || DemoError::Wrong("an event that was remembered has an id".into());
        ids.first().copied().ok_or_else(none)
    }

    fn gone(&self, stage: &mut Stage<'_>, cleanup: &Cleanup, told: &Told) -> Result<()> {
        let (found, scanned) = scan(cleanup.folder(), &told.traces)?;
        if let Some(hit) = found.first() {
            let why = format!("{} has nothing of what was erased", hit.file.display());
            return stage.check(why, false);
        }
        stage.check(
            format_args!(
                "after: nothing of it is in any of the demo's {} ({})",
                plural(scanned.files, "file"),
                bytes(scanned.bytes)
            ),
            scanned.files > 0,
        )?;
        for (answer, has) in self.answers(told)? {
            stage.check(format_args!("{answer}: nothing"), !has)?;
        }
        for &id in &told.ids {
            let event = self.event(id, false)?;
            let empty = event.text.is_empty() && event.attributes_json.is_empty();
            stage.check(
                format_args!("event {id} is still there, empty, and says that it was erased"),
                event.erased && empty && event.created_at.is_some(),
            )?;
        }
        Ok(())
    }

    /// Every way to ask for the secret, and whether its word is in the answer.
    fn answers(&self, told: &Told) -> Result<Vec<(&'static str, bool)>> {
        let mut queries = self.remote.client.queries();
        let search = v1::SearchRequest {
            brain: BRAIN.into(),
            text: WORD.into(),
            ..Default::default()
        };
        let found = self.remote.call(queries.search(search))?;
        let then = v1::GetEventsRequest {
            brain: BRAIN.into(),
            event_ids: told.ids.clone(),
            as_of: Some(at_commit(told.after)),
            include_forgotten: true,
            touch: Some(false),
            ..Default::default()
        };
        let then = self.remote.call(queries.get_events(then))?;
        let context = v1::ContextRequest {
            brain: BRAIN.into(),
            text: WORD.into(),
            ..Default::default()
        };
        let context = self.remote.call(queries.context(context))?;
        Ok(vec![
            ("by searching for its word", says(&found)),
            ("by asking for the moment when it was there", says(&then)),
            ("by asking for a context about it", says(&context)),
            (
                "by asking for the commits that brought it",
                self.replayed(told)?,
            ),
            ("by exporting the brain", self.exported()?),
        ])
    }

    /// Do the commits that told the secret still say it?
    fn replayed(&self, told: &Told) -> Result<bool> {
        let instance = self.view()?.instance().to_string();
        let request = v1::SubscribeRequest {
            brain: BRAIN.into(),
            after_lsn: Some(told.before),
            instance,
            include_forgotten: true,
            ..Default::default()
        };
        let mut memory = self.remote.client.memory();
        let mut commits = self.remote.call(memory.subscribe(request))?;
        while let Some(message) = self.remote.next(&mut commits)? {
            if says(&message) {
                return Ok(true);
            }
            if message.moment.unwrap_or_default().lsn >= told.after && !message.more {
                break;
            }
        }
        Ok(false)
    }

    /// Does the file that the daemon sends have the word?
    fn exported(&self) -> Result<bool> {
        let request = v1::ExportBrainRequest {
            brain: BRAIN.into(),
            form: v1::ExportForm::Native.into(),
        };
        let mut brains = self.remote.client.brains();
        let mut parts = self.remote.call(brains.export_brain(request))?;
        let mut file = Vec::new();
        while let Some(part) = self.remote.next(&mut parts)? {
            file.extend(part.data);
        }
        Ok(has(&file, WORD.as_bytes()))
    }
}

/// Is the word anywhere in a message?
fn says(message: &impl std::fmt::Debug) -> bool {
    format!("{message:?}").contains(WORD)
}
