// Reads one model of a vendor: its family, its capabilities, its price.
import { instantForm } from '../../lib/instant.ts';
import { nanosOfUsd } from '../../lib/money.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Path } from '../../lib/yaml.ts';
import type { Adapter, ModelFamily, ModelRow, Vendor } from './port.ts';
import type { Faults, Reading } from './reading.ts';
import { type ModelEntry, rowOf } from './row.ts';
import { modelSchema, schemaFaults } from './schema.ts';

export interface ModelReading {
  readonly vendor: Vendor;
  readonly entry: unknown;
  /** Of the vendor. */
  readonly timeouts: Readonly<Record<string, number>>;
  readonly path: Path;
  readonly reading: Reading;
  readonly faults: Faults;
}

/** Null when something is wrong with it, which is told. */
export function readModel({ vendor, entry, timeouts, path, reading, faults }: ModelReading): ModelRow | null {
  const before = faults.found.length;
  const family = familyOf(vendor, entry, path, reading, faults);
  if (family === null) return null;
  const adapter = adapterOf(vendor, family, reading);
  const broken = schemaFaults(modelSchema(family)(adapter.modelFields), entry, path);
  for (const fault of broken) faults.add(fault.path, fault.message);
  if (broken.length > 0) return null;
  const row = rowOf(vendor, family, entry as ModelEntry, Object.keys(adapter.modelFields), timeouts);
  if (Number.isNaN(row.validUntilMs)) {
    faults.add([...path, 'valid_until'], `It must be a day such as 2030-03-31, or ${instantForm}.`);
  }
  for (const at of fineAmounts(row.price, [...path, 'price'])) {
    faults.add(at, 'It must be an amount of USD with at most nine decimals.');
  }
  if (faults.found.length > before) return null;
  for (const { field, message } of family.faults?.(row, adapter) ?? [])
    faults.add([...path, ...partsOf(field)], message);
  return faults.found.length > before ? null : row;
}

/** That of what it serves, else the only one that its adapter works for, else the only one of these that has such prices, else the one that is assumed. */
function familyOf(vendor: Vendor, entry: unknown, path: Path, reading: Reading, faults: Faults): ModelFamily | null {
  const { serves } = (entry ?? {}) as { serves?: unknown };
  const fit = reading.families.filter(({ name }) =>
    reading.adapters[name]?.some((adapter) => adapter.name === vendor.adapter),
  );
  if (!Array.isArray(serves) || serves.length === 0) {
    const priced = fit.length === 1 ? fit : fit.filter((each) => isPricedBy(each, entry));
    const family = priced.length === 1 ? priced[0] : fit.find(({ isAssumed }) => isAssumed);
    if (family !== undefined) return family;
    const families = fit.map(({ name }) => name).join(' and ');
    faults.add([...path, 'serves'], `It is missing: the adapter ${vendor.adapter} works for ${families}.`);
    return null;
  }
  const known = fit.flatMap(({ capabilities }) => capabilities);
  for (const [i, id] of serves.entries()) {
    if (!known.includes(id)) faults.add([...path, 'serves', i], unknownCapability(String(id), known));
  }
  const family = fit.find(({ capabilities }) => serves.every((id) => capabilities.includes(id)));
  if (family === undefined && serves.every((id) => known.includes(id))) {
    faults.add([...path, 'serves'], 'One model serves capabilities of one module: list it once for each.');
  }
  return family ?? null;
}

function isPricedBy({ price }: ModelFamily, entry: unknown): boolean {
  return schemaFaults(price, (entry as { readonly price?: unknown } | null)?.price, []).length === 0;
}

function adapterOf(vendor: Vendor, family: ModelFamily, { adapters }: Reading): Adapter {
  const found = adapters[family.name]?.find(({ name }) => name === vendor.adapter);
  if (found === undefined) throw new Error(`${vendor.adapter} does not work for ${family.name}`);
  return found;
}

function unknownCapability(id: string, known: readonly string[]): string {
  const [near] = nearest(id, known, 1);
  const instead = near === undefined ? `; there are ${known.join(', ')}.` : `. Did you mean ${near}?`;
  return `The adapter serves no such capability${instead}`;
}

/** Where a price has a number that is no whole number of nano-USD. */
export function fineAmounts(price: unknown, path: Path): Path[] {
  if (typeof price === 'number') return nanosOfUsd(price) === null ? [path] : [];
  if (typeof price !== 'object' || price === null) return [];
  return Object.entries(price).flatMap(([name, value]) => fineAmounts(value, [...path, name]));
}

/** `input.values[2]` to its parts. */
function partsOf(field: string): (string | number)[] {
  return [...field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
}
