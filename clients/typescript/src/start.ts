// Starts a daemon that outlives this process: in a session of its own, with its log in a file.
//
// Promises: if the daemon ends at once, the error has the last lines of its log; of two daemons started at once one
// wins, and both callers find it. Not here: when to start one (`meet`).

import { spawn, type ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Variables } from './place';

/** Exit code of a daemon whose folder or socket another one has. */
const IN_USE = 75;
/** Milliseconds between looks for a socket. */
const LOOK_EVERY = 10;
/** Milliseconds before another start, while another daemon has the folder. */
const START_EVERY = 250;
/** Bytes at which the log is rotated; one older log stays. */
const LOG_BYTES_MAX = 8 << 20;
/** Bytes of the log that an error shows. */
const LOG_TAIL_BYTES = 1000;
/** Names of amemd's variables that hold a path. */
const PATHS = /^AMEMD_.*(FOLDER|CONFIG|_FILE|_CERTIFICATE|_KEY|_CA)$/;

/** Why no daemon was started, and what to do. `wasTried` is false if none was. */
export class NotStarted extends Error {
  constructor(
    readonly why: string,
    readonly remedy: string,
    readonly wasTried = false,
  ) {
    super(`${why}; ${remedy}`);
  }
}

/** `$AMEMD`, else the first `amemd` on PATH. */
export function program(variables: Variables): string {
  const named = variables['AMEMD'];
  if (named) {
    if (isProgram(named)) return path.resolve(named);
    throw new NotStarted(
      `AMEMD names ${named}, which is not a program`,
      'set AMEMD to the path of amemd, or unset it',
    );
  }
  // An empty entry would be the current folder.
  const folders = (variables['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => path.resolve(folder, 'amemd')).find(isProgram);
  if (found) return found;
  throw new NotStarted('there is no amemd on PATH', 'install amemd, set AMEMD to its path, or start it yourself');
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What to start, and how long to look for it. */
export interface Starting {
  /** Passed on with --socket. */
  socket: string | undefined;
  log: string | undefined;
  variables: Variables;
  /** Finds a socket that accepts connections. */
  search: () => Promise<string | undefined>;
  /** As of performance.now(). */
  until: number;
}

/**
 * Starts a program and waits until `search` finds a socket, which it returns. Throws NotStarted if the program ends,
 * and at `until`. A program that runs by then goes on.
 */
export async function start(file: string, starting: Starting): Promise<string> {
  const { socket, variables, search, until } = starting;
  const log = new Log(starting.log);
  try {
    const given = socket === undefined ? [] : ['--socket', socket];
    let child: Child | undefined = new Child(file, given, variables, log);
    let [started, isInUse] = [performance.now(), false];
    for (;;) {
      // First the status, then the socket: a daemon that found another one has ended since.
      const status = child?.status;
      const found = await search();
      if (found !== undefined) return found;
      if (status === IN_USE) {
        [child, isInUse] = [undefined, true];
      } else if (status !== undefined) {
        throw ended(file, status, log);
      }
      const now = performance.now();
      if (now > until) throw late(file, isInUse, log);
      if (!child && now - started > START_EVERY) {
        [child, started] = [new Child(file, given, variables, log), now];
      }
      await sleep(LOOK_EVERY);
    }
  } finally {
    log.close();
  }
}

function ended(file: string, status: number | string, log: Log): NotStarted {
  const how = typeof status === 'number' ? `exit code ${status}` : status;
  return new NotStarted(
    `${file} ended with ${how}: ${log.tail() || 'it printed nothing'}`,
    `correct what it reports (its log is ${log.file}; \`amemd --check-config\` shows its settings)`,
    true,
  );
}

function late(file: string, isInUse: boolean, log: Log): NotStarted {
  if (isInUse) {
    const why = `a new one found its folder in use: ${log.tail() || 'another daemon has it'}`;
    return new NotStarted(why, 'set AMEMD_SOCKET to the socket of that daemon, or stop it', true);
  }
  const why = `${file} was started and does not listen yet`;
  return new NotStarted(why, `try again in a moment; its log is ${log.file}`, true);
}

/** The daemon's variables: this process's, with paths that do not depend on its folder. */
function environment(variables: Variables): NodeJS.ProcessEnv {
  const given: NodeJS.ProcessEnv = { ...variables };
  for (const [name, value] of Object.entries(variables)) {
    if (value && PATHS.test(name)) given[name] = path.resolve(value);
  }
  // As in the units: malloc otherwise keeps memory for each thread.
  given['MALLOC_ARENA_MAX'] ??= '2';
  return given;
}

/** A process that outlives this one. */
class Child {
  /** The exit code, or how it ended otherwise; undefined while it runs. */
  status: number | string | undefined;

  constructor(file: string, given: string[], variables: Variables, log: Log) {
    const child: ChildProcess = spawn(file, given, {
      // The daemon must not keep this folder busy.
      cwd: '/',
      env: environment(variables),
      // A session of its own.
      detached: true,
      stdio: ['ignore', 'ignore', log.open],
    });
    child.on('error', (error: NodeJS.ErrnoException) => (this.status = `error ${error.code ?? error.message}`));
    child.on('exit', (code, signal) => (this.status = code ?? `signal ${signal}`));
    child.unref();
  }
}

/** The daemon's log, and what it said since. The file and its folder must belong to this user. */
class Log {
  readonly file: string;
  readonly open: number;
  private readonly from: number;

  constructor(file: string | undefined) {
    if (file === undefined) {
      throw new NotStarted('there is no home folder for the log of a new one', 'set HOME, or start amemd yourself');
    }
    this.file = file;
    const folder = path.dirname(file);
    const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const about = fs.lstatSync(folder);
      if (!about.isDirectory()) throw unfit(folder, 'is a link or a file');
      checkOwner(folder, about);
      if ((fs.lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES_MAX) fs.renameSync(file, `${file}.1`);
      // Follow no link, wait for no pipe.
      this.open = fs.openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    } catch (error) {
      if (error instanceof NotStarted) throw error;
      throw unfit(file, `cannot be written: ${(error as NodeJS.ErrnoException).code}`);
    }
    try {
      const about = fs.fstatSync(this.open);
      if (!about.isFile()) throw unfit(file, 'is not a regular file');
      checkOwner(file, about);
      this.from = about.size;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The last lines that were logged since, as one line. */
  tail(): string {
    try {
      const { size } = fs.fstatSync(this.open);
      const from = Math.max(this.from, size - LOG_TAIL_BYTES);
      const bytes = Buffer.alloc(Math.max(0, size - from));
      const text = bytes.toString('utf8', 0, fs.readSync(this.open, bytes, 0, bytes.length, from));
      const lines = text.split('\n').map((line) => line.trim());
      return lines.filter((line) => line !== '').join(' / ');
    } catch {
      return '';
    }
  }

  close(): void {
    fs.closeSync(this.open);
  }
}

function checkOwner(file: string, about: fs.Stats): void {
  if (about.uid !== process.geteuid?.()) throw unfit(file, 'belongs to another user');
}

function unfit(file: string, why: string): NotStarted {
  const remedy = 'move it, set XDG_STATE_HOME to a folder that you own, or start amemd yourself';
  return new NotStarted(`a new one cannot log: ${file} ${why}`, remedy);
}
