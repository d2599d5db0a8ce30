// Filters: which requests become messages. The rule is JsonLogic as flags have it, bounded when it is written; of a request it sees the fields
// that it names.
import { ruleHolds } from '../../../kit/json-logic/hold.ts';

export interface Filter {
  readonly events: readonly string[];
  /** A rule that answers true or false; null: none. */
  readonly json: unknown;
}

/** `unsure`: the rule could not be asked, for what it names in the request is too large. */
export type Verdict = 'passes' | 'filtered' | 'unsure';

/** A rule that fails, as by an operator on what is none of its values, lets the request pass: nothing is lost by it. */
export function judge({ events, json }: Filter, request: Readonly<Record<string, unknown>>): Verdict {
  if (events.length > 0 && !events.some((event) => isMatch(event, request.event))) return 'filtered';
  if (json === null) return 'passes';
  const holds = ruleHolds(json, request);
  if (holds === null) return 'unsure';
  return holds ? 'passes' : 'filtered';
}

function isMatch(wanted: string, event: unknown): boolean {
  if (typeof event !== 'string') return false;
  return wanted.endsWith('*') ? event.startsWith(wanted.slice(0, -1)) : event === wanted;
}
