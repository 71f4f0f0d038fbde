// Reading a brain's file without the daemon: live, or a copy. Nothing of gRPC is loaded.
//
// A file that a running daemon owns is *live*: `refresh` takes in what was committed since, and follows checkpoints.
// Any other file, a copy made by `cp` at any moment, is read up to its first bad frame.
//
// Promises: what is shown is exactly the commits up to `lsn`. A file that is not what it must be throws DamagedFile
// with its place; a live file that was replaced by one that is not to be found throws Superseded, or MustDrop if
// something was erased; after MustDrop and after `close` nothing of a file is read; what is made of a file in memory
// stays in proportion to its journal, and 16 MiB for its base.

export { Reader } from './reader';
export { AmemError, DamagedFile, MustDrop, Superseded } from '../errors';
