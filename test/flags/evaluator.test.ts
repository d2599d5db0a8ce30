// What flagd's evaluator is held to (open-feature/flagd-testbed, evaluator/gherkin), as tables: imported as a file of flagd, asked over the wire.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FlagOwner, startFlagBench } from './harness.ts';

type Context = Readonly<Record<string, unknown>>;
const names = (...of: string[]) => Object.fromEntries(of.map((name) => [name, name]));
const flag = (variants: object, defaultVariant: string | null | undefined, targeting?: object, state = 'ENABLED') => ({
  state,
  variants,
  ...(defaultVariant === undefined ? {} : { defaultVariant }),
  ...(targeting === undefined ? {} : { targeting }),
});
const off = (variants: object, defaultVariant: string) => flag(variants, defaultVariant, undefined, 'DISABLED');
const template = { showImages: true, title: 'Check out these pics!', imagesPerPage: 100 };
const suits = ['clubs', 'diamonds', 'hearts', 'spades'];
const quarters = (seed: unknown) => ({
  fractional: [{ cat: [seed, { var: 'user.name' }] }, ...suits.map((suit) => [suit, 25])],
});
const staffOr = (no: string, yes: string) => ({ if: [{ $ref: 'is_staff' }, yes, no] });
const version = (operator: string, than: string) => ({ sem_ver: [{ var: 'version' }, operator, than] });
const versionFlag = (rule: object) => flag(names('match', 'no-match'), 'no-match', { if: [rule, 'match', 'no-match'] });
const byKey = (...buckets: unknown[]) => ({ fractional: [{ var: 'targetingKey' }, ...buckets] });
const fallback = (rule: object, ...of: string[]) => flag(names('fallback', 'true', 'false', ...of), 'fallback', rule);

const file = {
  $evaluators: { is_staff: { '==': ['ballmer@macrosoft.com', { var: ['email'] }] } },
  flags: {
    'boolean-flag': flag({ on: true, off: false }, 'on'),
    'string-flag': flag({ greeting: 'hi', parting: 'bye' }, 'greeting'),
    'integer-flag': flag({ one: 1, ten: 10 }, 'ten'),
    'float-flag': flag({ tenth: 0.1, half: 0.5 }, 'half'),
    'object-flag': flag({ empty: {}, template }, 'template'),
    'boolean-zero': flag({ zero: false, one: true }, 'zero'),
    'string-zero': flag({ zero: '', one: 'str' }, 'zero'),
    'number-zero': flag({ zero: 0, one: 1 }, 'zero'),
    'object-zero': flag({ zero: {}, one: template }, 'zero'),
    'targeted-zero': flag({ zero: '', one: 'str' }, 'zero', { if: [{ $ref: 'is_staff' }, 'zero'] }),
    'null-default': flag({ on: true, off: false }, null),
    'no-default': flag({ small: 10, big: 1000 }, undefined),
    'no-default-null': flag({ normal: 'CFO', special: 'CEO' }, undefined, {
      if: [{ '==': ['jobs@orange.com', { var: ['email'] }] }, 'special', null],
    }),
    'no-default-undefined': flag({ normal: 'CFO', special: 'CEO' }, undefined, {
      if: [{ '==': ['jobs@orange.com', { var: ['email'] }] }, 'special'],
    }),
    'staff-hi': flag(names('hi', 'bye', 'none'), 'none', staffOr('bye', 'hi')),
    'staff-yes': flag(names('yes', 'no', 'none'), 'none', staffOr('no', 'yes')),
    quarters: flag(names(...suits, 'wild'), 'wild', quarters({ var: '$flagd.flagKey' })),
    'fractional-flag': flag(names(...suits, 'wild'), 'wild', quarters({ var: '$flagd.flagKey' })),
    'fractional-flag-shorthand': flag(names('heads', 'tails', 'draw'), 'draw', {
      fractional: [['heads'], ['tails', 1]],
    }),
    'seed-a': flag(names(...suits, 'wild'), 'wild', quarters('shared-seed')),
    'seed-b': flag(
      { ...Object.fromEntries(suits.map((suit) => [suit, `ace-of-${suit}`])), wild: 'wild' },
      'wild',
      quarters('shared-seed'),
    ),
    edges: flag(names('lower', 'upper'), 'lower', byKey(['lower', 50], ['upper', 50])),
    'nested-if': flag(
      names('premium', 'standard', 'fallback'),
      'fallback',
      byKey([{ if: [{ '==': [{ var: 'tier' }, 'premium'] }, 'premium', 'standard'] }, 50], ['standard', 50]),
    ),
    'nested-var': flag(
      names('red', 'green', 'blue', 'fallback'),
      'fallback',
      byKey([{ var: 'color' }, 50], ['blue', 50]),
    ),
    'nested-weight': flag(
      names('red', 'blue', 'fallback'),
      'fallback',
      byKey(['red', { if: [{ '==': [{ var: 'tier' }, 'premium'] }, 100, 0] }], ['blue', 10]),
    ),
    'as-condition': flag({ big: 'hundreds', small: 'ones', fallback: 'zero' }, 'fallback', {
      if: [
        {
          fractional: [
            [false, 0],
            [true, 100],
          ],
        },
        'big',
        'small',
      ],
    }),
    'as-condition-false': flag({ big: 'hundreds', small: 'ones', fallback: 'zero' }, 'fallback', {
      if: [
        {
          fractional: [
            [false, 100],
            [true, 0],
          ],
        },
        'big',
        'small',
      ],
    }),
    'single-entry': flag(names('single', 'fallback'), 'fallback', { fractional: [['single', 1]] }),
    'null-bucket-key': fallback({ fractional: [{ var: 'missing_key' }, ['one', 50], ['two', 50]] }, 'one', 'two'),
    affixes: flag(names('prefix', 'postfix', 'none'), 'none', {
      if: [
        { starts_with: [{ var: 'id' }, 'abc'] },
        'prefix',
        { if: [{ ends_with: [{ var: 'id' }, 'xyz'] }, 'postfix', 'none'] },
      ],
    }),
    'starts-number': fallback({ starts_with: [{ var: 'num' }, 'abc'] }),
    'ends-number': fallback({ ends_with: [{ var: 'num' }, 'xyz'] }),
    'version-order': flag(names('equal', 'greater', 'lesser', 'none'), 'none', {
      if: [
        version('=', '2.0.0'),
        'equal',
        { if: [version('>', '2.0.0'), 'greater', { if: [version('<', '2.0.0'), 'lesser', 'none'] }] },
      ],
    }),
    'version-range': flag(names('minor', 'major', 'none'), 'none', {
      if: [version('~', '3.0.0'), 'minor', { if: [version('^', '3.0.0'), 'major', 'none'] }],
    }),
    'version-invalid': fallback(version('=', '1.0.0')),
    'version-v': versionFlag(version('=', 'v1.0.0')),
    'version-partial': versionFlag(version('^', '1')),
    'version-build': versionFlag(version('=', '1.0.0+build')),
    'version-number': versionFlag(version('>', '1.1')),
    'key-flag': flag(names('miss', 'hit'), 'miss', {
      if: [{ '==': [{ var: 'targetingKey' }, '5c3d8535'] }, 'hit', null],
    }),
    'off-boolean': off({ on: true, off: false }, 'on'),
    'off-string': off({ greeting: 'hi', parting: 'bye' }, 'greeting'),
    'off-number': off({ one: 1, ten: 10 }, 'ten'),
    'off-object': off({ empty: {}, template }, 'template'),
    'wrong-flag': flag({ one: 'uno', two: 'dos' }, 'one'),
  },
};

let bench: Awaited<ReturnType<typeof startFlagBench>>;
let owner: FlagOwner;
beforeAll(async () => {
  bench = await startFlagBench();
  owner = await bench.owner();
  await owner.data('POST', '/v1/flags/import', file);
});
afterAll(() => bench.stop());

const staff = { email: 'ballmer@macrosoft.com' };
const key = (targetingKey: string, more: Context = {}) => ({ targetingKey, ...more });
const user = (name: string | number) => ({ user: { name } });
const v = (of: unknown) => ({ version: of });

/** A reason where the feature names one. */
const values: readonly (readonly [key: string, context: Context, value: unknown, reason?: string])[] = [
  ['boolean-flag', {}, true, 'STATIC'],
  ['string-flag', {}, 'hi', 'STATIC'],
  ['integer-flag', {}, 10, 'STATIC'],
  ['float-flag', {}, 0.5, 'STATIC'],
  ['object-flag', {}, template, 'STATIC'],
  ['boolean-zero', {}, false, 'STATIC'],
  ['string-zero', {}, '', 'STATIC'],
  ['number-zero', {}, 0, 'STATIC'],
  ['object-zero', {}, {}, 'STATIC'],
  ['targeted-zero', staff, '', 'TARGETING_MATCH'],
  ['targeted-zero', {}, '', 'DEFAULT'],
  ['null-default', {}, null, 'DEFAULT'],
  ['no-default', {}, null, 'DEFAULT'],
  ['no-default-null', { email: 'wozniak@orange.com' }, null, 'DEFAULT'],
  ['no-default-null', { email: 'jobs@orange.com' }, 'CEO', 'TARGETING_MATCH'],
  ['no-default-undefined', { email: 'wozniak@orange.com' }, null, 'DEFAULT'],
  ['staff-hi', staff, 'hi', 'TARGETING_MATCH'],
  ['staff-hi', { email: 'user@example.com' }, 'bye', 'TARGETING_MATCH'],
  ['staff-yes', staff, 'yes'],
  ['fractional-flag', user('jack'), 'hearts'],
  ['fractional-flag', user('queen'), 'spades'],
  ['fractional-flag', user('ten'), 'clubs'],
  ['fractional-flag', user('nine'), 'diamonds'],
  ['fractional-flag', user(3), 'clubs'],
  ['fractional-flag-shorthand', key('jon@company.com'), 'heads'],
  ['fractional-flag-shorthand', key('jane@company.com'), 'tails'],
  ['seed-a', user('seven'), 'hearts'],
  ['seed-a', user('eight'), 'diamonds'],
  ['seed-a', user('nine'), 'clubs'],
  ['seed-a', user('two'), 'spades'],
  ['seed-b', user('seven'), 'ace-of-hearts'],
  ['seed-b', user('eight'), 'ace-of-diamonds'],
  ['seed-b', user('nine'), 'ace-of-clubs'],
  ['seed-b', user('two'), 'ace-of-spades'],
  ['edges', key('ejOoVL'), 'lower'],
  ['edges', key('bY9fO-'), 'lower'],
  ['edges', key('SI7p-'), 'lower'],
  ['edges', key('6LvT0'), 'upper'],
  ['edges', key('ceQdGm'), 'upper'],
  ['nested-if', key('jon@company.com', { tier: 'premium' }), 'premium'],
  ['nested-if', key('jon@company.com', { tier: 'basic' }), 'standard'],
  ['nested-if', key('user1', { tier: 'premium' }), 'standard'],
  ['nested-var', key('jon@company.com', { color: 'red' }), 'red'],
  ['nested-var', key('jon@company.com', { color: 'green' }), 'green'],
  ['nested-var', key('user1', { color: 'red' }), 'blue'],
  ['nested-var', key('jon@company.com', { color: 'yellow' }), null, 'ERROR'],
  ['nested-weight', key('jon@company.com', { tier: 'premium' }), 'red'],
  ['nested-weight', key('jon@company.com', { tier: 'basic' }), 'blue'],
  ['nested-weight', key('user1', { tier: 'premium' }), 'red'],
  ['nested-weight', key('user1', { tier: 'basic' }), 'blue'],
  ['as-condition', key('some-key'), 'hundreds'],
  ['as-condition-false', key('some-key'), 'ones'],
  ['single-entry', key('any'), 'single'],
  ['null-bucket-key', {}, 'fallback', 'DEFAULT'],
  ['affixes', { id: 'abcdef' }, 'prefix'],
  ['affixes', { id: 'uvwxyz' }, 'postfix'],
  ['affixes', { id: 'abcxyz' }, 'prefix'],
  ['affixes', { id: 'lmnopq' }, 'none'],
  ['starts-number', { num: 123 }, 'fallback', 'DEFAULT'],
  ['ends-number', { num: 123 }, 'fallback', 'DEFAULT'],
  ['version-order', v('2.0.0'), 'equal'],
  ['version-order', v('2.1.0'), 'greater'],
  ['version-order', v('1.9.0'), 'lesser'],
  ['version-order', v('2.0.0-alpha'), 'lesser'],
  ['version-order', v('2.0.0.0'), 'none'],
  ['version-range', v('3.0.1'), 'minor'],
  ['version-range', v('3.1.0'), 'major'],
  ['version-range', v('4.0.0'), 'none'],
  ['version-invalid', v('not-a-version'), 'fallback', 'DEFAULT'],
  ...['1.0.0', 'v1.0.0', 'V1.0.0'].map((of) => ['version-v', v(of), 'match'] as const),
  ['version-v', v('2.0.0'), 'no-match'],
  ...['1.5.0', '1.0.0', '1.0', '1', 1, 1.2].map((of) => ['version-partial', v(of), 'match'] as const),
  ['version-partial', v('2.0.0'), 'no-match'],
  ...[1.2, 2, '1.2'].map((of) => ['version-number', v(of), 'match'] as const),
  ...[1.1, 1].map((of) => ['version-number', v(of), 'no-match'] as const),
  ['version-build', v('1.0.0'), 'match'],
  ['version-build', v('1.0.0+other'), 'match'],
  ['version-build', v('2.0.0'), 'no-match'],
  ['key-flag', key('5c3d8535'), 'hit', 'TARGETING_MATCH'],
  ['key-flag', key('f20bd32d'), 'miss', 'DEFAULT'],
  ['off-boolean', {}, null, 'DISABLED'],
  ['off-string', {}, null, 'DISABLED'],
  ['off-number', {}, null, 'DISABLED'],
  ['off-object', {}, null, 'DISABLED'],
];

describe('evaluations', () => {
  test.each(values.map((each, at) => [at, ...each] as const))(
    '%i: %s for %j is %j',
    async (_, of, context, value, reason) => {
      const answer = await owner.evaluate(of, context);
      expect(answer).toMatchObject({ key: of, value, ...(reason === undefined ? {} : { reason }) });
      expect(answer.error_code).toBe(reason === 'ERROR' ? 'GENERAL' : null);
    },
  );

  test('a key without a flag, and a flag of another type, say so', async () => {
    expect(await owner.evaluate('missing-flag')).toEqual({
      key: 'missing-flag',
      value: null,
      variant: null,
      reason: 'ERROR',
      error_code: 'FLAG_NOT_FOUND',
    });
    expect(await owner.evaluate('wrong-flag', {}, 'number')).toMatchObject({
      value: null,
      error_code: 'TYPE_MISMATCH',
    });
    expect(await owner.evaluate('wrong-flag', {}, 'string')).toMatchObject({ value: 'uno', error_code: null });
  });

  // flagd takes these and answers the default for ever.
  test.each([
    ['shares of 0', byKey(['one', 0], ['two', 0]), 'fractional'],
    ['a share below 0', byKey(['one', -50], ['two', 100]), 'fractional.1.1'],
    ['a share that is no whole number', byKey(['one', 0.5], ['two', 1]), 'fractional.1.1'],
    ['a share that is a text', byKey(['one', '50']), 'fractional.1.1'],
    ['a bucket that is no list', byKey('one'), 'fractional.1'],
    ['no bucket', byKey(), 'fractional'],
    ['shares that are no list', { fractional: 'one' }, 'fractional'],
    ['an attribute without var', { fractional: ['email', ['one', 50], ['two', 50]] }, 'fractional.0'],
    ['a variant of a share that is not there', byKey(['one', 20], ['of', 80]), 'fractional.2.0'],
    ['shares within a condition', { if: [byKey([true, -1]), 'one'] }, 'if.0.fractional.1.1'],
    ['a variant that is not there', { if: [{ var: 'a' }, 'one', 'three'] }, 'if.2'],
    ['a variant of a branch that is not there', { if: [{ var: 'a' }, { if: [{ var: 'b' }, 'no'] }] }, 'if.1.if.1'],
    ['a truth value', { '==': [{ var: 'a' }, 1] }, ''],
    ['a condition and a variant', { and: [{ '==': [{ var: 'a' }, 1] }, 'one'] }, 'and.0'],
    ['a text as a condition', { if: ['email == 1', 'one', 'two'] }, 'if.0'],
    ['no beginning', { if: [{ starts_with: ['abc'] }, 'one'] }, 'if.0.starts_with'],
    ['no end', { if: [{ ends_with: ['xyz'] }, 'one'] }, 'if.0.ends_with'],
    ['a comparison of versions that is none', { if: [version('===', '1.0.0'), 'one'] }, 'if.0.sem_ver.1'],
    ['no version', { if: [{ sem_ver: [{ var: 'version' }, '='] }, 'one'] }, 'if.0.sem_ver'],
  ])('%s is refused when it is written, with its place', async (_, rule, at) => {
    const param = ['targeting', at].filter(Boolean).join('.');
    const fields = { key: 'wrong-rule', type: 'string', variants: names('one', 'two'), targeting: rule };
    const made = await owner.call('POST', '/v1/flags/create', fields);
    expect([made.status, made.body.error.code, made.body.error.param]).toEqual([400, 'VALIDATION_FAILED', param]);
    const good = { state: 'ENABLED', variants: { on: true } };
    const flags = { 'wrong-rule': flag(names('one', 'two'), 'one', rule), good };
    const file = await owner.data('POST', '/v1/flags/import', { flags });
    expect(file).toMatchObject({
      imported: 1,
      failed: [{ key: 'wrong-rule', error: { code: 'VALIDATION_FAILED', param: `flags.wrong-rule.${param}` } }],
    });
  });

  test('what is only known from a context is taken', async () => {
    const rules = [
      { var: 'plan' },
      { and: [{ var: 'plan' }, 'one'] },
      { or: [{ '!': [{ var: 'plan' }] }, null] },
      byKey([{ var: 'plan' }, 50], [null, { var: 'weight' }]),
      { if: [{ '>': [{ var: 'age' }, 18] }, 'one'] },
    ];
    for (const [i, targeting] of rules.entries())
      await owner.data('POST', '/v1/flags/create', {
        key: `known-later-${i}`,
        type: 'string',
        targeting,
        variants: names('one', 'two', 'true'),
      });
  });

  // What flagd-core's default answers, which compiles its rules.
  test('people are dealt out as flagd-core does, also where a part of their seed is missing', async () => {
    const { FlagdCore } = await import('@openfeature/flagd-core');
    const seed = (...parts: unknown[]) => ({
      fractional: [{ cat: parts }, ...suits.map((suit) => [suit, 25])],
    });
    const rules = {
      'seed-missing': seed('k', { var: 'user.name' }),
      'seed-two': seed({ var: 'team' }, { var: 'user.name' }),
      'seed-nested': seed('k', { cat: [{ var: 'team' }, { if: [{ var: 'user' }, { var: 'user.name' }] }] }),
    };
    const flags = Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, flag(names(...suits), 'clubs', rule)]),
    );
    await owner.data('POST', '/v1/flags/import', { flags });
    const peer = new FlagdCore();
    peer.setConfigurations(JSON.stringify({ flags }));
    const some = ['a', 'b', null, 7, undefined];
    for (const team of some)
      for (const name of some) {
        const context = JSON.parse(JSON.stringify({ team, user: { name } }));
        for (const key of Object.keys(rules)) {
          const { variant } = peer.resolveStringEvaluation(key, 'none', context);
          expect(await owner.evaluate(key, context), `${key} ${JSON.stringify(context)}`).toMatchObject({ variant });
        }
      }
  });

  test('an evaluator that does not exist is refused when it is written', async () => {
    const flags = { lost: flag(names('a', 'b'), 'a', { if: [{ $ref: 'nowhere' }, 'a', 'b'] }) };
    const reply = await owner.call('POST', '/v1/flags/import', { flags });
    expect(reply.body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      param: 'flags.lost.targeting',
      code_detail: 'unknown_evaluator',
    });
  });
});
