// Doors beside REST, each with the most that a stranger, or somebody who pays nothing, may send there: MCP, SQS, the console.
import { randomBytes } from 'node:crypto';
import { post } from '../support/load.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import type { AttackOrder } from './attacker.ts';
import { startSink } from './children.ts';
import type { Scenario } from './scenario.ts';

const MIB = 1024 * 1024;
/** As many as fit into a message for MCP. */
const NAMES = 45_000;
const LIVE_STREAMS = 300;
const STREAMS_OF_SESSION = 5;
const COOKIES = 500;

/** `addresses`: where the attackers call from. */
export async function doorScenarios(
  { url, call, accounts }: BenchService,
  attacker: BenchAccount,
  addresses: readonly string[],
): Promise<Scenario[]> {
  const orders = (requests: readonly Buffer[], connections: number, manner: AttackOrder['manner'] = 'calls') => [
    { connections, addresses, manner, requests },
  ];
  const keyId = await idOf(call, attacker);
  const sessions = await sessionsOf(url, accounts.at(-1) as BenchAccount, LIVE_STREAMS / STREAMS_OF_SESSION);
  return [
    ...(await mcpScenarios(url, attacker, orders)),
    ...(['/sqs', '/', '/sqs/000000000000/bench'] as const).map((path) => ({
      name: `sqs-forged${path === '/' ? '-root' : path === '/sqs' ? '' : '-queue'}`,
      what: `8 connections send 4 MB to ${path} with a key's id and a wrong signature`,
      orders: orders([forged(url, path, keyId)], 8),
    })),
    {
      name: 'sqs-unknown',
      what: '8 connections send 4 MB to /sqs with an access key id that is nobody’s',
      orders: orders(
        Array.from({ length: 20 }, () => forged(url, '/sqs', `key_${randomBytes(11).toString('hex')}`)),
        8,
      ),
    },
    {
      name: 'live-streams',
      what: `${LIVE_STREAMS} streams of the console by one key`,
      orders: orders(
        sessions.flatMap((cookie) => new Array<Buffer>(STREAMS_OF_SESSION).fill(page(url, '/console/live', cookie))),
        LIVE_STREAMS,
        'holds',
      ),
    },
    {
      name: 'unknown-cookies',
      what: '64 connections ask for /console and /console/live with session cookies that are nobody’s',
      orders: orders(
        Array.from({ length: COOKIES }, (_, n) =>
          page(url, n % 2 === 0 ? '/console' : '/console/live', `qm_session=${randomBytes(32).toString('base64url')}`),
        ),
        64,
      ),
    },
  ];
}

type Orders = (requests: readonly Buffer[], connections: number) => Scenario['orders'];

async function mcpScenarios(url: string, attacker: BenchAccount, orders: Orders): Promise<Scenario[]> {
  return [
    {
      name: 'mcp-names',
      what: `8 connections call queue.ack by MCP with ${NAMES.toLocaleString('en')} names`,
      orders: orders([ackByMcp(url, attacker.secret)], 8),
    },
    {
      name: 'mcp-unknown',
      what: '8 connections send messages of 500 KB to MCP for a tool that there is not',
      orders: orders([message(url, attacker.secret, 'no_such_tool', unknownNames())], 8),
    },
    {
      name: 'control',
      what: 'the same 8 connections, sending to a process that is not the service',
      url: await startSink(),
      orders: orders([message(url, attacker.secret, 'no_such_tool', unknownNames())], 8),
    },
    {
      name: 'mcp-answers',
      what: '8 connections fetch 1,000 vectors of 256 values by MCP and keep one of them',
      orders: orders([fetchByMcp(url, attacker.secret)], 8),
    },
  ];
}

async function idOf(call: BenchService['call'], { secret }: BenchAccount): Promise<string> {
  const made = (await call(secret, '/v1/account/keys/create', { name: 'sqs', scopes: ['queue'] })) as {
    data: { key_id: string };
  };
  return made.data.key_id;
}

/** Cookies of so many sessions of one key. */
async function sessionsOf(url: string, { secret }: BenchAccount, count: number): Promise<string[]> {
  const open = async () => {
    const { headers } = await fetch(`${url}/auth/key`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ key: secret }),
    });
    const [cookie = ''] = (headers.getSetCookie()[0] ?? '').split(';');
    if (cookie === '') throw new Error('the key opens no session');
    return cookie;
  };
  return Promise.all(Array.from({ length: count }, open));
}

function ackByMcp(url: string, secret: string): Buffer {
  return message(url, secret, 'call_capability', `{"id":"queue.ack","input":${unknownNames()}}`);
}

function fetchByMcp(url: string, secret: string): Buffer {
  const ids = Array.from({ length: 1_000 }, (_, n) => `v${n}`);
  const input = { collection: 'wide', ids, include_values: true };
  const select = ['/vectors/0/id', '/items/0/id'];
  return message(url, secret, 'call_capability', JSON.stringify({ id: 'vector.fetch', input, select }));
}

function message(url: string, secret: string, name: string, input: string): Buffer {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${input}}}`;
  return post(url, '/mcp', secret, body, 'Accept: application/json, text/event-stream\r\n');
}

function unknownNames(): string {
  const names = Array.from({ length: NAMES }, (_, n) => `"u${n.toString(36)}":${n % 10}`);
  return `{"queue":"bench","message_id":"qmsg_0",${names.join(',')}}`;
}

/** As a client signs it, but for the signature. */
function forged(url: string, path: string, keyId: string): Buffer {
  const instant = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const credential = `${keyId}/${instant.slice(0, 8)}/us-east-1/sqs/aws4_request`;
  const body = JSON.stringify({ QueueUrl: 'http://x/bench', MessageBody: 'a'.repeat(4 * MIB - 1_000) });
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host;x-amz-date;x-amz-target, Signature=${'0'.repeat(64)}`,
    `X-Amz-Date: ${instant}`,
    'X-Amz-Target: AmazonSQS.SendMessage',
    'Content-Type: application/x-amz-json-1.0',
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function page(url: string, path: string, cookie: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nCookie: ${cookie}\r\n\r\n`);
}
