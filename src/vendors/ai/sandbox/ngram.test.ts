// Vectors of the sandbox: the same on every machine, and near where wording is shared, typos and inflections or not.
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { vectorOf } from './ngram.ts';

const PROJECT = join(import.meta.dirname, '../../../..');
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
