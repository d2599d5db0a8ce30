// The example as its README runs it: this project's own documentation, asked with typos.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';

let place: Place;
beforeAll(async () => {
  place = await createPlace();
  await startProcess(place);
});
afterAll(() => place?.remove());

async function run(program: string, argument: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', QM_URL: place.url, QM_KEY: place.operatorKey() };
  const path = join(PROJECT, 'examples/ask-docs', program);
  return (await promisify(execFile)(process.execPath, [path, argument], { env, cwd: PROJECT })).stdout;
}

test('a question is answered from the paragraphs that share its words, misspelled or not', async () => {
  const stored = await run('store.ts', 'docs');
  expect(Number(/^stored (\d+) paragraphs\n$/.exec(stored)?.[1])).toBeGreaterThan(200);
  for (const [question, path] of [
    ['How do I verfy the signature of a webhook delivry?', 'webhooks.md'],
    ['adapters and quirks of langauge models, for operators', 'ai.md'],
  ] as const) {
    const answer = await run('ask.ts', question);
    const [said, source] = answer.trimEnd().split(/\n-- (?=sandbox\/echo-1, from )/);
    expect(said).toContain(`[sandbox] You said: ${question}`);
    expect(source?.replace('sandbox/echo-1, from ', '').split(', '), question).toContain(path);
  }
});
