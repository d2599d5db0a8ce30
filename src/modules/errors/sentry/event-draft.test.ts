import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scrubEvent } from '../../../lib/scrub/scrub.ts';
import { instantOf } from '../intake/lenient.ts';
import { draftOfEvent } from './event-draft.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const draft = (event: Record<string, unknown>) => draftOfEvent(event, NOW, JSON.stringify(event));
const groupKey = (text: string) => hash('sha256', text, 'hex');
const thrown = (fields: Record<string, unknown> = {}) => ({ type: 'TypeError', value: 'boom', ...fields });

test('an empty event is an error without a name', () => {
  expect(draft({})).toEqual({
    grouping: { fingerprint: groupKey('error'), source: 'default' },
    level: 'error',
    title: 'Error',
    message: null,
    environment: null,
    release: null,
    user_id: null,
    contact: null,
    tags: {},
    occurredAtMs: null,
    exception: null,
    breadcrumbs: [],
    context: {},
    extra: {},
    sdk: null,
    runtime: null,
    request: null,
    user: null,
  });
});

describe('grouping', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['fingerprint', { fingerprint: ['a'], exception: { values: [thrown()] } }, 'a'],
    ['fingerprint of several parts', { fingerprint: ['a', 5], message: 'x' }, '["a","5"]'],
    [
      'fingerprint with the default in it',
      { fingerprint: ['{{ default }}', 'a'], exception: [thrown()], message: 'x' },
      '["TypeError: boom","a"]',
    ],
    ['exception before message', { exception: { values: [thrown()] }, message: 'x' }, 'TypeError: boom'],
    [
      'exception thrown, not its cause',
      { exception: { values: [thrown({ type: 'Cause' }), thrown()] } },
      'TypeError: boom',
    ],
    ['exception without a type', { exception: { values: [{ value: 'boom' }] } }, 'boom'],
    ['message', { message: 'x' }, 'x'],
    [
      'message before its parameters',
      { logentry: { message: 'user %s', formatted: 'user 7', params: ['7'] } },
      'user %s',
    ],
  ])('is by %s', (_what, event, key) => {
    expect(draft(event).grouping.fingerprint).toBe(groupKey(key));
  });
});

describe('fields', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['level log', { level: 'log' }, { level: 'info' }],
    ['level critical', { level: 'CRITICAL' }, { level: 'fatal' }],
    ['level of another kind', { level: 7 }, { level: 'error' }],
    ['logentry', { logentry: { message: 'user %s', formatted: 'user 7' } }, { message: 'user 7', title: 'user 7' }],
    ['message as an entry', { message: { formatted: 'user 7' } }, { message: 'user 7' }],
    ['one of our environments', { environment: 'staging' }, { environment: 'staging', tags: {} }],
    ['another environment', { environment: 'qa-2' }, { environment: null, tags: { environment: 'qa-2' } }],
    ['tags in a map', { tags: { a: 'b', n: 5, t: true, none: null, o: {} } }, { tags: { a: 'b', n: '5', t: 'true' } }],
    ['tags in pairs', { tags: [['a', 'b'], { key: 'c', value: 'd' }, null, 'x', []] }, { tags: { a: 'b', c: 'd' } }],
    [
      'fields that are tags',
      { transaction: 'GET /', server_name: 'web', logger: 'db', dist: '7' },
      { tags: { transaction: 'GET /', server_name: 'web', logger: 'db', dist: '7' } },
    ],
    [
      'a tag beside such a field',
      { transaction: 'GET /', tags: { transaction: 'own' } },
      { tags: { transaction: 'own' } },
    ],
    ['a user with a number', { user: { id: 7, geo: {} } }, { user_id: '7', user: { id: 7, geo: {} } }],
    ['a user with a name', { user: { username: 'bo', email: 'a@b.c' } }, { user_id: 'bo' }],
    ['a user with an address only', { user: { email: ' A@b.org' } }, { user_id: null, contact: 'a@b.org' }],
    ['a user whose name is one', { user: { username: 'a@b.org' } }, { user_id: null, contact: 'a@b.org' }],
    ['a user with a network address', { user: { ip_address: '::1' } }, { user_id: null, contact: '::1' }],
    ['a user to be found out', { user: { ip_address: '{{auto}}' } }, { user_id: null, contact: null }],
    ['a long release', { release: 'r'.repeat(300) }, { release: 'r'.repeat(256) }],
    [
      'contexts',
      { contexts: { runtime: { name: 'CPython' }, os: { name: 'Linux' } }, modules: { a: '1' } },
      { runtime: { name: 'CPython' }, context: { os: { name: 'Linux' }, modules: { a: '1' } } },
    ],
    ['platform', { platform: 'python' }, { runtime: { name: 'python' } }],
    ['NUL and halves of characters', { message: 'a\0b\ud800' }, { message: 'a\ufffdb\ufffd', title: 'a\ufffdb\ufffd' }],
  ])('%s', (_what, event, expected) => {
    expect(draft(event)).toMatchObject(expected);
  });

  test('breadcrumbs, in a list or under values; the latest 100', () => {
    const sent = {
      timestamp: 1_760_000_000.5,
      type: 'http',
      level: 'fatal',
      message: 'GET',
      data: { status: 500 },
      category: 'fetch',
    };
    const expected = {
      at: '2025-10-09T08:53:20.500Z',
      category: 'fetch',
      message: 'GET',
      level: 'critical',
      data: { status: 500 },
    };
    expect(draft({ breadcrumbs: [sent] }).breadcrumbs).toEqual([expected]);
    expect(draft({ breadcrumbs: { values: [sent, null, 5] } }).breadcrumbs).toEqual([expected]);
    const many = draft({ breadcrumbs: Array.from({ length: 150 }, (_, i) => ({ message: `${i}` })) }).breadcrumbs;
    expect([many.length, many[0]?.message, many.at(-1)?.message]).toEqual([100, '50', '149']);
  });

  test('100 tags of many', () => {
    const tags = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`t${i}`, 'x']));
    expect(Object.keys(draft({ tags, environment: 'qa' }).tags)).toEqual([
      'environment',
      ...Object.keys(tags).slice(0, 99),
    ]);
  });
});

describe('when it happened', () => {
  test.each([
    [NOW / 1000 - 5, NOW - 5_000],
    ['2026-11-21T11:59:00.25Z', NOW - 59_750],
    ['2026-11-21T11:59:00.250000', NOW - 59_750],
    ['2026-11-21T12:59:00.25+01:00', NOW - 59_750],
    [NOW / 1000 + 3_600, null],
    [NOW / 1000 - 40 * 86_400, null],
    [1e300, null],
    ['yesterday', null],
    [null, null],
    [{}, null],
  ])('%j', (timestamp, expected) => {
    expect(draft({ timestamp }).occurredAtMs).toBe(expected);
  });

  test('no number makes an instant that cannot be written', () => {
    fc.assert(
      fc.property(fc.double(), (seconds) => {
        const ms = instantOf(seconds);
        if (ms !== null) expect(new Date(ms).toISOString()).toMatch(/Z$/);
      }),
    );
  });
});

describe('exceptions', () => {
  const frames = [
    { function: 'main', filename: 'a.py', abs_path: '/srv/a.py', lineno: 3, in_app: false },
    {
      function: 'work',
      abs_path: '/srv/b.py',
      lineno: '14',
      colno: 2,
      pre_context: ['1', '2', '3', '4', '5', '6'],
      context_line: 'x()',
      post_context: ['8'],
      vars: { n: '1' },
    },
  ];

  test('module, mechanism and whether it was handled are kept, of each one in the chain', () => {
    const cause = { type: 'Cause', module: 'java.io', mechanism: { type: 'chained', handled: true } };
    const outer = thrown({
      module: 'com.example',
      mechanism: { type: 'onerror', handled: false, meta: { signal: 6 } },
    });
    expect(draft({ exception: { values: [cause, outer] } }).exception).toEqual({
      type: 'TypeError',
      value: 'boom',
      module: 'com.example',
      handled: false,
      stacktrace: [],
      mechanism: { type: 'onerror', handled: false, meta: { signal: 6 } },
      chain: [{ ...cause, value: '', handled: true, stacktrace: [] }],
    });
  });

  test('frames of a virtual machine keep their module, native ones their address', () => {
    const java = { function: 'pay', filename: 'Pay.java', module: 'com.example.Pay', lineno: 7 };
    const native = { function: 'main', package: '/usr/lib/libpay.so', instruction_addr: '0x4111111111111111' };
    const stacktrace = { frames: [native, java, { instruction_addr: 7 }] };
    const made = draft({ exception: [thrown({ stacktrace })] }).exception?.stacktrace;
    expect(made).toMatchObject([
      { func: '', instruction_addr: '7' },
      { func: 'pay', file: 'Pay.java', module: 'com.example.Pay' },
      { func: 'main', file: '/usr/lib/libpay.so', instruction_addr: '0x4111111111111111' },
    ]);
    expect(scrubEvent(made)).toEqual(made);
  });

  test('frames are turned round, the innermost first', () => {
    const { exception } = draft({ exception: { values: [thrown({ stacktrace: { frames } })] } });
    expect(exception).toEqual({
      type: 'TypeError',
      value: 'boom',
      stacktrace: [
        {
          func: 'work',
          file: '/srv/b.py',
          line: 14,
          col: 2,
          in_app: true,
          context_pre: ['2', '3', '4', '5', '6'],
          context_line: 'x()',
          context_post: ['8'],
          vars: { n: '1' },
        },
        {
          func: 'main',
          file: 'a.py',
          line: 3,
          col: null,
          in_app: false,
          context_pre: null,
          context_line: null,
          context_post: null,
          vars: null,
        },
      ],
    });
  });

  test('the stack of a message is kept', () => {
    const stack = { type: 'Message', value: 'here', stacktrace: [{ func: 'work' }, { func: 'main' }] };
    expect(draft({ message: 'here', stacktrace: { frames } }).exception).toMatchObject(stack);
    expect(
      draft({ message: 'here', threads: { values: [{}, { crashed: true, stacktrace: { frames } }] } }).exception,
    ).toMatchObject(stack);
  });

  const values = (...parents: [id: number, parent: number | null][]) =>
    parents.map(([id, parent]) => ({
      type: `E${id}`,
      mechanism: { exception_id: id, ...(parent === null ? {} : { parent_id: parent }) },
    }));
  // biome-ignore lint/suspicious/noExplicitAny: a chain of chains
  const tree = (record: any): unknown =>
    record.chain === undefined ? record.type : [record.type, record.chain.map(tree)];

  test.each<[string, Record<string, unknown>[], unknown]>([
    ['without ids: one behind the other', [{ type: 'E2' }, { type: 'E1' }, { type: 'E0' }], ['E0', ['E1', 'E2']]],
    ['with ids: the same', values([2, 1], [1, 0], [0, null]), ['E0', ['E1', 'E2']]],
    ['a group', values([3, 2], [2, 0], [1, 0], [0, null]), ['E0', ['E1', ['E2', ['E3']]]]],
    ['a group behind a cause', values([3, 1], [2, 1], [1, 0], [0, null]), ['E0', [['E1', ['E2', 'E3']]]]],
    ['ids that go round', values([1, 2], [2, 1], [0, 0]), ['E0', ['E2', 'E1']]],
    ['ids that are there twice', values([0, 0], [0, 0], [0, 0]), ['E0', ['E0', 'E0']]],
  ])('%s', (_what, sent, expected) => {
    expect(tree(draft({ exception: { values: sent } }).exception)).toEqual(expected);
  });
});

test('whatever JSON an event holds, it becomes a draft', () => {
  const names = [
    'exception',
    'message',
    'logentry',
    'tags',
    'user',
    'breadcrumbs',
    'contexts',
    'fingerprint',
    'timestamp',
    'threads',
    'level',
    'values',
    'frames',
    'stacktrace',
    'mechanism',
    'parent_id',
    'exception_id',
    '__proto__',
    'runtime',
    'data',
  ];
  // JSON has no negative zero.
  const leaf = fc.jsonValue({ maxDepth: 1 }).map((one) => JSON.parse(JSON.stringify(one)) as unknown);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, leaf, tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 }), (event) => {
      const made = draft(event);
      expect(made.grouping.fingerprint).toMatch(/^[0-9a-f]{64}$/);
      expect(JSON.parse(JSON.stringify(made))).toEqual(made);
      for (const text of Object.values(made.tags)) expect(typeof text).toBe('string');
    }),
    { numRuns: 2_000 },
  );
});
