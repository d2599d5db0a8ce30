import { expect, test } from 'vitest';
import { jsonOf, membersFrame, messageFrame, objectOf, ownFrame, readFrame } from './frames.ts';

test.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['null', 'null'],
  ['a number', '1'],
  ['no event', '{"data":{}}'],
  ['an event that is no text', '{"event":1}'],
  ['a channel that is no text', '{"event":"a","channel":{}}'],
  ['65 levels', `{"event":"a","data":${'['.repeat(65)}${']'.repeat(65)}}`],
  ['a million levels', '['.repeat(1_000_000)],
])('%s is no frame', (_what, text) => expect(readFrame(text)).toBeNull());

test('a frame is read with what it lacks', () => {
  expect(readFrame('{"event":"pusher:ping"}')).toEqual({ event: 'pusher:ping', channel: null, data: null });
  expect(readFrame('{"event":"client-a","channel":"private-b","data":[1]}')).toMatchObject({ data: [1] });
});

test.each([['{"a":1}'], ['[1,2]'], ['12'], ['true'], ['null'], ['"123"'], ['"{}"'], [' {"a": 1}']])(
  'data that are the JSON %j reach clients as that text',
  (data) => expect(shown(data)).toBe(data),
);

test.each([['hello'], [''], ['{broken'], ['say "hi"'], ['\u0000 \ud83d\ude00'], ['NaN']])(
  'a server library that publishes the text %j is repeated exactly',
  (text) => expect(shown(jsonOf(text))).toBe(text),
);

test.each([['{"a":1}'], ['12'], ['"123"'], ['"a"']])(
  'a server library that publishes the JSON %j means what it says',
  (text) => {
    expect(JSON.parse(jsonOf(text))).toEqual(JSON.parse(text));
  },
);

test('the data of own frames are text', () => {
  const frame = JSON.parse(ownFrame('pusher:pong', { a: 1 }, 'b'));
  expect(frame).toEqual({ event: 'pusher:pong', channel: 'b', data: '{"a":1}' });
});

test('members are told with ids, count and what is known of each, whatever their names', () => {
  const names = ['a', '__proto__', 'say "hi"', '\u2028'];
  const frame = JSON.parse(String(membersFrame('presence-a', new Map(names.map((name) => [name, '{"n":1}'])))));
  const { presence } = JSON.parse(frame.data);
  expect(presence).toMatchObject({ count: 4, ids: names });
  expect(Object.entries(presence.hash)).toEqual(names.map((name) => [name, { n: 1 }]));
});

test.each([['{'], ['[1]'], [`{"a":${'['.repeat(1_000_000)}`], [null], [[]], [1]])(
  'the data %.20j hold nothing',
  (data) => {
    expect(objectOf(data)).toEqual({});
  },
);

/** What a client gets as data. */
function shown(data: string): string {
  const frame = messageFrame({ channel: 'a', event: 'b', data, userId: null });
  return JSON.parse(String(frame)).data;
}
