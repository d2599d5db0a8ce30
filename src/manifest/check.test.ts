import { type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type Capability, defineCapability } from '../kit/capability.ts';
import { plainDeployment } from '../kit/deployment.ts';
import type { Module } from '../kit/module.ts';
import { checkManifest as checkAgainst } from './check.ts';
import { composeOffer } from './compose.ts';
import { buildManifest } from './manifest.ts';

const prices = { 'parcel.send': { unit: 'parcel', nanosPerUnit: 20_000n } };
const checkManifest = (modules: readonly Module[]) => checkAgainst(modules, composeOffer(modules, plainDeployment));

const sound = defineCapability()({
  method: 'POST',
  path: '/v1/parcel/send/{parcel}',
  summary: 'Sends a parcel.',
  description: 'Sends one parcel to its address.',
  input: Type.Object({
    parcel: Type.String({ description: 'Name of the parcel.', minLength: 3 }),
    weight: Type.Optional(Type.Integer({ description: 'Grams.', minimum: 1 })),
  }),
  output: Type.Object({ sent: Type.Boolean() }),
  price: 'parcel.send',
  errors: ['NOT_FOUND'],
  events: ['system.maintenance.scheduled'],
  examples: [{ title: 'Send a parcel', input: { parcel: 'books', weight: 900 } }],
  run: async () => ({ data: { sent: true } }),
});

function moduleOf(name: string, ...capabilities: Capability[]): Module {
  return {
    name,
    summary: 'For the test.',
    status: 'ga',
    capabilities,
    prices: name === 'parcel' ? prices : {},
  };
}

/** Faults of a manifest whose only capability is the sound one with `change` applied. */
function faultsOf(change: Partial<Capability>, name = 'parcel'): string[] {
  return checkManifest([moduleOf(name, { ...sound, ...change })]);
}

test('a sound manifest has no faults', () => {
  expect(faultsOf({})).toEqual([]);
});

test('a raw route belongs to a capability of its module', () => {
  const route = { name: 'parcel.fax', methods: ['POST' as const], path: '/v1/parcel/fax', bodyBytesMax: 1 };
  const answer = async () => ({ status: 200, headers: {}, body: '' });
  const open = async () => ({ message: () => undefined });
  const raw = { ...moduleOf('parcel', sound), rawRoutes: [{ ...route, capability: 'parcel.fly', answer }] };
  const socket = { ...moduleOf('parcel', sound), socketRoutes: [{ ...route, capability: 'parcel.fly', open }] };
  for (const module of [raw, socket])
    expect(checkManifest([module])).toEqual([
      'the raw route parcel.fax names parcel.fly, which is no capability of the module parcel',
    ]);
});

describe('the path says where it is', () => {
  test('a change whose field has a default would set what was not sent', () => {
    const weight = Type.Optional(Type.Integer({ description: 'Grams.', minimum: 1, default: 500 }));
    const input = Type.Object({ ...sound.input.properties, weight });
    expect(faultsOf({ input })).toEqual([]);
    expect(faultsOf({ method: 'PATCH', input })).toEqual([
      'parcel.send: a PATCH sets only what is sent, and weight has a default',
    ]);
  });

  test('a field that reads like a secret is refused unless it is writeOnly, wherever it stands', () => {
    const withField = (name: string, field: TSchema) =>
      faultsOf({
        input: Type.Object({
          ...sound.input.properties,
          labels: Type.Optional(
            Type.Array(Type.Object({ [name]: Type.Optional(field) }), { description: 'What is put on it.' }),
          ),
        }),
      });
    const text = (description: string, more = {}) => Type.String({ description, ...more });
    for (const field of ['api_key', 'secret', 'webhook_token', 'private_key', 'code'])
      expect(withField(field, text('For the carrier.'))[0]).toContain(`labels[].${field} reads like a secret`);
    for (const words of ['The password.', 'A one-time code.', 'Credentials of the carrier.', 'Its API key.'])
      expect(withField('from', text(words))[0]).toContain('labels[].from reads like a secret');
    expect(withField('secret', text('The secret.', { writeOnly: true }))).toEqual([]);
    expect(withField('token', Type.Integer({ description: 'Seconds of a token.' }))).toEqual([]);
    expect(withField('tokens_max', text('The longest answer.'))).toEqual([]);
  });

  test('a pattern that no words can be made of is refused', () => {
    const withPattern = (pattern: string) =>
      faultsOf({
        input: Type.Object({
          ...sound.input.properties,
          note: Type.Optional(Type.String({ pattern, description: 'A note.' })),
        }),
      });
    expect(withPattern('^[a-z]+$')).toEqual([]);
    expect(withPattern('^(a|b)$')).toEqual([
      'parcel.send: the pattern ^(a|b)$ has no words: give it some by patternWithWords',
    ]);
  });

  test.each(['/parcel/send/{parcel}', '/v1/parcel/Send/{parcel}', '/v1/parcel/send/{parcel}/'])(
    'the path %s is refused',
    (path) => {
      expect(faultsOf({ path })[0]).toContain('is not /v1 followed by lower-case segments');
    },
  );

  test('a capability in a foreign module is refused', () => {
    expect(faultsOf({ price: 'free' }, 'letter')).toEqual([
      'parcel.send: the id does not begin with the name of its module, letter',
    ]);
  });
});

describe('everything is unique', () => {
  test('a module listed twice is refused', () => {
    expect(checkManifest([moduleOf('parcel', sound), moduleOf('parcel')])).toEqual([
      'module parcel is listed more than once',
      'the price parcel.send is brought by parcel and by parcel',
    ]);
  });

  test('an id used twice is refused', () => {
    const other: Capability = { ...sound, method: 'PUT' };
    expect(checkManifest([moduleOf('parcel', sound, other)])).toEqual([
      'the id parcel.send belongs to more than one capability',
    ]);
  });

  test('a route used twice is refused, whatever its parameter is called', () => {
    const input = Type.Object({ name: Type.String({ description: 'Name.' }) });
    const other: Capability = {
      ...sound,
      path: '/v1/parcel/send/{name}',
      input,
      examples: [{ title: 'x', input: { name: 'books' } }],
    };
    expect(checkManifest([moduleOf('parcel', sound, other)])).toContain(
      'POST /v1/parcel/send/{} belongs to more than one capability',
    );
  });
});

describe('path parameters are required input fields', () => {
  test('a missing one is refused', () => {
    const faults = faultsOf({ input: Type.Object({}), examples: [{ title: 'x', input: {} }] });
    expect(faults).toEqual(['parcel.send: the path parameter parcel is not a field of the input']);
  });

  test('an optional one is refused', () => {
    const input = Type.Object({ parcel: Type.Optional(Type.String({ description: 'Name.' })) });
    const faults = faultsOf({ input, examples: [{ title: 'x', input: {} }] });
    expect(faults).toEqual(['parcel.send: the path parameter parcel is not a required field of the input']);
  });
});

describe('a list has items', () => {
  const page = { next_cursor: Type.Union([Type.String(), Type.Null()]), has_more: Type.Boolean() };
  const items = Type.Array(Type.Object({}));

  test.each([
    ['under another name only', Type.Object({ parcels: items, ...page })],
    ['sometimes', Type.Object({ items: Type.Optional(items), ...page })],
  ])('%s is refused', (_, output) => {
    expect(faultsOf({ output })).toEqual(['parcel.send: its answer is a list without `items`']);
  });

  test.each([
    ['not at all', Type.Object({ items, next_cursor: page.next_cursor })],
    ['sometimes', Type.Object({ items, ...page, has_more: Type.Optional(Type.Boolean()) })],
  ])('and says whether there is more: %s is refused', (_, output) => {
    expect(faultsOf({ output })).toEqual(['parcel.send: its answer is a list without `has_more`']);
  });
});

describe('a price stands in the price book', () => {
  test('also one of what the call causes later', () => {
    expect(faultsOf({ price: 'free', laterPrices: ['parcel.send', 'parcel.store'] })).toEqual([
      'parcel.send: the price book 2026-11-01 has no entry parcel.store',
    ]);
  });

  test('an unknown entry is refused', () => {
    expect(faultsOf({ price: 'parcel.drop' })).toEqual([
      'parcel.send: the price book 2026-11-01 has no entry parcel.drop',
    ]);
  });
});

describe('errors and events are catalogued', () => {
  test('an unknown error is refused', () => {
    const errors = ['PARCEL_LOST'] as unknown as Capability['errors'];
    expect(faultsOf({ errors })).toEqual(['parcel.send: the error PARCEL_LOST is not in the catalogue']);
  });

  test('an unknown event is refused', () => {
    expect(faultsOf({ events: ['parcel.lost'] })).toEqual([
      'parcel.send: the event parcel.lost is not in the catalogue',
    ]);
  });
});

describe('everything is described', () => {
  test('a missing summary and description are refused', () => {
    expect(faultsOf({ summary: '', description: ' ' })).toEqual([
      'parcel.send: it has no summary',
      'parcel.send: it has no description',
    ]);
  });

  test('a missing field description is refused, nested ones too', () => {
    const input = Type.Object({
      parcel: Type.String(),
      items: Type.Optional(Type.Array(Type.Object({ name: Type.String() }), { description: 'Items.' })),
    });
    expect(faultsOf({ input, examples: [{ title: 'x', input: { parcel: 'books' } }] })).toEqual([
      'parcel.send: the input field parcel has no description',
      'parcel.send: the input field items[].name has no description',
    ]);
  });
});

describe('the idempotency key', () => {
  test('an input that declares it is refused', () => {
    const input = Type.Object({
      ...sound.input.properties,
      idempotency_key: Type.Optional(Type.String({ description: 'Key.' })),
    });
    expect(faultsOf({ input })).toEqual([
      'parcel.send: idempotency_key must not be an input field: the gateway takes it out of the request',
    ]);
  });
});

describe('schemas and examples', () => {
  test('a schema that does not compile is refused', () => {
    const faults = faultsOf({ output: Type.Unsafe<string>({ type: 'sting' }) });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('parcel.send: the output schema does not compile');
  });

  test('a capability without an example is refused', () => {
    expect(faultsOf({ examples: [] })).toEqual(['parcel.send: it has no example']);
  });

  test('an example that the input refuses is refused', () => {
    expect(faultsOf({ examples: [{ title: 'Light', input: { parcel: 'books', weight: 0 } }] })).toEqual([
      'parcel.send: the example "Light" is not a valid call of parcel.send: /weight must be >= 1',
    ]);
  });

  test('an example may refer to an earlier answer and may send an idempotency key', () => {
    const before = [{ capability: 'parcel.send', input: { parcel: 'books' } }];
    expect(
      faultsOf({
        examples: [{ title: 'Again', before, input: { parcel: 'books', weight: '$0.weight', idempotency_key: 'a' } }],
      }),
    ).toEqual([]);
  });

  test('an example that refers to an answer that is not there is refused', () => {
    expect(faultsOf({ examples: [{ title: 'Again', input: { parcel: '$0.parcel' } }] })).toEqual([
      'parcel.send: the example "Again" refers to answer 0 before it is there',
    ]);
  });

  test('an example that begins with an unknown or invalid call is refused', () => {
    const before = [
      { capability: 'parcel.pack', input: {} },
      { capability: 'parcel.send', input: {} },
    ];
    expect(faultsOf({ examples: [{ title: 'Both', before, input: { parcel: 'books' } }] })).toEqual([
      'parcel.send: the example "Both" calls parcel.pack, which does not exist',
      `parcel.send: the example "Both" is not a valid call of parcel.send: input must have required property 'parcel'`,
    ]);
  });
});

describe('buildManifest', () => {
  test('throws every fault at once', () => {
    const broken = moduleOf('parcel', { ...sound, summary: '', examples: [] });
    expect(() => buildManifest([broken])).toThrow(/has no summary\n- parcel\.send: it has no example/);
  });

  test('its digest does not depend on the order of modules, but on what they offer', () => {
    const letter: Capability = { ...sound, id: 'letter.send', path: '/v1/letter/send/{parcel}' };
    const [parcels, letters] = [moduleOf('parcel', sound), moduleOf('letter', letter)];
    const digest = buildManifest([parcels, letters]).sha256;
    expect(digest).toMatch(/^[a-f0-9]{64}$/);
    expect(buildManifest([letters, parcels]).sha256).toBe(digest);
    expect(buildManifest([parcels]).sha256).not.toBe(digest);
  });
});
