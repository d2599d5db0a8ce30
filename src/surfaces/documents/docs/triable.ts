// Selects the capabilities that have a "Try it" form, linked from the documentation and served by the console.
import { moduleOf, OPERATOR_MODULE } from '../../../core/callers/scopes.ts';
import type { Capability } from '../../../kit/capability.ts';

/** Not what only API keys may call, and not the operator's, which has pages of its own. */
export function isTriable({ id, needsKey }: Capability): boolean {
  return needsKey !== true && moduleOf(id) !== OPERATOR_MODULE;
}

/** Where it is tried, from the root of the service. */
export function tryAddress({ id }: Pick<Capability, 'id'>): string {
  return `/console/try/${id}`;
}
