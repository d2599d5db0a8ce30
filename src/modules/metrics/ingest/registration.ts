// Effect of one ingest call on its account's series and metrics, decided under the lock. It finds series that are new or new in this hour,
// series beyond the limit, and sums of deltas. Calls of one commit share the states, so a later call sees what earlier ones took.
import type { AdmittedItem, LaneItem } from '../../../core/wallet/lane/lane-item.ts';
import { type MetricInfo, type Refusal, type SampleBatch, seriesId } from '../intake/batch.ts';
import { POINTS_MAX } from '../limits.ts';
import type { SeriesIdentity } from '../series/identity.ts';
import { type AccountState, keyOf, type Owned, type SeenMetric, type SeriesState } from '../series/store.ts';
import type { KnownMetrics } from './known-metrics.ts';

export interface IngestInput {
  readonly batch: SampleBatch;
  /** Live series of the account's tier. */
  readonly seriesMax: number;
}

export type IngestItem = LaneItem<IngestInput, Registration>;
export type IngestAdmitted = AdmittedItem<IngestInput, Registration>;

/** What the read step found for all calls of the commit. */
export interface Known {
  readonly accounts: ReadonlyMap<string, AccountState>;
  readonly series: Map<string, SeriesState>;
  /** Whether a metric has series, by account and name. */
  readonly metrics: Map<string, boolean>;
}

export class Registration {
  readonly accepted: number;
  /** Null: nothing of the account was read. */
  readonly account: AccountState | null;
  changesAccount = false;
  readonly #item: IngestItem;
  readonly #known: Known;
  readonly #series = new Map<number, readonly [SeriesIdentity, SeriesState]>();
  readonly #metrics = new Map<string, SeenMetric>();
  readonly #refused = new Set<number>();

  constructor(item: IngestItem, unknown: readonly number[], known: Known, described: KnownMetrics) {
    this.#item = item;
    this.#known = known;
    this.account = known.accounts.get(item.accountId) ?? null;
    const { batch } = item.input;
    if (unknown.length > 0) this.#register(unknown);
    for (const info of batch.metrics) if (!described.isKnown(item.accountId, info)) this.#describe(info, false);
    this.accepted = batch.seriesOfSample.reduce((sum, series) => sum + (this.#refused.has(series) ? 0 : 1), 0);
  }

  /** Places of series that found no room. */
  get refused(): ReadonlySet<number> {
    return this.#refused;
  }

  /** Rows to be written. */
  series(): Owned<readonly [SeriesIdentity, SeriesState]>[] {
    const { accountId } = this.#item;
    return [...this.#series.values()].map((value) => ({ accountId, value }));
  }

  metrics(): Owned<SeenMetric>[] {
    const { accountId } = this.#item;
    return [...this.#metrics.values()].map((value) => ({ accountId, value }));
  }

  stateOf(place: number): SeriesState {
    return (this.#series.get(place) as readonly [SeriesIdentity, SeriesState])[1];
  }

  #register(places: readonly number[]): void {
    const { accountId, input } = this.#item;
    const account = this.account as AccountState;
    const { batch, seriesMax } = input;
    const [names, labels] = [batch.names.split('\n'), batch.labels.split('\n')];
    for (const place of places) {
      const id = seriesId(batch, place);
      const [first, last] = [batch.firstHours[place] as number, batch.lastHours[place] as number];
      const key = keyOf(accountId, id);
      const state = this.#known.series.get(key);
      if (state?.liveHour !== account.hour) {
        if (account.live >= seriesMax) {
          this.#refused.add(place);
          continue;
        }
        account.live += 1;
        this.changesAccount = true;
      }
      const identity = { id, name: names[place] as string, labels: labels[place] as string };
      const next = state ?? { firstHour: first, lastHour: last, liveHour: account.hour, total: null };
      next.firstHour = Math.min(next.firstHour, first);
      next.lastHour = Math.max(next.lastHour, last);
      next.liveHour = account.hour;
      this.#known.series.set(key, next);
      this.#series.set(place, [identity, next]);
      this.#describe({ name: identity.name, type: null, help: null, unit: null }, true);
    }
  }

  /** Of names without series no more are kept than an account may have series. */
  #describe(info: MetricInfo, isSeries: boolean): void {
    const { accountId, input } = this.#item;
    const account = this.account as AccountState;
    const key = keyOf(accountId, info.name);
    const known = this.#known.metrics.get(key);
    if (known === undefined) {
      if (!isSeries && account.metrics >= input.seriesMax) return;
      account.metrics += 1;
      this.changesAccount = true;
    }
    this.#known.metrics.set(key, isSeries || known === true);
    const before = this.#metrics.get(info.name);
    const told = info.type === null && before !== undefined ? before : info;
    this.#metrics.set(info.name, {
      name: info.name,
      type: told.type,
      help: told.help,
      unit: told.unit,
      isSeries: isSeries || before?.isSeries === true,
      seenHour: account.hour,
    });
  }

  answer(): string {
    const { batch, seriesMax } = this.#item.input;
    const rejected: Refusal[] = batch.refused.slice();
    const names = this.#refused.size === 0 ? [] : batch.names.split('\n');
    let count = batch.refusedCount;
    for (const [i, series] of batch.seriesOfSample.entries()) {
      if (!this.#refused.has(series)) continue;
      count += 1;
      if (rejected.length >= POINTS_MAX) continue;
      const reason = `series limit reached: ${seriesMax} live series on this tier; ${names[series]} is a further one`;
      rejected.push({ index: batch.pointOfSample[i] as number, reason });
    }
    rejected.sort((a, b) => a.index - b.index);
    return JSON.stringify({ accepted: this.accepted, rejected, rejected_count: count });
  }
}
