import { expect, test } from 'vitest';
import { readSelect, resultOf } from './answers.ts';

const envelope = (data: unknown) => JSON.stringify({ ok: true, data, metadata: { cost_usd: 0 } });

test('the text of a whole answer is the envelope’s, byte for byte', () => {
  const { content } = resultOf('{"ok":true,"data":{"n":12345678901234567890,"b":1.0},"metadata":{}}', null);
  expect(content).toEqual([{ type: 'text', text: '{"data":{"n":12345678901234567890,"b":1.0},"metadata":{}}' }]);
});

test('a failure is told whole', () => {
  const { isError, structuredContent } = resultOf('{"ok":false,"error":{"code":"NOT_FOUND"},"metadata":{}}', ['/x']);
  expect([isError, structuredContent]).toEqual([true, { error: { code: 'NOT_FOUND' }, metadata: {} }]);
});

test.each([
  [['/a'], { a: { b: 1, c: [1, { d: 2 }] } }],
  [['/a/b'], { a: { b: 1 } }],
  [['/a/c/1/d', '/a/c/0'], { a: { c: [1, { d: 2 }] } }],
  [['/a/c/1'], { a: { c: [{ d: 2 }] } }],
  [['/a~1b', '/m~0n'], { 'a/b': 3, 'm~n': 4 }],
  [[''], { a: { b: 1, c: [1, { d: 2 }] }, 'a/b': 3, 'm~n': 4 }],
  [['/none', '/a/b/c', '/__proto__/x'], { a: {} }],
  [[], {}],
])('select %j keeps the parts where they were', (select, expected) => {
  const data = { a: { b: 1, c: [1, { d: 2 }] }, 'a/b': 3, 'm~n': 4 };
  const { structuredContent } = resultOf(envelope(data), select);
  expect(structuredContent).toEqual({ data: expected, metadata: { cost_usd: 0 } });
});

test('only JSON pointers are taken', () => {
  expect(readSelect(undefined)).toBeNull();
  expect(readSelect(['', '/a', '/a~01/0'])).toHaveLength(3);
  for (const sent of ['x', [1], ['a'], ['/~'], ['/~2']]) expect(() => readSelect(sent)).toThrow(/select/);
});

test('strings are cut, longest first, until the answer is short; what is no string stays', () => {
  const data = { long: 'a'.repeat(90_000), less: '\n'.repeat(40_000), short: 'x'.repeat(1_000), numbers: [1, 2, 3] };
  const { structuredContent, content } = resultOf(envelope(data), null);
  expect(structuredContent).toMatchObject({
    truncated: ['/long', '/less'],
    data: { short: data.short, numbers: [1, 2, 3] },
  });
  const [first] = content;
  expect(first?.type === 'text' && first.text.length <= 64 * 1024).toBe(true);
});
