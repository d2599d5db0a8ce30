// Changes of a zone's record sets, all or none: in the database where this service answers for the zone, at its vendor otherwise. Changes at a
// vendor are computed from its current records, and again when somebody else has changed the same names meanwhile.

import { runOutside } from '../../../core/idempotency/outside.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import type { Transaction } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { RECORDS_MAX } from '../limits.ts';
import type { DnsState } from '../state.ts';
import { EMBEDDED } from '../vendors/hosts.ts';
import { type HostedZone, type SetChange, VendorFault, type ZoneHost } from '../vendors/port.ts';
import { findZone, requireZone } from '../zones/resource.ts';
import { touchZone } from '../zones/store.ts';
import type { RecordSet } from './sets.ts';
import { clearSets, removeSets, requireWhole, saveSets } from './store.ts';
import type { RecordType } from './values.ts';

/** In their order: `set` takes the place of a set, `remove` takes a name's sets of a type (null: of all), `clear` everything. */
export type Edit =
  | { readonly kind: 'set'; readonly sets: readonly RecordSet[] }
  | { readonly kind: 'remove'; readonly name: string; readonly type: RecordType | null }
  | { readonly kind: 'clear' };

export interface Edited {
  readonly zone: string;
  /** Those that were set, as they are now. */
  readonly sets: readonly RecordSet[];
  /** Whether a `remove` found something. */
  readonly removed: boolean;
  /** When; null: at a vendor. */
  readonly atMs: number | null;
}

interface Order {
  readonly zone: string;
  /** The field that failures of the whole name. */
  readonly param: string;
  /** Throws VALIDATION_FAILED. @param zone its name as it is stored */
  edits(zone: string): readonly Edit[];
  answer(edited: Edited): unknown;
}

const ROUNDS = 3;

/** Throws NOT_FOUND, VALIDATION_FAILED, QUOTA_EXCEEDED, and what vendors fail with. */
export async function editZone(ctx: CallContext, state: DnsState, order: Order) {
  const found = await findZone(ctx.core.db, ctx, order.zone);
  // One that is not there is looked for once more in the transaction: a repeated call gets its answer first.
  if (found === null || found.vendor === EMBEDDED) return editHere(ctx, order);
  return runOutside(ctx, async (enter) => {
    const { vendor, zone } = found;
    const edited = await state.hosts.run(vendor, { accountId: ctx.accountId, zone }, (host, signal) =>
      editThere(host, zone, order, signal, () =>
        ctx.core.db.transaction(async (tx) => {
          const { nowMs } = await enter(tx);
          const row = await requireZone(tx, ctx, zone);
          if (row.vendor !== vendor) throw problem('NOT_FOUND', { param: 'zone' });
          await touchZone(tx, ctx.accountId, zone, nowMs);
        }),
      ),
    );
    return order.answer(edited);
  });
}

function editHere(ctx: CallContext, order: Order) {
  return runWrite(ctx, async (tx, { nowMs }) => {
    const { zone, vendor } = await requireZone(tx, ctx, order.zone);
    if (vendor !== EMBEDDED) throw problem('NOT_FOUND', { param: 'zone' });
    const edits = order.edits(zone);
    const removed = await applyHere(tx, { accountId: ctx.accountId, zone }, edits, nowMs);
    const sets = edits.flatMap((edit) => (edit.kind === 'set' ? edit.sets : []));
    if (sets.length > 0) await requireWhole(tx, { accountId: ctx.accountId, zone }, order.param);
    if (sets.length > 0 || removed) await touchZone(tx, ctx.accountId, zone, nowMs);
    return order.answer({ zone, sets, removed, atMs: nowMs });
  });
}

async function applyHere(
  tx: Transaction,
  place: { readonly accountId: string; readonly zone: string },
  edits: readonly Edit[],
  nowMs: number,
): Promise<boolean> {
  let removed = false;
  for (const edit of edits) {
    if (edit.kind === 'set') await saveSets(tx, place, edit.sets, nowMs);
    else if (edit.kind === 'clear') removed = (await clearSets(tx, place)) || removed;
    else removed = (await removeSets(tx, place, edit.name, edit.type)) || removed;
  }
  return removed;
}

/** `begin`: looks at the caller again, right before something changes. */
async function editThere(
  host: ZoneHost,
  zone: string,
  order: Order,
  signal: AbortSignal,
  begin: () => Promise<void>,
): Promise<Edited> {
  for (let round = 1; ; round += 1) {
    const now = await host.read(zone, signal);
    if (now === null) throw zoneGone(zone);
    const { changes, ...edited } = planChanges(now, order);
    if (changes.length === 0) return edited;
    await begin();
    try {
      await now.change(changes, signal);
      return edited;
    } catch (error) {
      if (!(error instanceof VendorFault && error.isRace) || round === ROUNDS) throw error;
    }
  }
}

export function zoneGone(zone: string) {
  return new VendorFault(
    'VENDOR_ERROR',
    `The vendor has no zone ${zone} any more, or does not let this service read it.`,
  );
}

/** What is to change so that the zone is as the edits want it. Throws as editZone. */
function planChanges(now: HostedZone, order: Order): Edited & { readonly changes: readonly SetChange[] } {
  const before = new Map(now.sets.map((set) => [keyOf(set), set]));
  const after = new Map(before);
  const set: RecordSet[] = [];
  let removed = false;
  for (const edit of order.edits(now.zone)) {
    if (edit.kind === 'clear') clearFrom(after, now);
    else if (edit.kind === 'remove') removed = removeFrom(after, edit.name, edit.type) || removed;
    else
      for (const each of edit.sets) {
        requireNotApex(each, now.zone, order.param);
        const made = { ...each, ttl: now.ttlOf(each.ttl) };
        after.set(keyOf(made), made);
        set.push(made);
      }
  }
  requireWholeSets([...after.values()], order.param);
  const changes = [
    ...[...before.values()].filter((each) => !after.has(keyOf(each))).map((each) => ({ ...nameOf(each), set: null })),
    ...[...after.values()]
      .filter((each) => !isSame(before.get(keyOf(each)), each))
      .map((each) => ({ ...nameOf(each), set: each })),
  ];
  return { zone: now.zone, sets: set, removed, atMs: null, changes };
}

/** All but the addresses of the zone's own name servers, without which it is not found. */
function clearFrom(sets: Map<string, RecordSet>, { nameServers }: HostedZone): void {
  for (const set of [...sets.values()]) {
    const isGlue = (set.type === 'A' || set.type === 'AAAA') && nameServers.includes(set.name);
    if (!isGlue) sets.delete(keyOf(set));
  }
}

function removeFrom(sets: Map<string, RecordSet>, name: string, type: RecordType | null): boolean {
  const gone = [...sets.values()].filter((set) => set.name === name && (type === null || set.type === type));
  for (const set of gone) sets.delete(keyOf(set));
  return gone.length > 0;
}

/** The same as `requireWhole` looks for in the database. */
function requireWholeSets(sets: readonly RecordSet[], param: string): void {
  const aliases = new Set(sets.filter(({ type }) => type === 'CNAME').map(({ name }) => name));
  const beside = sets.find(({ name, type }) => type !== 'CNAME' && aliases.has(name));
  if (beside !== undefined) {
    throw invalidField(param, 'cname', `${beside.name} has a CNAME: no other record may stand beside it.`);
  }
  if (sets.reduce((sum, { values }) => sum + values.length, 0) > RECORDS_MAX) {
    throw problem('QUOTA_EXCEEDED', { message: `Record limit reached: ${RECORDS_MAX} a zone.` });
  }
}

function requireNotApex({ name, type }: RecordSet, zone: string, param: string): void {
  if (type !== 'NS' || name !== zone) return;
  throw invalidField(param, 'name_servers', `The NS records of ${zone} itself are those of its vendor.`);
}

function isSame(one: RecordSet | undefined, other: RecordSet): boolean {
  if (one === undefined || one.ttl !== other.ttl || one.values.length !== other.values.length) return false;
  const values = new Set(one.values);
  return other.values.every((value) => values.has(value));
}

const keyOf = ({ name, type }: RecordSet): string => `${name} ${type}`;
const nameOf = ({ name, type }: RecordSet) => ({ name, type });
