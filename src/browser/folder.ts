// A temporary folder for one browser. When the work ends, the browser's processes are ended and the folder is removed, even if its thread died.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProcesses } from './processes.ts';

/** `prefix`: of the folder's name. Answers and throws what `work` does. */
export async function inBrowserFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  try {
    return await work(folder);
  } finally {
    endProcesses(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
