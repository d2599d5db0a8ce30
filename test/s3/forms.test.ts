// Forms of browsers: what a signed policy lets a page store, natively made and by hand, and everything that it does not.
import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { HeadObjectCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedPost } from '../../src/lib/sigv4.ts';
import { S3Bench } from './harness.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
  await bench.bucket('box');
});
afterAll(() => bench.stop());

type Fields = Readonly<Record<string, string>>;

/** A form as it is sent; `after`: parts behind the file. */
function formOf(fields: readonly (readonly [string, string])[], file: string | null = 'text', after = ''): Buffer {
  const part = (head: string, value: string) =>
    `--b0undary\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const parts = fields.map(([name, value]) => part(`name="${name}"`, value));
  const sent = file === null ? '' : part('name="file"; filename="pic.txt"', file);
  return Buffer.from(`${parts.join('')}${sent}${after}--b0undary--\r\n`);
}

async function post(bucket: string, body: Buffer, headers: Fields = {}, of = bench) {
  const type = { 'content-type': 'multipart/form-data; boundary=b0undary', ...headers };
  const reply = await fetch(`${of.url}/s3/${bucket}`, {
    method: 'POST',
    headers: type,
    body: new Uint8Array(body),
    redirect: 'manual',
  });
  const text = await reply.text();
  return { status: reply.status, text, code: /<Code>([^<]*)/.exec(text)?.[1] ?? null, headers: reply.headers };
}

/** Fields of a form that is signed for these conditions, and says no more. */
function signed(
  conditions: readonly object[],
  more: Fields = {},
  { key = bench.key, seconds = 600, nowMs = Date.now() } = {},
) {
  const made = signedPost(conditions, { ...key, region: 'us-east-1' }, seconds, nowMs);
  return Object.entries({ ...more, ...made });
}

const link = async (input: object) => {
  const reply = await bench.rest('POST', '/v1/storage/upload/link', { bucket: 'box', ...input });
  return {
    status: reply.status,
    error: reply.body.error,
    ...(reply.body.data as { url: string; fields: Fields; expires_at: string }),
  };
};

describe('an upload link', () => {
  test('stores the file under its key, as often as it is used', async () => {
    const { fields } = await link({ key: 'one/photo.jpg', content_type: 'image/jpeg', bytes_max: 10 });
    const sent = formOf(Object.entries(fields), 'first');
    expect(await post('box', sent)).toMatchObject({ status: 204, text: '' });
    expect(await bench.text('box', 'one/photo.jpg')).toBe('first');
    const head = await bench.sdk.send(new HeadObjectCommand({ Bucket: 'box', Key: 'one/photo.jpg' }));
    expect(head).toMatchObject({ ContentType: 'image/jpeg', ContentLength: 5 });
    expect((await post('box', formOf(Object.entries(fields), ''))).status).toBe(204);
    expect(await bench.text('box', 'one/photo.jpg')).toBe('');
  });

  test('of a prefix adds the name of the file', async () => {
    const { fields } = await link({ prefix: 'in/' });
    const reply = await post('box', formOf([...Object.entries(fields), ['success_action_status', '201']]));
    expect(reply.status).toBe(201);
    expect(reply.text).toContain('<Key>in/pic.txt</Key>');
    expect(await bench.text('box', 'in/pic.txt')).toBe('text');
    const chosen = { ...fields, key: 'in/of/mine' };
    expect((await post('box', formOf(Object.entries(chosen)))).status).toBe(204);
    expect((await post('box', formOf(Object.entries({ ...fields, key: 'out/mine' })))).code).toBe('AccessDenied');
  });

  test('takes no other key, type or length, and costs a write', async () => {
    const { fields } = await link({ key: 'k', content_type: 'text/plain', bytes_max: 4 });
    const changed = (more: Fields) => post('box', formOf(Object.entries({ ...fields, ...more })));
    expect((await changed({ key: 'l' })).code).toBe('AccessDenied');
    expect((await changed({ 'Content-Type': 'text/html' })).code).toBe('AccessDenied');
    expect((await changed({ 'x-amz-meta-a': 'b' })).code).toBe('AccessDenied');
    expect((await post('box', formOf(Object.entries(fields), '12345'))).code).toBe('EntityTooLarge');
    const before = (await bench.rest('GET', '/v1/account/balance')).body.data;
    expect((await post('box', formOf(Object.entries(fields), '1234'))).status).toBe(204);
    expect((await bench.rest('GET', '/v1/account/balance')).body.data).not.toEqual(before);
  });

  test.each<[string, object, number, string]>([
    ['neither key nor prefix', {}, 400, 'VALIDATION_FAILED'],
    ['both', { key: 'a', prefix: 'b' }, 400, 'VALIDATION_FAILED'],
    ['a key with the name of the file', { key: 'a/${filename}' }, 400, 'VALIDATION_FAILED'],
    ['a bucket that is not there', { bucket: 'not-there', key: 'a' }, 404, 'BUCKET_NOT_FOUND'],
    ['more than 5 GiB', { key: 'a', bytes_max: 5 * 2 ** 30 + 1 }, 400, 'VALIDATION_FAILED'],
  ])('with %s is refused', async (_, input, status, code) => {
    expect(await link(input)).toMatchObject({ status, error: { code } });
  });
});

test('the AWS SDK signs forms that are taken', async () => {
  const { fields } = await createPresignedPost(bench.sdk, {
    Bucket: 'box',
    Key: 'sdk/${filename}',
    Conditions: [
      ['content-length-range', 1, 100],
      ['starts-with', '$Content-Type', 'image/'],
    ],
    Fields: { 'x-amz-meta-who': 'é', success_action_status: '200' },
  });
  const reply = await post('box', formOf([...Object.entries(fields), ['Content-Type', 'image/png']]));
  expect(reply.status).toBe(200);
  const listed = await post('box', formOf([...Object.entries(fields), ['Content-Type', 'image/png, text/html']]));
  expect(listed.code).toBe('AccessDenied');
  const { body } = await bench.rest('GET', '/v1/storage/object/head?bucket=box&key=sdk/pic.txt');
  expect(body.data).toMatchObject({ content_type: 'image/png', metadata: { who: 'é' } });
});

test.each([
  ['Content-Type', 'text/plain\r\nSet-Cookie: a=b', 'InvalidArgument'],
  ['Content-Type', 'a\0b', 'InvalidArgument'],
  ['Cache-Control', 'a\0b', 'InvalidArgument'],
  ['Content-Type', 'x'.repeat(9_000), 'MetadataTooLarge'],
  ['x-amz-tagging', 'a\0=b', 'InvalidTag'],
  ['x-amz-tagging', 'a=%00', 'InvalidTag'],
])('a field %s that no header could bring is refused (%#)', async (name, value, code) => {
  const conditions = [{ bucket: 'box' }, { key: 'no-header' }, { [name]: value }];
  const fields = signed(conditions, { key: 'no-header', [name]: value });
  expect(await post('box', formOf(fields))).toMatchObject({ status: 400, code });
});

test('a form signed by version 2 is taken, as boto3 signs it', async () => {
  const document = {
    expiration: new Date(Date.now() + 60_000).toISOString(),
    conditions: [{ bucket: 'box' }, { key: 'v2' }],
  };
  const policy = Buffer.from(JSON.stringify(document)).toString('base64');
  const signature = createHmac('sha1', bench.key.secretAccessKey).update(policy).digest('base64');
  const form = (of: string): [string, string][] => [
    ...([
      ['key', 'v2'],
      ['AWSAccessKeyId', bench.key.accessKeyId],
      ['policy', policy],
      ['signature', of],
    ] as [string, string][]),
  ];
  expect((await post('box', formOf(form(signature)))).status).toBe(204);
  expect((await post('box', formOf(form(`x${signature.slice(1)}`)))).code).toBe('SignatureDoesNotMatch');
});

describe('a page is sent on', () => {
  const sentTo = async (success_action_redirect: string) =>
    post(
      'box',
      formOf(
        signed([{ bucket: 'box' }, { key: 'r' }, { success_action_redirect }], { key: 'r', success_action_redirect }),
      ),
    );
  test('where its policy says', async () => {
    const reply = await sentTo('https://app.example.com/done?a=1');
    expect(reply.status).toBe(303);
    expect(reply.headers.get('location')).toMatch(
      /^https:\/\/app\.example\.com\/done\?a=1&bucket=box&key=r&etag=%22[0-9a-f]{32}%22$/,
    );
  });
  test.each(['javascript:alert(1)', '/done', 'data:text/html,x', ''])('not to %j', async (to) => {
    expect((await sentTo(to)).status).toBe(204);
  });
});

describe('a form is refused', () => {
  const usual = () => signed([{ bucket: 'box' }, { key: 'bad' }], { key: 'bad' });
  const cases: [string, () => Buffer | Promise<Buffer>, number, string][] = [
    ['without a policy', () => formOf([['key', 'bad']]), 403, 'AccessDenied'],
    ['without a file', () => formOf(usual(), null), 400, 'InvalidArgument'],
    ['without a key', () => formOf(signed([{ bucket: 'box' }])), 400, 'InvalidArgument'],
    [
      'with the policy of another bucket',
      () => formOf(signed([{ bucket: 'other' }, { key: 'bad' }], { key: 'bad' })),
      403,
      'AccessDenied',
    ],
    ['with a policy of no bucket', () => formOf(signed([{ key: 'bad' }], { key: 'bad' })), 403, 'AccessDenied'],
    [
      'with a field `bucket` that lies',
      () => formOf(signed([{ bucket: 'other' }, { key: 'bad' }], { key: 'bad', bucket: 'other' })),
      403,
      'AccessDenied',
    ],
    [
      'past its end',
      () => formOf(signed([{ bucket: 'box' }, { key: 'bad' }], { key: 'bad' }, { seconds: -1 })),
      403,
      'AccessDenied',
    ],
    ['with a field twice', () => formOf([...usual(), ['KEY', 'bad']]), 400, 'InvalidArgument'],
    ['with its policy twice', () => formOf([...usual(), ['policy', 'e30=']]), 400, 'InvalidArgument'],
    [
      'that asks to be public',
      () =>
        formOf(signed([{ bucket: 'box' }, { key: 'bad' }, { acl: 'public-read' }], { key: 'bad', acl: 'public-read' })),
      400,
      'AccessControlListNotSupported',
    ],
    [
      'with a changed policy',
      () => formOf(usual().map(([n, v]) => [n, n === 'Policy' ? `${v.slice(0, -8)}AAAAAAA=` : v] as const)),
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'with a signature of other letters, as many',
      () => formOf(usual().map(([n, v]) => [n, n === 'X-Amz-Signature' ? 'é'.repeat(64) : v] as const)),
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'of a key that is not there',
      () =>
        formOf(
          signed(
            [{ bucket: 'box' }, { key: 'bad' }],
            { key: 'bad' },
            { key: { ...bench.key, accessKeyId: 'key_0000000000000000000000' } },
          ),
        ),
      403,
      'InvalidAccessKeyId',
    ],
    [
      'below its least length',
      () => formOf(signed([{ bucket: 'box' }, { key: 'bad' }, ['content-length-range', 5, 9]], { key: 'bad' })),
      400,
      'EntityTooSmall',
    ],
    [
      'by the less of two ranges',
      () =>
        formOf(
          signed([{ bucket: 'box' }, { key: 'bad' }, ['content-length-range', 0, 2], ['content-length-range', 0, 99]], {
            key: 'bad',
          }),
        ),
      400,
      'EntityTooLarge',
    ],
    [
      'with an operator of its own',
      () => formOf(signed([{ bucket: 'box' }, ['matches', '$key', '.*']], { key: 'bad' })),
      400,
      'InvalidPolicyDocument',
    ],
    [
      'with 101 conditions',
      () =>
        formOf(
          signed(
            Array.from({ length: 101 }, () => ({ bucket: 'box' })),
            { key: 'bad' },
          ),
        ),
      400,
      'InvalidPolicyDocument',
    ],
    [
      'with a huge policy',
      () => formOf(signed([{ bucket: 'box' }, ['starts-with', '$key', 'x'.repeat(60_000)]], { key: 'bad' })),
      400,
      'MaxPostPreDataLengthExceeded',
    ],
    [
      'with a key of 1,025 bytes',
      () => formOf(signed([{ bucket: 'box' }, ['starts-with', '$key', '']], { key: 'x'.repeat(1_025) })),
      400,
      'KeyTooLongError',
    ],
    ['that is none', () => Buffer.from('key=bad'), 400, 'MalformedPOSTRequest'],
  ];
  test.each(cases)('%s', async (_, make, status, code) => {
    expect(await post('box', await make())).toMatchObject({ status, code });
    await expect(bench.text('box', 'bad')).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('by the key of another account, whose bucket it is not', async () => {
    const other = await bench.withAccount();
    const made = signed([{ bucket: 'box' }, { key: 'bad' }], { key: 'bad' }, { key: other.key });
    expect(await post('box', formOf(made))).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  test('by a key that may only read', async () => {
    const reader = await bench.withScopes(['storage:read']);
    const made = signed([{ bucket: 'box' }, { key: 'bad' }], { key: 'bad' }, { key: reader.key });
    expect(await post('box', formOf(made))).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  test('that is sent in chunks, whose length nobody knows', async () => {
    const body = formOf(usual()).toString();
    const chunked = `POST /box HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b0undary\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect(await exchangeText(chunked)).toMatch(/^HTTP\/1.1 411 .*<Code>MissingContentLength</s);
  });

  test('whose announced length is far beyond its range, before its file is read', async () => {
    const head = formOf(
      signed([{ bucket: 'box' }, { key: 'bad' }, ['content-length-range', 0, 10]], { key: 'bad' }),
      '',
    ).toString();
    const begun = head.slice(0, head.lastIndexOf('\r\n--b0undary--'));
    const sent = `POST /box HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b0undary\r\nContent-Length: 4000000000\r\n\r\n${begun}`;
    expect(await exchangeText(sent)).toMatch(/^HTTP\/1.1 400 .*<Code>EntityTooLarge</s);
  });
});

/** Sends it as it is, and answers what comes until the end. */
function exchangeText(text: string): Promise<string> {
  const { hostname, port } = new URL(bench.root);
  return new Promise((resolve, reject) => {
    let told = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (block) => {
      told += block.toString();
      if (told.includes('</Error>')) socket.destroy();
    });
    socket.on('close', () => resolve(told));
    socket.on('error', reject);
  });
}

test('fields behind the file change nothing, and a file that is shorter than it could be is whole', async () => {
  const made = signed([{ bucket: 'box' }, { key: 'after' }], { key: 'after' });
  const late = '--b0undary\r\nContent-Disposition: form-data; name="key"\r\n\r\nother\r\n'.repeat(200);
  for (const file of ['', 'short', 'x'.repeat(70_000), 'y'.repeat(200_000)]) {
    expect((await post('box', formOf(made, file, late))).status).toBe(204);
    expect(await bench.text('box', 'after')).toBe(file);
  }
  const { body } = await bench.rest('GET', '/v1/storage/object/head?bucket=box&key=after');
  expect(body.data.bytes).toBe(200_000);
  const held = await bench.service.core.db.query<{ bytes: bigint; blobs: bigint }>(
    {
      name: '',
      text: `SELECT (SELECT h.bytes FROM storage.held h WHERE h.account_id = $1) AS bytes,
      (SELECT sum(b.bytes) FROM storage.blob b WHERE b.account_id = $1 AND b.state = 'live') AS blobs`,
    },
    [bench.account.accountId],
  );
  expect(Number(held.rows[0]?.bytes)).toBe(Number(held.rows[0]?.blobs));
});

test('answers of a form have the headers of the very bucket', async () => {
  const other = await bench.withAccount();
  const origin = 'https://app.example.com';
  const rules = { CORSRules: [{ AllowedOrigins: [origin], AllowedMethods: ['POST'] }] };
  await other.bucket('shared-name');
  await bench.bucket('shared-name');
  await other.sdk.send(new PutBucketCorsCommand({ Bucket: 'shared-name', CORSConfiguration: rules }));
  const of = (key: S3Bench['key']) =>
    post('shared-name', formOf(signed([{ bucket: 'shared-name' }, { key: 'k' }], { key: 'k' }, { key })), { origin });
  expect((await of(other.key)).headers.get('access-control-allow-origin')).toBe(origin);
  expect((await of(bench.key)).headers.get('access-control-allow-origin')).toBeNull();
});
