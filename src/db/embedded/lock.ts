// The lock that allows one service per data directory: a record lock of the operating system, taken through SQLite, which Node includes. It ends
// with its process however that dies. So a crash never leaves one behind, and a reused process ID never fakes one.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '../errors.ts';
import { cannotUse } from './failure.ts';
import type { Layout } from './layout.ts';

const SQLITE_BUSY = 5;

export interface ServiceLock {
  release(): void;
}

/** @throws StartupError when a live process holds the lock, or when the directory cannot be written. */
export function takeServiceLock(layout: Layout): ServiceLock {
  let file: DatabaseSync | undefined;
  try {
    keepFromOthers(layout.lockFile);
    file = new DatabaseSync(layout.lockFile);
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    writeFileSync(layout.lockHolderFile, `${process.pid}\n`);
  } catch (cause) {
    file?.close();
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cannotUse(layout.dataDir, cause);
    throw new StartupError(
      `the data directory ${layout.dataDir} is in use by another running service${holder(layout)}`,
      {
        cause,
      },
    );
  }
  const held = file;
  return { release: () => held.close() };
}

/**
 * Whoever can read the file can lock it. It is never opened here once it exists: closing it would end the lock that this process may
 * hold on it.
 */
function keepFromOthers(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}

function holder(layout: Layout): string {
  try {
    return ` (process ${readFileSync(layout.lockHolderFile, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
