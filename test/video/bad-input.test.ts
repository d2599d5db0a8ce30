// What cannot be done is refused with the code and the field, before anything is made or held: every check of a request for a video.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { openaiWire } from '../support/vendors/wires.ts';
import { type Data, QUICK } from './harness.ts';
import { VendorBench } from './vendors-harness.ts';

type Row = readonly [string, Record<string, unknown>, readonly (string | number | undefined)[]];

let bench: VendorBench;
let video: string;
let before: unknown;
beforeAll(async () => {
  // What the vendor's model can do: whole seconds of a set, one size, two shapes, no image.
  bench = await VendorBench.at([
    {
      id: 'acme',
      wire: openaiWire,
      model: { seconds: { only: [2, 5] }, resolutions: ['720p'], aspect_ratios: ['16:9', '9:16'] },
    },
  ]);
  video = (await bench.ended((await bench.generate()).job_id)).job_id;
});
afterAll(() => bench.close());

const state = async () => [await bench.balance(), (await bench.ok('GET', '/v1/video/list?limit=100')).items.length];
beforeEach(async () => {
  before = await state();
});

async function expectRefused(method: string, path: string, body: unknown, expected: Row[2]): Promise<string> {
  const reply = await bench.call(method, path, body);
  const { code, param, code_detail: detail, message } = reply.body.error as Data;
  expect([reply.status, code, param, detail]).toEqual([...expected]);
  expect(await state()).toEqual(before);
  return message;
}

const invalid = (param: string, detail: string) => [400, 'VALIDATION_FAILED', param, detail] as const;

const ofEach: readonly Row[] = [
  ['seed below 0', { seed: -1 }, invalid('seed', 'minimum')],
  ['seed above 2^32-1', { seed: 2 ** 32 }, invalid('seed', 'maximum')],
  ['seed with a fraction', { seed: 1.5 }, invalid('seed', 'type')],
  ['no seconds', { duration_seconds: 0 }, invalid('duration_seconds', 'minimum')],
  ['61 seconds', { duration_seconds: 61 }, invalid('duration_seconds', 'maximum')],
  ['half a second', { duration_seconds: 1.5 }, invalid('duration_seconds', 'type')],
  ['seconds as text', { duration_seconds: '5' }, invalid('duration_seconds', 'type')],
  ['an unknown model', { model: 'sandbox/storybord-1' }, [404, 'MODEL_NOT_FOUND', 'model', undefined]],
  ['an unknown vendor', { model: null, vendor: 'corp' }, [400, 'VENDOR_NOT_AVAILABLE', 'vendor', undefined]],
  ['two vendors', { model: 'sandbox/storyboard-1', vendor: 'acme' }, [400, 'INVALID_REQUEST', 'vendor', undefined]],
  ['storing for 0 days', { store: true, retention_days: 0 }, invalid('retention_days', 'minimum')],
  ['storing for 366 days', { store: true, retention_days: 366 }, invalid('retention_days', 'maximum')],
  ['retention without storing', { retention_days: 3 }, invalid('retention_days', 'needs_store')],
  [
    'a webhook at a private address',
    { webhook_url: 'https://10.0.0.1/' },
    [400, 'WEBHOOK_URL_REJECTED', 'webhook_url', 'address'],
  ],
];

describe('generate and quote', () => {
  const rows: readonly Row[] = [
    ...ofEach,
    ['no prompt', { prompt: undefined }, invalid('prompt', 'required')],
    ['an empty prompt', { prompt: '' }, invalid('prompt', 'minLength')],
    ['a prompt of 4,001 characters', { prompt: 'é'.repeat(4_001) }, invalid('prompt', 'maxLength')],
    [
      'a negative prompt of 2,001 characters',
      { negative_prompt: 'x'.repeat(2_001) },
      invalid('negative_prompt', 'maxLength'),
    ],
    ['an unknown size', { resolution: '480p' }, invalid('resolution', 'enum')],
    ['an unknown shape', { aspect_ratio: '2:1' }, invalid('aspect_ratio', 'enum')],
    ['an image that is none', { reference_image: 'bm90IGFuIGltYWdl' }, invalid('reference_image', 'not_an_image')],
    [
      'an image at a private address',
      { reference_image: 'https://127.0.0.1/x.png' },
      invalid('reference_image', 'url_refused'),
    ],
  ];
  test.each(rows)('refuse %s', async (_, over, expected) => {
    await expectRefused('POST', '/v1/video/generate', { ...QUICK, ...over }, expected);
  });

  const atVendor: readonly (readonly [...Row, RegExp])[] = [
    [
      'more seconds than the model has',
      { duration_seconds: 6 },
      [400, 'DURATION_EXCEEDED', 'duration_seconds', undefined],
      /at most 5\b/,
    ],
    [
      'seconds that are not of its set',
      { duration_seconds: 4 },
      invalid('duration_seconds', 'duration_not_offered'),
      /\b2, 5\b/,
    ],
    ['a size that it does not offer', { resolution: '4k' }, invalid('resolution', 'resolution_not_offered'), /720p/],
    [
      'a shape that it does not offer',
      { aspect_ratio: '1:1' },
      invalid('aspect_ratio', 'aspect_ratio_not_offered'),
      /16:9, 9:16/,
    ],
    [
      'an image where it takes none',
      { reference_image: onePixel() },
      invalid('reference_image', 'image_not_offered'),
      /image/,
    ],
  ];
  test.each(atVendor)('refuse %s, naming what there is', async (_, over, expected, named) => {
    for (const path of ['generate', 'quote'])
      for (const whom of [{ model: 'acme/sora-2' }, { model: 'auto' }]) {
        const body = { prompt: 'A boat.', duration_seconds: 5, ...whom, ...over };
        expect(await expectRefused('POST', `/v1/video/${path}`, body, expected)).toMatch(named);
      }
  });

  test('tell what is near a model that there is not', async () => {
    const body = { ...QUICK, model: 'sandbox/storybord-1' };
    expect(await expectRefused('POST', '/v1/video/quote', body, [404, 'MODEL_NOT_FOUND', 'model', undefined])).toMatch(
      /sandbox\/storyboard-1/,
    );
  });

  test('refuse a body of more than 16 MiB before it is read', async () => {
    const body = { ...QUICK, reference_image: 'A'.repeat(17 * 1024 * 1024) };
    await expectRefused('POST', '/v1/video/generate', body, [413, 'PAYLOAD_TOO_LARGE', undefined, undefined]);
  });

  test('take a seed that the model does not know with a warning', async () => {
    const own = await VendorBench.at([{ id: 'acme', wire: openaiWire, model: { seed: false } }]);
    const job = await own.job({ seed: 7, negative_prompt: 'No rain.' });
    expect(job.warnings).toEqual([expect.stringMatching(/^seed: /), expect.stringMatching(/^negative_prompt: /)]);
    await own.close();
  });
});

describe('extend and upscale', () => {
  test.each(ofEach)('refuse %s', async (_, over, expected) => {
    await expectRefused('POST', `/v1/video/extend/${video}`, { model: 'sandbox/storyboard-1', ...over }, expected);
  });

  test.each<Row>([
    ['no size', { resolution: undefined }, invalid('resolution', 'required')],
    ['the size that it has', { resolution: '720p' }, invalid('resolution', 'resolution_not_higher')],
    ['an unknown model', { model: 'sandbox/none' }, [404, 'MODEL_NOT_FOUND', 'model', undefined]],
  ])('refuse %s', async (_, over, expected) => {
    const body = { model: 'sandbox/storyboard-1', resolution: '1080p', ...over };
    await expectRefused('POST', `/v1/video/upscale/${video}`, body, expected);
  });

  test('refuse a video of more than 180 seconds', async () => {
    const { service, account } = bench;
    const sql = `UPDATE video.job SET request = jsonb_set(request::jsonb, '{filmSeconds}', '150')::text WHERE account_id = '${account.accountId}'`;
    await withClient(service.database.connection, (client) => client.query(sql));
    const body = { model: 'sandbox/storyboard-1', duration_seconds: 31 };
    await expectRefused('POST', `/v1/video/extend/${video}`, body, [
      400,
      'DURATION_EXCEEDED',
      'duration_seconds',
      undefined,
    ]);
  });
});

describe('what names a job', () => {
  const gone = 'vid_0vTq3mXkfR7bYc1LpZs8Ne';
  const calls = (id: string): [string, string, unknown][] => [
    ['GET', `/v1/video/get/${id}`, undefined],
    ['GET', `/v1/video/status/${id}`, undefined],
    ['GET', `/v1/video/download_url/${id}`, undefined],
    ['POST', `/v1/video/cancel/${id}`, {}],
    ['POST', `/v1/video/extend/${id}`, {}],
    ['POST', `/v1/video/upscale/${id}`, { resolution: '1080p' }],
    ['POST', `/v1/video/webhook/subscribe/${id}`, { webhook_url: 'https://example.org/' }],
  ];
  test.each(calls(gone))('%s %s of none', async (method, path, body) => {
    await expectRefused(method, path, body, [404, 'JOB_NOT_FOUND', 'job_id', undefined]);
  });

  test('another account’s job is none, and its deletion does nothing', async () => {
    const other = await bench.withAccount();
    for (const [method, path, body] of calls(video)) {
      expect((await other.fails(method, path, body)).slice(0, 2)).toEqual([404, 'JOB_NOT_FOUND']);
    }
    expect(await other.ok('DELETE', `/v1/video/delete/${video}`)).toEqual({ ok: true, job_id: video });
    expect((await bench.get(video)).video_url).not.toBeNull();
  });

  test.each<[string, string, string, Record<string, unknown> | undefined, Row[2]]>([
    ['cancel with another id in its body', 'POST', 'cancel', { job_id: gone }, invalid('job_id', 'path_mismatch')],
    ['cancel with another id under its second name', 'POST', 'cancel', { id: gone }, invalid('id', 'two_names')],
    ['cancel of what has succeeded', 'POST', 'cancel', {}, [409, 'STATE_CONFLICT', 'job_id', 'succeeded']],
    [
      'a link for 59 seconds',
      'GET',
      'download_url?expires_seconds=59',
      undefined,
      invalid('expires_seconds', 'minimum'),
    ],
    [
      'a link for more than a day',
      'GET',
      'download_url?expires_seconds=86401',
      undefined,
      invalid('expires_seconds', 'maximum'),
    ],
    ['a webhook without a URL', 'POST', 'webhook/subscribe', {}, invalid('webhook_url', 'required')],
  ])('%s is refused', async (_, method, operation, body, expected) => {
    const [path, query] = operation.split('?');
    const url = `/v1/video/${path}/${video}${query === undefined ? '' : `?${query}`}`;
    await expectRefused(method, url, body, expected);
  });
});

/** A picture of one pixel: what is not taken at all is not looked at. */
function onePixel(): string {
  return 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
}
