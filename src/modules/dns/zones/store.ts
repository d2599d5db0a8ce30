// SQL of zones. dns.zone has the zones of an account; dns.zone_name has the owner of each zone in the service, and that it has changed.
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import { clearSets } from '../records/store.ts';

export interface ZoneRow {
  readonly zone: string;
  /** `embedded`, or the id of an entry of the operator's file. */
  readonly vendor: string;
  /** JSON: those of a zone at a vendor; null: those of this service. */
  readonly name_servers: string | null;
  readonly serial: bigint;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface ShownZone extends ZoneRow {
  /** The zone is the account's in the service, and answered for. */
  readonly is_active: boolean;
}

const shape = { table: 'dns.zone', key: 'zone', columns: 'zone, vendor, name_servers, serial, created_at, updated_at' };
export const zoneTable = resourceTable<ShownZone>({
  ...shape,
  columns: `${shape.columns},
            EXISTS (SELECT 1 FROM dns.zone_name n WHERE n.account_id = $1 AND n.zone = zone.zone) AS is_active`,
});
export const saveZone = rowSaver<ZoneRow>(shape);

/** By tier; account.tier shows it. */
export const zoneLimits = {
  dns_zones: { description: 'DNS zones.', used: zoneTable.count, standard: 50, pro: 500, enterprise: 5_000 },
} satisfies Readonly<Record<string, CountedLimit>>;

/** Whose a zone is. */
export interface ZoneName {
  readonly zone: string;
  /** Empty: nobody's any more. */
  readonly account_id: string;
  readonly revision: bigint;
  readonly changed_at: number;
  /** For how long it has not been delegated to this service; null: it is. */
  readonly undelegated_since: number | null;
  /** The name servers of this service answer for it; a zone at a vendor is held until its account deletes it. */
  readonly is_embedded: boolean;
}

export const nameColumns = 'zone, account_id, revision, changed_at, undelegated_since, is_embedded';
const lockDomain = statement(
  'dns_lock_domain',
  `INSERT INTO dns.domain (account_id, domain) VALUES ($1, $2)
       ON CONFLICT (domain) DO UPDATE SET account_id = excluded.account_id`,
);
const findOthers = statement(
  'dns_find_others',
  `/* fan-out: zones of all accounts; every node holds this table whole */
   SELECT ${nameColumns} FROM dns.zone_name
    WHERE domain = ANY($1::text[]) AND account_id <> $2 AND account_id <> ''
      AND (zone = ANY($3::text[]) OR right(zone, length($4::text)) = $4::text)
    ORDER BY zone LIMIT 20`,
);
const claimName = statement(
  'dns_claim_name',
  `INSERT INTO dns.zone_name AS n (account_id, zone, domain, revision, changed_at, undelegated_since, checked_at, is_embedded)
   VALUES ($1, $2, $3, 1, $4, CASE WHEN $5::boolean THEN $4::timestamptz END, $4, $5::boolean)
       ON CONFLICT (zone) DO UPDATE
      SET account_id = excluded.account_id, revision = n.revision + 1, changed_at = excluded.changed_at,
          undelegated_since = excluded.undelegated_since, checked_at = excluded.checked_at, is_embedded = excluded.is_embedded`,
);
const freeName = statement(
  'dns_free_name',
  `UPDATE dns.zone_name SET account_id = '', revision = revision + 1, changed_at = $3 WHERE account_id = $1 AND zone = $2`,
);
const findName = statement(
  'dns_find_name',
  `/* fan-out: whose a zone is; every node holds this table whole */
   SELECT ${nameColumns} FROM dns.zone_name WHERE zone = $1`,
);
const bumpSerial = statement(
  'dns_bump_serial',
  `UPDATE dns.zone SET serial = greatest(serial + 1, $3::bigint), updated_at = $4 WHERE account_id = $1 AND zone = $2`,
);
const bumpName = statement(
  'dns_bump_name',
  `UPDATE dns.zone_name SET revision = revision + 1, changed_at = $3 WHERE account_id = $1 AND zone = $2`,
);

/** Until the transaction ends nobody else adds a zone below the registered domain. */
export async function lockNames(tx: Transaction, accountId: string, domain: string): Promise<void> {
  await tx.query(lockDomain, [accountId, domain]);
}

/** Zones of other accounts that are the zone, or lie within or above it. */
export async function othersAt(
  db: Queryable,
  accountId: string,
  domains: readonly string[],
  zone: string,
): Promise<readonly ZoneName[]> {
  const labels = zone.split('.');
  const above = labels.map((_, at) => labels.slice(at).join('.'));
  return (await db.query<ZoneName>(findOthers, [textArray(domains), accountId, textArray(above), `.${zone}`])).rows;
}

export interface Claim {
  readonly zone: string;
  readonly domain: string;
  readonly isEmbedded: boolean;
  readonly nowMs: number;
}

export async function claimZone(tx: Transaction, accountId: string, { zone, domain, isEmbedded, nowMs }: Claim) {
  await tx.query(claimName, [accountId, zone, domain, timestamp(nowMs), isEmbedded]);
}

/** The zone is nobody's from now on. */
export async function freeZone(tx: Transaction, accountId: string, zone: string, nowMs: number): Promise<void> {
  await tx.query(freeName, [accountId, zone, timestamp(nowMs)]);
}

export async function findZoneName(db: Queryable, zone: string): Promise<ZoneName | null> {
  return (await db.query<ZoneName>(findName, [zone])).rows[0] ?? null;
}

/** After a change of its records: the serial grows, and name servers read the zone again. */
export async function touchZone(tx: Transaction, accountId: string, zone: string, nowMs: number): Promise<void> {
  await Promise.all([
    tx.query(bumpSerial, [accountId, zone, BigInt(Math.floor(nowMs / 1_000)), timestamp(nowMs)]),
    tx.query(bumpName, [accountId, zone, timestamp(nowMs)]),
  ]);
}

/** The zone with its records. Whether there was one. */
export async function removeZone(tx: Transaction, accountId: string, zone: string, nowMs: number): Promise<boolean> {
  const removed = await zoneTable.remove(tx, { accountId }, zone);
  if (!removed) return false;
  await clearSets(tx, { accountId, zone });
  await freeZone(tx, accountId, zone, nowMs);
  return true;
}
