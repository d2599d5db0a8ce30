import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readEmbeddings } from './embeddings.ts';

const base64 = (vector: readonly number[]) => Buffer.from(Float32Array.from(vector).buffer).toString('base64');
const item = (index: number, embedding: string) => `{"object":"embedding","index":${index},"embedding":${embedding}}`;
const list = (...items: string[]) => `{"object":"list","data":[${items.join(',')}],"usage":{"prompt_tokens":7}}`;
const read = (text: string, count: number, dimensionsMax = 4) =>
  readEmbeddings(Readable.from([Buffer.from(text)]), { inputs: new Array<string>(count).fill('x'), dimensionsMax });

test('vectors come in the order of the inputs, as numbers or base64, however the JSON is written', async () => {
  const text = list(
    '{ "embedding" :\n "AAAAPwAAgL4\\u003d" , "index": 2, "model": "an \\"embedding\\": [1]" }',
    item(0, '[ 0.5,\t-0.25e0 ]'),
    item(1, `"${base64([1, 2]).replaceAll('/', '\\/')}"`),
  );
  const { vectors, answer } = await read(text, 3);
  expect(vectors).toEqual([
    Float32Array.from([0.5, -0.25]),
    Float32Array.from([1, 2]),
    Float32Array.from([0.5, -0.25]),
  ]);
  expect(answer?.usage).toEqual({ prompt_tokens: 7 });
});

test.each([
  ['one too few', list(item(0, '[1]'))],
  ['one that is empty', list(item(0, '[1]'), item(1, '[]'))],
  ['words in place of numbers', list(item(0, '[1]'), item(1, '["a"]'))],
  ['a number that is none', list(item(0, '[1]'), item(1, '[1e999]'))],
  ['lists of lists', list(item(0, '[1]'), item(1, '[[1],[2]]'))],
  ['base64 of half a number', list(item(0, '[1]'), item(1, '"AAAAPwA="'))],
  ['a number in place of a vector', list(item(0, '[1]'), item(1, '0'))],
  ['no end', list(item(0, '[1]'), item(1, '[1')).slice(0, -40)],
  ['no JSON', 'embedding'],
  ['more beside them than can be', list(item(0, '[1]'), item(1, '[1]'), `"${'x'.repeat(80_000)}"`)],
  ['more than is allowed', list(item(0, '[1]'), item(1, `[${'0.1,'.repeat(30_000)}1]`))],
])('an answer with %s has failed', async (_, text) => {
  expect((await read(text, 2)).vectors).toBeNull();
});

test('others get their turn while a long answer is read', async () => {
  const vector = Array.from({ length: 3_072 }, (_, i) => Math.sin(i));
  const text = list(...Array.from({ length: 256 }, (_, i) => item(i, `[${vector.join(',')}]`)));
  let turns = 0;
  let isRead = false;
  const others = async () => {
    while (!isRead) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
  };
  const watched = others();
  const { vectors } = await read(text, 256, 3_072);
  isRead = true;
  await watched;
  expect(vectors?.length).toBe(256);
  expect(text.length).toBeGreaterThan(10_000_000);
  expect(turns).toBeGreaterThan(text.length / (1024 * 1024));
});
