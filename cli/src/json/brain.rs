//! Which brain an answer is from.

use std::path::Path;

use amem_client::v1;
use amem_format::base::identity::Identity;
use amem_format::foreign::Layout;
use serde::Serialize;
use uuid::Uuid;

/// The `brain` of the envelope.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct BrainName {
    /// Its name, if a daemon was asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The path as it was given, or as the daemon tells it.
    pub(crate) path: String,
    /// `native`, `reference` or `spec-1`.
    pub(crate) layout: &'static str,
    /// The owned file; none for files of others.
    pub(crate) instance: Option<Uuid>,
    /// All that descend from one creation.
    pub(crate) lineage: Option<Uuid>,
    /// Which base.
    pub(crate) generation: Option<u64>,
    /// The newest commit that the answer knows of.
    pub(crate) lsn: u64,
    /// True if a daemon owns the file now.
    pub(crate) live: bool,
    /// What a reader of the answer should know.
    pub(crate) notes: Vec<String>,
}

impl BrainName {
    /// A file that is not opened as a brain, or not yet one.
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

    /// A brain that was just made.
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
    /// A brain that a daemon has opened.
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

    /// An answer of it names a moment.
    pub(crate) fn saw(&mut self, moment: &v1::Moment) {
        self.instance = moment.instance.parse::<Uuid>().ok().or(self.instance);
        self.lsn = moment.lsn;
    }

    /// A commit was answered.
    pub(crate) fn committed(&mut self, commit: &v1::Commit) {
        self.instance = commit.instance.parse::<Uuid>().ok().or(self.instance);
        self.lsn = commit.lsn;
    }
}

/// A layout's name.
pub(crate) fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Native => "native",
        Layout::Reference => "reference",
        Layout::Spec1 => "spec-1",
    }
}
