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
export {
  MemoryAgent,
  type Ask,
  type ChatMessage,
  type Model,
  type MemoryAgentOptions,
  type Pieces,
} from './agent';
export { Answer, type FormedMemory, type GivenMemory, type Relation, type Turn } from './answer';
export { Brain } from './brain';
export { Commits } from './follow';
export { newRequestId } from './call';
export { OpenAIModel, type OpenAIModelOptions } from './models';
export {
  AlreadyExists,
  AmemError,
  ConditionFailed,
  DamagedFile,
  ModelError,
  NewerFile,
  MustDrop,
  NotFound,
  Refused,
  Superseded,
  Unavailable,
} from './errors';
export { Reader } from './reader';
export * from './types';
