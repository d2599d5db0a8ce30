// Builds the vendors of a process from the operator's file: its text, the keys, the modules' families and the adapters.
import { dirname, resolve } from 'node:path';
import { type Config, ConfigError } from '../config/config.ts';
import { readShortText } from '../config/short-text.ts';
import type { Logger } from '../core/process/logger.ts';
import type { Database } from '../db/database.ts';
import type { Module } from '../kit/module.ts';
import { usdText } from '../lib/money.ts';
import type { FileFault } from '../lib/yaml.ts';
import { liveAttempts } from '../routing/attempts.ts';
import { VendorHealth } from '../routing/health.ts';
import { type VendorLimits, VendorLimitsHere } from '../routing/limits.ts';
import { Routing } from '../routing/routing.ts';
import { Vendors } from '../routing/vendors.ts';
import { readKey } from '../vendors/file/key.ts';
import {
  type Adapter,
  type ModelFamily,
  type ModelRow,
  SANDBOX,
  type TryOut,
  type VendorsFile,
} from '../vendors/file/port.ts';
import { sandbox } from '../vendors/file/row.ts';
import { createOutboundClient } from '../vendors/http/client.ts';

/** By the name of the module that they work for. */
export type Adapters = Readonly<Record<string, readonly Adapter[]>>;

/** Everything that the modules can speak; one set for a process. */
export function adaptersOf(modules: readonly Module[]): Adapters {
  return Object.fromEntries(familiesOf(modules).map((family) => [family.name, family.adapters()]));
}

function familiesOf(modules: readonly Module[]): ModelFamily[] {
  return modules.flatMap(({ models }) => models ?? []);
}

const KEY_BYTES_MAX = 16 * 1024;

type FileSettings = Pick<Config, 'vendorsFile' | 'isVendorsFileNamed' | 'region' | 'settings'>;

/** What is in the text, and what is wrong with it; without a text there is the sandbox alone. */
async function examineVendors(
  text: string | null,
  settings: FileSettings,
  modules: readonly Module[],
  adapters: Adapters,
): Promise<{ readonly file: VendorsFile; readonly faults: readonly FileFault[] }> {
  const families = familiesOf(modules);
  if (text === null) {
    const [vendor, rows] = sandbox(families, settings.region, true);
    return { file: { vendors: [vendor], rows, warnings: [], digest: '' }, faults: [] };
  }
  // Loaded only where there is a file: what reads it is long.
  const { readVendorsFile } = await import('../vendors/file/read.ts');
  return readVendorsFile(text, {
    region: settings.region,
    families,
    adapters,
    nowMs: Date.now(),
    ...keySources(settings),
  });
}

/** The same for the command line, with the adapters of the service. */
export function inspectVendors(text: string | null, settings: FileSettings, modules: readonly Module[]) {
  return examineVendors(text, settings, modules, adaptersOf(modules));
}

/** One real call of a model, the smallest there is, and what its vendor bills for it; null where there is no such thing. */
export async function tryVendor(
  row: ModelRow,
  { allowPrivateTargets, allowPrivateSources }: Pick<Config, 'allowPrivateTargets' | 'allowPrivateSources'>,
  modules: readonly Module[],
  say: (line: string) => void,
): Promise<TryOut | null> {
  if (row.vendor.id === SANDBOX) return null;
  const outbound = createOutboundClient({ allowPrivateTargets, allowPrivateSources });
  try {
    const family = familiesOf(modules).find(({ name }) => name === row.family);
    const adapter = family?.adapters().find(({ name }) => name === row.vendor.adapter);
    if (adapter === undefined || family?.tryOut === undefined) return null;
    const tried = await family.tryOut(row, adapter, { outbound, say });
    if (tried.usage === undefined || tried.usage === null) return tried;
    const nanos = family.billedNanos?.(row, tried.usage);
    return nanos === undefined ? tried : { ...tried, message: `${tried.message}; by its price ${usdText(nanos)} USD` };
  } finally {
    await outbound.close();
  }
}

/** The same for a service that starts. Throws one ConfigError with every fault on a line of its own. */
export async function vendorsOf(
  text: string | null,
  settings: FileSettings,
  modules: readonly Module[],
  adapters: Adapters,
): Promise<VendorsFile> {
  const { file, faults } = await examineVendors(text, settings, modules, adapters);
  if (faults.length === 0) return file;
  const lines = faults.map((fault) => `  ${faultLine(settings.vendorsFile, fault)}`);
  throw new ConfigError(
    `VENDORS_FILE has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}\n${lines.join('\n')}`,
  );
}

/** `vendors.yaml:4:7: vendors[0].region: It is missing.` */
export function faultLine(path: string, { line, column, field, message }: FileFault): string {
  return `${path}:${line}:${column}: ${field === '' ? '' : `${field}: `}${message}`;
}

export interface VendorsHost {
  readonly config: FileSettings;
  readonly adapters: Adapters;
  readonly manifest: { readonly modules: readonly Module[] };
  readonly log: Logger;
  /** What the processes behind one port have together. */
  readonly group?: { readonly vendorLimits: VendorLimits } | undefined;
}

/** Health is read only where there is somebody outside to ask. Throws ConfigError when the file lacks a vendor that is at work. */
export async function startVendors(db: Database, file: VendorsFile, host: VendorsHost): Promise<Vendors> {
  const { config, adapters, manifest, log, group } = host;
  for (const warning of file.warnings) log.warn(warning);
  await requireVendorsInUse(db, file);
  const limits = group?.vendorLimits ?? new VendorLimitsHere();
  const counts = file.vendors.some((vendor) => vendor.limits.concurrent !== null);
  const alsoRead = counts ? () => limits.read(() => liveAttempts(db)) : undefined;
  const health = new VendorHealth({ db, log, alsoRead });
  if (file.vendors.length > 1) await health.start();
  const families = familiesOf(manifest.modules);
  const routing = new Routing(db);
  return new Vendors({
    file,
    families,
    adapters,
    region: config.region,
    health,
    limits,
    routing,
    readKey: keyReader(config),
  });
}

/** Live work goes on with its vendors, whose keys stand in the file. */
async function requireVendorsInUse(db: Database, { vendors }: VendorsFile): Promise<void> {
  const live = await liveAttempts(db);
  const missing = [...live].filter(([id]) => !vendors.some((vendor) => vendor.id === id));
  if (missing.length === 0) return;
  const list = missing.map(([id, attempts]) => `${id} (${attempts})`).join(', ');
  throw new ConfigError(
    `VENDORS_FILE lacks vendors that are at work: ${list}; put them back, with enabled: false they take no more`,
  );
}

/** A key by the name that is stored of it, for work that began under an earlier file; null when it is not there any more. */
function keyReader(settings: FileSettings): (name: string) => string | null {
  return (name) => {
    const found = readKey(name.startsWith('file:') ? { file: name.slice(5) } : `\${${name}}`, keySources(settings));
    return found.kind === 'found' ? found.key.reveal() : null;
  };
}

function keySources({ vendorsFile, settings }: FileSettings) {
  return {
    environment: (name: string) => settings((variables) => variables.text(name)),
    keyFile: (path: string) => {
      try {
        return readShortText(resolve(dirname(vendorsFile), path), KEY_BYTES_MAX);
      } catch {
        // Told as a key that is missing.
        return null;
      }
    },
  };
}
