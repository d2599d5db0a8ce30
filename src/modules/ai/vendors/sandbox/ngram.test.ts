// Vectors of the sandbox: the same on every machine, and near where wording is shared, typos and inflections or not.
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allowedCpuMs } from '../../../../../test/support/slowness.ts';
import { longestTurn } from '../../../../../test/support/turn-meter.ts';
import type { AiCall, EmbedRequest } from '../port.ts';
import { embed, vectorOf } from './ngram.ts';

const PROJECT = join(import.meta.dirname, '../../../../..');
const DIMENSIONS = 512;

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

test('a text has the same vector on every machine', async () => {
  const vectors = await Promise.all(
    [64, 512, 4_096].map((dimensions) => vectorOf('Ein Boot auf dem Teich – 池の上の小舟。Лодка, ﬁn 42', dimensions)),
  );
  const digests = vectors.map(({ buffer }) => hash('sha256', new Uint8Array(buffer), 'hex').slice(0, 16));
  expect(digests).toEqual(['8df010a585f98429', '0f3f363aef26deeb', '6428917dce56be62']);
  for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5);
});

test.each([
  ['STRASSE', 'straße'],
  ['STRAẞE', 'Straße'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['KAPI', 'kapı'],
  ['İSTANBUL', 'i\u0307stanbul'],
  ['\u03aa\u0301', '\u0390'],
  ['Ǆ', 'ǆ'],
  ['ﬀ', 'FF'],
  ['ŉ', 'ʼN'],
])('%s and %s have the same vector: case is folded fully', async (one, other) => {
  expect(await vectorOf(one, DIMENSIONS)).toEqual(await vectorOf(other, DIMENSIONS));
});

test.each([
  ['strasse', 'strase'],
  ['i', 'l'],
])('%s and %s do not', async (one, other) => {
  expect(await vectorOf(one, DIMENSIONS)).not.toEqual(await vectorOf(other, DIMENSIONS));
});

/** Words of many scripts, lengths and endings; the same at each call. */
function wordsOfAllScripts(count: number): string {
  const scripts = [
    'abcdefghijklmnopqrstuvwxyz',
    'ABCDEÄÖÜßŞİI',
    'абвгдежзийклмн',
    'ΑΒΓΔΕΣσς',
    '漢字池上小舟',
    'ｶﾞｷﾞﬁ①',
    'áè\u0323o',
    '0123456789',
  ];
  let state = 1;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 16) % below;
  };
  const words = Array.from({ length: count }, () => {
    const letters = scripts[next(scripts.length)] as string;
    const length = next(50) === 0 ? 150 + next(150) : 1 + next(12);
    const word = Array.from({ length }, () => letters[next(letters.length)]).join('');
    return `${word}${[' ', ', ', '\n', '-', '’', '。'][next(6)]}`;
  });
  return words.join('');
}

test.each([
  [20, 512, '0328196a0209f748'],
  [3_000, 512, 'dc41a5c18998795c'],
  [20_000, 64, '5147b4a2cc92062e'],
  [20_000, 4_096, 'bb0f414fc229f5e2'],
])('a text of %i words of all scripts keeps its vector of %i dimensions', async (words, dimensions, digest) => {
  const { buffer } = await vectorOf(wordsOfAllScripts(words), dimensions);
  expect(hash('sha256', new Uint8Array(buffer), 'hex').slice(0, 16)).toBe(digest);
});

/** Of different letters: hardly a gram is met twice. */
function longWords(letters: number): string {
  let state = 7;
  const codes = Array.from({ length: letters }, (_, i) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return i % 201 === 200 ? 32 : 97 + ((state >>> 16) % 26);
  });
  return Buffer.from(codes).toString('latin1');
}

const call = { signal: new AbortController().signal } as AiCall;
const request = (inputs: readonly string[]) =>
  ({ inputs, dimensions: 4_096, inputTokens: 1 }) as unknown as EmbedRequest;

/** Three times what is aimed at. */
const TURN_MS_MAX = 150;

test.each([
  ['many texts of long words', () => Array<string>(50).fill(longWords(8_192))],
  ['one text of long words', () => [longWords(200_000)]],
  ['very many short texts', () => Array.from({ length: 2_048 }, () => 'a boat')],
  ['one letter with a great many marks', () => [`a${'\u0301\u0323'.repeat(100_000)}`]],
  ['letters that fold into many', () => ['\ufdfa'.repeat(65_536)]],
])('others have their turn beside %s', { timeout: 60_000 }, async (_, textsOf) => {
  const inputs = textsOf();
  await embed(call, request(['a']));
  const calls = () => Promise.all([embed(call, request(inputs)), embed(call, request(inputs))]);
  expect(await longestTurn(calls)).toBeLessThan(allowedCpuMs(TURN_MS_MAX));
});

test('a call that nobody waits for any more embeds no further text', async () => {
  const leaving = new AbortController();
  const running = embed({ signal: leaving.signal } as AiCall, request(Array<string>(2_048).fill(longWords(8_192))));
  leaving.abort();
  expect(await running).toEqual({ kind: 'not_sent' });
});

test('of five paragraphs of the documentation the right one is nearest, with typos and inflections, nine times out of ten', async () => {
  const paragraphs = globSync('docs/*.md', { cwd: PROJECT })
    .sort()
    .flatMap((path) => readFileSync(join(PROJECT, path), 'utf8').split(/\n\n+/))
    .filter((text) => /^[A-Z]/.test(text) && text.length > 200 && text.length < 2_000);
  expect(paragraphs.length).toBeGreaterThan(60);
  const vectors = await Promise.all(paragraphs.map((text) => vectorOf(text, DIMENSIONS)));
  let right = 0;
  for (const [i, text] of paragraphs.entries()) {
    const query = await vectorOf(misspelled(text), DIMENSIONS);
    const others = [11, 23, 37, 51].map((step) => vectors[(i + step) % vectors.length] as Float32Array);
    const best = Math.max(...others.map((vector) => dot(query, vector)));
    if (dot(query, vectors[i] as Float32Array) > best) right += 1;
  }
  expect(right / paragraphs.length).toBeGreaterThanOrEqual(0.9);
});

/** Six longer words of the text: each second one with two letters changed over, the others with another ending. */
function misspelled(text: string): string {
  const words = [...new Set(text.match(/\p{L}{5,}/gu) ?? [])];
  const step = Math.max(1, Math.floor(words.length / 6));
  return words
    .filter((_, i) => i % step === 0)
    .slice(0, 6)
    .map((word, i) => (i % 2 === 0 ? `${word[0]}${word[2]}${word[1]}${word.slice(3)}` : inflected(word)))
    .join(' ');
}

function inflected(word: string): string {
  return /(?:s|ed|ing)$/.test(word) ? word.replace(/(?:s|ed|ing)$/, '') : `${word}s`;
}
