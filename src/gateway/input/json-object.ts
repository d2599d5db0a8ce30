// Body bytes -> text -> object, with a distinct error for every way in which a body can be wrong (contract §1).
import { isUtf8 } from 'node:buffer';
import { admission } from '../../core/admission.ts';
import { membersWithout, nesting } from '../../lib/json-source.ts';
import { problem } from '../../problems/problem.ts';
import { refuseHostileKeys } from './hostile-keys.ts';

/** A heap that is full ends the process while JSON is parsed. */
const { containersMax, depthMax, membersMax } = admission.call;

/** The object that a body is, and its text. Throws MALFORMED_JSON, PAYLOAD_TOO_LARGE, INVALID_REQUEST, VALIDATION_FAILED (hostile keys). */
export function readJsonObject(
  body: Buffer,
  opaque: ReadonlySet<string>,
): { text: string; value: Record<string, unknown> } {
  if (!isUtf8(body)) throw problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' });
  return readJsonText(body.toString('utf8'), opaque);
}

/** As `readJsonObject`, of what is text already. */
export function readJsonText(
  text: string,
  opaque: ReadonlySet<string>,
): { text: string; value: Record<string, unknown> } {
  const { depth, containers, members } = nesting(text);
  if (depth > depthMax) {
    throw problem('MALFORMED_JSON', {
      message: `The body is nested deeper than ${depthMax} levels.`,
      detail: 'depth',
    });
  }
  if (containers > containersMax) {
    throw problem('PAYLOAD_TOO_LARGE', {
      message: `The body has more than ${containersMax} objects and arrays.`,
      detail: 'containers',
    });
  }
  // Nearly always one look is enough.
  if (members > membersMax && membersWithout(text, opaque) > membersMax) {
    throw problem('PAYLOAD_TOO_LARGE', {
      message: `The body has more than ${membersMax} members outside of values that are stored as they are.`,
      detail: 'members',
    });
  }
  const value = parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw problem('INVALID_REQUEST', { message: 'The body must be a JSON object.', detail: 'body_type' });
  }
  if (mayHoldHostileKeys(text)) refuseHostileKeys(value, opaque);
  return { text, value: value as Record<string, unknown> };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw problem('MALFORMED_JSON', { message: 'The body is not valid JSON.', cause: error });
  }
}

/** A text without these letters or escapes cannot hold a hostile key. */
function mayHoldHostileKeys(text: string): boolean {
  return text.includes('proto') || text.includes('\\u');
}
