// Interpreters of Python for tests of clients written in it: TEST_PYTHONS names them, separated by colons.
import { spawnSync } from 'node:child_process';

const pythons = (process.env.TEST_PYTHONS ?? 'python3:/usr/bin/python3').split(':');

/** What the script prints in each interpreter; null where it cannot run. */
export function printedByPythons(script: string): { python: string; printed: string | null }[] {
  return pythons.map((python) => {
    const { status, stdout } = spawnSync(python, ['-c', script], { encoding: 'utf8', timeout: 50_000 });
    return { python, printed: status === 0 ? stdout.trim() : null };
  });
}
