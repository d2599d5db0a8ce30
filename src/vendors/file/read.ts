// Reads the operator's vendors file. All errors are reported at once, each with its position. Keys are read here and stay in memory; messages
// name them only by where they are stored.
import { nearest } from '../../lib/nearest.ts';
import { type FileFault, type Path, readYaml, type YamlDocument } from '../../lib/yaml.ts';
import { readKey } from './key.ts';
import { readModel } from './model.ts';
import { modellessOf, readModelless } from './modelless.ts';
import { type ModelRow, SANDBOX, type Vendor, type VendorRegion, type VendorsFile } from './port.ts';
import { Faults, type Reading } from './reading.ts';
import { digestOf, PRIORITY, sandbox } from './row.ts';
import { fileSchema, sandboxSchema, schemaFaults, vendorSchema } from './schema.ts';

/** What no vendor can be called: words of `model` and `vendor`, and who works here. */
const TAKEN = ['self', 'auto', 'cheapest', 'smartest', 'outbox'];

interface VendorEntry {
  readonly id: string;
  readonly adapter: string;
  readonly base_url?: string;
  readonly region: VendorRegion | 'local';
  readonly api_key?: string | { readonly file: string };
  readonly markup_pct?: 0 | 0.05;
  readonly limits?: { readonly concurrent?: number; readonly per_minute?: number };
  readonly asset_hosts?: readonly string[];
  readonly priority?: number;
  readonly enabled?: boolean;
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly models: readonly unknown[];
}

/** With faults, `file` is what is left without the entries that have some. */
export function readVendorsFile(
  text: string,
  reading: Reading,
): { readonly file: VendorsFile; readonly faults: readonly FileFault[] } {
  const document = readYaml(text);
  const faults = new Faults(document);
  const vendors: Vendor[] = [];
  const rows: ModelRow[] = [];
  const warnings: string[] = [];
  let isSandboxEnabled = true;
  for (const [i, entry] of vendorEntries(document, faults).entries()) {
    const path: Path = ['vendors', i];
    const { id, enabled } = (entry ?? {}) as { readonly id?: unknown; readonly enabled?: unknown };
    if (id === SANDBOX) {
      for (const fault of schemaFaults(sandboxSchema, entry, path)) faults.add(fault.path, fault.message);
      isSandboxEnabled = enabled !== false;
      continue;
    }
    if (vendors.some((other) => other.id === id)) faults.add([...path, 'id'], `There is another vendor ${String(id)}.`);
    if (typeof id === 'string' && TAKEN.includes(id))
      faults.add([...path, 'id'], `${id} has a meaning of its own: call the vendor something else.`);
    const modelless = modellessOf(entry, reading);
    if (modelless !== null) {
      const row = readModelless(entry, path, { ...modelless, reading, faults, warnings });
      if (row === null) continue;
      vendors.push(row.vendor);
      rows.push(row);
      continue;
    }
    const vendor = readVendor(entry, path, reading, faults, warnings);
    if (vendor === null) continue;
    vendors.push(vendor);
    rows.push(...readModels(vendor, entry as VendorEntry, path, reading, faults, warnings));
  }
  for (const { name, wholeFault } of reading.families) {
    const message = wholeFault?.(rows.filter(({ family }) => family === name)) ?? null;
    if (message !== null) faults.add(['vendors'], message);
  }
  const [builtIn, itsRows] = sandbox(reading.families, reading.region, isSandboxEnabled);
  const file = {
    vendors: [...vendors, builtIn],
    rows: [...rows, ...itsRows],
    warnings,
    digest: digestOf(document.value ?? null),
  };
  return { file, faults: faults.found };
}

/** The entries; none of a text that is no such file. */
function vendorEntries(document: YamlDocument, faults: Faults): readonly unknown[] {
  faults.found.push(...document.faults);
  if (document.faults.length > 0) return [];
  for (const { path, message } of schemaFaults(fileSchema, document.value, [])) faults.add(path, message);
  const { vendors } = (document.value ?? {}) as { readonly vendors?: unknown };
  return Array.isArray(vendors) ? vendors : [];
}

function readVendor(entry: unknown, path: Path, reading: Reading, faults: Faults, warnings: string[]): Vendor | null {
  const before = faults.found.length;
  const broken = schemaFaults(vendorSchema(reading.families), entry, path);
  for (const fault of broken) faults.add(fault.path, fault.message);
  if (broken.length > 0) return null;
  const { id, adapter, api_key: keySource, ...rest } = entry as VendorEntry;
  const known = Object.values(reading.adapters).flat();
  const code = known.find(({ name }) => name === adapter);
  if (code === undefined)
    faults.add(
      [...path, 'adapter'],
      unknownAdapter(
        adapter,
        known.map(({ name }) => name),
      ),
    );
  const baseUrl = rest.base_url ?? code?.baseUrl;
  if (baseUrl === undefined && code !== undefined) faults.add([...path, 'base_url'], 'It is missing.');
  if (baseUrl !== undefined && !isBaseUrl(baseUrl)) {
    faults.add([...path, 'base_url'], 'It must be an http or https URL without user, query or fragment.');
  }
  const key = keySource === undefined ? null : readKey(keySource, reading);
  if (key?.kind === 'fault') faults.add([...path, 'api_key'], key.message);
  if (faults.found.length > before) return null;
  if (key?.kind === 'missing') warnings.push(`vendor ${id} takes no work: ${key.name} holds no key`);
  return {
    id,
    adapter,
    baseUrl: (baseUrl as string).replace(/\/+$/, ''),
    region: rest.region === 'local' ? reading.region : rest.region,
    key: key?.kind === 'found' ? key.key : null,
    markupPct: rest.markup_pct ?? (rest.region === 'local' ? 0 : 0.05),
    limits: { concurrent: rest.limits?.concurrent ?? null, perMinute: rest.limits?.per_minute ?? null },
    assetHosts: rest.asset_hosts ?? [],
    priority: rest.priority ?? PRIORITY,
    disabled: rest.enabled === false ? 'by the operator' : key?.kind === 'missing' ? 'its key is missing' : null,
  };
}

function readModels(
  vendor: Vendor,
  entry: VendorEntry,
  path: Path,
  reading: Reading,
  faults: Faults,
  warnings: string[],
): ModelRow[] {
  const rows: ModelRow[] = [];
  for (const [i, model] of entry.models.entries()) {
    const at = [...path, 'models', i];
    const row = readModel({ vendor, entry: model, timeouts: entry.timeouts ?? {}, path: at, reading, faults });
    if (row === null) continue;
    if (rows.some(({ id }) => id === row.id)) faults.add([...at, 'id'], `${vendor.id} has another model ${row.id}.`);
    if (row.validUntilMs !== null && row.validUntilMs <= reading.nowMs) {
      warnings.push(`model ${vendor.id}/${row.id} is not offered: its time is over`);
    }
    rows.push(row);
  }
  return rows;
}

function unknownAdapter(name: string, known: readonly string[]): string {
  const [near] = nearest(name, known, 1);
  return near === undefined
    ? `There is no such adapter; there are ${known.join(', ')}.`
    : `There is no such adapter. Did you mean ${near}?`;
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
