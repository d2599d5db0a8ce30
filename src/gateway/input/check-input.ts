// Validates an input against the schema of its capability. Unknown fields are refused, or ignored with a warning. Nothing is coerced.
import type { ErrorObject } from 'ajv';
import { nearest } from '../../lib/nearest.ts';
import { schemaWords } from '../../lib/schema-words.ts';
import { type FieldError, type Problem, problem } from '../../problems/problem.ts';
import type { Endpoint } from '../endpoint.ts';
import { takeSecondNames } from './second-names.ts';
import { findUnknownFields, unknownFieldWarnings } from './unknown-fields.ts';

const ERRORS_MAX = 20;

export interface InputCheck {
  readonly bodyCharacters: number;
  /** Unknown fields are ignored with a warning, where the capability lets the caller ask for that. */
  readonly ignoresUnknown: boolean;
}

/** Warnings of what is ignored. Throws VALIDATION_FAILED for what the capability does not know, or its schema does not let pass. */
export function checkFields(
  input: Record<string, unknown>,
  endpoint: Endpoint,
  { bodyCharacters, ignoresUnknown }: InputCheck,
): string[] {
  takeSecondNames(input, endpoint.secondNames);
  const { unknownFields } = endpoint;
  const isRefused = unknownFields === 'never' || (unknownFields === 'refused' && !ignoresUnknown);
  const unknown = isRefused ? findUnknownFields(input, endpoint) : [];
  const isValid = endpoint.isValid(input);
  const faults = isValid ? [] : describe(endpoint.faults(input, bodyCharacters), input);
  if (unknown.length > 0) throw refusal(unknown, faults);
  if (!isValid) throw refusal([], faults);
  return isRefused ? [] : unknownFieldWarnings(input, endpoint);
}

/** The first fault of both kinds is told: a field that is unknown often stands for one that is missing. */
function refusal(unknown: readonly FieldError[], faults: readonly FieldError[]): Problem {
  const others = faults.filter(({ param }) => !unknown.some((each) => each.param === param));
  const errors = [...unknown, ...others].slice(0, ERRORS_MAX);
  const [first = null] = errors;
  const told = [...unknown.slice(0, 1), ...others.slice(0, 1)].map(({ message }) => message);
  if (told.length === 0) told.push('The input is not valid.');
  const left = new Set(errors.map(({ param }) => param)).size - told.length;
  return problem('VALIDATION_FAILED', {
    message: `${told.join(' ')}${left > 0 ? ` (and ${left} more)` : ''}`,
    detail: first?.rule,
    param: first?.param,
    didYouMean: first?.did_you_mean,
    errors,
  });
}

/** Faults of branches of a union say less than the union's own: only the latter are told. */
function describe(faults: readonly ErrorObject[], input: object): FieldError[] {
  const own = faults.filter((fault) => !/\/(anyOf|oneOf)\/\d+\//.test(fault.schemaPath));
  return (own.length === 0 ? faults : own).slice(0, ERRORS_MAX).map((fault) => {
    const param = paramOf(fault);
    const message = `${param === '' ? 'The input' : param} ${schemaWords(fault)}.`;
    const near = nearValue(fault, input);
    if (near === undefined) return { param, rule: fault.keyword, message };
    return { param, rule: fault.keyword, message: `${message} Did you mean ${near}?`, did_you_mean: near };
  });
}

/** Of those that a field may have, the one that is nearest to what was sent. */
function nearValue({ keyword, params, instancePath }: ErrorObject, input: object): string | undefined {
  if (keyword !== 'enum') return undefined;
  const sent = pointedAt(instancePath).reduce<unknown>(
    (value, name) => (value as Record<string, unknown>)[name],
    input,
  );
  const allowed = (params as { allowedValues: readonly unknown[] }).allowedValues.filter(
    (each) => typeof each === 'string',
  );
  if (typeof sent !== 'string') return undefined;
  return allowed.find((each) => each.toLowerCase() === sent.toLowerCase()) ?? nearest(sent, allowed, 1)[0];
}

/** Names on the way, of a JSON pointer (RFC 6901). */
function pointedAt(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function paramOf(fault: ErrorObject): string {
  const segments = pointedAt(fault.instancePath);
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
