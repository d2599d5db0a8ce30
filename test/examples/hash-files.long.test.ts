// The example as its README runs it, with one of two workers killed half-way.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlace, type Place, PROJECT, startProcess, until } from '../support/process.ts';

const EXAMPLE = join(PROJECT, 'examples/hash-files');

let place: Place;
let snapshot: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  place = await createPlace();
  await startProcess(place);
  // The files must not change while they are hashed.
  snapshot = mkdtempSync(join(tmpdir(), 'quartermaster-files-'));
  cpSync(join(PROJECT, 'src/core'), snapshot, { recursive: true });
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await place?.remove();
  if (snapshot !== undefined) rmSync(snapshot, { recursive: true, force: true });
});

function start(program: string, ...args: string[]): ChildProcess {
  const env = { PATH: process.env.PATH ?? '', QM_URL: place.url, QM_KEY: place.operatorKey() };
  const child = spawn(process.execPath, [join(EXAMPLE, program), ...args], {
    env,
    cwd: snapshot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** What the program printed; it must end well. */
async function run(program: string, ...args: string[]): Promise<string[]> {
  const child = start(program, ...args);
  const exited = once(child, 'exit');
  const lines = (await text(child.stdout as NodeJS.ReadableStream)).split('\n').filter((line) => line !== '');
  expect(await exited).toEqual([0, null]);
  return lines;
}

/** The same from the tools of the system. */
function expectedLines(): string[] {
  const list = execFileSync('bash', ['-c', 'find . -type f | LC_ALL=C sort'], { cwd: snapshot, encoding: 'utf8' });
  const paths = list.trimEnd().split('\n');
  const options = { cwd: snapshot, encoding: 'utf8', input: list } as const;
  const sums = execFileSync('bash', ['-c', "xargs -d '\\n' sha256sum"], options).split('\n');
  const counts = execFileSync('bash', ['-c', 'while read -r path; do wc -l < "$path"; done'], options).split('\n');
  return paths.map((path, n) => `${sums[n]?.slice(0, 64)} ${Number(counts[n])} ${path.slice(2)}`);
}

test('every file has exactly one right result although a worker is killed', { timeout: 90_000 }, async () => {
  const expected = expectedLines();
  expect(await run('producer.ts', '.')).toEqual([`published ${expected.length} files`]);
  let done = 0;
  const victim = start('worker.ts');
  const survivor = start('worker.ts');
  const survived = once(survivor, 'exit');
  for (const worker of [victim, survivor]) {
    worker.stdout?.on('data', (chunk: Buffer) => {
      done += chunk.toString().split('\n').length - 1;
    });
  }
  await until(() => done >= expected.length / 2);
  victim.kill('SIGKILL');
  expect(await survived).toEqual([0, null]);
  // What the killed worker held comes back when its lease ends; whoever is there then does it.
  await run('worker.ts');
  const results = await run('collect.ts');
  expect(results.sort()).toEqual(expected.sort());
});
