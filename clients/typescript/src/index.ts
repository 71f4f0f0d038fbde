// amemd: a memory for AI agents, from Node.
//
// `connect` calls the daemon. `Reader` (also as 'amemd/reader', which does not load gRPC) reads a brain's file.

export {
  connect,
  defaultTarget,
  usualSockets,
  Client,
  type BrainOptions,
  type ConnectOptions,
  type Tls,
} from './client';
export { Brain } from './brain';
export { Commits } from './follow';
export { newRequestId } from './call';
export {
  AlreadyExists,
  AmemError,
  ConditionFailed,
  DamagedFile,
  NewerFile,
  MustDrop,
  NotFound,
  Refused,
  Superseded,
  Unavailable,
} from './errors';
export { Reader } from './reader';
export * from './types';
