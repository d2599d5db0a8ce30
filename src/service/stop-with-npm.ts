// Stops a service that npm or npx has started when they end. They send SIGTERM only to their shell, which ends without passing it on, and SIGHUP
// or SIGKILL to nobody. The service would keep running as a child of process 1.
import { readFileSync } from 'node:fs';
import { readEnv } from '../config/env.ts';
import type { Stopping } from './stopping.ts';

const LOOK_MS = 1_000;
/** npm sets it for what it starts. */
const MARK = 'npm_lifecycle_event';

export function stopWithNpm({ stop }: Stopping): void {
  if (readEnv()[MARK] === undefined) return;
  const length = lengthToNpm();
  const before = String(parents(length));
  const look = () => {
    if (String(parents(length)) === before) return;
    clearInterval(looking);
    stop('the npm process that started it has ended');
  };
  const looking = setInterval(look, LOOK_MS).unref();
}

/** How many processes above this one up to npm: its shells have the mark too. Where there is no /proc, one. */
function lengthToNpm(): number {
  let length = 1;
  for (let pid = process.ppid; readProc(pid, 'environ').includes(`\0${MARK}=`); pid = parentOf(pid)) length += 1;
  return length;
}

/** Ids of the processes above this one. Process 1, or a reaper, takes the place of one that has ended. */
function parents(length: number): number[] {
  const ids = [process.ppid];
  while (ids.length < length) ids.push(parentOf(ids.at(-1) as number));
  return ids;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readProc(pid, 'status'))?.[1] ?? 0);
}

/** Empty for a process that has ended, or that is not ours to look into. */
function readProc(pid: number, name: 'environ' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
