// Reduces errors of the operating system or PostgreSQL to one line that an operator can act on.

import { StartupError } from '../errors.ts';

const CAUSES: readonly [RegExp, string][] = [
  [/ENOSPC|EDQUOT|No space left on device|Check free disk space|Disk quota exceeded/, 'the disk is full'],
  [/EROFS|Read-only file system/, 'the file system is read-only'],
  [/EACCES|EPERM|Permission denied|Operation not permitted/, 'permission denied'],
  [/ENOTDIR|EEXIST|Not a directory/, 'a part of the path is not a directory'],
  [
    /ENOENT.*(initdb|postgres)/,
    'the PostgreSQL binaries do not run on this system; set DATABASE_URL to an existing server',
  ],
];

/** @returns the known cause that `text` tells of, else its last line that carries a message. */
export function causeIn(text: string): string {
  const known = CAUSES.find(([pattern]) => pattern.test(text))?.[1];
  if (known !== undefined) return known;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.findLast((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1);
  return telling?.replace(/^.*\b(FATAL|PANIC|ERROR):\s*/i, '').trim() ?? 'it said nothing';
}

/** A StartupError that names the data directory and why it cannot be used; StartupErrors pass through. */
export function cannotUse(dataDir: string, cause: unknown): StartupError {
  if (cause instanceof StartupError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new StartupError(`cannot use the data directory ${dataDir}: ${causeIn(text)}`, { cause });
}
