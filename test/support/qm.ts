// The real command as a process, with a home of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const QM_MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface QmResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface QmProcess {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<QmResult>;
}

export interface QmHome {
  readonly path: string;
  /** Variables beside those of `env` are HOME, PATH and the compile cache only. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>, input?: string): QmProcess;
  run(args: readonly string[], env?: Readonly<Record<string, string>>, input?: string): Promise<QmResult>;
  /** Ends what still runs. */
  remove(): Promise<void>;
}

/** @param usual variables of every command */
export function createQmHome(usual: Readonly<Record<string, string>> = {}): QmHome {
  const path = mkdtempSync(join(tmpdir(), 'quartermaster-home-'));
  const running = new Set<QmProcess>();
  const start: QmHome['start'] = (args, env = {}, input = '') => {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const child = spawn(process.execPath, [QM_MAIN, ...args], {
      cwd: path,
      env: { PATH, NODE_COMPILE_CACHE, HOME: path, ...usual, ...env },
    });
    const told = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      told.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      told.stderr += text;
    });
    child.stdin.on('error', () => undefined).end(input);
    const ended = new Promise<QmResult>((resolve) => {
      child.once('close', (code) => {
        running.delete(started);
        resolve({ code, ...told });
      });
    });
    const started = { child, stdout: () => told.stdout, stderr: () => told.stderr, ended };
    running.add(started);
    return started;
  };
  return {
    path,
    start,
    run: (args, env, input) => start(args, env, input).ended,
    async remove() {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all([...running].map(({ ended }) => ended));
      rmSync(path, { recursive: true, force: true });
    },
  };
}
