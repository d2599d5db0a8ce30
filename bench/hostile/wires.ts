// Documents of foreign wires that are long to read: XML of S3, whose calls are free, and mail that anybody may hand over.
import { createHash } from 'node:crypto';
import { type AwsKey, signatureHeaders } from '../../src/lib/sigv4.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import type { AttackOrder } from './attacker.ts';
import type { Scenario } from './scenario.ts';

const MIB = 1024 * 1024;
const REGION = 'us-east-1';
const BUCKET = 'hostile';
const INBOX = 'inbox@near.test';
const EMPTY_ELEMENT = 'x<b/>';

/** `smtpPort`: where the service takes mail. `account` has a bucket and an inbox afterwards. */
export async function wireScenarios(
  { url, call }: Pick<BenchService, 'url' | 'call'>,
  { secret }: BenchAccount,
  { addresses, smtpPort }: { readonly addresses: readonly string[]; readonly smtpPort: number },
): Promise<Scenario[]> {
  await call(secret, '/v1/storage/bucket/create', { bucket: BUCKET });
  await call(secret, '/v1/email/inbox/create', { address: INBOX });
  const key = await awsKeyOf(url, secret);
  const bucket = `/s3/${BUCKET}`;
  const order = (manner: AttackOrder['manner'], connections: number, requests: readonly Buffer[]) => [
    { connections, addresses, manner, requests },
  ];
  const xml = (bytes: number) =>
    [
      ['POST', `${bucket}?delete=`, 'Delete'],
      ['PUT', '/s3/hostile-two', 'CreateBucketConfiguration'],
    ].map(([method, path, root]) =>
      signed(url, key, { method: method as string, path: path as string, body: filled(root as string, bytes) }),
    );
  const mail = (line: string) => handedOver(line.repeat(Math.floor((9 * MIB) / line.length)));
  return [
    {
      name: 'xml',
      what: '8 connections send 64 KB of empty elements to DeleteObjects and CreateBucket of S3',
      orders: order('calls', 8, xml(64_000)),
    },
    {
      name: 'long-xml',
      what: '6 connections send 6 MB of empty elements to DeleteObjects of S3',
      orders: order('calls', 6, xml(6_000_000).slice(0, 1)),
    },
    ...[
      ['dots', '..\r\n'],
      ['empty-lines', '\r\n'],
    ].map(([name, line]) => ({
      name: `mail-${name}`,
      what: `4 connections hand over mails of 9 MiB of lines ${JSON.stringify(line)} by SMTP, without a login`,
      url: `http://127.0.0.1:${smtpPort}`,
      orders: order('talks', 4, mail(line as string)),
    })),
  ];
}

async function awsKeyOf(url: string, secret: string): Promise<AwsKey> {
  const answer = await fetch(`${url}/v1/account/keys/aws`, { headers: { authorization: `Bearer ${secret}` } });
  const { data } = (await answer.json()) as { data: { access_key_id: string; secret_access_key: string } };
  return { accessKeyId: data.access_key_id, secretAccessKey: data.secret_access_key, region: REGION };
}

function filled(root: string, bytes: number): string {
  return `<${root}>${EMPTY_ELEMENT.repeat(Math.floor(bytes / EMPTY_ELEMENT.length))}</${root}>`;
}

/** A request of S3 whose signature holds for a quarter of an hour. */
function signed(
  url: string,
  key: AwsKey,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: string },
): Buffer {
  const { host } = new URL(url);
  const digest = createHash('sha256').update(body).digest('hex');
  const own = { host, 'content-md5': createHash('md5').update(body).digest('base64') };
  const signature = signatureHeaders({ method, url: path, headers: own }, key, digest, Date.now());
  const lines = Object.entries({ ...own, ...signature, 'content-length': String(body.length) });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

/** What a session by SMTP says, each piece behind an answer. */
function handedOver(text: string): Buffer[] {
  const commands = ['EHLO far.test', 'MAIL FROM:<b@far.test>', `RCPT TO:<${INBOX}>`, 'DATA'];
  const head = `From: b@far.test\r\nTo: ${INBOX}\r\nSubject: x\r\n\r\n`;
  return [...commands, `${head}${text}\r\n.`, 'QUIT'].map((piece) => Buffer.from(`${piece}\r\n`));
}
