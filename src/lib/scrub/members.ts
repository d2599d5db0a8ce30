// Scrubs members of telemetry records one by one. Thousands of records hold the same names and values, so each pair is scrubbed once. The
// members together equal `scrubEvent` of the whole object: scrub-properties.test.ts compares them.
import { memberName, VALUES } from './named/member-names.ts';
import { NAME } from './named/names.ts';
import { scrubEvent } from './scrub.ts';
import { isCardNumber } from './shapes/cards.ts';
import { MODE, scrubText } from './text.ts';

/** What stands under these says how their neighbours are read, or is read by them. */
const TELLING = new Set([...VALUES, 'kty', 'title']);
const USER = 'user_id';

/** Whether members of this name, and their neighbours, are read alike wherever they stand. An object with another is one for `scrubEvent`. */
export function standsAlone(name: string): boolean {
  const { clean, isCodeLines } = memberName(name, MODE.usual);
  return clean === name && !isCodeLines && !TELLING.has(name);
}

/** The value of a member whose name stands alone. */
export function scrubMember(name: string, value: unknown): unknown {
  const { kind, mode } = memberName(name, MODE.usual);
  if (kind === NAME.plain && name !== USER) {
    if (typeof value === 'string') return scrubText(value, mode);
    if (typeof value === 'boolean' || (typeof value === 'number' && !isCardNumber(value))) return value;
  }
  return Object.values(scrubEvent({ [name]: value }))[0];
}

/** A text that has no name. */
export function scrubMessage(text: string): string {
  return scrubText(text, MODE.usual);
}
