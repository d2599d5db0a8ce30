// The processes of the benchmark beside the service: each takes orders and answers each with a report.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AttackOrder, AttackReport } from './attacker.ts';
import type { VictimOrder, VictimReport } from './victim.ts';

export class Worker<Order, Report> {
  readonly #child: ChildProcess;
  readonly #ready: Promise<unknown>;
  readonly #ended: Promise<never>;

  constructor(file: string) {
    this.#child = fork(new URL(file, import.meta.url).pathname, { serialization: 'advanced' });
    this.#ready = once(this.#child, 'message');
    this.#ended = once(this.#child, 'exit').then(([code]) => Promise.reject(new Error(`a process ended with ${code}`)));
    this.#ended.catch(() => undefined); // it also ends when it is told to
  }

  async ready(): Promise<void> {
    await this.#ready;
  }

  async take(order: Order): Promise<Report> {
    await this.#ready;
    const reported = once(this.#child, 'message');
    this.#child.send(order as object);
    const [report] = (await Promise.race([reported, this.#ended])) as [Report];
    return report;
  }

  end(): void {
    this.#child.disconnect();
  }
}

export function startVictim(): Worker<VictimOrder, VictimReport> {
  return new Worker('./victim.ts');
}

/** Address of a server that is not the service. It ends with this process. */
export async function startSink(): Promise<string> {
  const child = fork(new URL('./sink.ts', import.meta.url).pathname);
  const [url] = (await once(child, 'message')) as [string];
  child.unref();
  child.channel?.unref();
  return url;
}

/** One process an order, all at once; answers what they saw together. */
export async function attack(orders: readonly AttackOrder[]): Promise<AttackReport> {
  const attackers = orders.map((order) => ({ order, worker: new Worker<AttackOrder, AttackReport>('./attacker.ts') }));
  await Promise.all(attackers.map(({ worker }) => worker.ready()));
  const reports = await Promise.all(attackers.map(({ worker, order }) => worker.take(order)));
  for (const { worker } of attackers) worker.end();
  const statuses: Record<string, number> = {};
  for (const report of reports) {
    for (const [status, count] of Object.entries(report.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  }
  return {
    opened: reports.reduce((sum, { opened }) => sum + opened, 0),
    statuses,
    times: reports.flatMap(({ times }) => times),
  };
}

/** What attackers saw, for a table. */
export function inWords({ opened, statuses }: AttackReport): string {
  const answers = Object.entries(statuses).map(([status, count]) => `${count.toLocaleString('en')} x ${status}`);
  return [`attackers: ${opened.toLocaleString('en')} connections`, ...answers].join(', ');
}
