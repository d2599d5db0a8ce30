// What a text hides depends on where it stands; that it was seen before, here or there, changes nothing.
import { expect, test } from 'vitest';
import { scrubEvent } from './scrub.ts';

/** Names of the members in which something is hidden, the same each time. */
function hiding(event: Record<string, unknown>): string[] {
  const [first, second] = [0, 1].map(() => {
    const clean = scrubEvent(event);
    return Object.keys(event).filter((name) => JSON.stringify(clean[name]) !== JSON.stringify(event[name]));
  });
  expect(second).toEqual(first);
  return first as string[];
}

test('only members that hide something are changed', () => {
  const event = (value: string) => ({
    exception: { type: 'E', value: 'refused', stacktrace: [{ func: 'f', vars: { note: value } }] },
    request: { url: 'https://example.org/a', headers: { accept: '*/*' } },
    extra: { note: value, list: ['one', value] },
  });
  expect(hiding(event('nothing to see'))).toEqual([]);
  expect(hiding(event('mail bob@example.org'))).toEqual(['exception']);
  expect(hiding(event('password=swordfish'))).toEqual(['exception', 'extra']);
  expect(hiding({ ...event('nothing to see'), request: { headers: { cookie: 'crumbs' } } })).toEqual(['request']);
  expect(hiding(event('nothing to see'))).toEqual([]);
});

test('the same text is judged by its place', () => {
  const address = 'bob@example.org';
  expect(hiding({ extra: { to: address } })).toEqual([]);
  expect(hiding({ request: { to: address } })).toEqual(['request']);
  expect(hiding({ extra: { user: { to: address } } })).toEqual(['extra']);
  expect(hiding({ extra: { context_line: 'token: hunter22' } })).toEqual(['extra']);
  expect(hiding({ extra: { a: 'Cookie', b: 'crumbs' } })).toEqual([]);
  expect(hiding({ extra: { a: ['Cookie', 'crumbs'] } })).toEqual(['extra']);
  expect(hiding({ extra: { a: ['pwd', 'crumbs'] } })).toEqual(['extra']);
  expect(hiding({ extra: { name: 'Cookie', note: 'crumbs' } })).toEqual([]);
  expect(hiding({ extra: { name: 'Cookie', value: 'crumbs' } })).toEqual(['extra']);
  expect(hiding({ extra: { value: 'crumbs', key: 'Cookie' } })).toEqual(['extra']);
  expect(hiding({ extra: { d: 'opaque', x: 'public' } })).toEqual([]);
  expect(hiding({ extra: { d: 'opaque', kty: 'OKP' } })).toEqual(['extra']);
});

test('numbers that are cards', () => {
  expect(hiding({ extra: { at: 1_767_323_045_123, e: 1e30, n: -17.25 } })).toEqual([]);
  expect(hiding({ extra: { n: 4_111_111_111_111_111 } })).toEqual(['extra']);
  expect(hiding({ extra: [0, 4_111_111_111_111_111] })).toEqual(['extra']);
});

test('a secret is found at any place of a text of any length', () => {
  const secret = 'password=swordfish';
  for (let length = secret.length; length < 260; length += 1) {
    const plain = 'é-'.repeat(length).slice(0, length);
    expect(hiding({ extra: { note: plain } })).toEqual([]);
    for (const at of [0, Math.floor((length - secret.length) / 2), length - secret.length]) {
      const planted = plain.slice(0, at) + secret + plain.slice(at + secret.length);
      expect(hiding({ extra: { note: planted } })).toEqual(['extra']);
    }
  }
});
