// What a commit of calls that cost money takes of Node and PostgreSQL, by its accounts and messages: measured on this machine, then fitted.
import { messagesBody, publish, publishFromAll, QUEUE } from './flows.ts';
import { type Flow, load, post } from './load.ts';
import { processorSeconds, treeSeconds } from './processor.ts';
import { type BenchService, postmasterPid, query, startBenchService } from './service.ts';

const WALLETS = 64;
const SECONDS = 3;
export const BATCH = 10;

/** Microseconds of processor time. */
export interface Costs {
  readonly commit: number;
  /** Of each account in a commit. */
  readonly account: number;
  readonly call: number;
  readonly message: number;
}

export interface CommitCosts {
  readonly node: Costs;
  readonly postgres: Costs;
  /** Written to the log of PostgreSQL for a message. */
  readonly walBytes: number;
}

interface Sample {
  /** Commits, accounts in them, calls, messages. */
  readonly counts: readonly [number, number, number, number];
  readonly nodeUs: number;
  readonly postgresUs: number;
  readonly walBytes: number;
}

export async function measureCommitCosts(): Promise<CommitCosts> {
  const service = await startBenchService(WALLETS);
  try {
    const { url, accounts } = service;
    const [account] = accounts as [(typeof accounts)[number]];
    for (const { secret } of accounts) await service.call(secret, '/v1/queue/create', { name: QUEUE });
    const many = post(url, '/v1/queue/batch/publish', account.secret, messagesBody(BATCH));
    const ofAll = accounts.map(({ secret }) => post(url, '/v1/queue/batch/publish', secret, messagesBody(BATCH)));
    const samples: Sample[] = [];
    const kinds: readonly (readonly [Flow, connections: number, messages: number, isOfOne: boolean])[] = [
      [publish(url, account), 1, 1, true],
      [publish(url, account), 64, 1, true],
      [{ next: () => many }, 64, BATCH, true],
      [publishFromAll(url, accounts), WALLETS, 1, false],
      [{ next: (connection) => ofAll[connection % WALLETS] as Buffer }, WALLETS, BATCH, false],
    ];
    for (const [flow, connections, messages, isOfOne] of kinds)
      samples.push(await sample(service, flow, { connections, messages, isOfOne }));
    return {
      node: leastSquares(samples, ({ nodeUs }) => nodeUs),
      postgres: leastSquares(samples, ({ postgresUs }) => postgresUs),
      walBytes: Math.max(...samples.map(({ walBytes, counts }) => walBytes / counts[3])),
    };
  } finally {
    await service.stop();
  }
}

/** A connection waits for its answer, and a commit takes an account's waiting calls together: of many accounts each call is one account of one. */
async function sample(
  service: BenchService,
  flow: Flow,
  { connections, messages, isOfOne }: { connections: number; messages: number; isOfOne: boolean },
): Promise<Sample> {
  const postmaster = await postmasterPid(service.connection);
  await load({ url: service.url, connections, seconds: 1, flow });
  const before = await countersOf(service, postmaster);
  const { calls, failed } = await load({ url: service.url, connections, seconds: SECONDS, flow });
  const after = await countersOf(service, postmaster);
  if (failed > 0) throw new Error(`${failed} calls failed`);
  const [commits, walBytes, nodeUs, postgresUs] = after.map((each, i) => each - (before[i] as number)) as number[] as [
    number,
    number,
    number,
    number,
  ];
  return { counts: [commits, isOfOne ? commits : calls, calls, calls * messages], nodeUs, postgresUs, walBytes };
}

/** Transactions that wrote, bytes of log, microseconds of Node and PostgreSQL. */
async function countersOf({ connection, pid }: BenchService, postmaster: number): Promise<readonly number[]> {
  const [row] = await query<{ commits: string; bytes: string }>(
    connection,
    `SELECT pg_current_xact_id()::text AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS bytes`,
  );
  return [Number(row?.commits), Number(row?.bytes), processorSeconds(pid) * 1e6, treeSeconds(postmaster) * 1e6];
}

/** Least squares of the relative error; what would be negative is left out. */
function leastSquares(samples: readonly Sample[], of: (sample: Sample) => number): Costs {
  let columns = [0, 1, 2, 3];
  for (;;) {
    const found = solve(samples, columns, of);
    const least = found.indexOf(Math.min(...found));
    if ((found[least] as number) >= 0) {
      const at = (column: number) => found[columns.indexOf(column)] ?? 0;
      return { commit: at(0), account: at(1), call: at(2), message: at(3) };
    }
    columns = columns.filter((_, i) => i !== least);
  }
}

/** Normal equations by Gauss-Jordan. */
function solve(samples: readonly Sample[], columns: readonly number[], of: (sample: Sample) => number): number[] {
  const rows = samples.map((each) => columns.map((column) => (each.counts[column] as number) / of(each)));
  const matrix = columns.map((_, i) => [
    ...columns.map((_, j) => rows.reduce((sum, row) => sum + (row[i] as number) * (row[j] as number), 0)),
    rows.reduce((sum, row) => sum + (row[i] as number), 0),
  ]);
  for (const [i, pivot] of matrix.entries()) {
    const scale = pivot[i] as number;
    for (let k = 0; k < pivot.length; k += 1) pivot[k] = (pivot[k] as number) / scale;
    for (const [j, row] of matrix.entries()) {
      const factor = row[i] as number;
      if (j !== i) for (let k = 0; k < row.length; k += 1) row[k] = (row[k] as number) - factor * (pivot[k] as number);
    }
  }
  return matrix.map((row) => row.at(-1) as number);
}
