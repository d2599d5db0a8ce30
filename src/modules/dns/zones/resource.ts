// Resource definition of zones, shared by the operations of the module.
import type { Static } from 'typebox';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { type Resource, requireRow } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import { zoneKey } from '../records/names.ts';
import { zoneSchema as schema, zoneField, type zoneSchema } from '../schemas.ts';
import { removeZone, type ShownZone, zoneTable } from './store.ts';

/** What operations on zones need of the module's state. */
export interface ZonesState {
  /** What this service's name servers are called. */
  readonly names: readonly string[];
}

export const zones: Resource<ShownZone, ZonesState, typeof schema> = {
  ...zoneTable,
  noun: 'zone',
  keyName: 'zone',
  keyField: zoneField,
  output: schema,
  find: (db, ctx, key) => zoneTable.find(db, ctx, zoneKey(key)),
  remove: (tx, { accountId }, key, nowMs) => removeZone(tx, accountId, zoneKey(key), nowMs),
  show: (row, { state }) => showZone(row, state),
};

export function showZone(
  { zone, vendor, serial, name_servers, created_at, updated_at, is_active }: ShownZone,
  { names }: ZonesState,
): Static<typeof zoneSchema> {
  return {
    zone,
    vendor,
    status: is_active ? 'active' : 'released',
    serial: Number(serial),
    name_servers: name_servers === null ? [...names] : (JSON.parse(name_servers) as string[]),
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  };
}

/** The account's zone, as a call names it; null: there is none. */
export function findZone(
  db: Queryable,
  ctx: Parameters<typeof zones.find>[1],
  zone: string,
): Promise<ShownZone | null> {
  return zones.find(db, ctx, zone);
}

/** The account's zone. Throws NOT_FOUND. */
export function requireZone(db: Queryable | Transaction, ctx: Parameters<typeof zones.find>[1], zone: string) {
  return requireRow(zones, db, ctx, zone);
}
