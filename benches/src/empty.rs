//! An empty brain, whose vectors come with the events.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use amem_store::disk::os::OsDisk;
use amem_store::{Folder, NewBrain, Store, create};

/// Its name in the folder.
const BRAIN: &str = "b";

/// A folder of brains at a path, and the brain in it.
pub(crate) fn brain(path: &Path) -> Result<(Folder, Store), Box<dyn Error>> {
    let folder = Folder::open(Arc::new(OsDisk::new(path)?), "a measurement")?;
    create(&folder, BRAIN, &options())?;
    let store = Store::open(&folder, BRAIN)?;
    Ok((folder, store))
}

fn options() -> NewBrain {
    let mut options = NewBrain {
        space: uuid::Uuid::from_u128(1),
        ..NewBrain::default()
    };
    options.settings.embed = false;
    options
}
