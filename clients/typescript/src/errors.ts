// What can go wrong: one class for each thing that a caller may do about it.

/** Every error of this package. */
export class AmemError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/**
 * The daemon refused a call, or could not be reached.
 *
 * `code` is gRPC's, such as NOT_FOUND; `reason` says which case of it, for machines, such as UNKNOWN_EVENT; `details`
 * says what was wrong and what would be right; `metadata` has what a program may need of it.
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

/** NOT_FOUND: a brain, an event, a session or an edge is not there. */
export class NotFound extends Refused {}

/** ALREADY_EXISTS: a brain's name is taken, or a request id was used for another request. */
export class AlreadyExists extends Refused {}

/** ABORTED: what the caller knew is not so any more. Read again. */
export class ConditionFailed extends Refused {}

/**
 * UNAVAILABLE, for longer than calls are tried again. Of a write the outcome is unknown: try it again with the same
 * request id, which is in `metadata.request_id`.
 */
export class Unavailable extends Refused {}

const BY_CODE: Record<string, typeof Refused> = {
  NOT_FOUND: NotFound,
  ALREADY_EXISTS: AlreadyExists,
  ABORTED: ConditionFailed,
  UNAVAILABLE: Unavailable,
};

/** The error of a code. */
export function refused(code: string, reason: string, details: string, metadata?: Record<string, string>): Refused {
  return new (BY_CODE[code] ?? Refused)(code, reason, details, metadata);
}

/** A file is not what it must be: which part, at which byte, and why. */
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
 * Something was erased from this brain, and its file was replaced by one that cannot be found from here: the old one
 * may not be read any more. Open the brain again.
 */
export class MustDrop extends AmemError {}

/**
 * A file was replaced, and what replaced it can't be read: what was committed since is missing here. `refresh` goes on
 * once it is there again; else open the brain where it is now.
 *
 * `path` is where the brain was opened, `by` the generation that replaced it; `why` says what stands there instead.
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
