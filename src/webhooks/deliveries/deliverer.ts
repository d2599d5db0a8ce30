// Delivers what is due, on this process: finds due lines, claims their deliveries, sends them, writes the outcomes.
// Lines take turns, an account has a bounded part of each pool, and receivers that hang or fail have pools of their own (places.ts).
// So 100,000 deliveries to a failing receiver do not delay those to others.

import { JobLoop } from '../../core/background/job-loop.ts';
import type { Core } from '../../core/core.ts';
import { eventText } from '../../core/events/wire.ts';
import { hostOf, isLong, type LongCaller } from '../../core/outbound/long-calls.ts';
import type { Metric } from '../../core/process/metric.ts';
import { TargetCache } from '../registrations/target-cache.ts';
import { claimOf, Lines, type Turn } from '../turns/lines.ts';
import { HEALTH, type Place, Places, type PoolName, placesTotal, poolOf } from '../turns/places.ts';
import { type AttemptRequest, type AttemptResult, attemptDelivery, isMade } from './attempt.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  extendDelivery,
  findDueLines,
  freeLinesOf,
  type WebhookRow,
} from './claim.ts';
import { endUnsentDelivery } from './outcome.ts';
import { OutcomeWriter } from './outcome-writer.ts';

/** Beside the search of the process (upkeep/due-search.ts). */
const INTERVAL_MS = 5_000;
const FAILING_INTERVAL_MS = 200;
const LINES_PER_SEARCH = 200;
const SLOW_AFTER_MS = 1_000;

interface Job {
  readonly delivery: ClaimedDelivery;
  readonly place: Place;
}

type DelivererCore = Pick<Core, 'db' | 'secrets' | 'outbound' | 'longCalls' | 'bounds' | 'log' | 'region'>;

export class Deliverer {
  readonly loop: JobLoop<Job>;
  readonly #core: DelivererCore;
  readonly #places: Places;
  readonly #lines: Lines;
  readonly #targets: TargetCache;
  readonly #outcomes: OutcomeWriter;
  #searchAtMs = 0;
  #failingAtMs = 0;
  /** Without room at the last search: the next place there that becomes free is for what was not looked for. */
  readonly #full = new Set<PoolName>();

  constructor(core: DelivererCore) {
    this.#core = core;
    this.#places = new Places(undefined, core.longCalls);
    this.#lines = new Lines(this.#places);
    this.#targets = new TargetCache(core.secrets);
    this.#outcomes = new OutcomeWriter(core);
    this.loop = new JobLoop<Job>({
      name: 'webhooks',
      log: core.log,
      concurrency: placesTotal + core.bounds.all.longCalls,
      intervalMs: INTERVAL_MS,
      take: () => this.#take(),
      run: (job, signal) => this.#run(job, signal),
      onStop: () => freeLinesOf(core.db, this.#lines.unfinishedLines()),
      metrics: () => this.#metrics(),
    });
    core.db.onHint('deliveries', () => {
      this.#searchAtMs = 0;
      this.loop.wake();
    });
  }

  async #take(): Promise<Job[]> {
    if (performance.now() >= this.#searchAtMs) await this.#search();
    const turns = this.#lines.nextTurns();
    if (turns.length === 0) return [];
    try {
      const claim = await claimDeliveries(this.#core.db, turns.map(claimOf));
      for (const error of claim.failures)
        this.loop.reportFailure(error, {}, 'deliveries of an account could not be claimed');
      const lines = new Map(claim.lines.map((line) => [line.webhookId, line]));
      const deliveries = Map.groupBy(claim.deliveries, (delivery) => delivery.webhookId);
      return turns.flatMap((turn) => {
        const { webhookId } = turn.line;
        return this.#begin(turn, lines.get(webhookId), deliveries.get(webhookId) ?? []);
      });
    } catch (error) {
      for (const turn of turns) this.#lines.notServed(turn);
      throw error;
    }
  }

  #begin(turn: Turn, served: Parameters<Lines['endTurn']>[1], deliveries: readonly ClaimedDelivery[]): Job[] {
    const webhook = deliveries[0]?.webhook ?? null;
    if (webhook !== null) turn.line.longCaller = longCallerOf(webhook);
    this.#lines.endTurn(turn, served, deliveries.length);
    return deliveries.map((delivery, i) => ({ delivery, place: turn.places[i] as Place }));
  }

  /**
   * Each health is searched for itself, and only while there is room for it: lines that must wait hide no others. Failing ones may
   * wait for the next search: looked for whenever one of them could begin, they made a search precede nearly every claim.
   */
  async #search(): Promise<void> {
    this.#searchAtMs = performance.now() + INTERVAL_MS;
    this.#full.clear();
    const searches = Object.values(HEALTH).map(async (health) => {
      const limit = Math.min(this.#lines.room(health), LINES_PER_SEARCH);
      const isFailing = health === HEALTH.failing;
      if (isFailing && !this.#mayLookForFailing()) return;
      if (limit <= 0) {
        if (!isFailing) this.#full.add(poolOf[health]);
        return;
      }
      const found = await findDueLines(this.#core.db.hot, health, limit);
      for (const line of found) this.#lines.noteDue(line, health);
      if (found.length === limit && !isFailing) this.#searchAtMs = 0;
    });
    await Promise.all(searches);
  }

  #mayLookForFailing(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#failingAtMs) return false;
    this.#failingAtMs = nowMs + FAILING_INTERVAL_MS;
    return true;
  }

  async #run({ delivery, place }: Job, signal: AbortSignal): Promise<void> {
    const slow = setTimeout(() => {
      if (this.#places.slow(place) && this.#lines.waiting > 0) this.loop.wake();
    }, SLOW_AFTER_MS);
    let succeeded: boolean | null = null;
    try {
      const result = await this.#deliver(delivery, place, signal);
      if (result !== null && isMade(result)) succeeded = result.verdict === 'succeeded';
    } finally {
      clearTimeout(slow);
      const wasFull = place.pool !== null && this.#full.has(place.pool);
      if (wasFull) this.#searchAtMs = 0;
      if (this.#lines.endAttempt(delivery, place, succeeded) || wasFull) this.loop.wake();
    }
  }

  /** Null when there was nothing to attempt. */
  async #deliver(delivery: ClaimedDelivery, place: Place, signal: AbortSignal): Promise<AttemptResult | null> {
    const { db, log } = this.#core;
    const { event, webhook } = delivery;
    if (webhook === null || webhook.status === 'disabled' || event === null) {
      const status = webhook === null ? 'cancelled' : event === null ? 'failed' : 'skipped';
      await endUnsentDelivery(db, delivery, status, event === null ? 'event_not_kept' : null);
      return null;
    }
    let result: AttemptResult;
    try {
      const target = this.#targets.open(webhook);
      const body = eventText(event, this.#core.region);
      const request = { target, eventId: delivery.eventId, body, signal };
      const long = longCallerOf(webhook);
      const made =
        long === null
          ? attemptDelivery(this.#core.outbound, request)
          : this.#attemptLong(delivery, place, long, request);
      result = await made;
    } catch (error) {
      // Counted and retried like any failure: a delivery that cannot be built must not come again without end.
      log.error({ err: error, deliveryId: delivery.deliveryId }, 'a webhook delivery could not be sent');
      result = unsendable;
    }
    const wasHealthy = this.#lines.isHealthy(delivery) && webhook.failed_attempts === 0;
    await this.#outcomes.write({ ...delivery, retryPolicy: webhook.retry_policy, wasHealthy, result });
    return result;
  }

  /** For as long as its webhook may take, out of the way of all others; not made while there is no room for it. */
  async #attemptLong(
    delivery: ClaimedDelivery,
    place: Place,
    caller: LongCaller,
    request: AttemptRequest,
  ): Promise<AttemptResult> {
    const { db, outbound, longCalls } = this.#core;
    const { timeoutSeconds } = request.target;
    const mayBegin = this.#places.lengthen(place, caller) && (await extendDelivery(db, delivery, timeoutSeconds));
    // A place of the others is free.
    if (this.#lines.waiting > 0) this.loop.wake();
    if (!mayBegin) return postponed;
    return longCalls.during(caller.accountId, request.body.length, () => attemptDelivery(outbound, request));
  }

  #metrics(): Metric[] {
    const used = this.#places.usedPlaces().map(([pool, value]) => ({
      name: 'qm_webhook_attempts_running',
      help: 'Webhook attempts under way on this process.',
      labels: { pool },
      value,
    }));
    return [...used, ...this.#outcomes.metrics()];
  }
}

function longCallerOf({ account_id: accountId, tier, url, timeout_seconds: seconds }: WebhookRow): LongCaller | null {
  return isLong(seconds) ? { accountId, tier, host: hostOf(url) } : null;
}

const nothingMade: AttemptResult = {
  verdict: 'failed',
  httpStatus: null,
  errorCode: null,
  latencyMs: 0,
  snippet: null,
  retryAfter: null,
  requestHeaders: '{}',
};
const unsendable: AttemptResult = { ...nothingMade, errorCode: 'internal_error' };
const postponed: AttemptResult = { ...nothingMade, verdict: 'postponed' };
