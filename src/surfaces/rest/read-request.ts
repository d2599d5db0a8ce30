// The input of a REST call: path, query and body become one object. Only path and query values are coerced, by the schema.
import { isDeepStrictEqual } from 'node:util';
import { fingerprintPrefix, KEY_FIELD, requestFingerprint } from '../../core/idempotency/fingerprint.ts';
import type { BulkOutcome } from '../../gateway/bulk/outcome.ts';
import type { Call } from '../../gateway/call.ts';
import type { FieldSchema } from '../../gateway/field-schema.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { refuseHostileKeys } from '../../gateway/input/hostile-keys.ts';
import { takeIdempotencyKey } from '../../gateway/input/idempotency-key.ts';
import { readJsonObject } from '../../gateway/input/json-object.ts';
import { checkInput } from '../../gateway/input/read-input.ts';
import { invalidField, problem } from '../../problems/problem.ts';
import type { ArrivedRequest } from './call-slot.ts';
import { brokenMember, fromPath, fromQuery, groupQuery } from './query-value.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i;
/** The pattern takes quadratic time for runs of spaces. */
const TYPE_CHARACTERS_MAX = 200;
const NAME_CHARACTERS_MAX = 200;
const PARAMETERS_NAMED_MAX = 20;
const KEY_HEADER = 'idempotency-key';
const UNKNOWN_HEADER = 'x-qm-unknown-fields';
/** No body is an object without fields. */
const EMPTY_OBJECT = Buffer.from('{}');

type Blocks = readonly Uint8Array<ArrayBuffer>[];

/** Fills in the call's input. `body`: in blocks where it may be long. Throws the Problem of what is wrong with the request. */
export async function readRequest(call: Call, gateway: Gateway, request: ArrivedRequest, body: Blocks): Promise<void> {
  const { endpoint } = call;
  const isEmpty = body.length === 0 || body[0]?.length === 0;
  if (endpoint.takesBody && !isEmpty) checkType(request);
  const { params, query } = request;
  call.ignoresUnknown = ignoresUnknown(request);
  const inHeader = headerKeys(request);
  let bulk: BulkOutcome | null = null;
  if (endpoint.takesBody && endpoint.capability.bulk !== undefined) {
    const key = {
      prefix: fingerprintPrefix(params, query),
      sent: inHeader[0] ?? null,
      ignoresUnknown: call.ignoresUnknown,
      isFingerprinted: gateway.ruleSets.mayMeet(call.accountId, call.principal, endpoint.capability),
    };
    const reading = gateway.bodies.read(call.accountId, endpoint, isEmpty ? [EMPTY_OBJECT] : body, key);
    bulk = reading instanceof Promise ? await reading : reading;
    call.input = bulk.input;
    call.contentHash = bulk.fingerprint ?? '';
  } else if (endpoint.takesBody && !isEmpty) {
    const { text, value } = readJsonObject(body[0] as Buffer, endpoint.opaque);
    call.inputText = text;
    call.input = value;
  }
  const beside = takesQuery(call) ? [...inHeader, ...query.getAll(KEY_FIELD)] : inHeader;
  const fingerprint = () => bulk?.fingerprint ?? requestFingerprint(fingerprintPrefix(params, query), call.inputText);
  takeIdempotencyKey(call, beside, fingerprint);
  call.sentHeaders = headersRead(call, request);
  mergeQuery(call, query);
  mergePath(call, params);
  checkInput(call, bulk);
}

/** Whether the caller asks to have unknown fields ignored with a warning. */
export function ignoresUnknown({ headers }: Pick<ArrivedRequest, 'headers'>): boolean {
  return headers[UNKNOWN_HEADER] === 'warn';
}

/** A comma may stand in one key, or between the keys of several headers. */
function headerKeys(request: ArrivedRequest): readonly string[] {
  const header = request.headers[KEY_HEADER] as string | undefined;
  if (header === undefined) return [];
  return header.includes(', ') ? request.headerValues(KEY_HEADER) : [header];
}

function headersRead({ endpoint }: Call, { headers }: ArrivedRequest): Record<string, string> {
  const names = Object.keys(endpoint.capability.readsHeaders ?? {}).map((name) => name.toLowerCase());
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function mergePath(call: Call, params: ArrivedRequest['params']): void {
  // A free-form body is data: a member of it that bears the name of a path parameter says nothing about the path.
  const { unknownFields, pathFields, secondNames } = call.endpoint;
  if (unknownFields === 'taken') {
    for (const name of [...pathFields, ...secondNames.first.keys()]) delete call.input[name];
  }
  for (const name of pathFields) {
    merge(call, name, fromPath(params[name] ?? '', fieldSchema(call, name)), 'path');
  }
}

function takesQuery({ endpoint }: Call): boolean {
  const { method } = endpoint.capability;
  return method === 'GET' || method === 'DELETE';
}

function mergeQuery(call: Call, query: URLSearchParams): void {
  if (query.size === 0) return;
  const parameters = groupQuery(query, call.endpoint.fieldsByName);
  if (!takesQuery(call)) {
    call.warnings.push(...ignoredParameters([...parameters.keys()], call.endpoint.capability.method));
    return;
  }
  for (const [name, parameter] of parameters) {
    const object = brokenMember(name, call.endpoint.fieldsByName);
    if (object !== null) throw invalidField(object, 'pattern', `Write a member of ${object} as ${object}[name]=value.`);
    if (name === '__proto__') {
      throw invalidField(name, 'forbidden_key', 'The parameter name is not allowed.');
    } else if (!call.endpoint.pathFields.includes(name) && name !== KEY_FIELD) {
      merge(call, name, fromQuery(parameter, fieldSchema(call, name)), 'query');
    }
  }
}

/** A few are told by their names: a request line has room for thousands. */
function ignoredParameters(names: readonly string[], method: string): string[] {
  const named = names
    .slice(0, PARAMETERS_NAMED_MAX)
    .map((name) => `${name.slice(0, NAME_CHARACTERS_MAX)}: ignored, query parameters are not used by ${method} calls`);
  const more = names.length - named.length;
  return more === 0 ? named : [...named, `and ${more} more query parameters, ignored`];
}

function fieldSchema(call: Call, name: string): FieldSchema {
  const { fieldsByName } = call.endpoint;
  return (Object.hasOwn(fieldsByName, name) ? fieldsByName[name] : undefined) ?? {};
}

/** No field holds NUL, which no text of ours may hold; in JSON bodies the schema of each field says what it may hold. */
function merge(call: Call, name: string, value: unknown, place: 'path' | 'query'): void {
  if (holdsNul(value)) throw invalidField(name, 'characters', `${name} must not contain NUL.`);
  if (value !== null && typeof value === 'object') refuseHostileKeys(value, call.endpoint.opaque, name);
  if (Object.hasOwn(call.input, name) && !isDeepStrictEqual(call.input[name], value)) {
    throw invalidField(name, `${place}_mismatch`, `${name} in the body differs from ${name} in the ${place}.`);
  }
  call.input[name] = value;
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return value !== null && typeof value === 'object' && Object.values(value).some(holdsNul);
}

function checkType({ headers }: ArrivedRequest): void {
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
