// One node of a cluster on paper: calls arrive at random at many processes, each process commits those of a shard together, one commit of a shard
// at once, and the node's cores do the commits in turn. Times are milliseconds.
import type { Costs } from './commit-costs.ts';

export interface NodeLoad {
  /** Of all calls, for this node, a second. Each is of another account. */
  readonly callsPerSecond: number;
  readonly messagesPerCall: number;
  readonly processes: number;
  readonly shards: number;
  readonly commitsOfProcess: number;
  readonly cores: number;
  readonly costs: Costs;
}

export interface NodeResult {
  /** Of the cores' time. More than 1: it does not keep up. */
  readonly used: number;
  readonly callsPerCommit: number;
  /** Commits of a process at once, at most. */
  readonly commitsAtOnce: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const STEP_MS = 0.1;
const SIMULATED_MS = 1_500;
/** Two round trips and the fsync of a commit. */
const WAY_MS = 1;
const FSYNC_MS = 1;
const CALLS_PER_COMMIT = 64;

interface Lane {
  readonly arrivals: number[];
  readonly process: { commits: number };
  isBusy: boolean;
}

interface Commit {
  readonly lane: Lane;
  readonly arrivals: readonly number[];
}

export function simulateNode(load: NodeLoad): NodeResult {
  const processes = Array.from({ length: load.processes }, () => ({ commits: 0 }));
  const lanes: Lane[] = processes.flatMap((process) =>
    Array.from({ length: load.shards }, () => ({ arrivals: [], process, isBusy: false })),
  );
  const waiting = new Set<Lane>();
  const freeAt = new Float64Array(load.cores);
  const ending: Commit[][] = Array.from({ length: Math.ceil((10 * SIMULATED_MS) / STEP_MS) }, () => []);
  const took: number[] = [];
  const perStep = (load.callsPerSecond / 1_000) * STEP_MS;
  let [due, usedMs, commits, committed, commitsAtOnce] = [0, 0, 0, 0, 0];

  for (let step = 0; step * STEP_MS < SIMULATED_MS; step += 1) {
    const atMs = step * STEP_MS;
    for (const { lane, arrivals } of ending[step] as Commit[]) {
      lane.isBusy = false;
      lane.process.commits -= 1;
      for (const arrivedMs of arrivals) took.push(atMs - arrivedMs);
    }
    for (due += perStep; due >= 1; due -= 1) {
      const lane = lanes[Math.floor(Math.random() * lanes.length)] as Lane;
      lane.arrivals.push(atMs);
      waiting.add(lane);
    }
    for (const lane of waiting) {
      if (lane.isBusy || lane.process.commits >= load.commitsOfProcess) continue;
      const arrivals = lane.arrivals.splice(0, CALLS_PER_COMMIT);
      if (lane.arrivals.length === 0) waiting.delete(lane);
      lane.isBusy = true;
      lane.process.commits += 1;
      commitsAtOnce = Math.max(commitsAtOnce, lane.process.commits);
      const workMs = commitUs(load.costs, arrivals.length, load.messagesPerCall) / 1_000;
      const core = freeAt.reduce((best, free, i) => (free < (freeAt[best] as number) ? i : best), 0);
      freeAt[core] = Math.max(atMs + WAY_MS / 2, freeAt[core] as number) + workMs;
      const endMs = (freeAt[core] as number) + FSYNC_MS + WAY_MS / 2;
      ending[Math.ceil(endMs / STEP_MS)]?.push({ lane, arrivals });
      usedMs += workMs;
      commits += 1;
      committed += arrivals.length;
    }
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(share * took.length)] ?? Number.POSITIVE_INFINITY;
  return {
    used: (usedMs + commitUs(load.costs, waiting.size, load.messagesPerCall) / 1_000) / (load.cores * SIMULATED_MS),
    callsPerCommit: committed / commits,
    commitsAtOnce,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** Processor time of a commit of so many calls, each of another account. */
export function commitUs({ commit, account, call, message }: Costs, calls: number, messagesPerCall: number): number {
  return commit + calls * (account + call + message * messagesPerCall);
}
