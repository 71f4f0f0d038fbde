// Where a daemon and its clients meet: folders, default socket, and the sockets that a client tries.
//
// The rules are those of docs/decisions/0024-one-place-to-meet.md; clients/places.json has the cases for every
// language. Not here: connecting, and starting a daemon (`meet`, `start`).

import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

export const SYSTEM_SOCKET = '/run/amemd/amemd.sock';
/** Bytes of the longest default socket. A path has at most 107, and the daemon binds a longer, temporary name first. */
const SOCKET_BYTES_MAX = 90;
/** The folder of a short socket, before the hash. */
const SHORT = '/tmp/amem-';
/** Bytes that are read of a lock and of `last-daemon`. */
const FILE_BYTES_MAX = 16 << 10;

export type Variables = Readonly<Record<string, string | undefined>>;

/** The home folder in the password database. */
function accountHome(): string | undefined {
  try {
    return os.userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** The paths that an environment names. A variable that is no absolute path counts as unset. */
export class Places {
  /** The default folder of brains; undefined without a home folder. */
  readonly folder: string | undefined;
  /** The default socket; undefined without a home folder. */
  readonly socket: string | undefined;
  /** The log of a daemon that a client starts. */
  readonly log: string | undefined;
  /** Folder and socket of the last daemon that had another folder. */
  private readonly last: { folder: string; socket: string } | undefined;

  constructor(
    private readonly variables: Variables,
    account: () => string | undefined = accountHome,
    private readonly uid: number = process.getuid?.() ?? 0,
  ) {
    const home = this.path('HOME') ?? absolute(account());
    const own = home && join(home, '.local/share/amem');
    const given = this.path('XDG_DATA_HOME');
    const data = given ? join(given, 'amem') : own;
    this.last = own && !given ? lastDaemon(own) : undefined;
    this.folder = this.last?.folder ?? (data && join(data, 'brains'));
    this.socket = this.last?.socket ?? (data && short(join(data, 'run/amemd.sock')));
    const state = this.path('XDG_STATE_HOME') ?? (home && join(home, '.local/state'));
    this.log = state && join(state, 'amem/amemd.log');
  }

  private path(name: string): string | undefined {
    return absolute(this.variables[name]);
  }

  /** The sockets that a client without a given one tries, in order. Reads the locks again. */
  sockets(): string[] {
    const run = this.path('XDG_RUNTIME_DIR') ?? `/run/user/${this.uid}`;
    const named = this.variables['AMEMD_FOLDER'];
    const folder = named ? path.resolve(named) : this.folder;
    const found = [this.socket, join(run, 'amemd/amemd.sock'), lockedBy(folder)];
    if (this.last) found.push(this.last.socket, lockedBy(this.last.folder));
    found.push(SYSTEM_SOCKET);
    return [...new Set(found.filter((one): one is string => one !== undefined))];
  }
}

/** The path, if it is absolute. */
function absolute(given: string | undefined): string | undefined {
  return given && path.isAbsolute(given) ? given : undefined;
}

/** Unlike path.join, this keeps the bytes of the folder, which are hashed. */
function join(folder: string, rest: string): string {
  return folder.endsWith('/') ? folder + rest : `${folder}/${rest}`;
}

/** True if the folder of a short socket is not a folder of this user: another user could listen there. */
export function isForeign(socket: string, start: string = SHORT, uid = process.geteuid?.()): boolean {
  const folder = path.dirname(socket);
  if (!folder.startsWith(start)) return false;
  const about = fs.lstatSync(folder, { throwIfNoEntry: false });
  return about !== undefined && (!about.isDirectory() || about.uid !== uid);
}

function short(socket: string): string {
  const name = Buffer.from(socket);
  if (name.length <= SOCKET_BYTES_MAX) return socket;
  let hash = 0xcbf29ce484222325n;
  for (const byte of name) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `${SHORT}${hash.toString(16).padStart(16, '0')}/amemd.sock`;
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Folder and socket in `last-daemon`, unless that folder is gone or the folder of brains beside the file has a brain. */
function lastDaemon(own: string): { folder: string; socket: string } | undefined {
  const lines = linesOf(join(own, 'last-daemon'));
  const [folder, socket] = [absolute(lines.get('folder')), absolute(lines.get('socket'))];
  if (!folder || !socket || !isFolder(folder)) return undefined;
  const [written, here] = [writtenPlace(lines), placeOf(own)];
  // A folder that was moved has its numbers still, a restored one its path; a copy has neither.
  if (written && here && written.numbers !== here.numbers && written.path !== here.path) return undefined;
  let names: string[] = [];
  try {
    names = fs.readdirSync(join(own, 'brains'));
  } catch {
    // There is none, or it cannot be read.
  }
  return names.some((name) => name.endsWith('.amem')) ? undefined : { folder, socket };
}

/** The socket of the daemon that had a folder last; none in a copy of that folder, whose daemon has the original. */
function lockedBy(folder: string | undefined): string | undefined {
  if (!folder) return undefined;
  const lines = linesOf(join(folder, '.amemd/lock'));
  const [written, here] = [writtenPlace(lines), placeOf(folder)];
  if (written && here && written.numbers !== here.numbers) return undefined;
  return absolute(lines.get('socket'));
}

/** A folder: the numbers of its device and inode, and its path without links. */
interface FolderPlace {
  numbers: string;
  path: string;
}

/** The folder that a file was written for; none in files of earlier releases. */
function writtenPlace(lines: Map<string, string>): FolderPlace | undefined {
  const parts = /^([0-9]+ [0-9]+) (.*)$/.exec(lines.get('at') ?? '');
  return parts ? { numbers: parts[1] ?? '', path: parts[2] ?? '' } : undefined;
}

function placeOf(folder: string): FolderPlace | undefined {
  try {
    const about = fs.statSync(folder, { bigint: true });
    return { numbers: `${about.dev} ${about.ino}`, path: fs.realpathSync(folder) };
  } catch {
    return undefined;
  }
}

/** The lines `name value` of a file; none if it cannot be read. */
function linesOf(file: string): Map<string, string> {
  let text = '';
  try {
    // A pipe at this path must not block.
    const open = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(FILE_BYTES_MAX);
      text = bytes.toString('utf8', 0, fs.readSync(open, bytes));
    } finally {
      fs.closeSync(open);
    }
  } catch {
    // As if it were empty.
  }
  const rows = text.split('\n').map((line): [string, string] => {
    const at = line.indexOf(' ');
    return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
  });
  return new Map(rows);
}
