// An input against the schema of its capability. Nothing is coerced.
import type { ErrorObject } from 'ajv';
import { schemaWords } from '../../lib/schema-words.ts';
import { type FieldError, problem } from '../../problems/problem.ts';
import type { Endpoint } from '../endpoint.ts';

const ERRORS_MAX = 20;

type CheckedEndpoint = Pick<Endpoint, 'isValid' | 'faults'>;

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

/** Faults of branches of a union say less than the union's own: only the latter are told. */
function describe(faults: readonly ErrorObject[]): FieldError[] {
  const own = faults.filter((fault) => !/\/(anyOf|oneOf)\/\d+\//.test(fault.schemaPath));
  return (own.length === 0 ? faults : own).slice(0, ERRORS_MAX).map((fault) => {
    const param = paramOf(fault);
    return { param, rule: fault.keyword, message: `${param === '' ? 'The input' : param} ${schemaWords(fault)}.` };
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
