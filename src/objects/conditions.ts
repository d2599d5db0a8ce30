// Conditional requests on objects (RFC 9110, section 13). Entity tags are compared as they are shown, without their quotes.

import type { Problem } from '../problems/problem.ts';
import { problem } from '../problems/problem.ts';

export interface Conditions {
  /** One of these tags must be there; `*` stands for every tag. */
  readonly ifMatch?: readonly string[];
  /** Tags of which none may be there; `*`: nothing at all. */
  readonly ifNoneMatch?: readonly string[];
  readonly ifModifiedSinceMs?: number;
  readonly ifUnmodifiedSinceMs?: number;
}

interface Present {
  readonly etag: string;
  readonly updated_at: number;
}

const includes = (tags: readonly string[], present: Present) => tags.includes('*') || tags.includes(present.etag);
const seconds = (ms: number) => Math.floor(ms / 1_000);

/** In the order of the RFC; `null`: they hold. `not_modified` only says that a reader has it already. */
export function judgeConditions(conditions: Conditions, present: Present | null): 'failed' | 'not_modified' | null {
  const { ifMatch, ifNoneMatch, ifModifiedSinceMs, ifUnmodifiedSinceMs } = conditions;
  if (ifMatch !== undefined) {
    if (present === null || !includes(ifMatch, present)) return 'failed';
  } else if (ifUnmodifiedSinceMs !== undefined && present !== null) {
    if (seconds(present.updated_at) > seconds(ifUnmodifiedSinceMs)) return 'failed';
  }
  if (ifNoneMatch !== undefined) return present !== null && includes(ifNoneMatch, present) ? 'not_modified' : null;
  if (ifModifiedSinceMs === undefined || present === null) return null;
  return seconds(present.updated_at) <= seconds(ifModifiedSinceMs) ? 'not_modified' : null;
}

/** What must be true of an object for it to be removed. Where there is none, only a tag asks for one. */
export interface RemovalConditions {
  readonly ifMatch?: readonly string[];
  readonly ifBytes?: bigint;
  /** In whole seconds, as clients are told it. */
  readonly ifUpdatedMs?: number;
}

/** Null: they hold. */
export function removalFault(
  { ifMatch, ifBytes, ifUpdatedMs }: RemovalConditions,
  present: (Present & { readonly bytes: bigint }) | null,
): Problem | null {
  const fault = ifMatch === undefined ? null : writeFault({ ifMatch }, present);
  if (fault !== null || present === null) return fault;
  const isSame =
    (ifBytes === undefined || ifBytes === present.bytes) &&
    (ifUpdatedMs === undefined || seconds(ifUpdatedMs) === seconds(present.updated_at));
  return isSame ? null : otherObject();
}

const otherObject = (): Problem =>
  problem('PRECONDITION_FAILED', {
    message: 'The object under the key is not the one that the call asks for.',
  });

/** For a write: whatever does not hold fails it; null: they hold. */
export function writeFault(conditions: Conditions, present: Present | null): Problem | null {
  if (judgeConditions(conditions, present) === null) return null;
  if (present === null) return problem('OBJECT_NOT_FOUND', { param: 'key' });
  return otherObject();
}
