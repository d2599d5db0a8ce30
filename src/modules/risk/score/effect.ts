// Scoring as a lane effect. Counts are read and written under the wallet lock. A commit counts its calls one after the other: each sees all
// calls charged before it, and itself.
import type { Secrets, WordMac } from '../../../core/secrets/secrets.ts';
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { encodeWord } from '../../../lib/base62.ts';
import type { ListName } from '../limits.ts';
import { candidatesOf, findLists } from '../lists/entries.ts';
import type { RuleSet, Verdict } from '../rules/rule-set.ts';
import { KnownSettings } from '../rules/settings.ts';
import { type Facts, type Signals, signalsOf } from '../signals/facts.ts';
import type { Sent } from '../signals/keys.ts';
import type { Series } from '../signals/series.ts';
import { findWindows, type NewDecision, sendDecisions, sendWindows } from './store.ts';
import { Tally } from './tally.ts';

export const SCORE = 'risk.score';

export interface ScoreInput {
  readonly sent: Sent;
  /** Of what was sent, in the order of their kinds. */
  readonly keys: readonly Buffer[];
  readonly facts: Facts;
}

export interface Known {
  /** Shared by all calls of a commit. */
  readonly tally: Tally;
  readonly set: RuleSet;
  /** The list that decides; null: the rules do. */
  readonly list: ListName | null;
}

type Item = LaneItem<ScoreInput, Known>;
type Admitted = AdmittedItem<ScoreInput, Known>;

const listed: Readonly<Record<ListName, Verdict>> = {
  allow: decidedBy('allow', 0),
  block: decidedBy('block', 100),
};

export class ScoreEffect implements LaneEffect<ScoreInput, Known> {
  readonly name = SCORE;
  readonly readsUnderLock = true;
  readonly #mac: WordMac;
  readonly #settings = new KnownSettings();

  constructor(secrets: Secrets) {
    this.#mac = secrets.wordMac('risk-decision-id');
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<Known>[]> {
    const accountIds = accountsOf(items);
    const accounts = textArray(accountIds);
    const keys = items.flatMap(({ accountId, input }) => input.keys.map((key) => ({ account_id: accountId, key })));
    const [settingsOf, rows] = await Promise.all([
      this.#settings.read(tx, accountIds),
      findWindows(tx, accounts, keys),
    ]);
    const wanted = items.map(({ accountId, input: { sent } }) => ({
      accountId,
      entries: candidatesOf(sent, settingsOf(accountId).shapes),
    }));
    const lists = await findLists(tx, accounts, wanted);
    const tally = new Tally(rows);
    return items.map(({ accountId }, i) => ({
      kind: 'go',
      context: { tally, set: settingsOf(accountId).set, list: lists[i] ?? null },
    }));
  }

  write(tx: Transaction, items: readonly Admitted[], nowMs: number): string[] {
    const accounts = textArray(accountsOf(items.map(({ item }) => item)));
    const signals = items.map((admitted) => countedSignals(admitted, nowMs));
    sendWindows(tx, accounts, (items[0] as Admitted).context.tally.changedWindows(), nowMs);
    // These rows take the longest part of the commit.
    tx.flush();
    const decisions = items.map((admitted, i) => this.#decide(admitted, signals[i] as Signals));
    sendDecisions(tx, accounts, decisions);
    void countAccepted(
      tx,
      items.map(({ item }) => item),
    );
    return decisions.map(({ answer }) => answer);
  }

  #decide({ item, context, firstSeq: seq }: Admitted, signals: Signals): NewDecision {
    const { accountId, input } = item;
    const { score, action, reasons } = context.list === null ? context.set.decide(signals) : listed[context.list];
    // A number that was not handed out to this account names nothing.
    const id = `risk_${encodeWord(seq)}${encodeWord(this.#mac(`${accountId} ${seq}`))}`;
    const answer = JSON.stringify({ risk_id: id, score, action, reasons, signals });
    return { account_id: accountId, seq, action, keys: Buffer.concat(input.keys), answer };
  }
}

/** Counts the call, and tells what its rules see. */
function countedSignals({ item: { accountId, input }, context, firstSeq: seq }: Admitted, nowMs: number): Signals {
  const series = context.tally.count(accountId, input.keys, seq, nowMs);
  return signalsOf(input.facts, (kind, line, window) => (series.get(kind) as Series).total(line, window, nowMs));
}

function decidedBy(list: ListName, score: number): Verdict {
  const detail = `An entry of the ${list} list decides alone.`;
  return { score, action: list, reasons: [{ rule: `list:${list}`, points: score, detail }] };
}

function accountsOf(items: readonly { readonly accountId: string }[]): string[] {
  return [...new Set(items.map(({ accountId }) => accountId))].sort();
}
