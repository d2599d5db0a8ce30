// What does another protocol cost? A publish as a tool of MCP, in both generations, and by Amazon SQS, against the same publish by REST;
// receiving and deleting by SQS against consuming and acknowledging; and lists of tools.
import { BODY, consumeAndAck, publish, QUEUE } from './support/flows.ts';
import { type Flow, type LoadResult, load, post } from './support/load.ts';
import { processorSeconds } from './support/processor.ts';
import { median, perSecond, print, ratioRow } from './support/report.ts';
import { startBenchService } from './support/service.ts';
import { receiveAndDelete, sendMessages } from './support/sqs-flows.ts';

const CONNECTIONS = 64;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const MODERN = '2026-07-28';

const service = await startBenchService(1);
const { url, accounts } = service;
const [account] = accounts;
if (account === undefined) throw new Error('no account');
await service.call(account.secret, '/v1/queue/create', { name: QUEUE });
const results = new Map<string, (LoadResult & { nodeUs: number })[]>();

const accept = 'Accept: application/json, text/event-stream\r\n';

/** One message, as a client of 2025 sends it. */
function message(method: string, params: object): Flow {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const request = post(url, '/mcp/queue', account?.secret ?? '', body, `${accept}MCP-Protocol-Version: 2025-11-25\r\n`);
  return { next: () => request };
}

/** The same of 2026: what it is stands in the headers too, and each message says who sends it. */
function modern(method: string, params: { readonly name?: string }): Flow {
  const names = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: names } });
  const name = params.name === undefined ? '' : `Mcp-Name: ${params.name}\r\n`;
  const headers = `${accept}MCP-Protocol-Version: ${MODERN}\r\nMcp-Method: ${method}\r\n${name}`;
  const request = post(url, '/mcp/queue', account?.secret ?? '', body, headers);
  return { next: () => request };
}

async function run(name: string, flow: Flow): Promise<void> {
  const before = processorSeconds(service.pid);
  const checked: Flow = {
    ...flow,
    answered(connection, status, body) {
      flow.answered?.(connection, status, body);
      if (body.includes('"error":')) throw new Error(`${name}: ${body.toString('utf8').slice(0, 400)}`);
    },
  };
  const result = await load({ url, connections: CONNECTIONS, seconds: SECONDS, flow: checked });
  if (result.failed > 0) throw new Error(`${name}: ${result.failed} calls failed`);
  const nodeUs = ((processorSeconds(service.pid) - before) / result.calls) * 1e6;
  results.set(name, [...(results.get(name) ?? []), { ...result, nodeUs }]);
}

const aws = await fetch(`${url}/v1/account/keys/aws`, { headers: { authorization: `Bearer ${account.secret}` } });
const { data: credentials } = (await aws.json()) as {
  data: { readonly access_key_id: string; readonly secret_access_key: string };
};
const sqsKey = { accessKeyId: credentials.access_key_id, secretAccessKey: credentials.secret_access_key };

const call = { name: 'queue_publish', arguments: JSON.parse(BODY) };
const flows: [string, () => Flow][] = [
  ['REST', () => publish(url, account)],
  ['MCP 2025', () => message('tools/call', call)],
  ['MCP 2026', () => modern('tools/call', call)],
  ['tools/list', () => modern('tools/list', {})],
  ['SQS SendMessage', () => sendMessages(url, sqsKey)],
  // Last: they take what the others have published.
  ['REST consume + ack', () => consumeAndAck(url, account)],
  ['SQS receive + delete', () => receiveAndDelete(url, sqsKey)],
];
for (const [, flow] of flows) await load({ url, connections: CONNECTIONS, seconds: 1, flow: flow() });
for (let round = 0; round < ROUNDS; round += 1) for (const [name, flow] of flows) await run(name, flow());

const of = (name: string) => results.get(name) ?? [];
const against = (name: string, base = 'REST') =>
  of(name).map((result, i) => result.rate / (of(base)[i]?.rate ?? Number.NaN));
print(`A publish by other protocols at ${CONNECTIONS} connections (${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
  ratioRow('MCP, revision 2026-07-28 / REST', against('MCP 2026'), 0.5),
  ratioRow('MCP, revision 2025-11-25 / REST', against('MCP 2025'), 0.5),
  ratioRow('SQS SendMessage / publish', against('SQS SendMessage'), 0.6),
  ratioRow(
    'SQS ReceiveMessage + DeleteMessage / consume + ack',
    against('SQS receive + delete', 'REST consume + ack'),
    0.6,
  ),
  ...flows.map(([name]) => ({
    what: name,
    value: `${perSecond(median(of(name).map((result) => result.rate)))}; ${median(of(name).map((result) => result.nodeUs)).toFixed(0)} µs Node a call`,
  })),
]);
await service.stop();
