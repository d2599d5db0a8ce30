// Batches outcomes of attempts for the database: those that end while one batch is written go together in the next.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../../core/core.ts';
import type { Metric } from '../../core/process/metric.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { Coalescer } from '../../lib/coalesce.ts';
import { changesWebhook, type Outcome, writeOutcomes } from './outcome.ts';
import type { DisabledReason } from './standing.ts';

const OUTCOMES_PER_WRITE = 500;
const TRIES = 4;
const BACKOFF = { firstMs: 250, maxMs: 1_000 };
// Failures gather this long: attempts to failing receivers are few at a time, and a commit each cost more than the attempts.
const FAILURES_GATHER_MS = 100;

export class OutcomeWriter {
  readonly #core: Pick<Core, 'db' | 'log'>;
  readonly #batches: Coalescer<Outcome, unknown>;
  readonly #attempts = new Map<string, number>();
  readonly #disabled = new Map<DisabledReason, number>([
    ['gone', 0],
    ['failing', 0],
  ]);

  constructor(core: Pick<Core, 'db' | 'log'>) {
    this.#core = core;
    this.#batches = new Coalescer({
      batchMax: OUTCOMES_PER_WRITE,
      run: async (batch, outcomes) => {
        if (batch === 'failures') await sleep(FAILURES_GATHER_MS);
        return this.#writeAll(outcomes);
      },
    });
  }

  /** Resolves once it is committed. Rejects when it cannot be written: the delivery is then attempted again after its lease. */
  async write(outcome: Outcome): Promise<void> {
    const { verdict } = outcome.result;
    this.#attempts.set(verdict, (this.#attempts.get(verdict) ?? 0) + 1);
    const failure = await this.#batches.add(batchOf(outcome), outcome);
    if (failure !== null) throw failure;
  }

  metrics(): Metric[] {
    const attempts = [...this.#attempts].map(([outcome, value]) => ({
      name: 'qm_webhook_attempts_total',
      help: 'Webhook attempts of this process by how they ended.',
      labels: { outcome },
      value,
    }));
    const disabled = [...this.#disabled].map(([reason, value]) => ({
      name: 'qm_webhooks_disabled_total',
      help: 'Webhooks that this process has disabled: gone (the receiver answered 410) or failing (too often for too long).',
      labels: { reason },
      value,
    }));
    return [...attempts, ...disabled];
  }

  /** Null for each outcome written. An account whose outcomes cannot be written fails alone. */
  async #writeAll(outcomes: readonly Outcome[]): Promise<unknown[]> {
    const failure = await this.#try(outcomes);
    if (failure === null) return outcomes.map(() => null);
    const accounts = Map.groupBy(outcomes, (outcome) => outcome.accountId);
    const failures = new Map<string, unknown>();
    for (const [accountId, own] of accounts) failures.set(accountId, await this.#insist(own));
    return outcomes.map((outcome) => failures.get(outcome.accountId));
  }

  async #insist(outcomes: readonly Outcome[]): Promise<unknown> {
    for (let tried = 1; ; tried += 1) {
      const failure = await this.#try(outcomes);
      if (failure === null || tried === TRIES) return failure;
      await sleep(backoffMs(BACKOFF, tried));
    }
  }

  /** Null, or why not. After a COMMIT without an answer it is safe to write again: the fence lets nothing through twice. */
  async #try(outcomes: readonly Outcome[]): Promise<unknown> {
    try {
      for (const { accountId, webhookId, reason } of await writeOutcomes(this.#core.db, outcomes)) {
        this.#disabled.set(reason, (this.#disabled.get(reason) ?? 0) + 1);
        this.#core.log.warn({ accountId, webhookId, reason }, 'a webhook was disabled');
      }
      return null;
    } catch (error) {
      return error;
    }
  }
}

/** What changes a webhook waits for a dispatch that holds it, and plain successes of others must not wait behind that. */
function batchOf(outcome: Outcome): 'deliveries' | 'recoveries' | 'failures' {
  if (!changesWebhook(outcome)) return 'deliveries';
  return outcome.result.verdict === 'succeeded' ? 'recoveries' : 'failures';
}
