// Body bytes -> object; bodies that may be long are read elsewhere (see ../bulk).
import { problem } from '../../problems/problem.ts';
import type { Call } from '../call.ts';
import type { Gateway, Step } from '../step.ts';
import { readJsonObject } from './json-object.ts';
import { fingerprintPrefix, mayBeKeyed } from './read-idempotency-key.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i;

/** The pattern takes quadratic time for runs of spaces. */
const TYPE_CHARACTERS_MAX = 200;

export const parseBody: Step = (call, gateway) => {
  const { body, endpoint } = call;
  if (!endpoint.takesBody || body === null || body.length === 0) return undefined;
  checkType(call);
  call.body = null;
  if (endpoint.capability.bulk !== undefined) return readBulk(call, gateway);
  const { text, value } = readJsonObject(body, endpoint.opaque);
  call.bodyText = text;
  call.input = value;
  return undefined;
};

async function readBulk(call: Call, { bodies }: Gateway): Promise<void> {
  const outcome = await bodies.read(call.endpoint, call.blocks ?? [], {
    prefix: fingerprintPrefix(call),
    keyed: mayBeKeyed(call),
  });
  call.blocks = null;
  call.bulk = outcome;
  call.input = outcome.input;
}

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
