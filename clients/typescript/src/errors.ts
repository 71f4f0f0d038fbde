// Errors: one class for each way in which a caller can react.

/** The reason if no daemon answers; no daemon sends it. */
export const NO_DAEMON = 'NO_DAEMON';

/** The base class of this package's errors. */
export class AmemError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/**
 * The daemon refused a call, or was unreachable.
 *
 * `code` is gRPC's, such as NOT_FOUND; `reason` names the case for programs, such as UNKNOWN_EVENT; `details` says what
 * is wrong and what to do; `metadata` has the details for programs.
 */
export class Refused extends AmemError {
  constructor(
    readonly code: string,
    readonly reason: string,
    readonly details: string,
    readonly metadata: Record<string, string> = {},
  ) {
    super(`${code}${reason ? ` (${reason})` : ''}: ${details}`);
  }
}

/** NOT_FOUND: a brain, an event, a session or an edge does not exist. */
export class NotFound extends Refused {}

/** ALREADY_EXISTS: a brain's name or a request id is in use. */
export class AlreadyExists extends Refused {}

/** ABORTED: a precondition of the write does not hold any more. Read again. */
export class ConditionFailed extends Refused {}

/**
 * UNAVAILABLE, for longer than the client retries; with the reason NO_DAEMON, no daemon answers. The outcome of a write
 * is unknown: retry it with the same request id, which is in `metadata.request_id`.
 */
export class Unavailable extends Refused {}

const BY_CODE: Record<string, typeof Refused> = {
  NOT_FOUND: NotFound,
  ALREADY_EXISTS: AlreadyExists,
  ABORTED: ConditionFailed,
  UNAVAILABLE: Unavailable,
};

/** The error for a code. */
export function refused(code: string, reason: string, details: string, metadata?: Record<string, string>): Refused {
  return new (BY_CODE[code] ?? Refused)(code, reason, details, metadata);
}

/** A model gave no answer, or not all of it. `status` is that of HTTP, if a server refused the request. */
export class ModelError extends AmemError {
  constructor(
    message: string,
    readonly status: number | null = null,
  ) {
    super(message);
  }
}

/** A file is damaged: `part` names the section, `position` the byte, `why` the reason. */
export class DamagedFile extends AmemError {
  constructor(
    readonly part: string,
    readonly position: number,
    readonly why: string,
  ) {
    super(`${part} at byte ${position}: ${why}`);
  }
}

/**
 * A file is whole, and a newer version of amemd wrote something into it that this package must not pass over. It is a
 * `DamagedFile` for handlers of files that cannot be read.
 */
export class NewerFile extends DamagedFile {
  constructor(part: string, position: number, what: string) {
    super(part, position, `${what} is of a newer version of amemd: update this package; nothing is damaged`);
  }
}

/**
 * Something was erased from this brain, and the file that replaced this one is not at its path. The old file must not
 * be read any more; open the brain again.
 */
export class MustDrop extends AmemError {}

/**
 * A file was replaced, and its successor cannot be read, so newer commits are missing here. `refresh` continues once
 * the successor is at the path; otherwise open the brain at its new path.
 *
 * `path` is where the brain was opened, `by` the generation that replaced it; `why` says what is at the path instead.
 */
export class Superseded extends AmemError {
  constructor(
    readonly path: string,
    readonly by: bigint,
    readonly why: string,
  ) {
    super(`${path} was replaced by generation ${by}, which can't be read there: ${why}`);
  }
}
