// The victim: an ordinary client of another account, in a process of its own. It publishes, consumes and acknowledges at a steady
// pace over keep-alive connections. A call's time counts from when it was due, so that a late answer delays no later question.
import { setTimeout as sleep } from 'node:timers/promises';
import { BODY, QUEUE, receiptsIn } from '../support/flows.ts';
import { post } from '../support/load.ts';
import { Line } from './line.ts';

export interface VictimOrder {
  readonly url: string;
  readonly secret: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface VictimReport {
  readonly sent: number;
  readonly succeeded: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Calls by status; `ended`: the connection went, `late`: no answer in time. */
  readonly failures: Readonly<Record<string, number>>;
}

const ADDRESS = '127.0.0.2';
const LINES_MAX = 256;
const LATE_MS = 5_000;
const TICK_MS = 2;

const idle: Line[] = [];
const waiting: (() => void)[] = [];
const receipts: string[] = [];
let lines = 0;
let turn = 0;

/** Two publishes, then a consume of two and their ack: the backlog stays what it is. */
function nextRequest({ url, secret }: VictimOrder): Buffer {
  turn += 1;
  if (turn % 4 < 2) return post(url, '/v1/queue/publish', secret, BODY);
  if (turn % 4 === 2 || receipts.length < 2)
    return post(url, '/v1/queue/consume', secret, `{"queue":"${QUEUE}","max_messages":2}`);
  const taken = receipts.splice(0, 2).map((receipt) => `"${receipt}"`);
  return post(url, '/v1/queue/ack', secret, `{"queue":"${QUEUE}","receipts":[${taken}]}`);
}

async function lineOf(url: string): Promise<Line> {
  for (;;) {
    const line = idle.pop();
    if (line?.isOpen === true) return line;
    if (line !== undefined) lines -= 1;
    else if (lines < LINES_MAX) {
      lines += 1;
      return new Line(url, ADDRESS);
    } else await new Promise<void>((resolve) => waiting.push(resolve));
  }
}

/** Status of the call; `ended` or `late` without one. */
async function call(order: VictimOrder): Promise<string> {
  const line = await lineOf(order.url);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    line.end();
  }, LATE_MS);
  const answer = await line.call(nextRequest(order));
  clearTimeout(timer);
  idle.push(line);
  waiting.shift()?.();
  if (answer === null) return isLate ? 'late' : 'ended';
  if (answer.status === 200) receipts.push(...receiptsIn(answer.body));
  return String(answer.status);
}

async function run(order: VictimOrder): Promise<VictimReport> {
  const times: number[] = [];
  const failures: Record<string, number> = {};
  const underWay: Promise<void>[] = [];
  const startedMs = performance.now();
  const count = Math.round(order.perSecond * order.seconds);
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, ((performance.now() - startedMs) / 1000) * order.perSecond);
    for (; sent < due; sent += 1) {
      const dueMs = startedMs + (sent / order.perSecond) * 1000;
      underWay.push(
        call(order).then((status) => {
          if (status === '200') times.push(performance.now() - dueMs);
          else failures[status] = (failures[status] ?? 0) + 1;
        }),
      );
    }
    await sleep(TICK_MS);
  }
  await Promise.all(underWay);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { sent: count, succeeded: times.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1), failures };
}

process.on('message', (order: VictimOrder) => {
  void run(order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
