// What would a million accounts with a million messages a second take? On paper: the costs of commits are measured on this machine (PostgreSQL
// without Citus), nodes and processes are simulated. A process is one core; a node and its limits are those of a common server.
import { admission } from '../src/core/admission.ts';
import { BATCH, type CommitCosts, type Costs, measureCommitCosts } from './support/commit-costs.ts';
import { commitUs, type NodeResult, simulateNode } from './support/node-model.ts';
import { print } from './support/report.ts';

const ACCOUNTS = 1_000_000;
const MESSAGES_PER_SECOND = 1_000_000;
/** A commit sent to the worker that has the shard, beside one on plain PostgreSQL: 1,304 of 421 µs an account (Citus 13.2.2). */
const CITUS = 3.1;
const SHARDS_PER_NODE = 4;
const CORES = 16;
const USED_MAX = 0.7;
const P99_MS_MAX = 50;
const CONNECTION_MB = 10;
const GENERAL_CONNECTIONS = 12;
const LIMITS = { connections: 2_000, memoryGb: 64, walMbPerSecond: 400 };

interface Shape {
  readonly name: string;
  readonly messagesPerCall: number;
  /** A balancer sends the calls of an account to processes that serve its node alone. */
  readonly isRouted: boolean;
  readonly engine: number;
}

interface Plan {
  readonly nodes: number;
  readonly processes: number;
  readonly node: NodeResult;
}

const costs = await measureCommitCosts();
const words = (of: Costs) =>
  Object.entries(of)
    .map(([what, us]) => `${Math.round(us)} µs a ${what}`)
    .join(', ');
print('Measured costs of a publish', [
  { what: 'Node', value: words(costs.node) },
  { what: 'PostgreSQL', value: words(costs.postgres) },
  { what: 'write-ahead log', value: `${Math.round(costs.walBytes)} bytes a message` },
]);

const shapes: readonly Shape[] = [1, BATCH].flatMap((messagesPerCall) =>
  [
    { name: 'Citus, any process', isRouted: false, engine: CITUS },
    { name: 'Citus, processes of a node', isRouted: true, engine: CITUS },
    { name: 'installations of one PostgreSQL', isRouted: true, engine: 1 },
  ].map((shape) => ({ ...shape, messagesPerCall })),
);
for (const shape of shapes) report(shape, plan(shape, costs));

/** The fewest nodes that keep up, with the processes that they need. */
function plan(shape: Shape, measured: CommitCosts): Plan {
  let nodes = 1;
  while (!keepsUp(attempt(shape, measured, nodes).node)) nodes *= 2;
  for (let [low, high] = [nodes >> 1, nodes]; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (keepsUp(attempt(shape, measured, middle).node)) high = middle;
    else low = middle;
    nodes = high;
  }
  return attempt(shape, measured, nodes);
}

function keepsUp({ used, p99Ms }: NodeResult): boolean {
  return used <= USED_MAX && p99Ms <= P99_MS_MAX;
}

function attempt({ messagesPerCall, isRouted, engine }: Shape, { node, postgres }: CommitCosts, nodes: number): Plan {
  const calls = MESSAGES_PER_SECOND / messagesPerCall;
  let callsPerCommit = 1;
  // More processes make smaller commits, which take more processes.
  for (let round = 0; ; round += 1) {
    const perCall = commitUs(node, callsPerCommit, messagesPerCall) / callsPerCommit;
    const processes = Math.ceil((calls * perCall) / (USED_MAX * 1e6));
    const result = simulateNode({
      callsPerSecond: calls / nodes,
      messagesPerCall,
      processes: isRouted ? Math.ceil(processes / nodes) : processes,
      shards: SHARDS_PER_NODE,
      commitsOfProcess: engine === 1 ? admission.all.commitsAtOnce : admission.all.distributedCommits,
      cores: CORES,
      costs: times(postgres, engine),
    });
    if (round === 2 || result.used > 1) return { nodes, processes, node: result };
    callsPerCommit = result.callsPerCommit;
  }
}

function times({ commit, account, call, message }: Costs, factor: number): Costs {
  return { commit: commit * factor, account: account * factor, call: call * factor, message: message * factor };
}

function report({ name, messagesPerCall, isRouted }: Shape, { nodes, processes, node }: Plan): void {
  const ofNode = isRouted ? Math.ceil(processes / nodes) : processes;
  const connections =
    ofNode * (node.commitsAtOnce + (isRouted ? GENERAL_CONNECTIONS : 0)) + (isRouted ? 0 : GENERAL_CONNECTIONS);
  const needs = {
    connections,
    memoryGb: (connections * CONNECTION_MB) / 1_024,
    walMbPerSecond: (MESSAGES_PER_SECOND * costs.walBytes) / nodes / 1e6,
  };
  const accountsOfProcess = isRouted ? ACCOUNTS / nodes : ACCOUNTS;
  const shares: [string, number][] = [
    ['connections of a node', needs.connections / LIMITS.connections],
    ['memory of its connections', needs.memoryGb / LIMITS.memoryGb],
    ['its write-ahead log', needs.walMbPerSecond / LIMITS.walMbPerSecond],
    ['keys that a process remembers, before it reads them anew', accountsOfProcess / admission.all.keysRemembered],
  ];
  const [first] = shares.sort(([, a], [, b]) => b - a) as [[string, number]];
  const count = (value: number) => Math.round(value).toLocaleString('en');
  print(`${name}, ${messagesPerCall} ${messagesPerCall === 1 ? 'message' : 'messages'} a call`, [
    { what: `nodes of ${CORES} cores, ${(node.used * 100).toFixed(0)} % used`, value: count(nodes) },
    { what: 'processes of one core', value: count(processes) },
    {
      what: 'calls a commit; p50, p99 of a commit',
      value: `${node.callsPerCommit.toFixed(1)}; ${node.p50Ms.toFixed(1)}, ${node.p99Ms.toFixed(1)} ms`,
    },
    { what: 'connections of a node', value: `${count(needs.connections)}, ${count(needs.memoryGb)} GB` },
    { what: 'write-ahead log of a node', value: `${count(needs.walMbPerSecond)} MB/s` },
    { what: 'breaks first', value: `${first[0]}: ${first[1].toFixed(1)} of what there is` },
  ]);
}
