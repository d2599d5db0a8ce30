// Body bytes -> object; bodies that may be long are read elsewhere (see ../bulk).
import { problem } from '../../problems/problem.ts';
import type { BulkOutcome } from '../bulk/outcome.ts';
import type { Call } from '../call.ts';
import type { Gateway, Step } from '../step.ts';
import { readJsonObject } from './json-object.ts';
import { fingerprintPrefix, keyBesideBody } from './read-idempotency-key.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i;

/** The pattern takes quadratic time for runs of spaces. */
const TYPE_CHARACTERS_MAX = 200;

/** No body is an object without fields. */
const EMPTY_OBJECT = Buffer.from('{}');

export const parseBody: Step = (call, gateway) => {
  const { body, endpoint } = call;
  const isBulk = endpoint.capability.bulk !== undefined;
  if (!endpoint.takesBody) return undefined;
  if (body === null || body.length === 0) return isBulk ? readBulk(call, [EMPTY_OBJECT], gateway) : undefined;
  checkType(call);
  const blocks = call.blocks ?? [body as Buffer<ArrayBuffer>];
  call.body = null;
  call.blocks = null;
  if (isBulk) return readBulk(call, blocks, gateway);
  const { text, value } = readJsonObject(body, endpoint.opaque);
  call.bodyText = text;
  call.input = value;
  return undefined;
};

function readBulk(call: Call, body: readonly Uint8Array<ArrayBuffer>[], { bodies }: Gateway): void | Promise<void> {
  const take = (outcome: BulkOutcome) => {
    call.bulk = outcome;
    call.input = outcome.input;
  };
  const key = { prefix: fingerprintPrefix(call), sent: keyBesideBody(call) };
  const outcome = bodies.read(call.accountId, call.endpoint, body, key);
  if (outcome instanceof Promise) return outcome.then(take);
  take(outcome);
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
