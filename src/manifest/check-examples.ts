// Checks that schemas compile and that examples are valid calls. A value such as `$0.message_id` stands for a field of an earlier answer, so it
// is not validated against the schema.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { Capability } from '../kit/capability.ts';
import type { EventKind } from '../kit/event-kind.ts';
import { referencedStep } from './example.ts';

interface Checked {
  readonly capability: Capability;
  readonly validate: ValidateFunction | undefined;
  readonly faults: readonly string[];
}

/** Broken schemas, missing, invalid or impossible examples, as sentences that begin with the capability's id. */
export function checkSchemasAndExamples(capabilities: readonly Capability[]): string[] {
  const ajv = createAjv();
  const checked = new Map(capabilities.map((capability) => [capability.id, compile(ajv, capability)]));
  return [...checked.values()].flatMap((each) =>
    [...each.faults, ...exampleFaults(each, checked)].map((fault) => `${each.capability.id}: ${fault}`),
  );
}

/** Kinds of events whose schema does not compile or whose example breaks it. */
export function checkEventExamples(kinds: readonly EventKind[]): string[] {
  const ajv = createAjv();
  return kinds.flatMap(({ type, data, example }) => {
    const { validate, faults } = tryCompile(ajv, data, 'data');
    const valid = validate?.(example) ?? true;
    const broken = valid ? [] : [`the example is not valid: ${ajv.errorsText(validate?.errors)}`];
    return [...faults, ...broken].map((fault) => `${type}: ${fault}`);
  });
}

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
  });
  addFormats.default(ajv);
  return ajv;
}

function compile(ajv: Ajv, capability: Capability): Checked {
  const input = tryCompile(ajv, capability.input, 'input');
  const output = tryCompile(ajv, capability.output, 'output');
  return { capability, validate: input.validate, faults: [...input.faults, ...output.faults] };
}

function tryCompile(ajv: Ajv, schema: object, name: string): { validate?: ValidateFunction; faults: string[] } {
  try {
    return { validate: ajv.compile(schema), faults: [] };
  } catch (error) {
    return { faults: [`the ${name} schema does not compile: ${(error as Error).message}`] };
  }
}

function exampleFaults({ capability }: Checked, all: ReadonlyMap<string, Checked>): string[] {
  if (capability.examples.length === 0) return ['it has no example'];
  return capability.examples.flatMap(({ title, input, before = [] }) => {
    const calls = [...before, { capability: capability.id, input }];
    const faults = calls.flatMap((call, step) => callFaults(call, step, all));
    return faults.map((fault) => `the example "${title}" ${fault}`);
  });
}

function callFaults(
  call: { capability: string; input: object },
  step: number,
  all: ReadonlyMap<string, Checked>,
): string[] {
  const target = all.get(call.capability);
  if (target === undefined) return [`calls ${call.capability}, which does not exist`];
  const future = referencedSteps(call.input).filter((index) => index >= step);
  const { idempotency_key: _taken, ...input } = call.input as Record<string, unknown>;
  const valid = target.validate?.(input) ?? true;
  const errors = valid ? [] : (target.validate?.errors ?? []).filter((error) => !isAnswerReference(input, error));
  return [
    ...future.map((index) => `refers to answer ${index} before it is there`),
    ...errors.map(
      (error) => `is not a valid call of ${call.capability}: ${error.instancePath || 'input'} ${error.message}`,
    ),
  ];
}

function referencedSteps(value: unknown): number[] {
  if (value !== null && typeof value === 'object') return Object.values(value).flatMap(referencedSteps);
  const step = referencedStep(value);
  return step === undefined ? [] : [step];
}

/** Whether the fault lies at a value that is only a reference to an earlier answer. */
function isAnswerReference(input: unknown, error: ErrorObject): boolean {
  const segments = error.instancePath.split('/').slice(1);
  const value = segments.reduce<unknown>(
    (at, segment) => (at as Record<string, unknown> | undefined)?.[unescapePointer(segment)],
    input,
  );
  return referencedStep(value) !== undefined;
}

/** RFC 6901, section 4. */
function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
