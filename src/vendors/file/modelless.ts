// Reads a vendor entry without models: a messaging carrier, a search engine, a name server. It has its adapter's fields and is one row. Its
// secrets are stored elsewhere.
import type { Path } from '../../lib/yaml.ts';
import { readKey } from './key.ts';
import { fineAmounts } from './model.ts';
import type { Adapter, ModelFamily, ModellessForm, ModelRow, Vendor, VendorKey, VendorRegion } from './port.ts';
import type { Faults, Reading } from './reading.ts';
import { PRIORITY, rowOf } from './row.ts';
import { modellessSchema, schemaFaults } from './schema.ts';

type SecretPlace = string | { readonly file: string };

interface ModellessEntry {
  readonly id: string;
  readonly region?: VendorRegion | 'local';
  readonly base_url?: string;
  readonly url?: SecretPlace;
  readonly price?: unknown;
  readonly markup_pct?: 0 | 0.05;
  readonly limits?: { readonly concurrent?: number; readonly per_minute?: number };
  readonly priority?: number;
  readonly enabled?: boolean;
  readonly [field: string]: unknown;
}

export interface ModellessReading {
  readonly adapter: Adapter & { readonly modelless: ModellessForm };
  readonly family: ModelFamily;
  readonly reading: Reading;
  readonly faults: Faults;
  readonly warnings: string[];
}

/** The adapter of an entry that has no models; null for any other entry. */
export function modellessOf(
  entry: unknown,
  { adapters, families }: Reading,
): Pick<ModellessReading, 'adapter' | 'family'> | null {
  const { adapter: name } = (entry ?? {}) as { readonly adapter?: unknown };
  for (const family of families) {
    const adapter = adapters[family.name]?.find((each) => each.name === name);
    if (adapter?.modelless !== undefined) return { adapter: { ...adapter, modelless: adapter.modelless }, family };
  }
  return null;
}

/** Null when something is wrong with it, which is told. */
export function readModelless(entry: unknown, path: Path, options: ModellessReading): ModelRow | null {
  const { adapter, family, reading, faults, warnings } = options;
  const before = faults.found.length;
  const broken = schemaFaults(modellessSchema(adapter.modelless), entry, path);
  for (const { path: at, message } of broken) faults.add(at, message);
  if (broken.length > 0) return null;
  const said = entry as ModellessEntry;
  const { secrets, missing } = readSecrets(said, path, options);
  const address = addressOf(said, secrets, path, options);
  for (const at of fineAmounts(said.price, [...path, 'price'])) {
    faults.add(at, 'It must be an amount of USD with at most nine decimals.');
  }
  if (faults.found.length > before) return null;
  if (missing !== null) warnings.push(`vendor ${said.id} takes no work: ${missing} holds no value`);
  const { region = reading.region } = said;
  const vendor: Vendor = {
    id: said.id,
    adapter: adapter.name,
    baseUrl: address,
    region: region === 'local' ? reading.region : region,
    key: null,
    secrets,
    markupPct: said.markup_pct ?? (region === 'local' ? 0 : 0.05),
    limits: { concurrent: said.limits?.concurrent ?? null, perMinute: said.limits?.per_minute ?? null },
    assetHosts: [],
    priority: said.priority ?? PRIORITY,
    disabled: said.enabled === false ? 'by the operator' : missing === null ? null : 'its key is missing',
  };
  const { price = 'free', ...own } = pick(said, Object.keys(adapter.modelless.fields));
  const row = rowOf(vendor, family, { id: adapter.name, price, ...own }, Object.keys(own));
  for (const { field, message } of family.faults?.(row, adapter) ?? []) faults.add([...path, field], message);
  return faults.found.length > before ? null : row;
}

function readSecrets(entry: ModellessEntry, path: Path, { adapter, reading, faults }: ModellessReading) {
  const secrets: Record<string, VendorKey> = {};
  let missing: string | null = null;
  const names = [...adapter.modelless.secrets, ...(isSecret(entry.url) ? ['url'] : [])];
  for (const name of names) {
    const found = readKey(entry[name] as SecretPlace, reading);
    if (found.kind === 'fault') faults.add([...path, name], found.message);
    else if (found.kind === 'missing') missing ??= found.name;
    else secrets[name] = found.key;
  }
  return { secrets, missing };
}

function isSecret(place: unknown): place is SecretPlace {
  return typeof place === 'object' || (typeof place === 'string' && place.startsWith('$'));
}

/** Where the vendor is, without user and password; empty while the secret that holds it is missing. */
function addressOf(
  entry: ModellessEntry,
  secrets: Readonly<Record<string, VendorKey>>,
  path: Path,
  { adapter, faults }: ModellessReading,
): string {
  const { protocols = ['http:', 'https:'] } = adapter.modelless;
  if (protocols.length === 0) return '';
  const isUrl = adapter.modelless.protocols !== undefined;
  const field = [...path, isUrl ? 'url' : 'base_url'];
  const text = isUrl
    ? (secrets.url?.reveal() ?? (isSecret(entry.url) ? null : entry.url))
    : (entry.base_url ?? adapter.baseUrl);
  if (text === null) return '';
  const url = URL.parse(text as string);
  if (url === null || !protocols.includes(url.protocol) || url.hostname === '') {
    faults.add(field, `It must be a URL that begins with ${protocols.map((one) => `${one}//`).join(' or ')}.`);
    return '';
  }
  if (url.password !== '' && secrets.url === undefined) {
    faults.add(field, `It contains a password: put the whole URL into \${NAME} of the environment, or {file: PATH}.`);
  }
  url.username = '';
  url.password = '';
  return url.href.replace(/\/+$/, '');
}

function pick(entry: ModellessEntry, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]]));
}
