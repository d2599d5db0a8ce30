import { inspect } from 'node:util';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import type { ModelFamily } from './port.ts';
import { readVendorsFile } from './read.ts';
import type { Reading } from './reading.ts';
import { rowOf, sandbox } from './row.ts';

const videos: ModelFamily = {
  name: 'video',
  capabilities: ['video.make', 'video.extend'],
  traits: Type.Object({ seconds: Type.Integer({ minimum: 1 }), extend: Type.Optional(Type.Boolean()) }),
  price: Type.Object(
    { per_second: Type.Number({ minimum: 0 }) },
    { additionalProperties: false, description: '{per_second: USD}' },
  ),
  timeouts: ['connect_ms', 'poll_ms'],
  sandbox: [{ id: 'card-1', seconds: 60, extend: true, price: { per_second: 0.001 } }],
  serves: ({ extend }) => (extend === true ? ['video.make', 'video.extend'] : ['video.make']),
  faults: ({ options }, { name }) =>
    name === 'reel' && options.input === undefined ? [{ field: 'input.seconds', message: 'It is not told.' }] : [],
  lowestNanos: () => 1n,
  adapters: () => [],
};
const words: ModelFamily = {
  ...videos,
  name: 'word',
  capabilities: ['word.say'],
  traits: Type.Object({ context: Type.Integer() }),
  timeouts: ['idle_ms'],
  sandbox: [],
  serves: () => ['word.say'],
};
const input = Type.Optional(Type.Object({}, { additionalProperties: Type.String() }));
const reading: Reading = {
  region: 'china',
  families: [videos, words],
  adapters: {
    video: [
      { name: 'plain', modelFields: {} },
      { name: 'reel', modelFields: { input }, baseUrl: 'https://reel.example/v1/' },
    ],
    word: [{ name: 'plain', modelFields: {} }],
  },
  nowMs: Date.parse('2026-11-01T00:00:00Z'),
  environment: (name) => ({ REEL_KEY: 'secret-of-reel', SPACED: 'a b' })[name],
  keyFile: (path) => (path === 'keys/plain' ? 'secret-of-plain\n' : null),
};

const read = (text: string) => readVendorsFile(text, reading);
const faultsOf = (text: string) =>
  read(text).faults.map(({ line, column, field, message }) => `${line}:${column} ${field}: ${message}`);

const whole = `version: 1
vendors:
  - id: reel-1
    adapter: reel
    region: western
    api_key: \${REEL_KEY}
    limits: { concurrent: 4, per_minute: 60 }
    asset_hosts: [cdn.reel.example, "127.0.0.1:9000"]
    priority: 10
    timeouts: { poll_ms: 2000, idle_ms: 9 }
    models:
      - { id: grand, seconds: 10, price: { per_second: 0.04 }, flagship: true, input: { seconds: duration }, timeouts: { connect_ms: 7 } }
      - { id: small, seconds: 5, extend: true, price: free, valid_until: 2026-12-31, input: {} }
  - id: own
    adapter: plain
    base_url: http://127.0.0.1:8000/
    region: local
    api_key: { file: keys/plain }
    models:
      - { id: org/wan, seconds: 5, price: free, serves: [video.make] }
      - { id: talk, context: 8, price: free, serves: [word.say] }
`;

describe('a whole file', () => {
  const { file, faults } = read(whole);

  test('has no fault and no warning', () => {
    expect(faults).toEqual([]);
    expect(file.warnings).toEqual([]);
  });

  test('makes vendors, with what is usual where it is silent', () => {
    expect(file.vendors).toEqual([
      {
        id: 'reel-1',
        adapter: 'reel',
        baseUrl: 'https://reel.example/v1',
        region: 'western',
        key: { name: 'REEL_KEY', reveal: expect.any(Function) },
        markupPct: 0.05,
        limits: { concurrent: 4, perMinute: 60 },
        assetHosts: ['cdn.reel.example', '127.0.0.1:9000'],
        priority: 10,
        disabled: null,
      },
      expect.objectContaining({
        id: 'own',
        baseUrl: 'http://127.0.0.1:8000',
        region: 'china',
        key: { name: 'file:keys/plain', reveal: expect.any(Function) },
        markupPct: 0,
        priority: 100,
      }),
      expect.objectContaining({ id: 'sandbox', region: 'china', markupPct: 0, key: null, disabled: null }),
    ]);
  });

  test('makes rows of the fields of module and adapter', () => {
    const [grand, small, wan, talk, card] = file.rows;
    expect(grand).toMatchObject({
      id: 'grand',
      family: 'video',
      serves: ['video.make'],
      flagship: true,
      validUntilMs: null,
      traits: { seconds: 10 },
      options: { input: { seconds: 'duration' } },
      timeouts: { poll_ms: 2_000, connect_ms: 7 },
    });
    expect(small).toMatchObject({
      serves: ['video.make', 'video.extend'],
      validUntilMs: Date.parse('2027-01-01T00:00:00Z'),
    });
    expect(wan).toMatchObject({ id: 'org/wan', family: 'video' });
    expect(talk).toMatchObject({ family: 'word', traits: { context: 8 } });
    expect(card).toMatchObject({ id: 'card-1', vendor: { id: 'sandbox' }, serves: ['video.make', 'video.extend'] });
  });

  test('is one JSON file as well', () => {
    expect(read('{"version":1,"vendors":[]}').file.vendors.map(({ id }) => id)).toEqual(['sandbox']);
  });

  test('has the digest of what it says, however it is written', () => {
    expect(read(`# a comment\n${whole}`).file.digest).toBe(file.digest);
    expect(read(whole.replace('0.04', '0.05')).file.digest).not.toBe(file.digest);
  });

  test('reads the keys, and shows them in no text that is made of it', () => {
    expect(file.vendors.map(({ key }) => key?.reveal())).toEqual(['secret-of-reel', 'secret-of-plain', undefined]);
    const shown = JSON.stringify([file, faultsOf(whole.replace('REEL_KEY', 'SPACED'))]) + inspect(file, { depth: 9 });
    expect(shown).not.toMatch(/secret-of|a b/);
  });

  test('prices have a version each: another price, markup or vendor has another one', () => {
    const versions = [whole, whole.replace('0.04', '0.05'), whole.replace('reel-1', 'reel-2')].map(
      (text) => read(text).file.rows[0]?.priceVersion,
    );
    expect(new Set(versions).size).toBe(3);
    expect(versions[0]).toMatch(/^[0-9a-f]{16}$/);
  });
});

const vendor = (lines: string) =>
  `version: 1\nvendors:\n  - id: reel-1\n    adapter: reel\n    region: western\n${lines}`;
const model = (fields: string) => vendor(`    models:\n      - { ${fields} }\n`);
const sound = 'id: a, seconds: 5, price: free, input: {}';

describe('a fault is told with line, column and field', () => {
  test.each([
    ['no YAML', 'vendors: [', [expect.stringMatching(/^1:11 : .+\.$/)]],
    ['no such file', 'hello', ['1:1 : It must be an object.']],
    ['no version', 'vendors: []', ['1:1 version: It is missing.']],
    ['another version', 'version: 2\nvendors: []', ['1:1 version: It must be 1.']],
    ['an alias', 'version: 1\nvendors: [&a {}, *a]', ['2:18 : Aliases (`*name`) are not taken.']],
    [
      'an unknown field',
      vendor(`    api-key: x\n    models: [{ ${sound} }]`),
      ['6:5 vendors[0].api-key: There is no such field. Did you mean api_key?'],
    ],
    ['no models', vendor('    models: []'), ['6:5 vendors[0].models: It must not be empty.']],
    [
      'a key in the file',
      vendor(`    api_key: sk-123\n    models: [{ ${sound} }]`),
      [
        '6:5 vendors[0].api_key: It must be ${NAME} of the environment, or {file: PATH}; a key itself does not belong here.',
      ],
    ],
    [
      'a key that no header may hold',
      vendor(`    api_key: \${SPACED}\n    models: [{ ${sound} }]`),
      ['6:5 vendors[0].api_key: SPACED contains characters that a header cannot carry.'],
    ],
    [
      'a URL with a user',
      vendor(`    base_url: https://a:b@c\n    models: [{ ${sound} }]`),
      ['6:5 vendors[0].base_url: It must be an http or https URL without user, query or fragment.'],
    ],
    [
      'a markup of our own',
      vendor(`    markup_pct: 0.1\n    models: [{ ${sound} }]`),
      ['6:5 vendors[0].markup_pct: It must be one of 0, 0.05.'],
    ],
    [
      'an asset host with a path',
      vendor(`    asset_hosts: [a.example, b/c]\n    models: [{ ${sound} }]`),
      ['6:30 vendors[0].asset_hosts[1]: It must be `host` or `host:port`.'],
    ],
    ['no price', model('id: a, seconds: 5, input: {}'), ['7:9 vendors[0].models[0].price: It is missing.']],
    [
      'no price of this kind',
      model('id: a, seconds: 5, price: { per_clip: 1 }, input: {}'),
      ['7:30 vendors[0].models[0].price: It must be free, or {per_second: USD}.'],
    ],
    [
      'a price finer than a nano-USD',
      model('id: a, seconds: 5, price: { per_second: 0.0000000001 }, input: {}'),
      ['7:39 vendors[0].models[0].price.per_second: It must be an amount of USD with at most nine decimals.'],
    ],
    [
      'a field of another module',
      model(`${sound}, context: 8`),
      [expect.stringMatching(/^7:54 vendors\[0\]\.models\[0\]\.context: There is no such field; there are id, /)],
    ],
    [
      'what the adapter cannot do',
      model('id: a, seconds: 5, price: free'),
      ['7:9 vendors[0].models[0].input.seconds: It is not told.'],
    ],
    [
      'an unknown capability',
      model(`${sound}, serves: [video.mak]`),
      ['7:63 vendors[0].models[0].serves[0]: The adapter serves no such capability. Did you mean video.make?'],
    ],
    [
      'no day',
      model(`${sound}, valid_until: soon`),
      [
        '7:54 vendors[0].models[0].valid_until: It must be a day such as 2030-03-31, or a date and time with an offset, such as 2030-12-24T18:00:00Z.',
      ],
    ],
    [
      'the same model twice',
      vendor(`    models:\n      - { ${sound} }\n      - { ${sound} }\n`),
      ['8:11 vendors[0].models[1].id: reel-1 has another model a.'],
    ],
  ])('%s', (_name, text, expected) => {
    expect(faultsOf(text)).toEqual(expected);
  });

  test('whether it says what the adapter of several modules serves', () => {
    const text =
      'version: 1\nvendors:\n  - { id: own, adapter: plain, base_url: "http://a", region: local, models: [{ id: a, seconds: 5, price: free }] }';
    expect(faultsOf(text)).toEqual([
      '3:78 vendors[0].models[0].serves: It is missing: the adapter plain works for video and word.',
    ]);
  });

  test('an unknown adapter, a taken id and one that is there twice', () => {
    const entry = (id: string, adapter: string) =>
      `  - { id: ${id}, adapter: ${adapter}, base_url: "http://a", region: local, models: [{ ${sound} }] }\n`;
    expect(
      faultsOf(
        `version: 1\nvendors:\n${entry('auto', 'reel')}${entry('x1', 'rel')}${entry('x2', 'reel')}${entry('x2', 'reel')}`,
      ),
    ).toEqual([
      '3:7 vendors[0].id: auto has a meaning of its own: call the vendor something else.',
      '4:15 vendors[1].adapter: There is no such adapter. Did you mean reel?',
      '6:7 vendors[3].id: There is another vendor x2.',
    ]);
  });

  test('all of them at once', () => {
    const text = `${vendor('    priority: high\n    limits: { concurrent: 0 }\n    models: [1]')}\n  - { id: X }\n`;
    expect(faultsOf(text).length).toBeGreaterThan(5);
  });
});

describe('what takes no work', () => {
  test.each([
    ['${NO_KEY}', 'NO_KEY'],
    ['{ file: gone }', 'file:gone'],
  ])('a vendor whose key %s is missing, with a warning', (place, name) => {
    const { file, faults } = read(vendor(`    api_key: ${place}\n    models: [{ ${sound} }]`));
    expect([faults, file.warnings]).toEqual([[], [`vendor reel-1 takes no work: ${name} holds no key`]]);
    expect(file.vendors[0]).toMatchObject({ key: null, disabled: 'its key is missing' });
  });

  test('a vendor, or the sandbox, that the operator has disabled', () => {
    const { file } = read(
      `${vendor(`    enabled: false\n    models: [{ ${sound} }]`)}\n  - { id: sandbox, enabled: false }\n`,
    );
    expect(file.vendors.map(({ id, disabled }) => [id, disabled])).toEqual([
      ['reel-1', 'by the operator'],
      ['sandbox', 'by the operator'],
    ]);
  });

  test('a model whose time is over, with a warning', () => {
    const { file } = read(model(`${sound}, valid_until: 2026-10-30`));
    expect(file.warnings).toEqual(['model reel-1/a is not offered: its time is over']);
  });
});

test('the sandbox of a family is written as models are in a file', () => {
  const [vendor, rows] = sandbox([videos], 'western', true);
  expect(rows).toEqual([rowOf(vendor, videos, videos.sandbox[0] as never)]);
});
