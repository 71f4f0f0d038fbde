// amemd: a memory for AI agents, from Node.
//
// `connect` talks to the daemon. `Reader` (also as 'amemd/reader', which loads nothing of gRPC) reads a brain's file
// itself.

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
  MustDrop,
  NotFound,
  Refused,
  Superseded,
  Unavailable,
} from './errors';
export { Reader } from './reader';
export * from './types';
