// Converts a written model row to the form that the rest of the service uses. The sandbox's rows are converted in the same way.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { parseInstant } from '../../lib/instant.ts';
import { DAY_MS } from '../../lib/time.ts';
import { type ModelFamily, type ModelRow, SANDBOX, type Vendor, type VendorRegion } from './port.ts';

/** Lower goes first; what is not told stands here. */
export const PRIORITY = 100;

export interface ModelEntry {
  readonly id: string;
  readonly serves?: readonly string[];
  readonly price: unknown;
  readonly flagship?: boolean;
  readonly valid_until?: string;
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly [trait: string]: unknown;
}

/** Of an entry that is valid. `options`: names of the adapter's own fields; `timeouts`: those of the vendor. */
export function rowOf(
  vendor: Vendor,
  family: ModelFamily,
  entry: ModelEntry,
  options: readonly string[] = [],
  timeouts: Readonly<Record<string, number>> = {},
): ModelRow {
  const traits = pick(entry, Object.keys(family.traits.properties));
  return {
    vendor,
    id: entry.id,
    family: family.name,
    serves: entry.serves ?? family.serves(traits),
    flagship: entry.flagship ?? false,
    validUntilMs: endOf(entry.valid_until),
    price: entry.price,
    priceVersion: digestOf([vendor.id, vendor.markupPct, entry]),
    traits,
    options: pick(entry, options),
    timeouts: { ...pick(timeouts, family.timeouts), ...entry.timeouts } as Readonly<Record<string, number>>,
  };
}

/** The vendor that is built in, with what the families say that it has. */
export function sandbox(
  families: readonly ModelFamily[],
  region: VendorRegion,
  isEnabled: boolean,
): [Vendor, ModelRow[]] {
  const vendor: Vendor = {
    id: SANDBOX,
    adapter: SANDBOX,
    baseUrl: '',
    region,
    key: null,
    markupPct: 0,
    limits: { concurrent: null, perMinute: null },
    assetHosts: [],
    priority: PRIORITY,
    disabled: isEnabled ? null : 'by the operator',
  };
  return [vendor, families.flatMap((family) => family.sandbox.map((entry) => rowOf(vendor, family, entry)))];
}

/** Equal for equal values, however their members are ordered. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(JSON.stringify(value)))
    .digest('hex')
    .slice(0, 16);
}

/** A day is valid to its end, UTC. NaN for what is neither a day nor an instant. */
function endOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const startOfDay = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseInstant(`${text}T00:00:00Z`) : null;
  return startOfDay === null ? (parseInstant(text) ?? Number.NaN) : startOfDay + DAY_MS;
}

function pick(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
}
