import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { readEnv } from '../config/env.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCE = `
  const { stopOnSignal } = await import('${ROOT}/src/service/stopping.ts');
  const { stopWithNpm } = await import('${ROOT}/src/service/stop-with-npm.ts');
  const log = { info: () => undefined, error: () => undefined, fatal: () => undefined };
  const stop = async () => new Promise((done) => setImmediate(done)).then(() => console.log('stopped in order'));
  stopWithNpm(stopOnSignal(Promise.resolve({ stop }), log));
  setInterval(() => undefined, 60_000);
  console.log('ready ' + process.pid);`;
const NODE = [process.execPath, '--input-type=module', '-e', SOURCE] as const;

/** What it says, line by line. */
async function start([command, ...words]: readonly [string, ...string[]], env: Record<string, string> = {}) {
  const child = spawn(command, words, {
    env: { PATH: readEnv().PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value as string | undefined;
  const pid = Number((await next())?.replace('ready ', ''));
  return { child, pid, next };
}

test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)(
  '%s stops in order, also when it comes twice',
  async (signal) => {
    const { child, next } = await start(NODE);
    const exited = once(child, 'exit');
    child.kill(signal);
    child.kill(signal);
    expect(await next()).toBe('stopped in order');
    expect(await exited).toEqual([0, null]);
  },
);

test('SIGHUP beside SIGTERM, as at the end of a session, is no second wish', async () => {
  const { child, next } = await start(NODE);
  child.kill('SIGTERM');
  child.kill('SIGHUP');
  expect(await next()).toBe('stopped in order');
});

test.skipIf(process.platform === 'win32')(
  'it ends with the shell of npm that has started it, and outlives any other',
  async () => {
    const shell = ['sh', '-c', '"$@" & wait', 'sh', ...NODE] as const;
    const ofNpm = await start(shell, { npm_lifecycle_event: 'npx' });
    ofNpm.child.kill('SIGKILL');
    const other = await start(shell);
    other.child.kill('SIGKILL');
    expect(await ofNpm.next()).toBe('stopped in order');
    // Its own shell ended before: it would have seen that by now as the first one has.
    process.kill(other.pid, 'SIGTERM');
    expect(await other.next()).toBe('stopped in order');
  },
);

test('npm hands signals to the service itself, not to a shell', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['start', 'dev', 'qm']) expect(scripts[name]).toMatch(/^exec node /);
});
