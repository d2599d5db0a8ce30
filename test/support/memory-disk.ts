// Temporary files of a test run lie in memory where there is room for them: each of some thousand databases is eight hundred files that are
// made and removed, at which a file system on a disk takes a tenth of all processor time.
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'quartermaster-tests-';
const FREE_BYTES_MIN = 4 * 2 ** 30;
const FREE_MEMORY_BYTES_MIN = 8 * 2 ** 30;

/** Makes `os.tmpdir()` of this process and of all that it starts a folder in memory, if it can. Returns what removes it. */
export function useMemoryDisk(): () => void {
  if (!hasRoom()) return () => undefined;
  removeLeftBehind();
  const folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`));
  // As root PostgreSQL runs as another user, who passes through.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= FREE_BYTES_MIN && process.availableMemory() >= FREE_MEMORY_BYTES_MIN;
}

/** By runs that were killed. */
function removeLeftBehind(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : process.pid;
    if (!isRunning(pid)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
