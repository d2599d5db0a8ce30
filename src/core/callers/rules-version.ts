// The version of an account's approval rules in a commit. A call that was looked at under other rules is not committed: the gateway looks at it
// again.
import { Problem, problem } from '../../problems/problem.ts';
import type { Principal } from './principal.ts';

const CHANGED = 'approval_rules_changed';

/** `version`: under the lock of the wallet. */
export function isUnderOtherRules({ rulesVersion }: Principal, version: bigint): boolean {
  return rulesVersion !== null && rulesVersion !== version;
}

/** Told only where the call cannot be looked at again, such as an upload that was read. */
export function rulesChanged(): Problem {
  return problem('SERVICE_UNAVAILABLE', {
    message: 'The approval rules of the account were changed while the call ran. Send it again.',
    detail: CHANGED,
    retryAfterMs: 1_000,
  });
}

export function isRulesChanged(error: unknown): boolean {
  return error instanceof Problem && error.detail === CHANGED;
}
