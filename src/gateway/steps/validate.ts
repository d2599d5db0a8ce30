// Path, query and body become one input object, checked against the capability's schema. Bodies are never coerced.
import { isDeepStrictEqual } from 'node:util';
import type { ErrorObject } from 'ajv';
import { instantForm } from '../../lib/instant.ts';
import { type FieldError, invalidField, problem } from '../../problems/problem.ts';
import type { Call } from '../call.ts';
import type { Endpoint, FieldSchema } from '../endpoint.ts';
import type { Step } from '../step.ts';
import { refuseHostileKeys } from './hostile-keys.ts';
import { brokenMember, fromPath, fromQuery, groupQuery } from './query-value.ts';
import { unknownFieldWarnings } from './unknown-fields.ts';

const ERRORS_MAX = 20;
const NAME_CHARACTERS_MAX = 200;
const PARAMETERS_NAMED_MAX = 20;

type CheckedEndpoint = Pick<Endpoint, 'isValid' | 'faults'>;

export const validate: Step = (call) => {
  mergeQuery(call);
  mergePath(call);
  if (call.bulk === null) {
    call.warnings.push(...unknownFieldWarnings(call.input, call.endpoint));
    refuseInvalid(call.input, call.endpoint, call.bodyText.length);
    return;
  }
  call.warnings.push(...call.bulk.warnings);
  if (call.bulk.failure !== null) throw call.bulk.failure;
};

/** Throws VALIDATION_FAILED for what the schema does not let pass. */
export function refuseInvalid(input: Record<string, unknown>, endpoint: CheckedEndpoint, bodyCharacters: number): void {
  if (endpoint.isValid(input)) return;
  const errors = describe(endpoint.faults(input, bodyCharacters));
  const [first] = errors;
  const several = new Set(errors.map((error) => error.param)).size;
  throw problem('VALIDATION_FAILED', {
    message:
      first === undefined
        ? 'The input is not valid.'
        : several > 1
          ? `${first.message} (and ${several - 1} more)`
          : first.message,
    detail: first?.rule,
    param: first?.param,
    errors,
  });
}

function mergePath(call: Call): void {
  const { params } = call.request;
  // A free-form body is data: a member of it that bears the name of a path parameter says nothing about the path.
  const isFreeForm = call.endpoint.unknownFields === 'taken';
  for (const name of call.endpoint.pathFields) {
    if (isFreeForm) delete call.input[name];
    merge(call, name, fromPath(params[name] ?? '', fieldSchema(call, name)), 'path');
  }
}

function mergeQuery(call: Call): void {
  const { query } = call.request;
  if (query.size === 0) return;
  const { method } = call.endpoint.capability;
  const parameters = groupQuery(query, call.endpoint.fields);
  if (method !== 'GET' && method !== 'DELETE') {
    call.warnings.push(...ignoredParameters([...parameters.keys()], method));
    return;
  }
  for (const [name, parameter] of parameters) {
    const object = brokenMember(name, call.endpoint.fields);
    if (object !== null) throw invalidField(object, 'pattern', `Write a member of ${object} as ${object}[name]=value.`);
    if (name === '__proto__') {
      throw invalidField(name, 'forbidden_key', 'The parameter name is not allowed.');
    } else if (!call.endpoint.pathFields.includes(name) && !(name === 'idempotency_key' && method === 'DELETE')) {
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
  const { fields } = call.endpoint;
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? {};
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

/** Faults of branches of a union say less than the union's own: only the latter are told. */
function describe(faults: readonly ErrorObject[]): FieldError[] {
  const own = faults.filter((fault) => !/\/(anyOf|oneOf)\/\d+\//.test(fault.schemaPath));
  return (own.length === 0 ? faults : own).slice(0, ERRORS_MAX).map((fault) => {
    const param = paramOf(fault);
    return { param, rule: fault.keyword, message: `${param === '' ? 'The input' : param} ${sentence(fault)}.` };
  });
}

function paramOf(fault: ErrorObject): string {
  const segments = fault.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  const extra = fault.params as { missingProperty?: string; additionalProperty?: string };
  const last = extra.missingProperty ?? extra.additionalProperty;
  if (last !== undefined) segments.push(last);
  return segments
    .reduce(
      (path, segment) => (/^\d+$/.test(segment) ? `${path}[${segment}]` : path === '' ? segment : `${path}.${segment}`),
      '',
    )
    .slice(0, 200);
}

function sentence(fault: ErrorObject): string {
  if (fault.keyword === 'required') return 'is required';
  if (fault.keyword === 'enum')
    return `must be one of ${(fault.params as { allowedValues: unknown[] }).allowedValues.map(String).join(', ')}`;
  if (fault.keyword === 'format' && fault.params.format === 'date-time') return `must be ${instantForm}`;
  return fault.message ?? 'is not valid';
}
