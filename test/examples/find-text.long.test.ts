// The example as its README runs it: this project's own files, then a service that speaks OpenAI's protocol.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';

const EXAMPLE = join(PROJECT, 'examples/find-text');
const PARTS = ['src', 'docs', 'README.md', 'examples', 'migrations'];

let place: Place;
let snapshot: string;
let embedder: Server;

beforeAll(async () => {
  place = await createPlace();
  await startProcess(place);
  snapshot = mkdtempSync(join(tmpdir(), 'quartermaster-texts-'));
  for (const part of PARTS) cpSync(join(PROJECT, part), join(snapshot, part), { recursive: true });
});
afterAll(async () => {
  embedder?.close();
  await place?.remove();
  if (snapshot !== undefined) rmSync(snapshot, { recursive: true, force: true });
});

async function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLE, program), ...args], {
    env: { PATH: process.env.PATH ?? '', QM_URL: place.url, QM_KEY: place.operatorKey(), ...env },
    cwd: snapshot,
  });
  return stdout.trimEnd().split('\n');
}

/** Sentences that stand in one file only, each with it. */
function sentences(count: number): { path: string; sentence: string }[] {
  const files = readdirSync(join(snapshot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !basename(path).includes('.test.'))
    .map((path) => ({ path: join('src', path), lines: readFileSync(join(snapshot, 'src', path), 'utf8').split('\n') }));
  const seen = new Map<string, number>();
  for (const line of files.flatMap(({ lines }) => lines)) seen.set(line, (seen.get(line) ?? 0) + 1);
  const found = files.flatMap(({ path, lines }) => {
    const line = lines.find(
      (each) => /^ *(?:\/\/|\*|\/\*\*) ?\S/.test(each) && each.length > 80 && seen.get(each) === 1,
    );
    return line === undefined ? [] : [{ path, sentence: line.replace(/^[ /*]+/, '').replace(/[ /*]+$/, '') }];
  });
  const step = Math.max(1, Math.floor(found.length / count));
  return found.filter((_, i) => i % step === 0).slice(0, count);
}

test('the file that a sentence was taken from is found', { timeout: 120_000 }, async () => {
  const [stored] = await run('store.ts', ['.']);
  expect(Number(/^stored (\d+) passages$/.exec(stored ?? '')?.[1])).toBeGreaterThan(500);
  const wanted = sentences(12);
  expect(wanted.length).toBe(12);
  for (const { path, sentence } of wanted) {
    // Counting words finds what reads alike too: the own file is among the first three.
    const found = (await run('find.ts', [sentence, 'ts'])).slice(0, 3);
    expect(found, sentence).toContainEqual(expect.stringMatching(`^${path.replaceAll('.', '\\.')}:\\d+ 0\\.\\d+$`));
  }
});

test('any service that speaks the protocol of embeddings will do', { timeout: 60_000 }, async () => {
  const asked: { authorization: string | undefined; model: string; texts: number }[] = [];
  // Knows three words; answers in another order than it was asked, as the protocol allows.
  const words = ['wallet', 'queue', 'vector'];
  embedder = createServer(async (request, response) => {
    const { model, input } = JSON.parse(await text(request)) as { model: string; input: string[] };
    asked.push({ authorization: request.headers.authorization, model, texts: input.length });
    const data = input.map((each, index) => ({
      index,
      embedding: [...words.map((word) => each.toLowerCase().split(word).length - 1), 0.1],
    }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: data.reverse() }));
  });
  await new Promise<void>((resolve) => embedder.listen(0, '127.0.0.1', resolve));
  const env = {
    EMBEDDINGS_URL: `http://127.0.0.1:${(embedder.address() as AddressInfo).port}/v1/`,
    EMBEDDINGS_KEY: 'embedder-key',
    EMBEDDINGS_MODEL: 'words-3',
    COLLECTION: 'words',
  };
  await run('store.ts', ['src/modules'], env);
  const [first] = await run('find.ts', ['queue queue queue', 'ts'], env);
  const [, path, line] = /^(.+):(\d+) 1\.000$/.exec(first ?? '') as unknown as [string, string, string];
  const lines = readFileSync(join(snapshot, 'src/modules', path), 'utf8').split('\n');
  const passage = lines
    .slice(Number(line) - 1, Number(line) + 11)
    .join('\n')
    .toLowerCase();
  expect(words.map((word) => passage.includes(word))).toEqual([false, true, false]);
  expect(
    asked.every(({ authorization, model }) => authorization === 'Bearer embedder-key' && model === 'words-3'),
  ).toBe(true);
  expect(Math.max(...asked.map(({ texts }) => texts))).toBe(64);
});
