// Every row of the table of failover (contract, vendors §2) at every wire, asked for by a pinned vendor, by a bare model that two have, and
// by auto: who is asked and how often, what the job says, what its caller pays, what the vendors are owed, and what the breaker knows.
// In `npm test` each row at each wire is asked for in one of these ways, in a soak in all of them. The cases of a batch run side by side in one
// service, each with vendors and an account of its own; the clock stands still but for four steps.
import type { Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSoak } from '../support/soak.ts';
import { wires } from '../support/vendors/index.ts';
import type { Wire } from '../support/vendors/wire.ts';
import { BackgroundClock, type Breaker, breakerOf } from './failover-harness.ts';
import { fine, type Nets, openNets, ROWS, type Row, seeded, type Verdict } from './failover-rows.ts';
import type { Data, VideoBench } from './harness.ts';
import { VendorBench, type VendorOptions } from './vendors-harness.ts';

const [FIRST_NANOS, SECOND_NANOS] = [42_000_000, 50_000_000];
const MODES = ['pinned', 'bare', 'auto'] as const;
type Mode = (typeof MODES)[number];

/** One row at one wire, asked for in one way. */
interface Plan {
  readonly wire: Wire;
  /** Of the second vendor of auto. */
  readonly other: Wire;
  readonly row: Row;
  readonly mode: Mode;
}

/** Its place in a batch: what its vendors are called, and the length and shape that only they offer. */
interface Placed extends Plan {
  readonly vendors: readonly [string, string];
  readonly seconds: number;
  readonly ratio: string;
}

/** What came of it. */
interface Case extends Placed {
  readonly own: VideoBench;
  /** The error of the call; null: it made a job. */
  refused: readonly unknown[] | null;
  readonly id: string;
  /** What each of its vendors is known for once it was asked. */
  breakers: readonly Breaker[];
  /** What became of it. */
  after: After | null;
}

interface After {
  /** Null: there is none. */
  readonly job: Data;
  /** What was held of it at first, nano-USD; none for no job. */
  readonly held: readonly bigint[];
  readonly balance: Data;
  readonly findings: readonly string[];
  readonly bills: readonly Data[];
}

const plans: readonly Plan[] = wires.flatMap((wire, w) =>
  ROWS.flatMap((row, r) => {
    const modes = isSoak ? MODES : [MODES[(w + r) % MODES.length] as Mode];
    return modes.map((mode) => ({ wire, other: wires[(w + 1) % wires.length] as Wire, row, mode }));
  }),
);
/** So many cases have their vendors in one file. */
const BATCH = ROWS.length * MODES.length;
const RATIOS = ['16:9', '9:16', '1:1'];
const batches = Array.from({ length: Math.ceil(plans.length / BATCH) }, (_, n) =>
  plans.slice(n * BATCH, (n + 1) * BATCH).map((plan, i): Placed => {
    const place = { seconds: 1 + (i % 60), ratio: RATIOS[Math.floor(i / 60)] as string };
    return { ...plan, ...place, vendors: [`first-${i}`, `second-${i}`] };
  }),
);

describe.each(batches.map((batch, n) => [n + 1, batch] as const))('batch %i', (_, batch) => {
  const servers: Server[] = [];
  const cases = new Map<string, Case>();
  let bench: VendorBench;

  beforeAll(async () => {
    const nets = await openNets(servers);
    bench = await VendorBench.at(batch.flatMap((each) => entries(each, nets)));
    const clock = await BackgroundClock.stop(bench.service.core);
    await Promise.all(batch.map(async (each) => cases.set(each.vendors[0], await begin(each))));
    await clock.idle();
    // Who has taken it is asked for the video; who refused is not asked again so soon.
    await clock.at(9_000);
    await bench.service.core.vendors.health.sync();
    for (const each of cases.values()) {
      const known = each.vendors.map((id) => breakerOf(bench.service.core.db, id, clock.startMs));
      each.breakers = await Promise.all(known);
    }
    // Ten minutes are over; what began then ends.
    await clock.at(605_000);
    await clock.at(625_000);
    await Promise.all([...cases.values()].map(async (each) => (each.after = await lookAt(each))));
  }, 180_000);
  afterAll(async () => {
    await bench?.close();
    for (const server of servers) server.close();
  });

  function entries({ row, mode, wire, other, vendors, seconds, ratio }: Placed, nets: Nets): VendorOptions[] {
    const [first, second] = vendors;
    const model = { seconds: { min: seconds, max: seconds }, aspect_ratios: [ratio], seed: false };
    const price = { per_second: SECOND_NANOS / 1e9 };
    return [
      { id: first, wire, entry: { priority: 1, ...row.entry?.(nets) }, model },
      {
        id: second,
        wire: mode === 'auto' ? other : wire,
        entry: { priority: 2, markup_pct: 0 },
        model: { ...model, price },
      },
    ];
  }

  async function begin(placed: Placed): Promise<Case> {
    const { core } = bench.service;
    const { row, mode, wire, seconds, ratio } = placed;
    const [first] = placed.vendors;
    const fault = row.fault?.(wire);
    if (fault !== undefined) bench.double(first).script('submit', fault, fault, fault);
    if (row.breaker === seeded) await core.db.query(openAlready, [first]).then(() => core.vendors.health.sync());
    if (row.entry?.(NOWHERE).limits !== undefined) await takePlace(first);
    const own = await bench.withAccount(100);
    const model = { pinned: `${first}/${wire.model}`, bare: wire.model, auto: 'auto' }[mode];
    const body = { prompt: 'A boat.', model, duration_seconds: seconds, aspect_ratio: ratio };
    const { status, body: answer } = await own.call('POST', '/v1/video/generate', body);
    const refused = status === 200 ? null : [status, answer.error.code];
    const id = answer.data?.job_id ?? '';
    return { ...placed, own, refused, id, breakers: [], after: null };
  }

  async function lookAt({ own, refused, id }: Case): Promise<After> {
    const { db } = bench.service.core;
    const account = [own.account.accountId];
    const [job, held, balance, findings, bills] = await Promise.all([
      refused === null ? own.get(id) : null,
      db.query<{ held_nanos: bigint }>(readHeld, account),
      own.balance(),
      own.findings(),
      db.query<Data>(readBillsOf, account),
    ]);
    return { job, balance, findings, held: held.rows.map((row) => row.held_nanos), bills: bills.rows };
  }

  async function takePlace(id: string): Promise<void> {
    const { vendors } = bench.service.core;
    const vendor = vendors.all.find((each) => each.id === id);
    if (vendor === undefined) throw new Error(`there is no ${id}`);
    const entry = await vendors.enter(vendor, 'video.generate');
    if (entry.kind === 'go') entry.reportOutcome({ breaker: { kind: 'none' }, reason: null });
  }

  test.each(batch.map((each) => [each.wire.label ?? each.wire.name, each.row.name, each.mode, each] as const))(
    '%s: a vendor that %s, %s',
    (...[, , , { row, mode, wire, other, vendors }]) => {
      const it = cases.get(vendors[0]) as Case;
      const after = it.after as After;
      const [first, second] = it.vendors.map((id) => bench.double(id)) as [Data, Data];
      const isChain = mode !== 'pinned';
      const quotes = [FIRST_NANOS, SECOND_NANOS].map((nanos) => nanos * it.seconds);
      const [atFirst, atSecond] = quotes as [number, number];
      const isPinnedLate = !isChain && row.name.includes('`limits`');
      const maker = isPinnedLate ? 0 : row.verdict.kind === 'left' && isChain ? 1 : null;

      expect({ first: first.count('submit'), second: second.count('submit') }).toEqual({
        first: isChain ? row.calls : row.pinnedCalls,
        second: maker === 1 ? 1 : 0,
      });
      const paid = maker === null ? 0 : (quotes[maker] as number);
      expect(after.balance).toEqual({ balance: (100e9 - paid) / 1e9, held: 0 });
      expect(after.findings).toEqual([]);
      expect(after.bills).toEqual(billsWanted(it, maker));

      if (row.breaker === seeded && !isChain) {
        // Nobody could take it: no job, no hold.
        expect([it.refused, after.held]).toEqual([[504, 'VENDOR_TIMEOUT'], []]);
        return;
      }
      expect(it.refused).toBeNull();
      expect(after.held).toEqual([BigInt(isChain ? atSecond : atFirst)]);
      expect(it.breakers[0]).toEqual(row.breaker);
      expect(it.breakers[1]).toEqual(maker === 1 ? fine : { calls: 0, failures: 0 });

      const { job } = after;
      if (maker === null) {
        expect(job).toMatchObject({ state: 'failed', cost_usd: 0, video_url: null, error: errorWanted(row.verdict) });
        return;
      }
      const [vendor, model] = [it.vendors[maker], maker === 1 && mode === 'auto' ? other.model : wire.model];
      expect(job).toMatchObject({
        state: 'succeeded',
        vendor,
        model: `${vendor}/${model}`,
        cost_usd: paid / 1e9,
        error: null,
      });
      expect(job.video_url).not.toBeNull();
      expect(job.metadata.failover_info).toEqual(
        maker === 0
          ? undefined
          : {
              primary_vendor: it.vendors[0],
              actual_vendor: it.vendors[1],
              primary_model: wire.model,
              actual_model: model,
              cost_at_primary: atFirst / 1e9,
              cost_at_actual: atSecond / 1e9,
              cost_multiplier: Number((SECOND_NANOS / FIRST_NANOS).toFixed(6)),
              failover_reason: (row.verdict as Data).reason,
              fallback_chain_depth: 1,
            },
      );
    },
  );

  function billsWanted({ vendors, seconds }: Case, maker: number | null): Data[] {
    if (maker === null) return [];
    const [billed, captured] = maker === 0 ? [40_000_000, FIRST_NANOS] : [SECOND_NANOS, SECOND_NANOS];
    const nanos = { billed_nanos: BigInt(billed * seconds), captured_nanos: BigInt(captured * seconds) };
    return [{ vendor: vendors[maker], cause: 'sold', bills: 1n, ...nanos }];
  }
});

const NOWHERE: Nets = { shut: '', cut: '', mute: '' };
const openAlready = {
  name: 'test_open_already',
  text: `INSERT INTO core.vendor_health (vendor, capability, state, reason, since, retry_at, openings)
         VALUES ($1, 'video.generate', 'open', 'VENDOR_TIMEOUT', core.clock_now(), core.clock_now() + interval '1 hour', 1)`,
};
const readHeld = { name: 'test_read_held', text: 'SELECT held_nanos FROM video.job WHERE account_id = $1' };
const readBillsOf = {
  name: 'test_bills_of',
  text: 'SELECT vendor, cause, bills, billed_nanos, captured_nanos FROM core.vendor_bill WHERE account_id = $1',
};

function errorWanted(verdict: Verdict): Data {
  if (verdict.kind === 'unknown') return { code: 'VENDOR_TIMEOUT', http_status: 504, code_detail: 'outcome_unknown' };
  return { code: verdict.kind === 'left' ? verdict.reason : verdict.code, http_status: verdict.status };
}
