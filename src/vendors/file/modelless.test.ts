import { inspect } from 'node:util';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import type { ModelFamily } from './port.ts';
import { readVendorsFile } from './read.ts';
import type { Reading } from './reading.ts';

const messages: ModelFamily = {
  name: 'note',
  capabilities: ['note.send'],
  traits: Type.Object({}),
  price: Type.Number({ minimum: 0 }),
  timeouts: [],
  sandbox: [],
  serves: () => ['note.send'],
  faults: ({ options }) => (options.from === 'nobody' ? [{ field: 'from', message: 'It is nobody.' }] : []),
  lowestNanos: () => 1n,
  adapters: () => [],
};
const price = Type.Union([Type.Literal('free'), Type.Number({ minimum: 0 })], { description: 'free, or USD' });
const reading: Reading = {
  region: 'china',
  families: [messages],
  adapters: {
    note: [
      { name: 'relay', modelFields: {}, modelless: { fields: {}, secrets: [], protocols: ['smtp:', 'smtps:'] } },
      {
        name: 'pigeon',
        baseUrl: 'https://pigeon.example',
        modelFields: {},
        modelless: { fields: { from: Type.String(), price }, secrets: ['token'] },
      },
    ],
  },
  nowMs: Date.parse('2026-11-01T00:00:00Z'),
  environment: (name) =>
    ({ TOKEN: 'secret-token', RELAY: 'smtp://user:secret-word@relay.example:587/', ODD: 'ftp://a' })[name],
  keyFile: () => null,
};

const read = (...entries: string[]) =>
  readVendorsFile(`version: 1\nvendors:\n${entries.map((entry) => `  - { ${entry} }`).join('\n')}\n`, reading);
const faultsOf = (entry: string) => read(entry).faults.map(({ field, message }) => `${field}: ${message}`);
const pigeon = 'id: birds, adapter: pigeon, token: "${TOKEN}", from: me, price: 0.01';

describe('an entry without models', () => {
  const { file, faults } = read(
    `${pigeon}, priority: 7, limits: { per_minute: 9 }`,
    'id: post, adapter: relay, url: "${RELAY}"',
  );

  test('is one row under the name of its adapter, which serves what the family does', () => {
    expect(faults).toEqual([]);
    expect(file.rows).toMatchObject([
      { id: 'pigeon', family: 'note', serves: ['note.send'], price: 0.01, options: { from: 'me' } },
      { id: 'relay', family: 'note', serves: ['note.send'], price: 'free', options: {} },
    ]);
  });

  test('has what all entries have, and the region of the deployment', () => {
    const limits = { concurrent: null, perMinute: 9 };
    expect(file.vendors[0]).toMatchObject({
      baseUrl: 'https://pigeon.example',
      region: 'china',
      priority: 7,
      limits,
      markupPct: 0.05,
    });
  });

  test('keeps its secrets out of everything that is shown', () => {
    const [birds, post] = file.vendors;
    expect([birds?.secrets?.token?.reveal(), post?.secrets?.url?.reveal()]).toEqual([
      'secret-token',
      'smtp://user:secret-word@relay.example:587/',
    ]);
    expect(post?.baseUrl).toBe('smtp://relay.example:587');
    expect(inspect(file, { depth: null }) + JSON.stringify(file)).not.toMatch(/secret-/);
  });

  test('has another price version with another price only', () => {
    const versionOf = (entry: string) => read(entry).file.rows[0]?.priceVersion;
    expect(versionOf(pigeon.replace('0.01', '0.02'))).not.toBe(versionOf(pigeon));
    expect(versionOf(`${pigeon}, priority: 3`)).toBe(versionOf(pigeon));
  });
});

test.each([
  [
    'a secret in the file',
    pigeon.replace('"${TOKEN}"', 'abc'),
    'vendors[0].token: It must be ${NAME} of the environment, or {file: PATH}; a key itself does not belong here.',
  ],
  [
    'a field that is missing',
    'id: birds, adapter: pigeon, token: "${TOKEN}", from: me',
    'vendors[0].price: It is missing.',
  ],
  ['models', `${pigeon}, models: []`, 'vendors[0].models: There is no such field'],
  ['what the family finds', pigeon.replace('me', 'nobody'), 'vendors[0].from: It is nobody.'],
  [
    'a price finer than a nano-USD',
    pigeon.replace('0.01', '0.0000000001'),
    'vendors[0].price: It must be an amount of USD with at most nine decimals.',
  ],
  [
    'another protocol',
    'id: post, adapter: relay, url: "http://relay.example"',
    'vendors[0].url: It must be a URL that begins with smtp:// or smtps://.',
  ],
  [
    'another protocol in a secret',
    'id: post, adapter: relay, url: "${ODD}"',
    'vendors[0].url: It must be a URL that begins with smtp:// or smtps://.',
  ],
  [
    'a password in the file',
    'id: post, adapter: relay, url: "smtp://a:b@relay.example"',
    'vendors[0].url: It contains a password',
  ],
  ['an id that means something', pigeon.replace('birds', 'outbox'), 'vendors[0].id: outbox has a meaning of its own'],
])('refuses %s', (_name, entry, fault) => {
  expect(faultsOf(entry)).toEqual([expect.stringContaining(fault)]);
});

test('an entry whose secret is missing takes no work, with a warning', () => {
  const { file, faults } = read('id: post, adapter: relay, url: { file: gone }');
  expect([faults, file.warnings]).toEqual([[], ['vendor post takes no work: file:gone holds no value']]);
  expect(file.vendors[0]).toMatchObject({ baseUrl: '', disabled: 'its key is missing' });
});
