// A capability prepared for calls: validators compiled once, at the first call, and fields sorted into path, query and body.
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { admission } from '../core/admission.ts';
import { type Capability, isAdministered, pathParameters } from '../kit/capability.ts';
import type { Module } from '../kit/module.ts';
import { once, onceFor } from '../lib/once.ts';
import { refusesUnknownFields } from '../manifest/describe.ts';
import { type FieldSchema, takesUnknownFields } from './field-schema.ts';
import { readSecondNames, type SecondNames, secondNamesFor } from './input/second-names.ts';

export type LimitClass = 'reads' | 'evaluations' | 'deletes' | 'received' | 'writes' | 'none';

export interface Endpoint {
  // biome-ignore lint/suspicious/noExplicitAny: the gateway calls capabilities of every input and state alike
  readonly capability: Capability<any, any>;
  /** The module's state; there once the service is ready. */
  readonly state: () => unknown;
  readonly module: string;
  readonly limitClass: LimitClass;
  /** The audit log has its calls. */
  readonly isAudited: boolean;
  readonly bodyBytesMax: number;
  readonly pathFields: readonly string[];
  readonly takesBody: boolean;
  /**
   * What becomes of fields that the schema does not name (contract §1). `refused`: unless the caller asks to have them ignored with a
   * warning; `never`: whatever the caller asks; `warned`: ignored with a warning; `taken`: they are data.
   */
  readonly unknownFields: 'refused' | 'never' | 'warned' | 'taken';
  readonly opaque: ReadonlySet<string>;
  /** Schemas of the input's fields by name. */
  readonly fields: Readonly<Record<string, FieldSchema>>;
  readonly secondNames: SecondNames;
  /** Schemas by every name under which a field is taken. */
  readonly fieldsByName: Readonly<Record<string, FieldSchema>>;
  /** True when the input is valid. */
  isValid(input: unknown): boolean;
  /** All faults of an invalid input; of one that came as a long text only the first. */
  faults(input: unknown, bodyCharacters: number): readonly ErrorObject[];
}

/** Finding all faults of 64 KiB of wrong items takes 30 ms; of longer bodies the first one is told. */
const THOROUGH_CHARACTERS_MAX = 8 * 1024;

const bodyAjv = { strict: false, coerceTypes: false, removeAdditional: false, useDefaults: true } as const;

/**
 * Validators are compiled when they are first asked, some milliseconds each: nobody calls all capabilities, and a start waits for none. They
 * depend on the schema alone, so services of one process share them.
 */
const fastAjv = once(() => withFormats(new Ajv({ ...bodyAjv, allErrors: false })));
const thoroughAjv = once(() => withFormats(new Ajv({ ...bodyAjv, allErrors: true, useDefaults: false })));
const fastOf = onceFor((schema: object) => fastAjv().compile(schema));
const thoroughOf = onceFor((schema: object) => thoroughAjv().compile(schema));

export function compileEndpoint(module: string, state: () => unknown, capability: Endpoint['capability']): Endpoint {
  const schema = capability.input as FieldSchema & { readonly properties: Readonly<Record<string, FieldSchema>> };
  const pathFields = pathParameters(capability.path);
  const secondNames = readSecondNames(schema);
  const { opaque = [] } = capability;
  const fast = () => fastOf(capability.input);
  const thorough = () => thoroughOf(capability.input);
  return {
    capability,
    state,
    module,
    limitClass: limitClassOf(capability),
    isAudited: isAdministered(capability),
    bodyBytesMax: capability.bodyBytesMax ?? admission.call.bodyBytesMax,
    pathFields,
    takesBody: capability.method !== 'GET',
    unknownFields: treatmentOf(capability),
    opaque: new Set([...opaque, ...secondNamesFor(opaque, secondNames)]),
    fields: schema.properties,
    secondNames,
    fieldsByName: withSecondNames(schema.properties, secondNames),
    isValid: (input) => fast()(input) === true,
    faults(input, bodyCharacters) {
      const check = bodyCharacters > THOROUGH_CHARACTERS_MAX ? fast() : thorough();
      return check(input) === true ? [] : (check.errors ?? []);
    },
  };
}

function withSecondNames(fields: Endpoint['fields'], { first }: SecondNames): Endpoint['fields'] {
  const seconds = [...first].map(([second, name]) => [second, fields[name] as FieldSchema]);
  return { ...fields, ...Object.fromEntries(seconds) };
}

/** A right or limit of the account that is misspelt must not become none. */
function treatmentOf(capability: Endpoint['capability']): Endpoint['unknownFields'] {
  if (takesUnknownFields(capability.input as FieldSchema)) return 'taken';
  if (!refusesUnknownFields(capability)) return 'warned';
  return capability.scope === 'admin' ? 'never' : 'refused';
}

/** The endpoints of all capabilities, by id. `stateOf`: a module's, once it is there. */
export function compileEndpoints(
  modules: readonly Pick<Module, 'name' | 'capabilities'>[],
  stateOf: (module: string) => unknown,
): Map<string, Endpoint> {
  return new Map(
    modules.flatMap(({ name, capabilities }) =>
      capabilities.map((each) => [each.id, compileEndpoint(name, () => stateOf(name), each)] as const),
    ),
  );
}

function withFormats(ajv: Ajv): Ajv {
  (addFormats as unknown as (ajv: Ajv, options: { mode: 'fast' }) => Ajv)(ajv, { mode: 'fast' });
  // The fast form lets instants pass that no calendar has.
  return ajv.addFormat('date-time', fullFormats['date-time']);
}

/** Contract §6: free reads and management writes are limited by rate; billable and hot operations are not. */
function limitClassOf(capability: Endpoint['capability']): LimitClass {
  if (capability.unlimited === true || capability.price !== 'free') return 'none';
  return capability.rate ?? (capability.scope === 'read' ? 'reads' : 'writes');
}
