//! Notes into a brain that is a list: what is written the first time, the second time, and after an edit.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::fs;
use std::path::Path;

use amem_importing::{
    ChangeAnswer, EventChange, ImportError, ImportPath, ImportReport, ImportScope, ImportTarget,
    Importer,
};
use amem_proto::v1;
use amem_sources::{ReadOptions, SourceKind};

/// A brain that is a list of events.
#[derive(Default)]
struct ListTarget {
    events: Vec<v1::Event>,
    answer: Option<v1::IngestResponse>,
    /// Names of the changes that were made.
    changes: Vec<&'static str>,
    /// The next batch fails.
    is_broken: bool,
}

impl ListTarget {
    fn add(&mut self, event: v1::NewEvent) -> u64 {
        let id = self.events.len() as u64;
        self.events.push(v1::Event {
            id,
            text: event.text,
            event_time: event.event_time,
            attributes_json: event.attributes_json,
            ..v1::Event::default()
        });
        id
    }
}

impl ImportTarget for ListTarget {
    type Failure = String;

    fn brain(&self) -> &str {
        "notes"
    }

    fn agent(&self) -> &str {
        "test"
    }

    fn each_event(
        &mut self,
        _filter_json: String,
        each: &mut dyn FnMut(&v1::Event),
    ) -> Result<(), String> {
        self.events.iter().for_each(each);
        Ok(())
    }

    fn events(&mut self, request: v1::GetEventsRequest) -> Result<Vec<v1::Event>, String> {
        let ids = request.event_ids.iter();
        Ok(ids.map(|id| self.events[*id as usize].clone()).collect())
    }

    fn change(&mut self, change: EventChange) -> Result<ChangeAnswer, String> {
        let (name, answer) = match change {
            EventChange::OpenSession(_) => ("open", ChangeAnswer::Session(1)),
            EventChange::Correct(request) => {
                self.events[request.target_id as usize].forgotten = true;
                let id = self.add(request.event.unwrap());
                ("correct", ChangeAnswer::Event(id))
            }
            EventChange::SetAttributes(request) => {
                let event = &mut self.events[request.event_id as usize];
                event.attributes_json = request.attributes_json;
                ("set", ChangeAnswer::Done)
            }
            EventChange::Unlink(_) => ("unlink", ChangeAnswer::Done),
            EventChange::Forget(request) => {
                self.events[request.event_id as usize].forgotten = true;
                ("forget", ChangeAnswer::Done)
            }
        };
        self.changes.push(name);
        Ok(answer)
    }

    fn send(&mut self, batch: v1::IngestRequest) -> Result<(), String> {
        if self.is_broken {
            return Err("the connection is gone".to_owned());
        }
        let edges = batch.links.len() as u64;
        let event_ids = batch.events.into_iter().map(|event| self.add(event));
        self.answer = Some(v1::IngestResponse {
            event_ids: event_ids.collect(),
            edges,
            ..v1::IngestResponse::default()
        });
        Ok(())
    }

    fn answered(&mut self) -> Result<Option<v1::IngestResponse>, String> {
        Ok(self.answer.take())
    }

    fn list_facts(&mut self, _: v1::ListFactsRequest) -> Result<v1::ListFactsResponse, String> {
        Err("notes are no memories".to_owned())
    }

    fn has_fact(&mut self, _: v1::GetFactRequest) -> Result<bool, String> {
        Err("notes are no memories".to_owned())
    }

    fn add_facts(&mut self, _: v1::AddFactsRequest) -> Result<v1::AddFactsResponse, String> {
        Err("notes are no memories".to_owned())
    }

    fn update_fact(&mut self, _: v1::UpdateFactRequest) -> Result<(), String> {
        Err("notes are no memories".to_owned())
    }

    fn delete_fact(&mut self, _: v1::DeleteFactRequest) -> Result<(), String> {
        Err("notes are no memories".to_owned())
    }

    fn project_of(&mut self, _: &Path) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn progress(&mut self, _items: u64) {}
}

fn import(
    target: &mut ListTarget,
    folder: &Path,
    is_dry: bool,
) -> Result<ImportReport, ImportError<String>> {
    let importer = Importer {
        form: None,
        read: ReadOptions::default(),
        scope: ImportScope {
            user: "ada".to_owned(),
            is_named: false,
            project: None,
        },
        is_dry,
        is_there: true,
    };
    importer.run(target, &[ImportPath::of(folder, None)?])
}

#[test]
fn notes_are_written_once_and_an_edit_of_them_replaces_its_event() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("kitchen.md");
    fs::write(&note, "# Plan\n\n- buy an oven\n- paint the wall\n").unwrap();
    let mut target = ListTarget::default();
    let dry = import(&mut target, folder.path(), true).unwrap();
    assert!(dry.counts.added > 0 && target.events.is_empty(), "{dry:?}");
    let first = import(&mut target, folder.path(), false).unwrap();
    assert_eq!(first.counts.added, dry.counts.added);
    assert_eq!(target.events.len() as u64, first.counts.added);
    let second = import(&mut target, folder.path(), false).unwrap();
    assert_eq!(
        (second.counts.known, second.counts.has_news()),
        (first.counts.added, false)
    );
    fs::write(&note, "# Plan\n\n- buy an oven\n").unwrap();
    let third = import(&mut target, folder.path(), false).unwrap();
    assert_eq!(third.counts.gone, 1, "{third:?}");
    assert!(target.changes.contains(&"forget"), "{:?}", target.changes);
}

#[test]
fn an_import_ends_with_the_failure_of_its_target_or_says_what_a_path_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "words\n").unwrap();
    let mut target = ListTarget {
        is_broken: true,
        ..ListTarget::default()
    };
    let failure = import(&mut target, folder.path(), false).unwrap_err();
    assert!(matches!(failure, ImportError::Target(why) if why == "the connection is gone"));
    let other = ImportPath::of::<String>(folder.path(), Some(SourceKind::Codex)).unwrap_err();
    let ImportError::OtherKind { wanted, found, .. } = other else {
        panic!("{other:?}");
    };
    assert_eq!(
        (wanted, &found[..]),
        (SourceKind::Codex, &[SourceKind::Markdown][..])
    );
}
