//! The brain that an answer is from, as `--json` prints it.

use std::path::Path;

use amem_client::v1;
use amem_format::base::identity::Identity;
use amem_interop::Layout;
use serde::Serialize;
use uuid::Uuid;

/// Which brain an answer is from: `brain` in the envelope.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct BrainName {
    /// Only for brains of a daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// As given, or as the daemon reports it.
    pub(crate) path: String,
    /// `native`, `reference` or `spec-1`.
    pub(crate) layout: &'static str,
    /// `None` for files of other programs.
    pub(crate) instance: Option<Uuid>,
    /// All brains that descend from one creation.
    pub(crate) lineage: Option<Uuid>,
    pub(crate) generation: Option<u64>,
    /// The newest commit that the answer includes.
    pub(crate) lsn: u64,
    /// A daemon owns the file now.
    pub(crate) live: bool,
    /// Warnings about the file.
    pub(crate) notes: Vec<String>,
}

impl BrainName {
    /// A file that is not open as a brain.
    pub(crate) fn path(path: &Path, layout: Layout) -> Self {
        Self {
            name: None,
            path: path.display().to_string(),
            layout: layout_name(layout),
            instance: None,
            lineage: None,
            generation: None,
            lsn: 0,
            live: false,
            notes: Vec::new(),
        }
    }

    /// A brain that was just created.
    pub(crate) fn made(path: &Path, identity: &Identity) -> Self {
        Self {
            instance: Some(identity.instance),
            lineage: Some(identity.lineage),
            generation: Some(identity.generation.0),
            lsn: identity.base_lsn.0,
            ..Self::path(path, Layout::Native)
        }
    }
}

impl BrainName {
    /// The file in a sentence: its path, or the brain's name where a daemon does not tell it, by TCP.
    pub(crate) fn file(&self) -> &str {
        match (&self.name, self.path.as_str()) {
            (Some(name), "") => name,
            (_, path) => path,
        }
    }

    /// A brain that a daemon has open.
    pub(crate) fn served(opened: &v1::OpenBrainResponse) -> Self {
        let info = opened.info.clone().unwrap_or_default();
        let mut named = Self {
            name: Some(info.brain),
            path: opened.path.clone(),
            layout: "native",
            instance: None,
            lineage: info.lineage.parse().ok(),
            generation: Some(info.generation),
            lsn: 0,
            live: true,
            notes: Vec::new(),
        };
        if let Some(moment) = &opened.moment {
            named.saw(moment);
        }
        named
    }

    /// Takes the moment of an answer.
    pub(crate) fn saw(&mut self, moment: &v1::Moment) {
        self.instance = moment.instance.parse::<Uuid>().ok().or(self.instance);
        self.lsn = moment.lsn;
    }

    /// Takes the commit of an answer.
    pub(crate) fn committed(&mut self, commit: &v1::Commit) {
        self.instance = commit.instance.parse::<Uuid>().ok().or(self.instance);
        self.lsn = commit.lsn;
    }
}

pub(crate) fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Native => "native",
        Layout::Reference => "reference",
        Layout::Spec1 => "spec-1",
    }
}
