// Does a backlog or many messages in flight slow the queue down? The rate of whole lives (publish, consume, ack: the backlog stays
// as it is) at 1,000 and 1,000,000 waiting messages, and with 100,000 in flight beside 1,000 waiting.
import { QUEUE, wholeLives } from './support/flows.ts';
import { load } from './support/load.ts';
import { median, perSecond, print, ratioRow } from './support/report.ts';
import { type BenchAccount, query, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const KINDS = { small: 1_000, large: 1_000_000, inFlight: 100_000 } as const;

const service = await startBenchService(3);
const [small, large, busy] = service.accounts;
if (small === undefined || large === undefined || busy === undefined) throw new Error('no accounts');

/** Copies of one published message: what matters is how many rows there are. */
async function fill(accountId: string, messages: number, leased: boolean): Promise<void> {
  await query(
    service.connection,
    `INSERT INTO queue.message (account_id, queue_id, seq, visible_at, band, home_band, priority, leased, attempt, delivery_count, delivery_base, payload)
     SELECT q.account_id, q.queue_id, q.queue_id + n + ${leased ? 2_000_000 : 0}, ${leased ? "now() + interval '1 hour'" : 'now()'}, 10, 10, 0, ${leased}, 1, 1, 0,
            '{"task":"resize","image":"https://example.org/images/0123456789.png","width":640,"height":480}'
       FROM queue.queue q, generate_series(1, ${messages}) n WHERE q.account_id = '${accountId}'`,
  );
  await query(
    service.connection,
    `INSERT INTO queue.total AS t (account_id, queue_id, live, dead)
     SELECT q.account_id, q.queue_id, ${messages}, 0 FROM queue.queue q WHERE q.account_id = '${accountId}'
         ON CONFLICT (account_id, queue_id) DO UPDATE SET live = t.live + excluded.live`,
  );
}

for (const { secret } of service.accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
await fill(small.accountId, KINDS.small, false);
await fill(large.accountId, KINDS.large, false);
await fill(busy.accountId, KINDS.small, false);
await fill(busy.accountId, KINDS.inFlight, true);
await query(service.connection, 'CHECKPOINT');

const rates = new Map<BenchAccount, number[]>([small, large, busy].map((account) => [account, []]));
for (let round = -1; round < ROUNDS; round += 1) {
  for (const [account, found] of rates) {
    const flow = wholeLives(service.url, [account]);
    const { rate, failed } = await load({ url: service.url, connections: CONNECTIONS, seconds: SECONDS, flow });
    if (failed > 0) throw new Error(`${failed} calls failed`);
    // The first round warms up.
    if (round >= 0) found.push(rate);
  }
}
const of = (account: BenchAccount) => rates.get(account) as number[];
const against = (account: BenchAccount) => of(account).map((rate, i) => rate / (of(small)[i] as number));
print(`A large backlog: whole lives of messages, ${CONNECTIONS} connections (${ROUNDS} interleaved rounds)`, [
  { what: 'calls at 1,000 waiting', value: perSecond(median(of(small))) },
  ratioRow('1,000,000 waiting / 1,000', against(large), 0.9),
  ratioRow('100,000 in flight beside 1,000 waiting / 1,000 waiting', against(busy), 0.9),
]);
await service.stop();
