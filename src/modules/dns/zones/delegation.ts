// Delegation of a zone to this service, found by asking its parent for the NS records. It decides nothing alone: an account that holds a zone
// undelegated for 7 days may lose it to another account.
import { mendEach, type Sweep } from '../../../core/background/sweeper/sweep.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import type { NameServer } from '../../../lib/name-server.ts';
import { DELEGATION_EVERY_MS, GONE_KEPT_MS } from '../limits.ts';
import { ask } from '../lookup/ask.ts';
import { readSets } from '../records/store.ts';
import { nameColumns, type ZoneName } from './store.ts';

/**
 * `delegated`: to these name servers alone. `partly`: to others too. `elsewhere`: to others only. `none`: the parent names nobody. `unknown`:
 * no resolver answered.
 */
export const delegationStatuses = ['delegated', 'partly', 'elsewhere', 'none', 'unknown'] as const;

export interface Delegation {
  readonly status: (typeof delegationStatuses)[number];
  readonly name_servers: readonly string[];
}

const ROWS_PER_RUN = 50;

const findDue = statement(
  'dns_find_unchecked',
  `/* fan-out: zones of all accounts whose delegation is to be looked at; every node holds this table whole */
   SELECT ${nameColumns} FROM dns.zone_name
    WHERE account_id <> '' AND is_embedded AND checked_at <= $1 ORDER BY checked_at LIMIT $2::int`,
);
const keepFound = statement(
  'dns_keep_delegation',
  `UPDATE dns.zone_name SET checked_at = $3, undelegated_since = $4 WHERE account_id = $1 AND zone = $2`,
);
const forgetGone = statement(
  'dns_forget_gone',
  `/* fan-out: zones that are nobody's any more */
   DELETE FROM dns.zone_name WHERE account_id = '' AND changed_at <= $1`,
);

/** What the first of the resolvers that answers says; at most 2 s for each of two. */
export async function lookAtDelegation(
  resolvers: readonly NameServer[],
  zone: string,
  wanted: readonly string[],
): Promise<Delegation> {
  for (const resolver of resolvers.slice(0, 2)) {
    const reply = await ask(resolver, zone, 'NS');
    if (reply.rcode !== 'NOERROR' && reply.rcode !== 'NXDOMAIN') continue;
    const found = reply.answers.filter(({ type, name }) => type === 'NS' && name === zone).map(({ data }) => data);
    return { status: statusOf(found, wanted), name_servers: [...new Set(found)].sort() };
  }
  return { status: 'unknown', name_servers: [] };
}

function statusOf(found: readonly string[], wanted: readonly string[]): Delegation['status'] {
  if (found.length === 0) return 'none';
  const ours = found.filter((host) => wanted.includes(host));
  return ours.length === found.length ? 'delegated' : ours.length > 0 ? 'partly' : 'elsewhere';
}

/** What leads to the zone: its own NS records, or else those that this service adds. */
export async function nameServersOf(
  db: Services['db'],
  place: { readonly accountId: string; readonly zone: string },
  names: readonly string[],
): Promise<readonly string[]> {
  const own = (await readSets(db, place)).find(({ name, type }) => type === 'NS' && name === place.zone);
  return own?.values ?? names;
}

/** From when the zone has not been delegated, once a look has found `status`. */
export function undelegatedSince(status: Delegation['status'], before: number | null, nowMs: number): number | null {
  if (status === 'unknown') return before;
  return status === 'delegated' || status === 'partly' ? null : (before ?? nowMs);
}

interface Looking {
  readonly core: Pick<Services, 'db'>;
  readonly names: readonly string[];
  readonly resolvers: readonly NameServer[];
}

/** Looks now, and writes down what was found. Answers since when the zone has not been delegated; null: it is, or nobody knows. */
export async function checkDelegation({ core, names, resolvers }: Looking, name: ZoneName): Promise<number | null> {
  const { zone, account_id: accountId } = name;
  const { status } = await lookAtDelegation(resolvers, zone, await nameServersOf(core.db, { accountId, zone }, names));
  const nowMs = await clockNow(core.db);
  const since = undelegatedSince(status, name.undelegated_since, nowMs);
  await core.db.query(keepFound, [accountId, zone, timestamp(nowMs), timestamp(since)]);
  return status === 'unknown' ? null : since;
}

export function delegationSweeps(looking: Looking): Sweep[] {
  const { db } = looking.core;
  return [
    {
      name: 'dns.delegation',
      intervalMs: 60_000,
      async run(signal) {
        const before = timestamp((await clockNow(db)) - DELEGATION_EVERY_MS);
        const { rows } = await db.query<ZoneName>(findDue, [before, ROWS_PER_RUN]);
        await mendEach(rows, signal, async (name) => void (await checkDelegation(looking, name)));
        return false;
      },
    },
    {
      name: 'dns.gone',
      intervalMs: 600_000,
      async run() {
        await db.query(forgetGone, [timestamp((await clockNow(db)) - GONE_KEPT_MS)]);
        return false;
      },
    },
  ];
}
