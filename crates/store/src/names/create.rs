//! New brains: empty, imported from a graph, or adopted from another brain's file.

use amem_format::base::identity::Identity;
use amem_format::base::image::Sink;
use amem_format::base::settings::Settings;
use amem_format::base_builder;
use amem_format::base_builder::build::Build;
use amem_format::base_builder::{Options, new_identity};
use amem_format::journal::head::PAGE;
use amem_format::limits::{DIMENSION_MAX, TIME_MICROS_MAX};
use amem_format::view::View;
use amem_format::{Generation, Graph, Micros};
use amem_query::embed;
use amem_query::embed::Embedder;
use uuid::Uuid;

use crate::base_builder::{FileSink, build as build_base, epoch};
use crate::error::{Error, Result};
use crate::names::displaced;
use crate::names::folder::{Folder, file_name};
use crate::names::ownership;
use crate::names::temporary::TemporaryFile;
use crate::names::untracked::UntrackedFile;

/// Options of a new brain.
#[derive(Debug, Clone)]
pub struct NewBrain {
    /// Numbers in a vector; 0 for no vectors.
    pub dimension: u32,
    /// The space of the vectors; nil if unknown.
    pub space: Uuid,
    /// Its settings.
    pub settings: Settings,
}

impl Default for NewBrain {
    /// A brain of the built-in embedder.
    fn default() -> Self {
        Self {
            dimension: embed::DIMENSION,
            space: Embedder::builtin().space(),
            settings: Settings::default(),
        }
    }
}

/// Makes an empty brain. It is durable when this returns.
pub fn create(folder: &Folder, name: &str, options: &NewBrain) -> Result<()> {
    let identity = fresh(folder, options)?;
    publish(folder, name, None, |sink| {
        let end = base_builder::empty(&identity, options.dimension, &options.settings, sink)?;
        base_builder::journal(&identity, epoch(&**folder.disk()), end, sink)
    })
}

/// Makes a brain that begins with a graph whose ids are its positions, in order of recorded time.
pub fn import(folder: &Folder, name: &str, options: &NewBrain, graph: &dyn Graph) -> Result<()> {
    import_as(folder, name, None, options, graph)
}

/// The same; `of`: the file that has the name and is displaced.
pub(crate) fn import_as(
    folder: &Folder,
    name: &str,
    of: Option<&UntrackedFile>,
    options: &NewBrain,
    graph: &dyn Graph,
) -> Result<()> {
    let mut identity = fresh(folder, options)?;
    let mut newest = identity.origin_time;
    for position in 0..graph.event_count() {
        newest = newest.max(graph.event_at(position)?.created_at);
    }
    if newest.0 > TIME_MICROS_MAX {
        let why =
            format!("an event was recorded at {newest} µs, out of range: after the year 9999");
        return Err(Error::invalid("file", why));
    }
    (identity.base_time, identity.origin_time) = (newest, newest);
    let mut build = Build::new(&identity, options.dimension, &options.settings)?;
    build.push_graph(graph)?;
    let view = build.finish()?;
    let options = Build::options(&view, &identity);
    publish(folder, name, of, |sink| {
        let end = build_base(&view, &options, sink)?;
        base_builder::journal(&options.identity, epoch(&**folder.disk()), end, sink)
    })
}

/// A graph as a brain in memory, to be read.
pub(crate) fn view_of(id: Uuid, graph: &dyn Graph) -> Result<View> {
    let mut newest = Micros(1);
    for position in 0..graph.event_count() {
        newest = newest.max(graph.event_at(position)?.created_at);
    }
    let identity = new_identity(id, id, Uuid::nil(), newest);
    let mut build = Build::new(&identity, graph.dimension(), &Settings::default())?;
    build.push_graph(graph)?;
    Ok(build.finish()?)
}

/// Makes a brain of all that another brain has, with its history: of the same lineage, with an instance of its own.
/// `of`: the file that has the name and is displaced.
pub(crate) fn adopt(
    folder: &Folder,
    name: &str,
    of: Option<&UntrackedFile>,
    view: &View,
) -> Result<()> {
    let next = Options::next(view, folder.disk().now());
    let options = Options {
        identity: Identity {
            instance: uuid::Builder::from_random_bytes(folder.disk().random()).into_uuid(),
            generation: Generation(1),
            ..next.identity
        },
        ..next
    };
    publish(folder, name, of, |sink| {
        let end = build_base(view, &options, sink)?;
        base_builder::journal(&options.identity, epoch(&**folder.disk()), end, sink)
    })
}

fn fresh(folder: &Folder, options: &NewBrain) -> Result<Identity> {
    amem_format::Error::check_limit(
        "the dimension of vectors",
        options.dimension.into(),
        DIMENSION_MAX.into(),
    )?;
    if options.space == Embedder::builtin().space() && options.dimension != embed::DIMENSION {
        let why = format!(
            "the built-in embedder's vectors have {}, not {}: name the space of another embedder, or none",
            embed::DIMENSION,
            options.dimension
        );
        return Err(Error::invalid("dimension", why));
    }
    options.settings.check()?;
    let id = || uuid::Builder::from_random_bytes(folder.disk().random()).into_uuid();
    let now = Micros(folder.disk().now().0.max(1));
    Ok(new_identity(id(), id(), options.space, now))
}

fn publish(
    folder: &Folder,
    name: &str,
    of: Option<&UntrackedFile>,
    write: impl FnOnce(&mut dyn Sink) -> amem_format::Result<u64>,
) -> Result<()> {
    let (disk, to) = (folder.disk(), file_name(name)?);
    folder.check_lock()?;
    if of.is_none() && disk.identity(&to).is_ok() {
        return Err(Error::Exists { name: name.into() });
    }
    let new = TemporaryFile::create(folder, name, of.map(UntrackedFile::stamp))?;
    let (file, tmp) = (new.file().clone(), new.path().to_owned());
    let mut sink = FileSink::new(&*file);
    let start = write(&mut sink).map_err(|e| sink.failed(&tmp, e))?;
    // If this process ends before the brain is opened, the next one cannot know whether the name is durable: it finds
    // the file owned in this boot and not closed, and makes another.
    ownership::claim(folder, name, &*file, start - PAGE, start)
        .map_err(|e| Error::disk("claim", &tmp, e))?;
    file.sync().map_err(|e| Error::disk("sync", &tmp, e))?;
    let readers = folder.readers_of(name);
    match file.protect(readers) {
        // Only the owner can read it then; opening it tries again.
        Err(_) if readers.is_some() => {}
        done => done.map_err(|e| Error::disk("protect", &tmp, e))?,
    }
    match of {
        Some(untracked) => untracked.displace(new)?,
        None => new.publish(&to).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Exists { name: name.into() },
            _ => Error::disk("publish", &to, e),
        })?,
    }
    if let Err(e) = disk.sync_folder("") {
        // A name whose sync failed may vanish whatever later syncs say: nothing may be written there.
        let why = format!("syncing the folder: {e}");
        let gone = match of {
            Some(untracked) => untracked.restore_name(),
            None => match displaced::remove_own(folder, name, file.id()) {
                // If another file has the name, that stays.
                Ok(_) => Ok(()),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
                Err(e) => Err(e),
            },
        };
        return Err(match gone {
            Ok(()) => Error::disk("sync", "the folder", e),
            Err(_) => Error::OutcomeUnknown { why },
        });
    }
    folder.note_created(file.id());
    Ok(())
}
