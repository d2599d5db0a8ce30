// An object of as many parts as one may have: completed in one commit, while another account is served, and its parts' rows go by the sweep.
import { hash } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  HeadObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineStorage } from '../../src/modules/storage/examine.ts';
import { storageSweeps } from '../../src/modules/storage/sweeps.ts';
import { allowedMs } from '../support/slowness.ts';
import { StorageBench } from './harness.ts';

const PARTS = 10_000;
const PART_BYTES = 5 * 1024 * 1024;
let bench: StorageBench;
beforeAll(async () => {
  bench = await StorageBench.start();
});
afterAll(() => bench.stop());

const sql = (text: string, values: readonly string[]) => bench.core.db.query({ name: '', text }, values);

/** Rows as 10,000 calls would leave them; 50 GB of bytes are not written for it. */
async function writeParts(accountId: string, uploadId: string): Promise<void> {
  await sql(
    `INSERT INTO storage.blob (account_id, blob_id, state, refs, bytes, pieces)
     SELECT $1, 'blb_part' || n, 'live', 1, ${PART_BYTES}, decode(md5('piece' || n), 'hex') || int8send(${PART_BYTES}) FROM generate_series(1, ${PARTS}) n`,
    [accountId],
  );
  await sql(
    `INSERT INTO storage.part (account_id, upload_id, part_number, blob_id, bytes, etag, checksums, updated_at)
     SELECT $1, $2, n, 'blb_part' || n, ${PART_BYTES}, md5('part' || n),
            jsonb_build_object('sha256', encode(sha256(('part' || n)::bytea), 'base64')), now()
       FROM generate_series(1, ${PARTS}) n`,
    [accountId, uploadId],
  );
  const bytes = PARTS * PART_BYTES;
  await sql(
    `UPDATE storage.upload SET part_count = ${PARTS}, bytes = ${bytes}, version = ${PARTS} WHERE account_id = $1 AND upload_id = $2`,
    [...[accountId, uploadId]],
  );
  await sql(`UPDATE storage.held SET bytes = ${bytes} WHERE account_id = $1`, [accountId]);
}

test('an upload of 10,000 parts is completed at once, and another account is served meanwhile', async () => {
  const [own, other] = [await bench.withAccount(), await bench.withAccount()];
  const { body } = await own.call('GET', '/v1/account/keys/aws');
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, region, s3_endpoint: endpoint } = body.data;
  const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
  const named = { Bucket: 'work', Key: 'long' };
  const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand({ ...named, ChecksumAlgorithm: 'SHA256' }));
  await writeParts(own.accountId, UploadId);
  expect(await examineStorage(bench.core.db, own.accountId)).toEqual([]);
  const Parts = Array.from({ length: PARTS }, (_, i) => ({
    PartNumber: i + 1,
    ETag: `"${hash('md5', `part${i + 1}`)}"`,
  }));
  let isOver = false;
  const slowest = (async () => {
    let most = 0;
    while (!isOver) {
      const sinceMs = performance.now();
      expect((await other.put('work', 'k', 'x')).status).toBe(200);
      most = Math.max(most, performance.now() - sinceMs);
    }
    return most;
  })();
  const startedMs = performance.now();
  const done = await s3.send(new CompleteMultipartUploadCommand({ ...named, UploadId, MultipartUpload: { Parts } }));
  const tookMs = performance.now() - startedMs;
  isOver = true;
  expect(done.ETag).toMatch(/-10000"$/);
  expect(tookMs).toBeLessThan(allowedMs(5_000));
  expect(await slowest).toBeLessThan(allowedMs(1_500));
  const head = await s3.send(new HeadObjectCommand(named));
  expect(head.ContentLength).toBe(PARTS * PART_BYTES);
  const sumOf = (n: number) => hash('sha256', `part${n}`, 'base64');
  const last = await s3.send(new HeadObjectCommand({ ...named, PartNumber: PARTS, ChecksumMode: 'ENABLED' }));
  expect([last.ChecksumSHA256, last.ContentLength]).toEqual([sumOf(PARTS), PART_BYTES]);
  const asked = { ...named, ObjectAttributes: ['ObjectParts' as const], PartNumberMarker: '8500' };
  const { ObjectParts } = await s3.send(new GetObjectAttributesCommand(asked));
  expect([ObjectParts?.IsTruncated, ObjectParts?.Parts?.length]).toEqual([true, 1_000]);
  expect(ObjectParts?.Parts?.at(-1)).toEqual({ PartNumber: 9_500, Size: PART_BYTES, ChecksumSHA256: sumOf(9_500) });
  expect(await examineStorage(bench.core.db, own.accountId)).toEqual([]);
  await bench.test.advance(2 * 3_600);
  const { signal } = new AbortController();
  for (const { run } of storageSweeps(bench.core)) while (await run(signal));
  expect(await bench.rows('part', own.accountId)).toEqual([]);
  expect(await bench.rows('blob', own.accountId)).toHaveLength(1);
  expect(await examineStorage(bench.core.db, own.accountId)).toEqual([]);
});
