// Scoring as a lane effect. Counts are read and written under the wallet lock, and the calls of a commit are counted one after the other:
// each sees all that were charged before it, and itself.
import type { AdmittedItem, LaneEffect, LaneItem, ReadVerdict } from '../../../core/wallet/lane/lane-item.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import type { ListName } from '../lists/entries.ts';
import type { Verdict } from '../rules/rule-set.ts';
import type { KnownSettings, Settings } from '../rules/settings.ts';
import { placeOf } from '../signals/keys.ts';
import { varints } from '../signals/series.ts';
import { countsOf, type Facts, type Signals, signalsOf } from '../signals/signals.ts';
import type { RiskIds } from './ids.ts';
import {
  type FoundEntry,
  findEntries,
  findPairs,
  findWindows,
  type NewDecision,
  type OwnedPair,
  sendDecisions,
  sendPairs,
  sendWindows,
} from './store.ts';
import { pairsOf, Tally } from './tally.ts';

export const SCORE = 'risk.score';

export interface ScoreInput {
  /** Keys of the list entries that would decide it, by the shapes that the lists have. */
  readonly candidates: (shapes: readonly string[]) => readonly string[];
  /** Those that were sent, in the order of their kinds. */
  readonly keys: readonly Buffer[];
  readonly facts: Facts;
}

/** What all calls of a commit share. */
export interface Known {
  readonly tally: Tally;
  readonly settings: ReadonlyMap<string, Settings>;
  /** By account and entry. */
  readonly entries: ReadonlyMap<string, FoundEntry>;
}

type Item = LaneItem<ScoreInput, Known>;
type Admitted = AdmittedItem<ScoreInput, Known>;

const NO_SHAPES: readonly string[] = [];
const entryId = (accountId: string, entry: string) => `${accountId}\n${entry}`;
const listed: Readonly<Record<ListName, Verdict>> = {
  allow: decidedBy('allow', 0),
  block: decidedBy('block', 100),
};

export class ScoreEffect implements LaneEffect<ScoreInput, Known> {
  readonly name = SCORE;
  readonly readsUnderLock = true;
  readonly #ids: RiskIds;
  readonly #settings: KnownSettings;

  constructor(ids: RiskIds, settings: KnownSettings) {
    this.#ids = ids;
    this.#settings = settings;
  }

  exclusiveKeys(): readonly string[] {
    return [];
  }

  async read(tx: Queryable, items: readonly Item[]): Promise<ReadVerdict<Known>[]> {
    const accountIds = accountsOf(items);
    const accounts = textArray(accountIds);
    const keys = items.flatMap(({ accountId, input }) => input.keys.map((key) => ({ accountId, key })));
    const pairs = items.flatMap(({ accountId, input }) =>
      pairsOf(input.keys).map(([a, b]): OwnedPair => ({ accountId, a, b })),
    );
    const guessed = wantedEntries(items, (accountId) => this.#settings.of(accountId));
    const [settings, windows, together, found] = await Promise.all([
      this.#settings.read(tx, accountIds),
      findWindows(tx, accounts, keys),
      findPairs(tx, accounts, pairs),
      findEntries(tx, accounts, guessed),
    ]);
    // Lists that this process did not know to have such entries.
    const asked = new Set(guessed.map(({ accountId, entry }) => entryId(accountId, entry)));
    const missed = wantedEntries(items, (accountId) => settings.get(accountId)).filter(
      ({ accountId, entry }) => !asked.has(entryId(accountId, entry)),
    );
    const entries = [...found, ...(await findEntries(tx, accounts, missed))];
    const context: Known = {
      tally: new Tally(windows, together),
      settings,
      entries: new Map(entries.map((row) => [entryId(row.account_id, row.entry), row])),
    };
    return items.map(() => ({ kind: 'go', context }));
  }

  write(tx: Queryable, items: readonly Admitted[], nowMs: number): string[] {
    const { tally } = (items[0] as Admitted).context;
    const decisions: NewDecision[] = [];
    const texts = items.map((admitted) => this.#decide(admitted, nowMs, decisions));
    const accounts = textArray(accountsOf(items.map(({ item }) => item)));
    sendWindows(tx, accounts, tally.windows(), nowMs);
    sendPairs(tx, accounts, tally.pairs(), nowMs);
    sendDecisions(tx, accounts, decisions);
    void countAccepted(
      tx,
      items.map(({ item }) => item),
    );
    return texts;
  }

  #decide({ item, context, firstSeq: seq }: Admitted, nowMs: number, decisions: NewDecision[]): string {
    const { accountId, input } = item;
    const series = context.tally.count(accountId, input.keys, seq, nowMs);
    const counts = input.keys.flatMap((key, i) => countsOf(placeOf(key), series[i] as (typeof series)[number], nowMs));
    let next = 0;
    const signals = signalsOf(input.facts, () => counts[next++] ?? 0);
    const settings = context.settings.get(accountId) ?? this.#settings.of(accountId);
    const { score, action, reasons } = this.#verdict(item, context, settings, signals, nowMs);
    const { event } = input.facts;
    decisions.push({
      ...{ accountId, seq, event, action, score, keys: Buffer.concat(input.keys) },
      ...{ facts: JSON.stringify(input.facts), counts: varints(counts), reasons: JSON.stringify(reasons) },
    });
    return JSON.stringify({ risk_id: this.#ids.of(accountId, seq), score, action, reasons, signals });
  }

  #verdict(item: Item, { entries }: Known, settings: Settings, signals: Signals, nowMs: number): Verdict {
    const found = item.input.candidates(settings.shapes).flatMap((entry) => {
      const row = entries.get(entryId(item.accountId, entry));
      return row === undefined || (row.expires_at !== null && row.expires_at <= nowMs) ? [] : [row.list];
    });
    if (found.length === 0) return settings.set.decide(signals);
    return listed[found.includes('allow') ? 'allow' : 'block'];
  }
}

function decidedBy(list: ListName, score: number): Verdict {
  return {
    score,
    action: list,
    reasons: [{ rule: `list:${list}`, points: score, detail: `An entry of the ${list} list decides alone.` }],
  };
}

function accountsOf(items: readonly { readonly accountId: string }[]): string[] {
  return [...new Set(items.map(({ accountId }) => accountId))].sort();
}

function wantedEntries(items: readonly Item[], settingsOf: (accountId: string) => Settings | undefined) {
  return items.flatMap(({ accountId, input }) =>
    input.candidates(settingsOf(accountId)?.shapes ?? NO_SHAPES).map((entry) => ({ accountId, entry })),
  );
}
