// One brain: what it can be told (`writing`), what it can be asked (`asking`), and following what is told to it.
//
// What every call does, costs and refuses is told in the protos, proto/proto/amem/v1.

import { Asking } from './asking';
import { given } from './convert';
import { Commits } from './follow';

/** A brain of a daemon. */
export class Brain extends Asking {
  /**
   * Follows the commits after an LSN, 0 being from the first, or from now on. An LSN that was kept from before is of
   * the instance that it was kept with; of this brain's if none is given.
   *
   * It goes on by itself after a lost connection. Refused with reason COMMITS_GONE says that commits after the LSN are
   * not held any more, and in `metadata` after which they are.
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
