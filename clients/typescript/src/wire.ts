// The services of amem.v1, from the protos in the package.
//
// Promises: the loaded definitions are private to this package and do not conflict with other uses of the same protos.
// Not here: what a call means (`brain`), when it is retried (`call`).

import * as path from 'node:path';

import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';

/** A message to send. */
export type Message = { [field: string]: unknown };
/** A received message; the protos define its fields. */
export type Reply = any;

const SERVICES = ['BrainService', 'MemoryService', 'QueryService', 'AdminService', 'FactService'] as const;
const FILES = ['admin', 'brain', 'fact', 'memory', 'query'].map((name) => `amem/v1/${name}.proto`);

const described = loader.loadSync(FILES, {
  includeDirs: [path.join(__dirname, '../../proto')],
  keepCase: true,
  longs: String,
  enums: Number,
  defaults: true,
  oneofs: true,
});

/** The RPCs by name. */
export const METHODS: ReadonlyMap<string, grpc.MethodDefinition<Message, Reply>> = new Map(
  SERVICES.flatMap((service) => {
    const definition = described[`amem.v1.${service}`] as grpc.ServiceDefinition;
    return Object.entries(definition).map(([name, method]) => [name, method] as const);
  }),
);

const KINDS = (described['amem.v1.CommitKind'] as loader.EnumTypeDefinition).type as {
  value: { name: string; number: number }[];
};

/** The short name of a commit's kind: COMMIT_KIND_SET_VECTOR is set-vector. */
export function commitKind(value: number): string {
  const found = KINDS.value.find((known) => known.number === value);
  return found ? found.name.slice('COMMIT_KIND_'.length).toLowerCase().replaceAll('_', '-') : `kind-${value}`;
}

/**
 * Reason and metadata of the google.rpc.ErrorInfo in a google.rpc.Status, if it has one. Decodes the two messages by
 * hand: they have four fields.
 */
export function errorInfo(status: Uint8Array): { reason: string; metadata: Record<string, string> } {
  for (const [number, detail] of fields(status)) {
    if (number !== 3) continue;
    const parts = new Map(fields(detail));
    if (!text(parts.get(1)).endsWith('/google.rpc.ErrorInfo')) continue;
    let reason = '';
    const metadata: Record<string, string> = {};
    for (const [field, bytes] of fields(parts.get(2) ?? new Uint8Array())) {
      if (field === 1) reason = text(bytes);
      if (field === 3) {
        const entry = new Map(fields(bytes));
        metadata[text(entry.get(1))] = text(entry.get(2));
      }
    }
    return { reason, metadata };
  }
  return { reason: '', metadata: {} };
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('utf8');
}

/** Number and bytes of each length-delimited field of an encoded message, up to a truncated one. */
function fields(message: Uint8Array): [number, Uint8Array][] {
  const found: [number, Uint8Array][] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; at < message.length && shift < 35; shift += 7) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = varint();
    const kind = key & 7;
    if (kind === 0) {
      varint();
    } else if (kind === 1 || kind === 5) {
      at += kind === 1 ? 8 : 4;
    } else if (kind === 2) {
      const size = varint();
      found.push([key >>> 3, message.subarray(at, at + size)]);
      at += size;
    } else {
      break;
    }
  }
  return found;
}
