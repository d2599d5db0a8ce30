// A small module that uses every trait a capability can have, for tests that must not depend on what is built so far.
import { Type } from 'typebox';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import { composeManifest } from '../../src/surfaces/documents/discovery.ts';

export const baseUrl = 'http://127.0.0.1:8787';

const parcel = Type.Object(
  {
    name: Type.String(),
    weight: Type.Union([Type.Integer(), Type.Null()]),
    sent_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Parcel' },
);
const name = Type.String({
  description: 'Name; `<b>bold</b>` & "quoted" text stays text.',
  minLength: 3,
  maxLength: 80,
  pattern: '^[a-z0-9._-]+$',
});

const send = defineCapability()({
  method: 'POST',
  path: '/v1/parcel/send/{parcel}',
  summary: 'Sends a parcel.',
  description: 'Sends one parcel.\n\nMind <script>alert(1)</script> and `code & more`.',
  input: Type.Object({
    parcel: name,
    weight: Type.Optional(Type.Integer({ description: 'Grams.', minimum: 1, maximum: 31_500, default: 500 })),
    kind: Type.Enum(['box', 'bag'], { description: 'Wrapping.' }),
    items: Type.Array(Type.Object({ label: Type.String({ description: "What it is; it's printed." }) }), {
      description: 'Content.',
      minItems: 1,
      maxItems: 3,
    }),
  }),
  output: parcel,
  price: 'parcel.send',
  errors: ['NOT_FOUND'],
  events: ['system.maintenance.scheduled'],
  limits: { weight: 'At most 31.5 kg.' },
  examples: [{ title: "Bob's books", input: { parcel: 'books', kind: 'box', items: [{ label: "Bob's <books>" }] } }],
  run: async () => ({ data: {} }),
});

const list = defineCapability()({
  method: 'GET',
  path: '/v1/parcel/list',
  summary: 'Lists parcels.',
  description: 'Lists parcels, newest first.',
  input: Type.Object({
    cursor: Type.Optional(Type.String({ description: 'From next_cursor.' })),
    kinds: Type.Optional(Type.Array(Type.String(), { description: 'Only these.' })),
    filter: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'By field.' })),
  }),
  output: Type.Object({
    items: Type.Array(parcel),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    has_more: Type.Boolean(),
  }),
  examples: [{ title: 'All', input: { kinds: ['box', 'bag'], filter: { weight: 5 } } }],
  run: async () => ({ data: {} }),
});

const drop = defineCapability()({
  method: 'DELETE',
  path: '/v1/parcel/drop/{parcel}',
  summary: 'Drops a parcel.',
  description: 'Drops a parcel for good.',
  input: Type.Object({ parcel: name, why: Type.String({ description: 'Reason.' }) }),
  output: Type.Object({ parcel: Type.String(), deleted: Type.Boolean() }),
  status: 'deprecated',
  examples: [
    {
      title: 'One',
      before: [{ capability: 'parcel.list', input: {} }],
      input: { parcel: '$0.items[0].name', why: 'lost' },
    },
  ],
  run: async () => ({ data: {} }),
});

const weigh = defineCapability()({
  method: 'POST',
  path: '/v1/parcel/weigh/{parcel}',
  summary: 'Weighs whatever is sent.',
  description: 'Weighs the object of the body, which is data.',
  input: Type.Object({ parcel: name }, { additionalProperties: true }),
  output: Type.Object({ bytes: Type.Integer() }),
  examples: [{ title: 'One', input: { parcel: 'books', anything: [1] } }],
  run: async () => ({ data: {} }),
});

export const parcels = defineModule({
  name: 'parcel',
  summary: 'Parcels & more.',
  status: 'beta',
  capabilities: [send, list, drop, weigh],
  prices: { 'parcel.send': { unit: 'parcel', nanosPerUnit: 20_000n, minimumNanos: 100_000n } },
});

export const fixtureManifest = composeManifest([parcels]);
