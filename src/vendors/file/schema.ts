// Schema of the vendors file, except for the families' fields of models, and violations of it as sentences.
import { Ajv, type ErrorObject } from 'ajv';
import Type, { type TObject, type TSchema } from 'typebox';
import { nearest } from '../../lib/nearest.ts';
import { onceFor } from '../../lib/once.ts';
import { schemaWords } from '../../lib/schema-words.ts';
import type { Path } from '../../lib/yaml.ts';
import type { ModelFamily, ModellessForm } from './port.ts';

const closed = { additionalProperties: false };
const MODELS_MAX = 500;
const VENDORS_MAX = 200;
const TIMEOUT_MS_MAX = 24 * 3_600_000;

export const fileSchema = Type.Object(
  {
    version: Type.Literal(1, { description: '1' }),
    vendors: Type.Array(Type.Unknown(), { maxItems: VENDORS_MAX }),
  },
  closed,
);

const id = Type.String({ pattern: '^[a-z0-9-]{2,40}$' });
const wholeFrom = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const timeoutsOf = (names: readonly string[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(wholeFrom(1, TIMEOUT_MS_MAX))])), closed);

/** The one thing that can be said of the vendor that is built in. */
export const sandboxSchema = Type.Object({ id, enabled: Type.Boolean() }, closed);

const secret = Type.Union([Type.String(), Type.Object({ file: Type.String({ minLength: 1 }) }, closed)], {
  description: `\${NAME} of the environment, or {file: PATH}`,
});

/** What every entry has. */
const entry = {
  id,
  adapter: Type.String(),
  markup_pct: Type.Optional(Type.Enum([0, 0.05])),
  limits: Type.Optional(
    Type.Object(
      {
        concurrent: Type.Optional(wholeFrom(1, 100_000)),
        per_minute: Type.Optional(wholeFrom(1, 1_000_000)),
      },
      closed,
    ),
  ),
  priority: Type.Optional(wholeFrom(0, 1_000_000)),
  enabled: Type.Optional(Type.Boolean()),
};
const region = Type.Enum(['western', 'china', 'local']);

export const vendorSchema = onceFor((families: readonly ModelFamily[]) =>
  Type.Object(
    {
      ...entry,
      base_url: Type.Optional(Type.String()),
      region,
      api_key: Type.Optional(secret),
      asset_hosts: Type.Optional(
        Type.Array(Type.String({ pattern: '^[A-Za-z0-9.-]+(:[0-9]{1,5})?$', description: '`host` or `host:port`' }), {
          maxItems: 50,
        }),
      ),
      timeouts: Type.Optional(timeoutsOf([...new Set(families.flatMap(({ timeouts }) => timeouts))])),
      models: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MODELS_MAX }),
    },
    closed,
  ),
);

/** Of an entry without models. */
export const modellessSchema = onceFor(({ fields, secrets, protocols }: ModellessForm) =>
  Type.Object(
    {
      ...entry,
      ...(protocols === undefined ? { base_url: Type.Optional(Type.String()) } : {}),
      ...(protocols !== undefined && protocols.length > 0 ? { url: secret } : {}),
      region: Type.Optional(region),
      ...Object.fromEntries(secrets.map((name) => [name, secret])),
      ...fields,
    },
    closed,
  ),
);

/** What every model has. */
const common = {
  id: Type.String({ pattern: '^[!-~]{1,200}$', description: '1 to 200 printable ASCII characters without spaces' }),
  serves: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  flagship: Type.Optional(Type.Boolean()),
  valid_until: Type.Optional(Type.String()),
};

/** Of a family, and then of the fields that an adapter adds. */
export const modelSchema = onceFor(({ traits, price, timeouts }: ModelFamily) =>
  onceFor(
    (adapterFields: Readonly<Record<string, TSchema>>): TObject =>
      Type.Object(
        {
          ...common,
          ...traits.properties,
          ...adapterFields,
          price: Type.Union([Type.Literal('free'), price], {
            description: `free, or ${(price as { description?: string }).description}`,
          }),
          timeouts: Type.Optional(timeoutsOf(timeouts)),
        },
        closed,
      ),
  ),
);

export interface ValueFault {
  readonly path: Path;
  readonly message: string;
}

// To compile one takes some milliseconds, and a file may have thousands of models.
const validatorOf = onceFor((schema: TSchema) => new Ajv({ allErrors: true, strict: false }).compile(schema));

/** Everything in `value`, which stands at `path` of the file, that is not as the schema wants it; one fault a field. */
export function schemaFaults(schema: TSchema, value: unknown, path: Path): ValueFault[] {
  const isValid = validatorOf(schema);
  if (isValid(value)) return [];
  const faults = new Map<string, ValueFault>();
  for (const error of isValid.errors ?? []) {
    const fault = faultOf(schema, error);
    const key = JSON.stringify(fault.path);
    if (!faults.has(key)) faults.set(key, { ...fault, path: [...path, ...fault.path] });
  }
  return [...faults.values()];
}

function faultOf(root: TSchema, fault: ErrorObject): ValueFault {
  const { keyword, schemaPath, instancePath, params } = fault;
  // What a branch of a union lacks says less than what the union as a whole wants.
  const [outside = ''] = schemaPath.split('/anyOf');
  const isOfUnion = outside !== schemaPath;
  const steps = outside.split('/').filter((part) => part === 'properties' || part === 'items').length;
  const parts = partsOf(instancePath);
  const at = isOfUnion ? parts.slice(0, steps) : parts;
  const schema = schemaAt(root, at) as (TSchema & { description?: string; properties?: object }) | undefined;
  if (!isOfUnion && keyword === 'required') return { path: [...at, params.missingProperty], message: 'It is missing.' };
  if (!isOfUnion && keyword === 'additionalProperties') {
    const name: string = params.additionalProperty;
    return { path: [...at, name], message: unknownField(name, Object.keys(schema?.properties ?? {})) };
  }
  if (schema?.description !== undefined) return { path: at, message: `It must be ${schema.description}.` };
  return { path: at, message: `It ${schemaWords(fault)}.` };
}

function unknownField(name: string, known: readonly string[]): string {
  const [near] = nearest(name, known, 1);
  return near === undefined
    ? `There is no such field; there are ${known.join(', ')}.`
    : `There is no such field. Did you mean ${near}?`;
}

function partsOf(pointer: string): (string | number)[] {
  const parts = pointer.split('/').slice(1);
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function schemaAt(root: TSchema, path: Path): TSchema | undefined {
  return path.reduce<TSchema | undefined>((schema, part) => {
    if (typeof part === 'number') return (schema as { items?: TSchema } | undefined)?.items;
    return (schema as TObject | undefined)?.properties?.[part];
  }, root);
}
