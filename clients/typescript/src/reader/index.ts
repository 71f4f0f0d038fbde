// Reads a brain's file without the daemon: live, or a copy. Does not load gRPC.
//
// A file that a running daemon owns is *live*: `refresh` reads newer commits, and follows checkpoints. Any other file,
// such as a copy made by `cp` at any moment, is read up to its first bad frame.
//
// Promises:
//
// - The reader shows exactly the commits up to `lsn`.
// - A damaged file throws DamagedFile with the position.
// - A live file whose successor is not at its path throws Superseded, or MustDrop if something was erased.
// - After MustDrop and after `close` nothing of a file is read.
// - Memory stays in proportion to the journal, plus 16 MiB for the base.

export { Reader } from './reader';
export { AmemError, DamagedFile, MustDrop, Superseded } from '../errors';
