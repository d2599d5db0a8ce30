// From the operator's file to the vendors of a process: where the text, the keys, the modules' families and the adapters come together.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Config, ConfigError } from './config/config.ts';
import type { Module } from './manifest/module.ts';
import { readKey } from './vendors/file/key.ts';
import type { Adapter, FileFault, VendorsFile } from './vendors/file/port.ts';
import { sandbox } from './vendors/file/row.ts';

/** By the name of the module that they work for. */
export type Adapters = Readonly<Record<string, readonly Adapter[]>>;

/** Everything this service can speak. */
export const builtInAdapters: Adapters = {};

const FILE_BYTES_MAX = 1024 * 1024;
const KEY_BYTES_MAX = 16 * 1024;

type Place = Pick<Config, 'vendorsFile' | 'isVendorsFileNamed' | 'region' | 'settings'>;

/** Null when there is no such file. Throws ConfigError for one that the operator names and that cannot be read. */
export function readVendorsText({ vendorsFile, isVendorsFileNamed }: Place): string | null {
  try {
    return readText(vendorsFile, FILE_BYTES_MAX);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isVendorsFileNamed) return null;
    throw new ConfigError(`VENDORS_FILE cannot be read: ${message}`);
  }
}

/** What is in the text, and what is wrong with it; without a text there is the sandbox alone. */
export async function examineVendors(
  text: string | null,
  place: Place,
  modules: readonly Module[],
  adapters: Adapters = builtInAdapters,
): Promise<{ readonly file: VendorsFile; readonly faults: readonly FileFault[] }> {
  const families = modules.flatMap(({ models }) => models ?? []);
  if (text === null) {
    const [vendor, rows] = sandbox(families, place.region, true);
    return { file: { vendors: [vendor], rows, warnings: [], digest: '' }, faults: [] };
  }
  // Loaded only where there is a file: what reads it is long.
  const { readVendorsFile } = await import('./vendors/file/read.ts');
  return readVendorsFile(text, { region: place.region, families, adapters, nowMs: Date.now(), ...keySources(place) });
}

/** The same for a service that starts. Throws one ConfigError with every fault on a line of its own. */
export async function vendorsOf(
  text: string | null,
  place: Place,
  modules: readonly Module[],
  adapters: Adapters = builtInAdapters,
): Promise<VendorsFile> {
  const { file, faults } = await examineVendors(text, place, modules, adapters);
  if (faults.length === 0) return file;
  const lines = faults.map((fault) => `  ${faultLine(place.vendorsFile, fault)}`);
  throw new ConfigError(
    `VENDORS_FILE has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}\n${lines.join('\n')}`,
  );
}

/** `vendors.yaml:4:7: vendors[0].region: It is missing.` */
export function faultLine(path: string, { line, column, field, message }: FileFault): string {
  return `${path}:${line}:${column}: ${field === '' ? '' : `${field}: `}${message}`;
}

/** A key by the name that is stored of it, for work that began under an earlier file; null when it is not there any more. */
export function keyReader(place: Place): (name: string) => string | null {
  return (name) => {
    const found = readKey(name.startsWith('file:') ? { file: name.slice(5) } : `\${${name}}`, keySources(place));
    return found.kind === 'found' ? found.key.reveal() : null;
  };
}

function keySources({ vendorsFile, settings }: Place) {
  return {
    environment: (name: string) => settings((variables) => variables.text(name)),
    keyFile: (path: string) => {
      try {
        return readText(resolve(dirname(vendorsFile), path), KEY_BYTES_MAX);
      } catch {
        // Told as a key that is missing.
        return null;
      }
    },
  };
}

function readText(path: string, bytesMax: number): string {
  const { size } = statSync(path);
  if (size > bytesMax) throw new Error(`${path} has more than ${bytesMax} bytes`);
  return readFileSync(path, 'utf8');
}
