// Attacks by pictures and videos: what costs a decoder, or a thread of the sandbox, much more than it costs its sender.
import { crc32, deflateSync } from 'node:zlib';
import { post } from '../support/load.ts';
import type { BenchAccount, BenchService } from '../support/service.ts';
import { addresses } from './line.ts';
import type { Scenario } from './scenario.ts';

const PROMPT = { prompt: 'A paper boat.', model: 'sandbox/storyboard-1', duration_seconds: 1 };
const HANGS = 10;
const VIDEO_SECONDS_MAX = 20;

/** Three accounts: one whose budget is nothing, an attacker, another tenant. */
export function videoScenarios(service: BenchService, accounts: readonly BenchAccount[]): Scenario[] {
  const { url } = service;
  const [poor, rich, tenant] = accounts as [BenchAccount, BenchAccount, BenchAccount];
  const bomb = png(8_000, 5_000, 16, 6, 6);
  const worst = png(8_000, 5_000, 8, 6, 6);
  const json = (picture: Buffer) => JSON.stringify({ ...PROMPT, reference_image: picture.toString('base64') });
  const calls = (requests: readonly Buffer[]) => ({
    connections: 8,
    addresses: addresses(1),
    manner: 'calls' as const,
    requests,
  });
  return [
    {
      name: 'picture-bombs-unpaid',
      what: '8 connections of an account without credit send a PNG of 40 megapixels to video.generate and to /v1/videos',
      orders: [calls([post(url, '/v1/video/generate', poor.secret, json(worst)), form(url, poor.secret, worst)])],
    },
    {
      name: 'picture-bombs',
      what: '8 connections send PNG of 40 megapixels, at 16 bits and at 8, turned by EXIF, to video.generate and to /v1/videos',
      orders: [
        calls([
          post(url, '/v1/video/generate', rich.secret, json(bomb)),
          form(url, rich.secret, bomb),
          post(url, '/v1/video/generate', rich.secret, json(worst)),
          form(url, rich.secret, worst),
        ]),
      ],
    },
    {
      name: 'hangs',
      what: `an account has ${HANGS} videos that hang; another's is to be rendered`,
      orders: [
        calls([post(url, '/v1/video/generate', rich.secret, JSON.stringify({ ...PROMPT, prompt: '[[hang]]' }))]),
      ],
      beside: { name: "another account's video is rendered", run: () => renders(service, tenant) },
    },
  ];
}

/** Nothing is to be had from it. */
export async function spendNothing({ url }: BenchService, { secret }: BenchAccount): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ period: 'daily', hard_cap_usd: 0 });
  const reply = await fetch(`${url}/v1/account/budget/set`, { method: 'PUT', headers, body });
  if (!reply.ok) throw new Error(await reply.text());
}

/** Whether a video is ready in time. */
async function renders({ url, call }: BenchService, { secret }: BenchAccount): Promise<boolean> {
  const { data } = (await call(secret, '/v1/video/generate', PROMPT)) as { data: { job_id: string } };
  const headers = { authorization: `Bearer ${secret}` };
  const endMs = performance.now() + VIDEO_SECONDS_MAX * 1_000;
  while (performance.now() < endMs) {
    const reply = await fetch(`${url}/v1/video/get/${data.job_id}`, { headers });
    const job = (await reply.json()) as { data: { state: string } };
    if (job.data.state === 'succeeded') return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return false;
}

function form(url: string, secret: string, picture: Buffer): Buffer {
  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields = field('model', PROMPT.model) + field('prompt', PROMPT.prompt) + field('seconds', '4');
  const file = '--b\r\nContent-Disposition: form-data; name="input_reference"; filename="a.png"\r\n\r\n';
  const body = Buffer.concat([Buffer.from(fields + file), picture, Buffer.from('\r\n--b--\r\n')]);
  const headers = `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${secret}\r\nContent-Type: multipart/form-data; boundary=b`;
  const head = `POST /v1/videos HTTP/1.1\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** All zeros. `type`: of colour, 6 is RGB with alpha. */
function png(width: number, height: number, depth: 8 | 16, type: 6, orientation: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, type], 8);
  const exif = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  exif.writeUInt16BE(orientation, 18);
  const rows = Buffer.alloc(height * (1 + (width * 4 * depth) / 8));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    ...[chunk('IHDR', header), chunk('eXIf', exif), chunk('IDAT', deflateSync(rows, { level: 9 }))],
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
