// One brain: writes (`writing`), queries (`asking`), and the subscription to its commits.
//
// The protos, proto/proto/amem/v1, document what every call does, costs and refuses.

import { Asking } from './asking';
import { given } from './convert';
import { Commits } from './follow';

/** A brain of a daemon. */
export class Brain extends Asking {
  /**
   * Follows the commits after an LSN (0: from the first), by default from now on. `instance` is the instance to which
   * a stored LSN belongs; default: this brain's.
   *
   * The subscription resumes by itself after a lost connection. Refused with reason COMMITS_GONE means that the daemon
   * no longer has the commits after the LSN; `metadata` names the oldest LSN from which it has.
   */
  async subscribe(
    afterLsn?: bigint | number,
    {
      instance,
      includeVectors,
      includeForgotten,
    }: { instance?: string; includeVectors?: boolean; includeForgotten?: boolean } = {},
  ): Promise<Commits> {
    const request = given({ brain: this.name, include_vectors: includeVectors, include_forgotten: includeForgotten });
    if (afterLsn === undefined) return new Commits(this.caller, request).begin();
    request['after_lsn'] = String(afterLsn);
    request['instance'] = instance ?? this.instance;
    return new Commits(this.caller, request);
  }
}
