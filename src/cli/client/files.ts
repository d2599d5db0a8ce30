// Files of the command line: the profile with the key, and the cache of manifests.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { readEnv } from '../../config/env.ts';

/** By the XDG base directory specification, on every system. */
export function configPath(name: string): string {
  return join(baseDirectory('XDG_CONFIG_HOME', '.config'), 'quartermaster', name);
}

export function cachePath(name: string): string {
  return join(baseDirectory('XDG_CACHE_HOME', '.cache'), 'quartermaster', name);
}

function baseDirectory(variable: string, usual: string): string {
  const named = readEnv()[variable] ?? '';
  return isAbsolute(named) ? named : join(homedir(), usual);
}

/** In place of a file that is there, whole or not at all; only its owner reads it. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Null when there is no such file. */
export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
