// Memory watch and termination of one browser's processes, which are found by its folder. This works on Linux only; elsewhere the deadline is
// the bound.
import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 200;
const PAGE_BYTES = 4_096;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly isNamed: boolean;
  readonly bytes: number;
}

export function watchMemory(folder: string, mbMax: number): { isExceeded(): boolean; stop(): void } {
  let exceeded = false;
  const timer = setInterval(() => {
    const bytes = processesOf(folder).reduce((sum, each) => sum + each.bytes, 0);
    if (bytes <= mbMax * 1_048_576) return;
    exceeded = true;
    endProcesses(folder);
  }, LOOK_MS);
  return { isExceeded: () => exceeded, stop: () => clearInterval(timer) };
}

/** Of a browser that its thread could not close. */
export function endProcesses(folder: string): void {
  for (const { pid } of processesOf(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The named ones and all that they have started. */
function processesOf(folder: string): Process[] {
  if (process.platform !== 'linux') return [];
  const all = readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? (readProcess(Number(name), folder) ?? []) : [],
  );
  const found = new Set(all.filter(({ isNamed, pid }) => isNamed && pid !== process.pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    const pids = new Set([...found].map(({ pid }) => pid));
    for (const each of all) if (pids.has(each.parent)) found.add(each);
  }
  return [...found];
}

function readProcess(pid: number, folder: string): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, resident = '0', shared = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    const isNamed = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    return { pid, parent: Number(parent), isNamed, bytes: (Number(resident) - Number(shared)) * PAGE_BYTES };
  } catch {
    // It ended while it was looked at.
    return null;
  }
}
