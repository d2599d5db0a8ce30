// Secret fields of inputs: JSON Schema's `writeOnly` marks them, and the request log stores none of them. A field whose name or description
// suggests a secret must have the mark. Otherwise it is listed here with the reason why reading it grants nothing.
import type { Capability } from '../kit/capability.ts';
import { asJsonSchema, fieldsWithin, type JsonSchema } from './json-schema.ts';

const SECRET_NAME =
  /(^|_)(secrets?|password|passphrase|passcode|token|credentials?|authorization|code|otp|pin|headers|private_key|api_key|access_key)$/;
const SECRET_WORDS =
  /\b(secrets?|passwords?|passphrase|token|credentials?|authorization|private keys?|API keys?|access keys?|one-time code|bearer)\b/i;

/** By `capability field`. */
const NOT_SECRET: Readonly<Record<string, string>> = {
  'account.usage key_id': 'names a key, and is not the key',
  'account.usage.timeseries key_id': 'names a key, and is not the key',
  'account.ledger.list key_id': 'names a key, and is not the key',
  'account.requests.list key_id': 'names a key, and is not the key',
  'account.requests.list code': 'an error code',
  'account.webhooks.receive.create verify.header': 'the name of a header',
  'account.webhooks.receive.update verify.header': 'the name of a header',
  'errors.capture code': 'an error code',
  'email.send headers': 'every recipient sees them',
  'email.batch.send items[].headers': 'every recipient sees them',
  'queue.publish headers': 'of the message, which every consumer sees; credentials by name are taken out',
  'queue.batch.publish items[].headers': 'of the message, which every consumer sees; credentials by name are taken out',
  'realtime.publish channel': 'a name',
  'realtime.authorize channel': 'a name; the authorization is the answer',
  'realtime.authorize channels': 'names; the token is the answer',
  'realtime.history channel': 'a name',
  'storage.bucket.settings cors[].headers': 'names of headers',
  'risk.score context': 'kept with the decision and shown there',
  'rtc.token socket_id': 'names a connection; the signature is the answer',
};

/** Names on the way to each field that is secret: `['messages', 'token']` of `messages[].token`. */
export function secretPaths({ input }: Pick<Capability, 'input'>): readonly (readonly string[])[] {
  const known = pathsByInput.get(input);
  if (known !== undefined) return known;
  const paths = fieldsWithin(asJsonSchema(input))
    .filter(({ schema }) => schema.writeOnly === true)
    .map(({ path }) => path.replaceAll('[]', '').split('.'));
  pathsByInput.set(input, paths);
  return paths;
}

const pathsByInput = new WeakMap<object, readonly (readonly string[])[]>();

/** Fields that read like secrets and are none of either. */
export function untoldSecrets({ id, input }: Pick<Capability, 'id' | 'input'>): string[] {
  return fieldsWithin(asJsonSchema(input))
    .filter(({ path, schema }) => schema.writeOnly !== true && holdsText(schema) && readsLikeSecret(path, schema))
    .filter(({ path }) => NOT_SECRET[`${id} ${path}`] === undefined)
    .map(({ path }) => path);
}

function readsLikeSecret(path: string, { description = '' }: JsonSchema): boolean {
  return SECRET_NAME.test(path.slice(path.lastIndexOf('.') + 1)) || SECRET_WORDS.test(description);
}

/** Numbers, flags and words of a list are no secrets. */
function holdsText(schema: JsonSchema): boolean {
  if (schema.enum !== undefined || schema.const !== undefined) return false;
  const types = [schema.type ?? 'any'].flat();
  return types.some((type) => type !== 'integer' && type !== 'number' && type !== 'boolean' && type !== 'null');
}
