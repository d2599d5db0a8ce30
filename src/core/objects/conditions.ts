// Conditions of a call on what stands under a key (RFC 9110, section 13). Tags are compared as they are shown, without their quotes.

import type { Problem } from '../../problems/problem.ts';
import { problem } from '../../problems/problem.ts';

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

/** For a write: whatever does not hold fails it; null: they hold. */
export function writeFault(conditions: Conditions, present: Present | null): Problem | null {
  if (judgeConditions(conditions, present) === null) return null;
  if (present === null) return problem('OBJECT_NOT_FOUND', { param: 'key' });
  return problem('PRECONDITION_FAILED', {
    message: 'The object under the key is not the one that the call asks for.',
  });
}
