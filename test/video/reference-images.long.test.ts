// Pictures that open a video: what they hold decides what they are; what is no picture, or too much of one, is refused, at the call or when the
// work fetches it; and nothing but the picture is kept.
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LOCAL_TARGETS } from '../cron/harness.ts';
import { pngOf } from '../support/hostile-pictures.ts';
import { QUICK, VideoBench } from './harness.ts';

let folder: string;
let bench: VideoBench;
/** A service that may reach no private address. */
let guarded: VideoBench;
let server: Server;
let answer: (path: string, response: ServerResponse) => void;
let picture: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-images-'));
  // The cause of a call that fails unforeseen stands in the output.
  bench = await VideoBench.start({
    ...LOCAL_TARGETS,
    ALLOW_PRIVATE_SOURCES: '127.0.0.0/8',
    ASSETS_URL: `file:${folder}`,
    LOG_LEVEL: 'error',
  });
  guarded = await VideoBench.start();
  server = createServer((request, response) => answer(request.url ?? '', response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  picture = await image(128, 96).png().toBuffer();
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await Promise.all([bench.service.stop(), guarded.service.stop()]);
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  answer = (_, response) => void response.end(picture);
});

const image = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 80, b: 40 } }, limitInputPixels: false });
const url = (path = '/cat.png') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

async function take(sent: string): Promise<string> {
  const { job_id: id } = await bench.generate({ reference_image: sent });
  return id;
}

async function drop(id: string): Promise<void> {
  await bench.ok('DELETE', `/v1/video/delete/${id}`);
}

const refusal = async (sent: string) => {
  const [status, code, param, detail] = await bench.fails('POST', '/v1/video/generate', {
    ...QUICK,
    reference_image: sent,
  });
  expect([status, code, param]).toEqual([400, 'VALIDATION_FAILED', 'reference_image']);
  return detail;
};

describe('a picture that comes with the call', () => {
  test.each(['jpeg', 'png', 'webp'] as const)(
    'is taken as %s by what it holds, as base64 or data URL',
    async (type) => {
      const bytes = await image(128, 96)[type]().toBuffer();
      const text = bytes.toString('base64');
      // Whatever its type is said to be.
      for (const sent of [text, bytes.toString('base64url'), `data:image/gif;base64,${text}`])
        await drop(await take(sent));
    },
  );

  test.each<[string, () => Promise<Buffer> | Buffer, string]>([
    ['a GIF', () => image(128, 96).gif().toBuffer(), 'not_an_image'],
    [
      'an SVG',
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><rect/></svg>'),
      'not_an_image',
    ],
    ['a TIFF', () => image(128, 96).tiff().toBuffer(), 'not_an_image'],
    ['a PDF', () => Buffer.from('%PDF-1.7\n1 0 obj <<>> endobj'), 'not_an_image'],
    ['text', () => Buffer.from('not an image at all'), 'not_an_image'],
    ['half a picture', () => picture.subarray(0, picture.length / 2), 'not_an_image'],
    ['63 pixels', () => image(63, 500).png().toBuffer(), 'image_size'],
    ['8,193 pixels', () => image(8_193, 64).png().toBuffer(), 'image_size'],
    ['more than 40 megapixels', () => image(8_000, 5_001).png().toBuffer(), 'image_size'],
    ['a moving WebP', moving, 'image_animated'],
    ['a moving PNG', () => pngOf({ width: 128, height: 96, animated: true }), 'image_animated'],
  ])('is refused: %s', async (_, make, detail) => {
    expect(await refusal((await make()).toString('base64'))).toBe(detail);
  });

  test.each([
    [64, 64],
    [8_192, 64],
  ])('may have %i x %i pixels', async (width, height) => {
    await drop(await take((await image(width, height).png().toBuffer()).toString('base64')));
  });

  test('is refused with more than 10 MiB, and when it is no base64', async () => {
    expect(await refusal(Buffer.alloc(10 * 1024 * 1024 + 1, 1).toString('base64'))).toBe('image_too_large');
    expect(await refusal('data:image/png;base64,***')).toBe('not_an_image');
    expect(await refusal('file:///etc/passwd')).toBe('not_an_image');
  });

  test('is kept upright, without what else was in it', async () => {
    const own = await bench.withAccount();
    const gps = { IFD0: { Copyright: 'somebody' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } };
    const lying = await image(128, 96).jpeg().withExif(gps).withMetadata({ orientation: 6 }).toBuffer();
    expect((await sharp(lying).metadata()).orientation).toBe(6);
    const { job_id: id } = await own.generate({ reference_image: lying.toString('base64') });
    const kept = await readFile(join(folder, own.account.accountId, `${id}.reference`));
    const found = await sharp(kept).metadata();
    expect([found.width, found.height, found.orientation, found.exif]).toEqual([96, 128, undefined, undefined]);
    expect(kept.includes('somebody')).toBe(false);
    await own.ended(id);
    await own.ok('DELETE', `/v1/video/delete/${id}`);
    expect(await readdir(join(folder, own.account.accountId))).toEqual([]);
  });
});

describe('a picture is decoded for no call that could not begin its job', () => {
  // Were it decoded, it would be told what it is.
  const damaged = () => ({ ...QUICK, reference_image: picture.subarray(0, picture.length / 2).toString('base64') });

  test('for want of money, or of budget', async () => {
    const poor = await bench.withAccount(0);
    expect((await poor.fails('POST', '/v1/video/generate', damaged())).slice(0, 2)).toEqual([
      402,
      'INSUFFICIENT_CREDIT',
    ]);
    const thrifty = await bench.withAccount(1);
    await thrifty.ok('PUT', '/v1/account/budget/set', { period: 'daily', hard_cap_usd: 0 });
    const refused = await thrifty.fails('POST', '/v1/video/generate', damaged());
    expect([refused[0], refused[1], refused[3]]).toEqual([402, 'INSUFFICIENT_CREDIT', 'budget_daily']);
  });

  test('because the account has its jobs', async () => {
    const busy = await bench.withAccount();
    for (let i = 0; i < 10; i += 1) await busy.generate({ prompt: '[[hang]]' });
    expect((await busy.fails('POST', '/v1/video/generate', damaged())).slice(0, 2)).toEqual([
      429,
      'CONCURRENCY_LIMITED',
    ]);
    for (const { job_id: id } of (await busy.ok('GET', '/v1/video/list?limit=100')).items)
      await busy.ok('DELETE', `/v1/video/delete/${id}`);
  });

  test('and what was held while it was looked at is given back', async () => {
    const own = await bench.withAccount(0.0015);
    const outcomes = await Promise.all(
      Array.from({ length: 3 }, () => own.call('POST', '/v1/video/generate', damaged())),
    );
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([400, 402]));
    expect(await own.balance()).toEqual({ balance: 0.0015, held: 0 });
    expect(await own.findings()).toEqual([]);
  });
});

async function moving(): Promise<Buffer> {
  const frames = await Promise.all([10, 200].map((red) => frame(red)));
  return sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [100, 100] })
    .toBuffer();
}

const frame = (red: number) =>
  sharp({ create: { width: 128, height: 96, channels: 3, background: { r: red, g: 0, b: 0 } } })
    .png()
    .toBuffer();

describe('a picture that is named by a URL', () => {
  test('is fetched when the work begins, and opens the video', async () => {
    const paths: string[] = [];
    answer = (path, response) => {
      paths.push(path);
      response.end(picture);
    };
    expect(await bench.ended(await take(url()))).toMatchObject({ state: 'succeeded' });
    expect(paths).toEqual(['/cat.png']);
  });

  test('may be behind three redirects, not behind four', async () => {
    answer = (path, response) => {
      const left = Number(path.slice(1));
      if (left === 0) response.end(picture);
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    expect(await bench.ended(await take(url('/3')))).toMatchObject({ state: 'succeeded' });
    expect(await bench.ended(await take(url('/4')))).toMatchObject({ state: 'failed', cost_usd: 0 });
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['is not there', (response) => void response.writeHead(404).end(), 'url_failed'],
    ['is a page', (response) => void response.end('<html></html>'), 'not_an_image'],
    ['is empty', (response) => void response.end(), 'not_an_image'],
    [
      'breaks off',
      (response) => void response.writeHead(200, { 'content-length': 9_999 }).write(picture, () => response.destroy()),
      'url_failed',
    ],
    ['has no end', endless, 'url_failed'],
  ])('and which %s makes the job fail, for nothing', async (_, how, detail) => {
    answer = (_path, response) => how(response);
    const before = await bench.balance();
    const job = await bench.ended(await take(url()));
    expect(job).toMatchObject({
      state: 'failed',
      cost_usd: 0,
      error: { code: 'VALIDATION_FAILED', code_detail: detail },
    });
    expect(await bench.balance()).toEqual(before);
  });
});

function endless(response: ServerResponse): void {
  const piece = Buffer.alloc(64 * 1024);
  const more = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

describe('an address that nobody may be sent to', () => {
  const addresses = [
    ...['http://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/', 'https://192.168.1.1/', 'https://172.16.0.1/'],
    ...[
      'https://169.254.169.254/latest/meta-data/',
      'https://[::1]/',
      'https://[fd00:ec2::254]/',
      'https://[::ffff:127.0.0.1]/',
    ],
    ...[
      'https://0.0.0.0/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://100.64.0.1/',
      'https://user:word@example.org/',
    ],
  ];
  test.each(addresses)('%s is refused at the call, for pictures and webhooks', async (address) => {
    const picture = await guarded.fails('POST', '/v1/video/generate', { ...QUICK, reference_image: address });
    expect(picture).toEqual([400, 'VALIDATION_FAILED', 'reference_image', 'url_refused']);
    const webhook = await guarded.fails('POST', '/v1/video/generate', { ...QUICK, webhook_url: address });
    expect(webhook.slice(0, 3)).toEqual([400, 'WEBHOOK_URL_REJECTED', 'webhook_url']);
  });

  test('is refused when a redirect leads there, too', async () => {
    answer = (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    const job = await bench.ended(await take(url()));
    expect(job).toMatchObject({ state: 'failed', error: { code: 'VALIDATION_FAILED', code_detail: 'url_failed' } });
  });
});
