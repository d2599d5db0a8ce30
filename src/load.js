// Which code a process runs: the bundle that `npm ci` has made (scripts/bundle.ts), or the sources themselves where there is none, where
// one of them has changed since, and with --sources. JavaScript, for the reason that main.js tells.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../', import.meta.url);
const PLACE = new URL('node_modules/.cache/quartermaster/', ROOT);
// To look at two thousand files by path takes 20 ms, by URL 50.
const ROOT_PATH = fileURLToPath(ROOT);

/**
 * @template T
 * @param {'serve' | 'worker' | 'qm'} name
 * @param {() => Promise<T>} loadSource
 * @param {URL} place where bundles are
 * @returns {Promise<T>}
 */
export async function load(name, loadSource, place = PLACE) {
  const folder = process.argv.includes('--sources') ? null : freshFolder(place);
  if (folder === null) return loadSource();
  // A command tells its failures in a line, and starts sooner without maps.
  if (name !== 'qm') process.setSourceMapsEnabled(true);
  return import(new URL(`${folder}/${name}.mjs`, place).href);
}

/**
 * Null unless every file that was bundled has the time and size it had then.
 *
 * @param {URL} place
 */
function freshFolder(place) {
  const current = readCurrent(place);
  if (current === null) return null;
  for (const [path, [mtimeMs, size]] of Object.entries(current.files)) {
    const found = statSync(ROOT_PATH + path, { throwIfNoEntry: false });
    if (found === undefined || found.mtimeMs !== mtimeMs || found.size !== size) return null;
  }
  return current.folder;
}

/**
 * @param {URL} place
 * @returns {{ folder: string, files: Record<string, [mtimeMs: number, size: number]> } | null}
 */
function readCurrent(place) {
  try {
    return JSON.parse(readFileSync(new URL('current.json', place), 'utf8'));
  } catch {
    return null;
  }
}
