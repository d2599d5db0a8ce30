// Reads an input given as JSON text with all fields in one object, from another protocol or another module. It is read and checked like a body;
// opaque values are cut from the text, byte for byte. Under one idempotency key it equals the same request over REST, except for query fields.
import { fingerprintPrefix, KEY_FIELD, requestFingerprint } from '../../core/idempotency/fingerprint.ts';
import { memberSources } from '../../lib/json-source.ts';
import type { BulkOutcome } from '../bulk/outcome.ts';
import type { Call } from '../call.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Gateway } from '../gateway.ts';
import { shortBody } from '../log-call.ts';
import { checkFields } from './check-input.ts';
import { takeIdempotencyKey } from './idempotency-key.ts';
import { readJsonText } from './json-object.ts';
import { takeSecondNames } from './second-names.ts';

/** Fills in the call's input. `fingerprint`: in place of the input's own. Throws the Problem of what is wrong with it. */
export async function readInput(
  call: Call,
  gateway: Gateway,
  text: string,
  { key: idempotencyKey, fingerprint }: { readonly key: string | null; readonly fingerprint?: string | undefined },
) {
  const beside = idempotencyKey === null ? [] : [idempotencyKey];
  const { endpoint } = call;
  if (endpoint.capability.bulk !== undefined) {
    const key = {
      prefix: fingerprintPrefix({}),
      sent: idempotencyKey,
      ignoresUnknown: call.ignoresUnknown,
      isFingerprinted: gateway.ruleSets.mayMeet(call.accountId, call.principal, endpoint.capability),
    };
    const body = Buffer.from(text);
    call.body = shortBody(body);
    const bulk = await gateway.bodies.read(call.accountId, endpoint, [body], key);
    call.input = bulk.input;
    call.contentHash = bulk.fingerprint ?? '';
    takeIdempotencyKey(call, beside, () => fingerprint ?? (bulk.fingerprint as string));
    checkInput(call, bulk);
    return;
  }
  const { value } = readJsonText(text, endpoint.opaque);
  const { pathFields, unknownFields } = endpoint;
  const pathNames = namesOfPath(endpoint, value);
  takeSecondNames(value, endpoint.secondNames);
  call.input = value;
  call.inputText = unknownFields === 'taken' ? withoutMembers(text, pathNames) : text;
  takeIdempotencyKey(call, beside, () => {
    if (fingerprint !== undefined) return fingerprint;
    const params = Object.fromEntries(pathFields.map((name) => [name, value[name]]));
    return requestFingerprint(fingerprintPrefix(params), text, new Set([KEY_FIELD, ...pathNames]));
  });
  checkInput(call, null);
}

/** `bulk`: what came of a body that was read elsewhere. Throws VALIDATION_FAILED. */
export function checkInput(call: Call, bulk: BulkOutcome | null): void {
  if (bulk === null) {
    const { input, endpoint, ignoresUnknown, inputText } = call;
    call.warnings.push(...checkFields(input, endpoint, { bodyCharacters: inputText.length, ignoresUnknown }));
    return;
  }
  call.warnings.push(...bulk.warnings);
  if (bulk.failure !== null) throw bulk.failure;
}

/** The names by which the input may have fields of the path. A free-form input that has a first name has data under the second one. */
function namesOfPath({ pathFields, unknownFields, secondNames }: Endpoint, value: Record<string, unknown>): string[] {
  const seconds = [...secondNames.first].filter(([, name]) => pathFields.includes(name));
  const isData = ([, name]: readonly [string, string]) => unknownFields === 'taken' && Object.hasOwn(value, name);
  for (const [second] of seconds.filter(isData)) delete value[second];
  return [...pathFields, ...seconds.filter((pair) => !isData(pair)).map(([second]) => second)];
}

function withoutMembers(text: string, names: readonly string[]): string {
  if (names.length === 0) return text;
  const left = [...memberSources(text)].filter(([name]) => !names.includes(name));
  return `{${left.map(([name, { start, end }]) => `${JSON.stringify(name)}:${text.slice(start, end)}`).join(',')}}`;
}
