// Processor time of processes, from the operating system's own accounting (Linux). Unlike rates, it hardly depends on what else runs.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly seconds: number;
}

function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Children that have ended count with their parent: fields 16 and 17.
    const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0);
    return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return null;
  }
}

/** Seconds of processor time of a process. */
export function processorSeconds(pid: number): number {
  return statOf(pid)?.seconds ?? 0;
}

function allStats(): Stat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat !== null);
}

/** Seconds of a process and everything below it. */
export function treeSeconds(root: number): number {
  const stats = allStats();
  const below = (pid: number): number =>
    stats.filter((stat) => stat.parent === pid).reduce((sum, stat) => sum + stat.seconds + below(stat.pid), 0);
  return processorSeconds(root) + below(root);
}

/** Of those processes and all their threads, to the nanosecond: for turns in which a tick is much. What ended counts no more. */
export function fineSeconds(pids: readonly number[]): number {
  const threads = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`),
  );
  const nanos = threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ', 1)[0]));
  return nanos.reduce((sum, each) => sum + each, 0) / 1e9;
}

/** A process and everything below it. */
export function treeOf(root: number): number[] {
  const stats = allStats();
  const below = (pid: number): number[] =>
    stats.filter((stat) => stat.parent === pid).flatMap((stat) => [stat.pid, ...below(stat.pid)]);
  return [root, ...below(root)];
}

/** Seconds of all processors on which something ran, or another machine of the same host did. */
export function machineSeconds(): number {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0, stolen = 0] = ticks.map(Number);
  return (user + nice + system + interrupts + soft + stolen) / TICKS_PER_SECOND;
}

/** Megabytes of a process and everything below it; what they share counts once (the proportional set size of Linux). */
export function treeMemoryMb(root: number): number {
  return treeOf(root).reduce((sum, pid) => sum + shareMb(pid), 0);
}

function shareMb(pid: number): number {
  try {
    return Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
  } catch {
    return 0; // It has ended.
  }
}

/** Binds the processes, with their threads and what they start later, to the cores `first` to `last`. */
export function bindTo(pids: readonly number[], first: number, last: number): void {
  for (const pid of pids) execFileSync('taskset', ['-apc', `${first}-${last}`, String(pid)], { stdio: 'ignore' });
}
