// An agent in Node: what one does with a daemon, with @grpc/grpc-js and default channel options.
//
// Run by the test `languages`, or by hand beside a daemon, where the packages of package.json are installed:
//
//     node agent.js --protos proto/proto --target unix:/run/amemd/amemd.sock
//     node agent.js --protos proto/proto --target 127.0.0.1:7474 --token TOKEN
//
// Each step says what it did; the exit code is 1 with the failed step named. When it says RESTART on a line of its
// own, kill the daemon, start it again on the same folder and target, and give it a line.

'use strict';

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const path = require('node:path');
const readline = require('node:readline');
const { parseArgs } = require('node:util');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    token: { type: 'string' },
    protos: { type: 'string' },
    brain: { type: 'string', default: 'agent' },
  },
});

// How long any call may take, in milliseconds.
const PATIENCE = 30_000;
const brain = args.brain;

const own = path.join(__dirname, 'proto');
const files = ['types', 'brain', 'memory', 'query'].map((name) => `amem/v1/${name}.proto`);
const described = loader.loadSync([...files, 'health.proto'], {
  includeDirs: [args.protos, own],
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});
const { amem, grpc: other } = grpc.loadPackageDefinition(described);
const details = new protobuf.Root().loadSync(path.join(own, 'status.proto'), { keepCase: true });
const credentials = grpc.credentials.createInsecure();
const brains = new amem.v1.BrainService(args.target, credentials);
const memory = new amem.v1.MemoryService(args.target, credentials);
const queries = new amem.v1.QueryService(args.target, credentials);
const health = new other.health.v1.Health(args.target, credentials);

// The LSN of every answered commit, in order.
const committed = [];

function metadata(token = args.token) {
  const told = new grpc.Metadata();
  if (token) told.set('authorization', `Bearer ${token}`);
  return told;
}

const deadline = () => new Date(Date.now() + PATIENCE);

function call(client, method, request, { told = metadata(), ...options } = {}) {
  return new Promise((resolve, reject) => {
    const answered = (error, answer) => (error ? reject(error) : resolve(answer));
    client[method](request, told, { deadline: deadline(), ...options }, answered);
  });
}

function stream(client, method, ...request) {
  return client[method](...request, metadata(), { deadline: deadline() });
}

/** What google.rpc.ErrorInfo an error carries. */
function errorInfo(error) {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (!bytes) return {};
  const status = details.lookupType('google.rpc.Status').decode(bytes);
  const detail = status.details.find((any) => any.type_url.endsWith('google.rpc.ErrorInfo'));
  return detail ? details.lookupType('google.rpc.ErrorInfo').decode(detail.value) : {};
}

/** The attempt must end in this status, and name this reason. */
async function checkRefused(what, code, reason, attempt) {
  const error = await attempt.then(
    () => assert.fail(`${what}: it was not refused`),
    (refused) => refused,
  );
  assert.equal(error.code, code, `${what}: ${error.message}`);
  const info = errorInfo(error);
  assert.deepEqual([info.reason, info.domain], [reason, 'amem.v1'], what);
}

/** 48 bits of milliseconds, version 7, chance. */
function uuid7() {
  const bytes = crypto.randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const options = () => ({ agent: 'node', request_id: uuid7() });

function facts(...texts) {
  const events = texts.map((text) => ({ type: 'EVENT_TYPE_FACT', text }));
  return { brain, options: options(), events };
}

async function ingest(text, how) {
  const done = await call(memory, 'Ingest', facts(text), how);
  committed.push(done.commit.lsn);
}

const get = (...event_ids) => call(queries, 'GetEvents', { brain, event_ids });
const range = (from, count) => Array.from({ length: count }, (_, n) => from + n);

async function isHealthy() {
  const answer = await call(health, 'Check', {});
  assert.equal(answer.status, 'SERVING');
  return 'grpc.health.v1 says SERVING';
}

async function asksForItsToken() {
  if (!args.token) return 'no token is needed here';
  for (const told of [new grpc.Metadata(), metadata('wrong')]) {
    const attempt = call(brains, 'ListBrains', {}, { told });
    await checkRefused('token', grpc.status.UNAUTHENTICATED, 'TOKEN', attempt);
  }
  return 'without its token, and with a wrong one: UNAUTHENTICATED';
}

async function creates() {
  const made = await call(brains, 'CreateBrain', { brain });
  assert.equal(made.info.brain, brain);
  committed.push(made.moment.lsn);
  return `brain ${brain}, instance ${made.moment.instance}`;
}

async function ingests() {
  const request = facts(
    'The deploy script lives in tools/deploy.sh',
    'Ada prefers tea to coffee',
    'The build takes nine minutes on the old runner',
  );
  request.links = [{ source: { batch_index: 2 }, target: { batch_index: 0 }, type: 'EDGE_TYPE_CAUSED_BY' }];
  const done = await call(memory, 'Ingest', request);
  committed.push(done.commit.lsn);
  assert.deepEqual([done.event_ids, done.edges, done.commit.replayed], [[0, 1, 2], 1, false]);
  const again = await call(memory, 'Ingest', request);
  assert.deepEqual([again.event_ids, again.commit.lsn, again.commit.replayed], [[0, 1, 2], done.commit.lsn, true]);
  return `3 events and 1 edge at LSN ${done.commit.lsn}; the same request again was replayed`;
}

async function ingestsByStream() {
  const [batches, events, refused] = [40, 25, 7];
  const duplex = stream(memory, 'IngestStream');
  for (const at of range(0, batches)) {
    const batch = facts(...range(0, events).map((n) => `batch ${at} event ${n}`));
    if (at === refused) batch.events[3].text = '';
    duplex.write({ batch });
  }
  duplex.end();
  let [at, nextId, last] = [0, 3, committed.at(-1)];
  for await (const answer of duplex) {
    assert.equal(answer.batch_index, at);
    if (at === refused) {
      assert.equal(answer.failure.reason, 'INVALID');
    } else {
      assert.deepEqual(answer.done.event_ids, range(nextId, events));
      assert.ok(answer.done.commit.lsn > last, `LSN ${answer.done.commit.lsn} after ${last}`);
      last = answer.done.commit.lsn;
      committed.push(last);
      nextId += events;
    }
    at += 1;
  }
  assert.equal(at, batches);
  return `${batches} batches of ${events} events answered in order, one refused as it should be`;
}

async function asks() {
  const got = await call(queries, 'GetEvents', { brain, event_ids: [2, 0], include_edges: true });
  assert.deepEqual(got.events.map((event) => event.id), [2, 0]);
  assert.equal(got.events[0].edges[0].target, 0);
  assert.ok(got.moment.lsn >= committed.at(-1), `LSN ${got.moment.lsn} before ${committed.at(-1)}`);
  const found = await call(queries, 'Search', { brain, text: 'what does Ada drink?', limit: 3 });
  assert.equal(found.hits[0].event.id, 1);
  const why = await call(queries, 'Why', { brain, event_id: 2 });
  assert.deepEqual(why.steps.map((step) => step.event.id), [2, 0]);
  return `GetEvents 2, Search ${found.hits.length} hits, Why ${why.steps.length} steps`;
}

async function corrects() {
  const event = { text: 'Ada prefers coffee since her trip to Vienna' };
  const done = await call(memory, 'Correct', { brain, options: options(), target_id: 1, event, reason: 'she said so' });
  committed.push(done.commit.lsn);
  const resolved = await call(queries, 'Resolve', { brain, event_id: 1 });
  assert.deepEqual([resolved.head.id, resolved.contested], [done.event_id, false]);
  assert.deepEqual(resolved.chain.map((event) => event.id), [1, done.event_id]);
  return `event 1 by event ${done.event_id}; Resolve gives a chain of 2`;
}

async function isRefused() {
  const code = grpc.status;
  const future = { brain, event_ids: [0], as_of: { lsn: 2 ** 40 } };
  const condition = { brain, options: { expected_lsn: 0 }, events: [{ text: 'x' }] };
  const rows = [
    ['unknown brain', code.NOT_FOUND, 'UNKNOWN_BRAIN', memory, 'Ingest', { ...facts('x'), brain: 'nowhere' }],
    ["brain's name", code.INVALID_ARGUMENT, 'BRAIN_NAME', memory, 'Ingest', { ...facts('x'), brain: 'a/b' }],
    ['second brain', code.ALREADY_EXISTS, 'BRAIN_EXISTS', brains, 'CreateBrain', { brain }],
    ['unknown event', code.NOT_FOUND, 'UNKNOWN_EVENT', queries, 'GetEvents', { brain, event_ids: [2 ** 40] }],
    ['future', code.OUT_OF_RANGE, 'UNKNOWN_LSN', queries, 'GetEvents', future],
    ['empty text', code.INVALID_ARGUMENT, 'INVALID', memory, 'Ingest', facts('')],
    ['condition', code.ABORTED, 'CONDITION', memory, 'Ingest', condition],
  ];
  for (const [what, status, reason, client, method, request] of rows) {
    await checkRefused(what, status, reason, call(client, method, request));
  }
  return `${rows.length} bad requests, each with its code and its ErrorInfo`;
}

/** The next message of a stream, or the error that ends it. */
function next(messages) {
  return new Promise((resolve, reject) => {
    const ended = () => reject(Object.assign(new Error('the stream ended'), { code: grpc.status.OK }));
    const settle = (by) => (value) => {
      messages.off('data', told).off('error', failed).off('end', ended);
      messages.pause();
      by(value);
    };
    const told = settle(resolve);
    const failed = settle(reject);
    messages.on('error', failed).on('end', ended).on('data', told).resume();
  });
}

async function keepsDeadlines() {
  // A deadline is a time in milliseconds here; a nanosecond from now is now.
  const attempt = call(queries, 'GetEvents', { brain, event_ids: [0] }, { deadline: Date.now() + 1e-6 });
  const silent = memory.IngestStream(metadata(), { deadline: Date.now() + 100 });
  for (const [what, late] of [['1 ns', attempt], ['stream', next(silent)]]) {
    const error = await late.then(
      () => assert.fail(`${what}: it was answered`),
      (past) => past,
    );
    assert.equal(error.code, grpc.status.DEADLINE_EXCEEDED, `${what}: ${error.message}`);
  }
  return '1 ns: DEADLINE_EXCEEDED; a silent stream after 100 ms';
}

async function cancels() {
  const duplex = stream(memory, 'IngestStream');
  duplex.write({ batch: facts('sent before the stream was cancelled') });
  const { done } = await next(duplex);
  committed.push(done.commit.lsn);
  duplex.cancel();
  const error = await next(duplex).then(
    () => assert.fail('a cancelled stream goes on'),
    (cut) => cut,
  );
  assert.equal(error.code, grpc.status.CANCELLED, error.message);
  const got = await get(...done.event_ids);
  assert.match(got.events[0].text, /^sent before/);
  return 'a stream after its first answer: CANCELLED, and what was answered is there';
}

async function asksOften() {
  const [calls, callers] = [1000, 32];
  let right = 0;
  const one = async (from) => {
    for (let n = from; n < calls; n += callers) {
      const got = await get(n % 900);
      right += got.events[0].id === n % 900;
    }
  };
  await Promise.all(range(0, callers).map(one));
  assert.equal(right, calls);
  return `${calls} calls on one channel, ${callers} at a time`;
}

/** A subscription, and the LSN after which it says that it begins. */
let instance = '';

async function follow(how) {
  // An LSN is of the instance that was followed.
  const of = how.after_lsn ? { instance } : {};
  const messages = stream(memory, 'Subscribe', { brain, ...of, ...how });
  const first = await next(messages);
  assert.equal(first.changes.length, 0, 'the first message says only where the stream begins');
  instance = first.moment.instance;
  return [first.moment.lsn, messages];
}

/** The LSNs of the commits that a subscription sends, up to one. */
async function commits(messages, until) {
  const seen = [];
  while (seen.at(-1) !== until) {
    const message = await next(messages);
    if (message.changes.length === 0 || message.more) continue;
    const lsn = message.moment.lsn;
    assert.ok(seen.length === 0 || lsn > seen.at(-1), `LSN ${lsn} after ${seen.at(-1)}`);
    assert.ok(lsn <= until, `LSN ${lsn} without ${until}`);
    seen.push(lsn);
  }
  messages.on('error', (cut) => assert.equal(cut.code, grpc.status.CANCELLED));
  messages.cancel();
  return seen;
}

async function followsFromTheFirst() {
  const [began, messages] = await follow({ after_lsn: 0 });
  const seen = await commits(messages, committed.at(-1));
  const known = new Set([...seen, began]);
  const missed = committed.filter((lsn) => !known.has(lsn));
  assert.deepEqual([began, missed], [0, []]);
  return `${seen.length} commits in order, all ${committed.length} that were answered`;
}

async function followsFromNow() {
  const [began, messages] = await follow({});
  // What was asked for is counted as used by commits that nobody here was answered.
  assert.ok(began >= committed.at(-1), `began at ${began}, before ${committed.at(-1)}`);
  for (const n of range(0, 10)) await ingest(`written while a client follows, ${n}`);
  const seen = await commits(messages, committed.at(-1));
  assert.deepEqual(seen, committed.slice(-10));
  return '10 commits, and none before them';
}

async function resumes() {
  const last = committed.at(-1);
  const [, messages] = await follow({});
  const cut = next(messages).then(
    (message) => assert.fail(`a message that nobody caused: ${JSON.stringify(message)}`),
    (error) => error.code,
  );
  console.log('RESTART');
  const lines = readline.createInterface({ input: process.stdin });
  await new Promise((resolve) => lines.once('line', resolve));
  lines.close();
  const ended = grpc.status[await cut];
  assert.equal(ended, 'UNAVAILABLE');
  // Waiting for the channel is what a client does that knows of a restart.
  await new Promise((resolve, reject) => {
    memory.waitForReady(deadline(), (error) => (error ? reject(error) : resolve()));
  });
  for (const n of range(0, 3)) await ingest(`told after the restart, ${n}`);
  const [began, again] = await follow({ after_lsn: last });
  const seen = await commits(again, committed.at(-1));
  assert.deepEqual([began, seen], [last, committed.slice(-3)]);
  return `${ended}; after the restart the ${seen.length} commits after LSN ${last}, and none twice`;
}

async function followsNoOtherInstance() {
  const messages = stream(memory, 'Subscribe', { brain, after_lsn: 1, instance: crypto.randomUUID() });
  await checkRefused('instance', grpc.status.FAILED_PRECONDITION, 'FOREIGN_INSTANCE', next(messages));
  return 'FAILED_PRECONDITION';
}

const STEPS = [
  isHealthy, asksForItsToken, creates, ingests, ingestsByStream, asks, corrects, isRefused, keepsDeadlines,
  cancels, asksOften, followsFromTheFirst, followsFromNow, resumes, followsNoOtherInstance,
];

async function main() {
  for (const step of STEPS) {
    const name = step.name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    try {
      console.log(`ok: ${name}: ${await step()}`);
    } catch (why) {
      // Whatever it is, the step is named.
      console.log(`FAILED: ${name}: ${why.message}`);
      process.exit(1);
    }
  }
  const { version } = require('@grpc/grpc-js/package.json');
  console.log(`${STEPS.length} steps, ${committed.length} commits, @grpc/grpc-js ${version} over ${args.target}`);
  process.exit(0);
}

main();
