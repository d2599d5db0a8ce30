// Body bytes -> text -> object, with every way a body can be wrong told apart (contract §1).
import { isUtf8 } from 'node:buffer';
import { nestingDepth } from '../../lib/json-source.ts';
import { problem } from '../../problems/problem.ts';
import type { Call } from '../call.ts';
import type { Step } from '../step.ts';
import { refuseHostileKeys } from './hostile-keys.ts';
import { DEPTH_MAX } from './query-value.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i;

/** The pattern takes quadratic time for runs of spaces. */
const TYPE_CHARACTERS_MAX = 200;

export const parseBody: Step = (call) => {
  const { body } = call;
  if (!call.endpoint.takesBody || body === null || body.length === 0) return;
  checkType(call);
  if (!isUtf8(body)) throw problem('MALFORMED_JSON', { message: 'The body is not valid UTF-8.' });
  call.bodyText = body.toString('utf8');
  call.body = null;
  if (nestingDepth(call.bodyText) > DEPTH_MAX) {
    throw problem('MALFORMED_JSON', {
      message: `The body is nested deeper than ${DEPTH_MAX} levels.`,
      detail: 'depth',
    });
  }
  const value = parse(call.bodyText);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw problem('INVALID_REQUEST', { message: 'The body must be a JSON object.', detail: 'body_type' });
  }
  if (mayHoldHostileKeys(call.bodyText)) refuseHostileKeys(value, call.endpoint.opaque);
  call.input = value as Record<string, unknown>;
};

function checkType(call: Call): void {
  const { headers } = call.request;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw problem('UNSUPPORTED_MEDIA_TYPE', {
      message: `The content encoding ${JSON.stringify(encoding)} is not supported; send the body as it is.`,
    });
  }
  const type = headers['content-type'];
  if (type !== undefined && (type.length > TYPE_CHARACTERS_MAX || !JSON_TYPE.test(type))) {
    throw problem('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body as application/json in UTF-8.' });
  }
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
