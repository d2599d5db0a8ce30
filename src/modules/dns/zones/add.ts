// Adds a zone to an account: it exists once in the service, and never within a zone of another account. Another account's zone that has not been
// delegated here for 7 days, and is not now, is released.

import { isIP } from 'node:net';
import { operatorAccount } from '../../../core/accounts/operator.ts';
import { clockNow } from '../../../core/database-clock.ts';
import { runOutside } from '../../../core/idempotency/outside.ts';
import type { Transaction } from '../../../db/database.ts';
import { requireRoom } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { RELEASE_MS } from '../limits.ts';
import { companyDomain, liesIn, registeredDomain, requireZoneName } from '../records/names.ts';
import type { DnsState } from '../state.ts';
import { EMBEDDED } from '../vendors/hosts.ts';
import { checkDelegation } from './delegation.ts';
import { showZone } from './resource.ts';
import { claimZone, freeZone, lockNames, othersAt, saveZone, type ZoneName, zoneLimits, zoneTable } from './store.ts';

/** Zones of others that are looked at before one of them is taken over. */
const OTHERS_MAX = 5;
const NOT_SERVED =
  'Nothing answers for the zone: this service has no name server. DNS_PORT names its port; or a vendor in VENDORS_FILE answers.';

/** `vendor` undefined: the name servers of this service, or where there are none the first vendor at which the account may hold the zone. */
export async function addZone(
  ctx: CallContext,
  { zone: typed, vendor: named }: { readonly zone: string; readonly vendor?: string | undefined },
  state: DnsState,
) {
  const zone = await requireZoneName(typed);
  await requireForeignName(ctx, zone);
  const domain = await registeredDomain(zone);
  const domains = [domain, await companyDomain(zone)];
  return runOutside(ctx, async (enter) => {
    const vendor = named ?? vendorFor(ctx, zone, state);
    if (vendor === EMBEDDED && state.settings.port === null) ctx.warnings.push(NOT_SERVED);
    const nameServers = vendor === EMBEDDED ? null : await nameServersAt(ctx, vendor, zone, state);
    const given = await givenUp(ctx, state, domains, zone);
    return ctx.core.db.transaction(async (tx) => {
      const { nowMs } = await enter(tx);
      await lockNames(tx, ctx.accountId, domain);
      for (const other of await othersAt(tx, ctx.accountId, domains, zone)) {
        if (given.get(other.zone) !== other.account_id) throw zoneTaken(zone, other);
        await freeZone(tx, other.account_id, other.zone, nowMs);
      }
      return insertZone(tx, ctx, { zone, domain, vendor, nameServers, nowMs }, state);
    });
  });
}

/**
 * Names of the service itself, and what lies above or below them, are its operator's: another account would answer for them. Throws
 * VALIDATION_FAILED.
 */
async function requireForeignName({ core, accountId }: CallContext, zone: string) {
  // An address has no zone, and names such as localhost are everybody's.
  const names = [...core.ownNames].filter((name) => name.includes('.') && isIP(name) === 0);
  const own = names.find((name) => liesIn(name, zone) || liesIn(zone, name));
  if (own === undefined || (await operatorAccount(core.db)) === accountId) return;
  throw invalidField(
    'zone',
    'reserved',
    `${zone} holds names of this service (${own}): only its operator may have it.`,
  );
}

interface NewZone {
  readonly zone: string;
  readonly domain: string;
  readonly vendor: string;
  readonly nameServers: readonly string[] | null;
  readonly nowMs: number;
}

function vendorFor({ accountId }: CallContext, zone: string, { settings, hosts }: DnsState): string {
  return settings.port === null ? hosts.usual({ accountId, zone }) : EMBEDDED;
}

/** Of a zone that the vendor has, and the operator lets the account hold. Throws VALIDATION_FAILED, and what vendors fail with. */
async function nameServersAt({ accountId }: CallContext, vendor: string, zone: string, { hosts }: DnsState) {
  hosts.requireHolding(vendor, { accountId, zone });
  const found = await hosts.run(vendor, { accountId, zone }, (host, signal) => host.read(zone, signal));
  if (found !== null) return found.nameServers;
  throw invalidField(
    'zone',
    'vendor',
    `The vendor ${vendor} has no zone ${zone}, or does not let this service read it.`,
  );
}

async function insertZone(
  tx: Transaction,
  ctx: CallContext,
  { zone, domain, vendor, nameServers, nowMs }: NewZone,
  state: DnsState,
) {
  const before = await zoneTable.find(tx, ctx, zone);
  if (before?.is_active === true)
    throw problem('ALREADY_EXISTS', { param: 'zone', message: `The zone ${zone} exists.` });
  if (before !== null && before.vendor !== vendor) {
    throw problem('ALREADY_EXISTS', {
      param: 'vendor',
      message: `The zone ${zone} was released, and is at ${before.vendor}: delete it first.`,
    });
  }
  if (before === null) await requireRoom(tx, ctx, 'zone', zoneLimits.dns_zones);
  // One that was released comes back with its records.
  const row = before ?? {
    zone,
    vendor,
    name_servers: nameServers === null ? null : JSON.stringify(nameServers),
    serial: BigInt(Math.floor(nowMs / 1_000)),
    created_at: nowMs,
    updated_at: nowMs,
  };
  if (before === null) saveZone(tx, ctx, row);
  await claimZone(tx, ctx.accountId, { zone, domain, isEmbedded: vendor === EMBEDDED, nowMs });
  return showZone({ ...row, is_active: true }, state);
}

/** Zones of others that have not been delegated for 7 days, and are not now, with their accounts. Throws ALREADY_EXISTS where one is. */
async function givenUp(
  ctx: CallContext,
  state: DnsState,
  domains: readonly string[],
  zone: string,
): Promise<Map<string, string>> {
  const { core, accountId } = ctx;
  const others = await othersAt(core.db, accountId, domains, zone);
  const [first] = others;
  if (first === undefined) return new Map();
  const before = (await clockNow(core.db)) - RELEASE_MS;
  const held = others.find(({ undelegated_since: since }) => since === null || since > before);
  if (held !== undefined || others.length > OTHERS_MAX) throw zoneTaken(zone, held ?? first);
  const { names, resolvers } = state;
  for (const other of others) {
    const since = await checkDelegation({ core, names, resolvers }, other);
    if (since === null || since > before) throw zoneTaken(zone, other);
  }
  return new Map(others.map((other) => [other.zone, other.account_id]));
}

function zoneTaken(zone: string, other: ZoneName) {
  const where = other.zone === zone ? 'exists' : 'lies within, or above, one that exists';
  return problem('ALREADY_EXISTS', {
    param: 'zone',
    message: `The zone ${zone} ${where} in another account. It is free once that account deletes it, or 7 days after it was last delegated here.`,
  });
}
