// Vendor metrics for /metrics: this process's calls by outcome, vendors that are down, and today's bills, which one process of the deployment
// reads.

import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { clockNow } from '../core/database-clock.ts';
import type { Metric } from '../core/process/metric.ts';
import type { Database } from '../db/database.ts';
import { startOfDay } from '../lib/time.ts';
import { type BillsOfDay, readBills } from './bills.ts';
import type { CallOutcome, Standing } from './health.ts';

const BILLS_INTERVAL_MS = 30_000;
/** A process that does not read any more tells nothing old. */
const BILLS_TOLD_FOR_MS = 4 * BILLS_INTERVAL_MS;
const CALLS =
  'Calls that begin work at vendors, by what came of them; passed_over: none was made, for the vendor is down or at its limits.';
const DROPPED = 'Lines of streams of vendors that could not be read, and were left out.';
const DOWN = 'For how long a vendor has been down; 0: it is up.';
const BILLS =
  'Bills of vendors since midnight, UTC, in the deployment. `sold` is what callers paid for, everything else a loss.';
const BILLED = 'What vendors billed by them, without markup.';

export class VendorMetrics {
  readonly #calls = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();
  readonly #dropped = new Map<string, number>();
  #bills: readonly BillsOfDay[] = [];
  #billsAtMs = Number.NEGATIVE_INFINITY;

  /** A call has ended so; null: the vendor was passed over. */
  count(vendor: string, capability: string, ended: CallOutcome | null): void {
    const outcome = ended === null ? 'passed_over' : outcomeOf(ended);
    const key = `${vendor} ${capability} ${outcome}`;
    const counted = this.#calls.get(key) ?? { labels: { vendor, capability, outcome }, value: 0 };
    counted.value += 1;
    this.#calls.set(key, counted);
  }

  lineDropped(vendor: string): void {
    this.#dropped.set(vendor, (this.#dropped.get(vendor) ?? 0) + 1);
  }

  sweep(db: Database): Sweep {
    return {
      name: 'vendors.bills',
      intervalMs: BILLS_INTERVAL_MS,
      run: async () => {
        this.#bills = await readBills(db, startOfDay(await clockNow(db)), null);
        this.#billsAtMs = performance.now();
        return false;
      },
    };
  }

  /** `offered`: every vendor and capability of the file. */
  metrics(
    offered: readonly Pick<Standing, 'vendor' | 'capability'>[],
    standings: readonly Standing[],
    nowMs: number,
  ): Metric[] {
    const calls = [...this.#calls.values()].map((each) => ({ name: 'qm_vendor_calls_total', help: CALLS, ...each }));
    const down = offered.map(({ vendor, capability }) => {
      const standing = standings.find((each) => each.vendor === vendor && each.capability === capability);
      const sinceMs = standing === undefined || standing.isUp ? nowMs : (standing.sinceMs ?? nowMs);
      const value = Math.max(0, Math.round(nowMs - sinceMs) / 1_000);
      return { name: 'qm_vendor_down_seconds', help: DOWN, labels: { vendor, capability }, value };
    });
    const dropped = [...this.#dropped].map(([vendor, value]) => ({
      name: 'qm_vendor_lines_dropped_total',
      help: DROPPED,
      labels: { vendor },
      value,
    }));
    const isTold = performance.now() - this.#billsAtMs <= BILLS_TOLD_FOR_MS;
    return [...calls, ...dropped, ...down, ...(isTold ? this.#bills.flatMap(billMetrics) : [])];
  }
}

function outcomeOf({ keeps = false, reason, told }: CallOutcome): string {
  if (keeps) return reason === null ? 'accepted' : 'unknown';
  return (told ?? reason ?? 'answered').toLowerCase();
}

function billMetrics({ vendor, cause, bills, billedNanos }: BillsOfDay): Metric[] {
  const labels = { vendor, cause };
  return [
    { name: 'qm_vendor_bills_today', help: BILLS, labels, value: bills },
    { name: 'qm_vendor_billed_today_usd', help: BILLED, labels, value: Number(billedNanos) / 1e9 },
  ];
}
