// Does a backlog or many messages in flight slow the queue down? The rate of consume+ack and publish at 1,000 and 1,000,000 waiting
// messages, and with 100,000 in flight.
import { consumeAndAck, publish, QUEUE } from './support/flows.ts';
import { type Flow, load } from './support/load.ts';
import { print, ratioRow } from './support/report.ts';
import { query, startBenchService } from './support/service.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const KINDS = { small: 1_000, large: 1_000_000, inFlight: 100_000 } as const;

const service = await startBenchService(3);
const [small, large, busy] = service.accounts;
if (small === undefined || large === undefined || busy === undefined) throw new Error('no accounts');

/** Copies of one published message: what matters is how many rows there are. */
async function fill(accountId: string, secret: string, messages: number, leased: boolean): Promise<void> {
  await service.call(secret, '/v1/queue/create', { name: QUEUE });
  await query(
    service.connection,
    `INSERT INTO queue.message (account_id, queue_id, seq, visible_at, lane, home_lane, priority, leased, attempt, delivery_count, delivery_base, payload)
     SELECT q.account_id, q.queue_id, q.queue_id + n, ${leased ? "now() + interval '1 hour'" : 'now()'}, 10, 10, 0, ${leased}, 1, 1, 0,
            '{"task":"resize","image":"https://example.org/images/0123456789.png","width":640,"height":480}'
       FROM queue.queue q, generate_series(1, ${messages}) n WHERE q.account_id = '${accountId}'`,
  );
  await query(service.connection, `UPDATE queue.total SET live = live + ${messages} WHERE account_id = '${accountId}'`);
}

await fill(small.accountId, small.secret, KINDS.small, false);
await fill(large.accountId, large.secret, KINDS.large, false);
await fill(busy.accountId, busy.secret, KINDS.inFlight, true);
// The busy queue also needs messages to deliver, as many as the small one has.
await load({ url: service.url, connections: CONNECTIONS, seconds: 1, flow: publish(service.url, busy) });
await query(service.connection, 'CHECKPOINT');

const pairs: [string, Flow, Flow][] = [
  ['publish at 1,000,000 / at 1,000', publish(service.url, large), publish(service.url, small)],
  ['consume+ack at 1,000,000 / at 1,000', consumeAndAck(service.url, large), consumeAndAck(service.url, small)],
  ['publish with 100,000 in flight / without', publish(service.url, busy), publish(service.url, small)],
  ['consume+ack with 100,000 in flight / without', consumeAndAck(service.url, busy), consumeAndAck(service.url, small)],
];
const ratios = new Map<string, number[]>(pairs.map(([name]) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, a, b] of pairs) {
    const first = await load({ url: service.url, connections: CONNECTIONS, seconds: SECONDS, flow: a });
    const second = await load({ url: service.url, connections: CONNECTIONS, seconds: SECONDS, flow: b });
    if (first.failed + second.failed > 0) throw new Error(`${name}: calls failed`);
    ratios.get(name)?.push(first.rate / second.rate);
  }
}
print(
  `A large backlog (${ROUNDS} interleaved rounds)`,
  pairs.map(([name]) => ratioRow(name, ratios.get(name) ?? [], 0.9)),
);
await service.stop();
