// Starting embedded servers in directories of their own, in this process or in one that can be killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const OWNER_SCRIPT = join(import.meta.dirname, 'embedded-owner.ts');

export const isRoot = process.getuid?.() === 0;
export const NOBODY = { uid: 65_534, gid: 65_534 };

export interface OwnerProcess {
  readonly child: ChildProcess;
  readonly postgresPid: number;
  readonly startupError: string | undefined;
  /** Ends the process; resolves once it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

export function temporaryDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'quartermaster-embedded-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts `dataDir`'s server from a process of its own, as `user` when this one is root. */
export async function startOwner(dataDir: string, user?: { uid: number; gid: number }): Promise<OwnerProcess> {
  const child = spawn(process.execPath, [OWNER_SCRIPT, dataDir], {
    ...user,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: {},
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const exited = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null && child.kill(signal)) await exited;
  };
  return { child, startupError: undefined, ...(JSON.parse(line) as { postgresPid: number }), end };
}

/** Whether every directory above this checkout, and Node itself, may be entered by any user. */
export function isCheckoutPublic(): boolean {
  return [OWNER_SCRIPT, process.execPath].every((path) => {
    for (let directory = dirname(path); ; directory = dirname(directory)) {
      if ((statSync(directory).mode & 0o001) === 0) return false;
      if (directory === dirname(directory)) return true;
    }
  });
}

export async function until(condition: () => boolean, timeoutMs = 50_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain`);
    await sleep(10);
  }
}
