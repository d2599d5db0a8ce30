// The curl variant of the examples, as their README has it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place, PROJECT, startProcess } from '../support/process.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;
let place: Place;

beforeAll(async () => {
  place = await createPlace();
  await startProcess(place);
});
afterAll(() => place?.remove());

/** The shell blocks below the heading, for the service under test. */
function blocks(): string[] {
  const [, rest = ''] = readFileSync(join(PROJECT, 'examples/README.md'), 'utf8').split('## The same with curl\n');
  const [section = ''] = rest.split('\n## ');
  return [...section.matchAll(/```sh\n([^`]+)```/g)].map(([, script = '']) =>
    script.replaceAll('http://127.0.0.1:8787', place.url),
  );
}

/** Runs the script; every line that it prints is an answer. */
function answersOf(script: string) {
  const env = { PATH: process.env.PATH ?? '', QM_KEY: place.operatorKey() };
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script], {
    env,
    cwd: PROJECT,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  const answers = lines.map((line) => JSON.parse(line));
  for (const answer of answers) expect(answer).toMatchObject({ ok: true });
  return answers.map((answer) => answer.data);
}

test.skipIf(!hasCurl)('a file is published, taken, answered under its message id and acknowledged', () => {
  const [first = '', second = '', ...others] = blocks();
  expect(others).toEqual([]);
  const [, , published, consumed] = answersOf(first);
  const [item] = consumed.items;
  expect(item).toMatchObject({ message_id: published.message_id, payload: { path: 'package.json' } });
  const [call = ''] = /^call\(\).*$/m.exec(first) ?? [];
  const script = second.replace('MESSAGE_ID', item.message_id).replace('RECEIPT_HANDLE', item.receipt_handle);
  const [result, acked] = answersOf(`${call}\n${script}`);
  const sha256 = createHash('sha256')
    .update(readFileSync(join(PROJECT, 'package.json')))
    .digest('hex');
  expect(result).toMatchObject({ queue: 'results', payload: { path: 'package.json', sha256 } });
  expect(acked).toMatchObject({ message_id: item.message_id, acked: true });
});
