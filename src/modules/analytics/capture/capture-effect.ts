// Event capture as a lane effect, set-based over all calls of a commit and under the locks of their wallets. So of two events with one UUID
// exactly one counts, a distinct ID gets one number, and people are joined in one order.
import { type SentBlock, sendBlocks } from '../../../blocks/send.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { analyticsKind } from '../events/kind.ts';
import { packPeople } from '../events/pack.ts';
import type { ReadyEvents } from '../intake/ready-events.ts';
import { CAPTURE, SEEN_DAYS } from '../limits.ts';
import { AccountPeople } from './account-people.ts';
import { type Changed, type Of, readKnown, sendChanged, type Wanted } from './capture-store.ts';
import { draftsOfFew, type FewEvents } from './few-events.ts';

interface Known {
  readonly people: AccountPeople;
  /** Of the call's events those that have not come before, as 1. */
  readonly fresh: Uint8Array;
}

type Item = LaneItem<ReadyEvents, Known>;
type Admitted = AdmittedItem<ReadyEvents, Known>;

export class CaptureEffect implements LaneEffect<ReadyEvents, Known> {
  readonly name = CAPTURE;
  readonly readsUnderLock = true;

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<Known>[]> {
    const known = await readKnown(tx, wantedBy(items, Date.now()));
    const accounts = new Map(known.accounts.map((row) => [row.account_id, row]));
    const people = new Map<string, AccountPeople>();
    for (const { accountId } of items) {
      if (!people.has(accountId)) people.set(accountId, new AccountPeople(accounts.get(accountId)));
    }
    for (const row of known.aliases) people.get(row.account_id)?.know(row);
    for (const row of known.persons) people.get(row.account_id)?.knowPerson(row);
    for (const { account_id, uuid } of known.seen) people.get(account_id)?.seen.add(uuid.toString('hex'));
    return items.map((item) => verdictOn(item, people.get(item.accountId) as AccountPeople));
  }

  write(tx: Transaction, items: readonly Admitted[]): readonly string[] {
    const accounts = [...new Set(items.map(({ item }) => item.accountId))].sort();
    const blocks: SentBlock[] = [];
    const seen: Of<{ readonly seq: bigint; readonly uuid: Buffer }>[] = [];
    for (const [accountId, calls] of Map.groupBy(items, ({ item }) => item.accountId)) {
      const few: FewEvents[] = [];
      for (const { item, context, firstSeq } of calls) {
        const { input } = item;
        const persons = takePeople(input, context);
        for (const { seq, uuid } of newUuids(input, context, firstSeq)) seen.push({ accountId, value: { seq, uuid } });
        if (input.parts === null) few.push({ input, persons, firstSeq });
        for (const part of input.parts ?? []) {
          blocks.push({ accountId, blockId: firstSeq + BigInt(part.start), draft: packPeople(input, part, persons) });
        }
      }
      for (const block of draftsOfFew(few)) blocks.push({ accountId, ...block });
    }
    sendBlocks(tx, analyticsKind, blocks);
    sendChanged(tx, textArray(accounts), { ...changesOf(items), seen });
    void countAccepted(
      tx,
      items.map(({ item: { accountId, capability }, context }) => ({
        accountId,
        capability,
        units: BigInt(freshOf(context.fresh)),
      })),
    );
    return items.map(({ item, context }) => answerText(item.input, freshOf(context.fresh)));
  }
}

export function answerText({ records, rejected }: Pick<ReadyEvents, 'records' | 'rejected'>, accepted: number): string {
  return JSON.stringify({ accepted, duplicates: records - accepted, rejected });
}

function wantedBy(items: readonly Item[], nowMs: number): Wanted {
  const accounts = [...new Set(items.map(({ accountId }) => accountId))].sort();
  const ids: Of<string>[] = [];
  const people: Of<string>[] = [];
  const uuids: Of<Buffer>[] = [];
  for (const [accountId, calls] of Map.groupBy(items, (item) => item.accountId)) {
    const all = new Set<string>();
    const changing = new Set<string>();
    for (const { input } of calls) {
      for (const id of input.ids) all.add(id);
      for (const { event, other } of input.people) {
        changing.add(input.ids[input.idOf[event] as number] as string);
        if (other !== null) changing.add(input.ids[other] as string);
      }
      for (let i = 0; i < input.records; i += 1) {
        if (input.hasUuid[i] === 1) uuids.push({ accountId, value: uuidOf(input, i) });
      }
    }
    for (const value of all) ids.push({ accountId, value });
    for (const value of changing) people.push({ accountId, value });
  }
  // A day more on both sides than clocks may differ by.
  const [seenFrom, seenTo] = [sequenceAt(nowMs - SEEN_DAYS * DAY_MS), sequenceAt(nowMs + DAY_MS)];
  return { accounts: textArray(accounts), ids, people, uuids, seenFrom, seenTo };
}

function uuidOf({ uuids }: ReadyEvents, event: number): Buffer {
  return Buffer.from(uuids.buffer, uuids.byteOffset + event * 16, 16);
}

function verdictOn({ input, mode }: Item, people: AccountPeople): ReadVerdict<Known> {
  const fresh = new Uint8Array(input.records).fill(1);
  const own = new Set<string>();
  for (let i = 0; i < input.records; i += 1) {
    if (input.hasUuid[i] === 0) continue;
    const uuid = uuidOf(input, i).toString('hex');
    // Another call of this commit brings it too: whether that one is admitted is not known yet.
    if (mode === 'charge' && people.claimed.has(uuid)) return { kind: 'defer' };
    if (people.seen.has(uuid) || own.has(uuid)) fresh[i] = 0;
    else own.add(uuid);
  }
  // A long one is written in a transaction of its own, and reads again there.
  if (mode === 'charge') for (const uuid of own) people.claimed.add(uuid);
  const accepted = freshOf(fresh);
  if (accepted === 0) return { kind: 'replay', text: answerText(input, 0) };
  return { kind: 'go', context: { people, fresh }, units: BigInt(accepted) };
}

function freshOf(fresh: Uint8Array): number {
  return fresh.reduce((sum, each) => sum + each, 0);
}

/** The numbers of the events' people; 0 of those that came before. */
function takePeople(input: ReadyEvents, { people, fresh }: Known): Int32Array {
  const { ids, idOf, times } = input;
  const numbers = new Int32Array(ids.length);
  const persons = new Int32Array(input.records);
  for (let i = 0; i < input.records; i += 1) {
    if (fresh[i] === 0) continue;
    const id = idOf[i] as number;
    if (numbers[id] === 0) numbers[id] = people.number(ids[id] as string);
    persons[i] = numbers[id] as number;
  }
  for (const change of input.people) {
    if (fresh[change.event] === 0) continue;
    const other = change.other === null ? null : (ids[change.other] as string);
    people.apply(change, ids[idOf[change.event] as number] as string, other, times[change.event] as number);
  }
  return persons;
}

function* newUuids(input: ReadyEvents, { fresh }: Known, firstSeq: bigint) {
  for (let i = 0; i < input.records; i += 1) {
    if (fresh[i] === 1 && input.hasUuid[i] === 1) yield { seq: firstSeq + BigInt(i), uuid: uuidOf(input, i) };
  }
}

function changesOf(items: readonly Admitted[]): Omit<Changed, 'seen'> {
  const all = new Map(items.map(({ item, context }) => [item.accountId, context.people]));
  const changes = [...all].map(([accountId, people]) => ({ accountId, changed: people.pendingChanges() }));
  type Changes = (typeof changes)[number]['changed'];
  const of = <T>(pick: (changed: Changes) => readonly T[]): Of<T>[] =>
    changes.flatMap(({ accountId, changed }) => pick(changed).map((value) => ({ accountId, value })));
  return {
    accounts: of(({ account }) => (account === null ? [] : [account])),
    aliases: of(({ aliases }) => aliases),
    moves: of(({ moves }) => moves),
    persons: of(({ persons }) => persons),
    gone: of(({ gone }) => gone),
  };
}
