// Flags by the API: what is taken and refused, whose a flag is, who changed it, and what goes in and out.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../src/db/statement.ts';
import { createTestAccount } from '../support/service.ts';
import { callerOf, type FlagOwner, onOff, startFlagBench } from './harness.ts';

let bench: Awaited<ReturnType<typeof startFlagBench>>;
let owner: FlagOwner;
beforeAll(async () => {
  bench = await startFlagBench();
  owner = await bench.owner();
});
afterAll(() => bench.stop());

const create = (fields: object) => owner.call('POST', '/v1/flags/create', { key: 'refused', ...onOff, ...fields });
const update = (key: string, fields: object, of = owner) => of.call('PATCH', `/v1/flags/update/${key}`, fields);

describe('what is refused', () => {
  const rule = (targeting: object) => ({ targeting });
  const loop = (inner: object) => ({ map: [{ var: 'list' }, inner] });
  const nested = (levels: number): object => (levels === 0 ? { var: 'a' } : { '!': nested(levels - 1) });
  const refused: readonly (readonly [of: string, fields: object, param: string, detail: string])[] = [
    ['a value of another type', { variants: { on: true, off: 'no' } }, 'variants.off', 'type'],
    ['a list as an object', { type: 'object', variants: { a: [] }, default_variant: 'a' }, 'variants.a', 'type'],
    ['null as a value', { variants: { on: null } }, 'variants.on', 'type'],
    ['a default that is no variant', { default_variant: 'maybe' }, 'default_variant', 'unknown_variant'],
    ['a default that every object has', { default_variant: 'constructor' }, 'default_variant', 'unknown_variant'],
    ['a name of several lines', { variants: { 'a\nb': true }, default_variant: null }, 'variants', 'name'],
    ['metadata of metadata', { metadata: { a: {} } }, 'metadata.a', 'type'],
    ['an operator of others', rule({ method: [{ var: 'a' }, 'constructor'] }), 'targeting', 'operator'],
    ['an operator that every object has', rule({ constructor: ['a'] }), 'targeting', 'operator'],
    ['a deep one', rule(nested(25)), 'targeting.!', 'depth'],
    ['an operator within', rule({ if: [{ log: 'a' }, 'on', null] }), 'targeting.if.0', 'operator'],
    ['two operators at once', rule({ if: ['on'], or: ['off'] }), 'targeting', 'operator'],
    ['what no evaluator knows', rule({ if: [{ $ref: 'a' }, 'on', null] }), 'targeting.if.0', 'operator'],
    ['a path out of a loop', rule(loop({ var: '../../list' })), 'targeting.map.1', 'var'],
    ['a path that is made in a loop', rule(loop({ var: { cat: ['.', './list'] } })), 'targeting.map.1', 'var'],
    ['a loop in a loop', rule(loop({ map: [{ var: 'list' }, { var: '' }] })), 'targeting', 'too_complex'],
    [
      'what doubles at each turn',
      rule({ reduce: [{ var: 'list' }, { cat: [{ var: 'accumulator' }, { var: 'accumulator' }] }, 'a'] }),
      'targeting.reduce.1',
      'operator',
    ],
    [
      'a list that doubles',
      rule({
        reduce: [{ var: 'list' }, { if: [true, { merge: [{ var: 'accumulator' }, { var: 'accumulator' }] }] }, []],
      }),
      'targeting.reduce.1',
      'operator',
    ],
    [
      'a search of long texts',
      rule({ in: [{ var: 'a' }, { cat: Array(40).fill({ var: 'b' }) }] }),
      'targeting',
      'too_complex',
    ],
    ['a long text', rule({ '==': [{ var: 'a' }, 'x'.repeat(1_025)] }), 'targeting.==.1', 'length'],
    ['many parts', rule({ in: [{ var: 'a' }, Array(5_001).fill(1)] }), 'targeting', 'too_complex'],
    ['64 KiB', { type: 'string', variants: { on: 'x'.repeat(66_000) } }, 'variants', 'bytes'],
  ];

  test.each(refused)('%s', async (_, fields, param, detail) => {
    const { status, body } = await create(fields);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', code_detail: detail });
    expect(body.error.param.startsWith(param), body.error.param).toBe(true);
  });

  test.each([
    ['long', { a: 'x'.repeat(1_025) }, 'length'],
    ['deep', { a: { a: { a: { a: { a: { a: { a: { a: {} } } } } } } } }, 'depth'],
    ['wide', { a: Array(1_001).fill(0) }, 'members'],
    ['large', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i, 'x'.repeat(1_000)])), 'bytes'],
  ])('a context that is %s', async (_, context, detail) => {
    const { body } = await owner.call('POST', '/v1/flags/evaluate', { key: 'any', context });
    expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'context', code_detail: detail });
  });

  test('what rules answer of objects that all have is no variant', async () => {
    for (const [key, path] of [
      ['p1', '__proto__'],
      ['p2', 'constructor'],
      ['p3', 'constructor.constructor'],
      ['p4', 'text.length.constructor'],
    ]) {
      await owner.flag(key as string, { targeting: { var: path } });
      const answer = await owner.evaluate(key as string, { text: 'a', toString: 1 });
      expect(answer.value === null || answer.variant === 'on', JSON.stringify(answer)).toBe(true);
      expect(['ERROR', 'DEFAULT']).toContain(answer.reason);
    }
    await owner.flag('no-text', { targeting: { var: 'a' } });
    expect(await owner.evaluate('no-text', { a: { toString: 1 } })).toMatchObject({
      value: null,
      error_code: 'GENERAL',
    });
  });
});

describe('changes', () => {
  test('the same flag again is answered, another of its key refused', async () => {
    const first = await owner.flag('again');
    expect(await owner.flag('again')).toEqual(first);
    expect((await create({ key: 'again', default_variant: 'off' })).body.error.code).toBe('ALREADY_EXISTS');
  });

  test('a change is evaluated at once, and what is not sent stays', async () => {
    await owner.flag('change', { description: 'One', targeting: { if: [{ var: 'a' }, 'off', null] } });
    expect(await owner.evaluate('change', { a: 1 })).toMatchObject({ value: false, reason: 'TARGETING_MATCH' });
    const { body } = await update('change', { targeting: null });
    expect(body.data).toMatchObject({ description: 'One', targeting: {}, has_targeting: false, default_variant: 'on' });
    expect(await owner.evaluate('change', { a: 1 })).toMatchObject({ value: true, reason: 'STATIC' });
    await update('change', { enabled: false });
    expect(await owner.evaluate('change')).toMatchObject({ value: null, reason: 'DISABLED', error_code: null });
    await owner.call('DELETE', '/v1/flags/delete/change');
    expect(await owner.evaluate('change')).toMatchObject({ error_code: 'FLAG_NOT_FOUND' });
    expect((await update('change', { enabled: true })).body.error.code).toBe('FLAG_NOT_FOUND');
  });

  test('a flag that is switched off stays so when its description changes', async () => {
    await owner.flag('off', { enabled: false });
    expect((await update('off', { description: 'Later' })).body.data).toMatchObject({ enabled: false });
    expect((await create({ key: 'on' })).body.data).toMatchObject({ enabled: true });
  });

  test('of changes with one revision one is made', async () => {
    const { revision } = await owner.flag('guarded');
    const changes = Array.from({ length: 10 }, (_, i) => update('guarded', { revision, description: `By ${i}` }));
    const codes = (await Promise.all(changes)).map(({ body }) => body.error?.code ?? 'made');
    expect(codes.toSorted()).toEqual([...Array(9).fill('STATE_CONFLICT'), 'made']);
  });

  test('who changed what stays, also of a flag that is gone', async () => {
    await owner.flag('told');
    await update('told', { enabled: false, description: 'Off' });
    await update('told', { enabled: false });
    await owner.call('DELETE', '/v1/flags/delete/told');
    const { items } = await owner.data('GET', '/v1/flags/history/told');
    expect(items.map(({ action, changed_fields: fields }: Record<string, unknown>) => [action, fields])).toEqual([
      ['delete', []],
      ['update', ['description', 'enabled']],
      ['create', []],
    ]);
    expect(items[1].flag).toMatchObject({ key: 'told', enabled: false, description: 'Off', variants: onOff.variants });
    expect(items[0].actor).toMatch(/^key_/);
    const page = await owner.data('GET', '/v1/flags/history/told?limit=1');
    const next = await owner.data('GET', `/v1/flags/history/told?limit=1&cursor=${page.next_cursor}`);
    expect(next.items[0].action).toBe('update');
  });

  test('the tier bounds how many flags there are', async () => {
    const full = await bench.owner();
    const flag = { state: 'ENABLED', variants: { on: true } };
    const flags = (count: number) => ({
      flags: Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, flag])),
    });
    expect((await full.call('POST', '/v1/flags/import', flags(501))).body.error.code).toBe('QUOTA_EXCEEDED');
    await full.data('POST', '/v1/flags/import', flags(500));
    expect((await full.call('POST', '/v1/flags/create', { key: 'more', ...onOff })).body.error.code).toBe(
      'QUOTA_EXCEEDED',
    );
    await full.data('POST', '/v1/flags/import', flags(500));
    const { items } = await full.data('POST', '/v1/flags/evaluate', {});
    expect(items).toHaveLength(500);
  });
});

describe('evaluations', () => {
  test('several keys are answered in their order, each once', async () => {
    await owner.flag('one');
    await owner.flag('two', { enabled: false });
    const { items } = await owner.data('POST', '/v1/flags/evaluate', { keys: ['two', 'nope', 'one'] });
    expect(items.map(({ key, reason }: Record<string, unknown>) => `${key} ${reason}`)).toEqual([
      'two DISABLED',
      'nope ERROR',
      'one STATIC',
    ]);
    const both = await owner.call('POST', '/v1/flags/evaluate', { key: 'one', keys: ['two'] });
    expect(both.body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'keys' });
  });

  test('a quarter is a quarter, the same in any order, and grows without moving anybody out', async () => {
    const shares = (on: number) => ({
      targeting: {
        fractional: [
          ['on', on],
          ['off', 100 - on],
        ],
      },
    });
    await owner.flag('quarter', shares(25));
    const { core } = bench.test;
    const state = await import('../../src/modules/flags/serving/served-flags.ts');
    const served = new state.ServedFlags(core);
    const { byKey } = await served.load(owner.accountId);
    const isOn = (key: string) => byKey.get('quarter')?.evaluate({ targetingKey: key }).variant === 'on';
    const keys = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
    const on = keys.filter(isOn);
    expect(on.length / keys.length).toBeGreaterThan(0.24);
    expect(on.length / keys.length).toBeLessThan(0.26);
    const few = on.slice(0, 20);
    for (const key of few) expect((await owner.evaluate('quarter', { targetingKey: key })).variant).toBe('on');
    await update('quarter', shares(50));
    for (const key of few) expect((await owner.evaluate('quarter', { targetingKey: key })).variant).toBe('on');
    await served.close();
  });

  test('another account has its own flags', async () => {
    const other = await bench.owner();
    await owner.flag('mine');
    expect(await other.evaluate('mine')).toMatchObject({ error_code: 'FLAG_NOT_FOUND' });
    await other.flag('mine', { default_variant: 'off' });
    expect([(await owner.evaluate('mine')).value, (await other.evaluate('mine')).value]).toEqual([true, false]);
  });
});

test('a file of flagd goes in and comes out as it was', async () => {
  const own = await bench.owner();
  const file = {
    flags: {
      banner: {
        state: 'DISABLED',
        variants: { a: 'x', b: 'y' },
        defaultVariant: null,
        targeting: { if: [{ '==': [{ var: 'a' }, 1] }, 'a', null] },
        metadata: { owner: 'web', description: 'A banner' },
      },
      limit: {
        state: 'ENABLED',
        variants: { low: 0.5, high: 1e9 },
        defaultVariant: 'low',
        targeting: {},
        metadata: {},
      },
    },
    metadata: { team: 'core' },
  };
  await own.flag('old');
  expect(await own.data('POST', '/v1/flags/import', { ...file, replace: true })).toMatchObject({
    imported: 2,
    deleted: 1,
  });
  const out = await own.data('GET', '/v1/flags/export');
  expect(out).toEqual(file);
  await own.data('POST', '/v1/flags/import', { ...out, replace: true });
  expect(await own.data('GET', '/v1/flags/export')).toEqual(file);
  expect(await own.data('GET', '/v1/flags/get/banner')).toMatchObject({
    description: 'A banner',
    metadata: { owner: 'web' },
    enabled: false,
  });
});

test('a flag of a file that is wrong is told and left as it was, and the others are taken', async () => {
  const own = await bench.owner();
  await own.flag('kept');
  const good = { state: 'ENABLED', variants: { a: 'x' }, defaultVariant: 'a' };
  const file = {
    kept: { ...good, defaultVariant: 'b' },
    'no state': { variants: { a: 'x' } },
    stateless: { variants: { a: 'x' } },
    odd: { ...good, state: 'ON' },
    empty: { ...good, variants: {} },
    list: [],
    mixed: { ...good, variants: { a: 'x', b: 1 } },
    lost: { ...good, targeting: { if: [{ $ref: 'nowhere' }, 'a'] } },
    good,
  };
  const { imported, failed, deleted } = await own.data('POST', '/v1/flags/import', { flags: file, replace: true });
  expect([imported, deleted]).toEqual([1, 0]);
  const faults = failed.map(({ key, error }: { key: string; error: { param: string } }) => [key, error.param]);
  expect(Object.fromEntries(faults)).toEqual({
    kept: 'flags.kept.default_variant',
    'no state': 'flags.no state',
    stateless: 'flags.stateless.state',
    odd: 'flags.odd.state',
    empty: 'flags.empty.variants',
    list: 'flags.list',
    mixed: 'flags.mixed.variants.b',
    lost: 'flags.lost.targeting',
  });
  expect(await own.evaluate('kept')).toMatchObject({ value: true });
  expect(await own.evaluate('good')).toMatchObject({ value: 'x' });
  const { good: _, ...bad } = file;
  const refused = await own.call('POST', '/v1/flags/import', { flags: bad });
  expect([refused.status, refused.body.error.param]).toEqual([400, 'flags.kept.default_variant']);
});

test('a rule that was taken before it would be refused does not keep its flag on', async () => {
  const own = await bench.owner();
  await own.flag('older', { targeting: { if: [{ var: 'a' }, 'off'] } });
  const definition = {
    variants: onOff.variants,
    targeting: {
      fractional: [
        ['on', 20],
        ['of', 80],
      ],
    },
    metadata: {},
  };
  const rewrite = statement('test_flag', 'UPDATE flags.flag SET definition = $2 WHERE account_id = $1');
  await bench.test.core.db.query(rewrite, [own.accountId, JSON.stringify(definition)]);
  const change = (fields: object) => own.call('PATCH', '/v1/flags/update/older', fields);
  expect((await change({ enabled: false })).body.data).toMatchObject({ enabled: false });
  expect((await change({ targeting: definition.targeting })).body.error.param).toBe('targeting.fractional.1.0');
  expect((await change({ variants: { on: true } })).body.error.param).toBe('targeting.fractional.1.0');
});

test('evaluators that name one another twice are refused before they double', async () => {
  const $evaluators = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`e${i}`, { or: [{ $ref: `e${i + 1}` }, { $ref: `e${i + 1}` }] }]),
  );
  const flags = { bomb: { state: 'ENABLED', variants: { on: true }, targeting: { if: [{ $ref: 'e0' }, 'on'] } } };
  const { body } = await owner.call('POST', '/v1/flags/import', { flags, $evaluators });
  expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', param: 'flags.bomb.targeting' });
  const round = { a: { or: [{ $ref: 'a' }] } };
  const again = await owner.call('POST', '/v1/flags/import', {
    flags: { a: { ...flags.bomb, targeting: { $ref: 'a' } } },
    $evaluators: round,
  });
  expect(again.body.error.code).toBe('VALIDATION_FAILED');
});

test('a key for evaluations can do nothing else', async () => {
  const { accountId, secret } = await createTestAccount(bench.test.core, 1, ['flags.evaluate']);
  const page = callerOf(bench.url, accountId, secret);
  expect((await page.evaluate('any')).error_code).toBe('FLAG_NOT_FOUND');
  for (const [method, path] of [
    ['GET', 'list'],
    ['GET', 'export'],
    ['GET', 'get/a'],
    ['DELETE', 'delete/a'],
  ])
    expect((await page.call(method as string, `/v1/flags/${path}`)).body.error.code).toBe('INSUFFICIENT_SCOPE');
});
