import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { draftOfEvent } from './event-draft.ts';

test.each<[string, string, unknown, string]>([
  ['positions', 'user %s has %d of %5.2f', ['bo', 3, 0.5], 'user bo has 3 of 0.5'],
  ['names', '%(who)s: %(what)r', { who: 'bo', what: 'x' }, 'bo: x'],
  ['braces', 'user {} has {}', ['bo', 3], 'user bo has 3'],
  ['numbered braces', '{1} before {0:x}', ['a', 'b'], 'b before a'],
  ['named braces', 'user {who} not {what}', { who: 'bo' }, 'user bo not {what}'],
  ['braces beside a percent sign', '100% of {}', ['it'], '100% of it'],
  ['fewer parameters than places', '%s and %s', ['a'], 'a and %s'],
  ['more parameters than places', '%s', ['a', 'b'], 'a'],
  ['percent signs', '%d%%', [5], '5%'],
  ['values of other kinds', '%s %s %s', [null, true, { a: [1] }], 'null true {"a":[1]}'],
  ['parameters that bring places', '%s %s', ['%s', 'b'], '%s b'],
  ['no parameters', '100%% of %s', [], '100%% of %s'],
  ['no list', '%s', 'a', '%s'],
])('a log entry is filled in by %s, and groups by its template', (_what, message, params, filled) => {
  for (const event of [{ logentry: { message, params } }, { message: { message, params } }]) {
    const made = draftOfEvent(event, 0, '{}');
    expect([made.message, made.title]).toEqual([filled, filled]);
    expect(made.grouping.fingerprint).toBe(hash('sha256', message, 'hex'));
  }
  expect(draftOfEvent({ logentry: { message, params, formatted: 'as sent' } }, 0, '{}').message).toBe('as sent');
});

test('a template that repeats a long parameter is filled in up to a length, at once', () => {
  const params = { a: { long: 'x'.repeat(20_000) } };
  for (const place of ['{a}', '%(a)s']) {
    const { message } = draftOfEvent({ logentry: { message: place.repeat(100_000), params } }, 0, '{}');
    expect(message?.length).toBeLessThan(100_000 * place.length + 64 * 1024);
  }
});
