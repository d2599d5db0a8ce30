import { expect, test } from 'vitest';
import { hidingMembers } from './scanner.ts';

/** Looked at until all that can be known of it is. */
function settled(value: object): ReadonlySet<string> | null {
  const source = JSON.stringify(value);
  for (let time = 0; time < 3; time += 1) hidingMembers(source);
  return hidingMembers(source);
}

const hiding = (...names: string[]) => new Set(names);

test('only members that hide something are named, known or not', () => {
  const event = (value: string) => ({
    exception: { type: 'E', value: 'refused', stacktrace: [{ func: 'f', vars: { note: value } }] },
    request: { url: 'https://example.org/a', headers: { accept: '*/*' } },
    extra: { note: value, list: ['one', value] },
  });
  expect(settled(event('nothing to see'))).toEqual(hiding());
  expect(settled(event('mail bob@example.org'))).toEqual(hiding('exception'));
  expect(settled(event('password=swordfish'))).toEqual(hiding('exception', 'extra'));
  expect(settled({ ...event('nothing to see'), request: { headers: { cookie: 'crumbs' } } })).toEqual(
    hiding('request'),
  );
  expect(settled(event('nothing to see'))).toEqual(hiding());
});

test('what is known in one place is judged anew in another', () => {
  const address = 'bob@example.org';
  expect(settled({ extra: { to: address } })).toEqual(hiding());
  expect(settled({ request: { to: address } })).toEqual(hiding('request'));
  expect(settled({ extra: { user: { to: address } } })).toEqual(hiding('extra'));
  expect(settled({ extra: { context_line: 'token: hunter22' } })).toEqual(hiding('extra'));
  expect(settled({ extra: { a: 'Cookie', b: 'crumbs' } })).toEqual(hiding());
  expect(settled({ extra: { a: ['Cookie', 'crumbs'] } })).toEqual(hiding('extra'));
  expect(settled({ extra: { a: ['pwd', 'crumbs'] } })).toEqual(hiding('extra'));
  expect(settled({ extra: { name: 'Cookie', note: 'crumbs' } })).toEqual(hiding());
  expect(settled({ extra: { name: 'Cookie', value: 'crumbs' } })).toEqual(hiding('extra'));
  expect(settled({ extra: { value: 'crumbs', key: 'Cookie' } })).toEqual(hiding('extra'));
  expect(settled({ extra: { d: 'opaque', x: 'public' } })).toEqual(hiding());
  expect(settled({ extra: { d: 'opaque', kty: 'OKP' } })).toEqual(hiding('extra'));
});

test('numbers that are cards', () => {
  expect(settled({ extra: { at: 1_767_323_045_123, e: 1e30, n: -17.25 } })).toEqual(hiding());
  expect(settled({ extra: { n: 4_111_111_111_111_111 } })).toEqual(hiding('extra'));
  expect(hidingMembers('{"extra":{"n":4.2e15}}')).toEqual(hiding('extra'));
  expect(hidingMembers('{"extra":[0,4111111111111111]}')).toEqual(hiding('extra'));
});

test('names and texts are read as what their escapes stand for', () => {
  const escaped = (text: string) =>
    text.replace(/[a-z]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const of = (name: string, value: string) => `{ "${escaped('extra')}" :\n{"${name}":\t"${value}"}}`;
  for (let time = 0; time < 4; time += 1) {
    expect(hidingMembers(of('note', escaped('plain words')))).toEqual(hiding());
    expect(hidingMembers(of('note', escaped('password=swordfish')))).toEqual(hiding('extra'));
    expect(hidingMembers(of(escaped('password'), 'swordfish'))).toEqual(hiding('extra'));
    expect(hidingMembers(of('note', '\\\\\\"plain words'))).toEqual(hiding());
    expect(hidingMembers(of('note', '\\\\\\"password=swordfish'))).toEqual(hiding('extra'));
    expect(hidingMembers(of('note', 'NUL \\u0000 and half \\ud83d'))).toEqual(hiding());
  }
});

test('the name of a member twice: both are looked at', () => {
  expect(hidingMembers('{"extra":{"note":"password=swordfish","note":"a"}}')).toEqual(hiding('extra'));
  expect(hidingMembers('{"extra":{"note":"password=swordfish"},"extra":{}}')).toEqual(hiding('extra'));
});

test('a text is known by all of its bytes, however many they are', () => {
  const secret = 'password=swordfish';
  for (let length = secret.length; length < 260; length += 1) {
    const plain = 'é-'.repeat(length).slice(0, length);
    expect(settled({ extra: { note: plain } })).toEqual(hiding());
    for (const at of [0, Math.floor((length - secret.length) / 2), length - secret.length]) {
      const planted = plain.slice(0, at) + secret + plain.slice(at + secret.length);
      expect(hidingMembers(JSON.stringify({ extra: { note: planted } }))).toEqual(hiding('extra'));
    }
    const longer = `${plain.slice(0, -1)}${plain.endsWith('é') ? 'é' : '-'}\0${secret}`;
    expect(hidingMembers(JSON.stringify({ extra: { note: longer } }))).toEqual(hiding('extra'));
  }
});

test('texts that take the place of others are told from them', () => {
  // So many that every other cell holds one, all alike in their first 32 bytes, their length and their last bytes.
  const texts = (words: string) =>
    Array.from({ length: 60 }, (_, i) =>
      Array.from({ length: 150 }, (_, j) => `plain words, and then 32 of them ${words} ${1_000 + i * 150 + j}`),
    );
  for (const list of texts('anything=swordfish')) expect(settled({ extra: list })).toEqual(hiding());
  for (const text of texts('password=swordfish').flat()) {
    expect(hidingMembers(JSON.stringify({ extra: [text] }))).toEqual(hiding('extra'));
  }
});

test('more than 256 new texts, nested too deep or too long: every member may hide something', () => {
  const texts = (n: number, from: number) => Array.from({ length: n }, (_, i) => `plain words ${from + i}`);
  expect(hidingMembers(JSON.stringify({ extra: texts(300, 0) }))).toBeNull();
  expect(settled({ extra: texts(300, 0) })).toEqual(hiding());
  let deep: unknown = 'plain words';
  for (let i = 0; i < 200; i += 1) deep = i % 2 === 0 ? [deep] : { a: deep };
  expect(hidingMembers(JSON.stringify({ extra: deep }))).toBeNull();
  expect(hidingMembers(JSON.stringify({ extra: 'a'.repeat(1_048_576) }))).toBeNull();
  expect(hidingMembers(JSON.stringify({ extra: 'é'.repeat(500_000), user: 'a' }))).toEqual(hiding('extra'));
  expect(hidingMembers(JSON.stringify({ extra: 'é'.repeat(8_192) }))).toEqual(hiding());
  expect(hidingMembers(JSON.stringify({ extra: 'é'.repeat(8_193) }))).toEqual(hiding('extra'));
});
