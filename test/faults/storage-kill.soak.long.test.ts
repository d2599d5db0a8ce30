// Two processes that keep objects for the same account are killed again and again, wherever they are in a PUT, an upload in parts, a copy, a delete
// or the charge of an hour. What was answered is there, what was not is there whole or not at all, nothing is charged twice, and once its time is
// over nothing is left that no object names.
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { storageSweeps } from '../../src/modules/storage/sweeps.ts';
import { unpackPieces } from '../../src/objects/pieces.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { filesIn, type Own, query, StorageBench } from '../storage/harness.ts';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { randomOf, rounds, seed } from '../support/soak.ts';

const BUCKET = 'work';
const KILLS = rounds(14);
const WORKERS = 3;
const KEYS_EACH = 3;
const PART_BYTES = 5 * 1024 * 1024;
const SIZES = [0, 10, 70_000, 1_500_000];
const random = randomOf(seed);
const DAY_SECONDS = 86_400;

let bench: StorageBench;
let own: Own;
let folder: string;
const processes: ServiceProcess[] = [];
let isOver = false;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-kept-'));
  const env = { ASSETS_URL: `file://${folder}` };
  bench = await StorageBench.start({ env: { ...env, ROLES: 'web,render' } });
  own = await bench.withAccount(100, BUCKET);
  const of = { ...env, DATABASE_URL: bench.test.database.url, TEST_CLOCK: 'on', SECRETS_KEY };
  for (let i = 0; i < 2; i += 1) processes.push(await startProcess(await createPlace(of)));
});
afterAll(async () => {
  for (const { place } of processes) await place.remove();
  await bench.stop();
  await rm(folder, { recursive: true });
});

/** Bytes that stand for themselves: their digest is enough to know them. */
interface Content {
  readonly digest: string;
  readonly bytes: Buffer;
}
const NONE = 'none';
let made = 0;

function content(bytes: number): Content {
  made += 1;
  const seeded = createHash('sha256').update(`${seed} ${made}`).digest();
  const filled = Buffer.alloc(bytes, seeded);
  return { bytes: filled, digest: digestOf(filled) };
}

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What may stand under each key: one thing, or several while it is not known whether a call that broke off was done. */
const states = new Map<string, Set<string>>();
const counts = { done: 0, unknown: 0 };

const url = () => (processes[random(2)] as ServiceProcess).url;

function s3(at: string): S3Client {
  const credentials = { accessKeyId: aws.access_key_id, secretAccessKey: aws.secret_access_key };
  return new S3Client({ endpoint: `${at}/s3`, region: aws.region, credentials, forcePathStyle: true, maxAttempts: 1 });
}
// biome-ignore lint/suspicious/noExplicitAny: read from the account's call
let aws: any;

/** True: done. Null: it broke off, and may be done. Throws for what no kill explains. */
type Outcome = true | null;

async function put(key: string, { bytes }: Content): Promise<Outcome> {
  return outcomeOf(async () => {
    const headers = { authorization: `Bearer ${own.secret}`, 'content-type': 'application/octet-stream' };
    const reply = await fetch(`${url()}/v1/storage/upload/${BUCKET}/${key}`, {
      method: 'PUT',
      body: new Uint8Array(bytes),
      headers,
    });
    return reply.status;
  });
}

async function remove(key: string): Promise<Outcome> {
  return outcomeOf(async () => {
    const headers = { authorization: `Bearer ${own.secret}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ bucket: BUCKET, keys: [key] });
    return (await fetch(`${url()}/v1/storage/object/delete`, { method: 'POST', body, headers })).status;
  });
}

async function copy(from: string, to: string): Promise<Outcome> {
  return outcomeOf(async () => {
    const command = new CopyObjectCommand({ Bucket: BUCKET, Key: to, CopySource: `${BUCKET}/${from}` });
    return statusOf(() => s3(url()).send(command));
  });
}

/** In two parts, the second of which is short, over whichever process answers. */
async function inParts(key: string, { bytes }: Content): Promise<Outcome> {
  return outcomeOf(async () => {
    const named = { Bucket: BUCKET, Key: key };
    let begun: { readonly UploadId?: string } | undefined;
    const began = await statusOf(async () => {
      begun = await s3(url()).send(new CreateMultipartUploadCommand(named));
    });
    if (began !== 200) return began;
    const parts: { ETag: string; PartNumber: number }[] = [];
    for (const [i, Body] of [bytes.subarray(0, PART_BYTES), bytes.subarray(PART_BYTES)].entries()) {
      const status = await statusOf(async () => {
        const part = new UploadPartCommand({ ...named, UploadId: begun?.UploadId, PartNumber: i + 1, Body });
        parts.push({ ETag: (await s3(url()).send(part)).ETag ?? '', PartNumber: i + 1 });
      });
      if (status !== 200) return status;
    }
    const command = new CompleteMultipartUploadCommand({
      ...named,
      UploadId: begun?.UploadId,
      MultipartUpload: { Parts: parts },
    });
    return statusOf(() => s3(url()).send(command));
  });
}

/** Of an SDK's call; throws what has no status: the connection broke. */
async function statusOf(call: () => Promise<unknown>): Promise<number> {
  try {
    await call();
    return 200;
  } catch (error) {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === undefined) throw error;
    return status;
  }
}

async function outcomeOf(call: () => Promise<number>): Promise<Outcome> {
  let status: number;
  try {
    status = await call();
  } catch {
    counts.unknown += 1;
    // What the dead process had sent may still commit: longer than it may wait for a lock.
    await sleep(2_500);
    return null;
  }
  if (status === 200 || status === 204) {
    counts.done += 1;
    return true;
  }
  // A process that starts or stops, or lost its database connection: what it says may be of after the commit.
  expect([500, 502, 503]).toContain(status);
  counts.unknown += 1;
  return null;
}

/** What stands under the key now. */
async function seen(key: string): Promise<string> {
  for (;;) {
    try {
      const headers = { authorization: `Bearer ${own.secret}` };
      const reply = await fetch(`${url()}/v1/storage/object/get${query({ bucket: BUCKET, key })}`, { headers });
      if (reply.status === 404) return NONE;
      if (reply.status === 200) {
        // biome-ignore lint/suspicious/noExplicitAny: an answer
        const { data } = (await reply.json()) as any;
        if (data.url === null)
          return digestOf(
            data.content === null ? Buffer.from(data.content_base64, 'base64') : Buffer.from(data.content),
          );
        const link = new URL(data.url);
        const bytes = await fetch(`${url()}${link.pathname}`);
        if (bytes.status === 200) return digestOf(new Uint8Array(await bytes.arrayBuffer()));
      }
    } catch {
      // The process is dead: another one is asked.
    }
    await sleep(50);
  }
}

async function expectKnown(key: string): Promise<string> {
  const found = await seen(key);
  const may = states.get(key) ?? new Set([NONE]);
  expect([...may], `${key}, SEED=${seed}`).toContain(found);
  states.set(key, new Set([found]));
  return found;
}

async function work(worker: number): Promise<void> {
  const keys = Array.from({ length: KEYS_EACH }, (_, i) => `w${worker}/k${i}`);
  while (!isOver) {
    const key = keys[random(KEYS_EACH)] as string;
    const before = await expectKnown(key);
    const kind = random(10);
    const note = (outcome: Outcome, after: string) =>
      states.set(key, new Set(outcome === null ? [before, after] : [after]));
    if (kind < 5) {
      const put1 = content(SIZES[random(SIZES.length)] as number);
      note(await put(key, put1), put1.digest);
    } else if (kind < 6) {
      const long = content(PART_BYTES + 1_000);
      note(await inParts(key, long), long.digest);
    } else if (kind < 8) {
      note(await remove(key), NONE);
    } else {
      const from = keys[random(KEYS_EACH)] as string;
      const source = await expectKnown(from);
      if (source !== NONE && from !== key) note(await copy(from, key), source);
    }
  }
}

async function kill(): Promise<void> {
  for (let i = 0; i < KILLS; i += 1) {
    await sleep(400 + random(900));
    // An hour is over: both charge what is held.
    if (i % 3 === 0) await bench.test.advance(3_601);
    const at = random(2);
    const { place, end } = processes[at] as ServiceProcess;
    await end('SIGKILL');
    processes[at] = await startProcess(place);
  }
  isOver = true;
}

async function sweepAfter(days: number): Promise<void> {
  await bench.test.advance(days * DAY_SECONDS);
  const { signal } = new AbortController();
  for (const { run } of storageSweeps(bench.core)) while (await run(signal));
}

const findings = async () => (await examine({ db: bench.core.db, secrets: bench.core.secrets, modules })).findings;

test(`nothing that was answered is lost, charged twice or left behind, SEED=${seed}`, {
  timeout: 600_000,
}, async () => {
  const reply = await own.call('GET', '/v1/account/keys/aws');
  aws = reply.body.data;
  await Promise.all([kill(), ...Array.from({ length: WORKERS }, (_, worker) => work(worker))]);
  for (const key of states.keys()) await expectKnown(key);
  expect(counts.done).toBeGreaterThan(KILLS);
  // What is owed by then is charged in the background; the books are compared when that is done.
  for (const { place } of processes) await place.remove();
  expect(await findings()).toEqual([]);

  await sweepAfter(8);
  await sweepAfter(2);
  await sweepAfter(2);
  const blobs = await bench.rows<{ state: string; pieces: Buffer }>('blob', own.accountId);
  expect(blobs.map(({ state }) => state).filter((state) => state !== 'live')).toEqual([]);
  expect(await bench.rows('upload', own.accountId)).toEqual([]);
  expect(await bench.rows('part', own.accountId)).toEqual([]);
  const named = blobs.flatMap(({ pieces }) => unpackPieces(pieces).map(({ name }) => name));
  const kept = (await filesIn(join(folder, 'storage'))).map((file) => file.split('/').slice(-2).join(''));
  expect(kept.sort()).toEqual(named.sort());
  expect(await findings()).toEqual([]);
  const held = await bench.rows<{ bytes: bigint }>('held', own.accountId);
  const stored = await own.data('GET', `/v1/storage/bucket/get/${BUCKET}`);
  expect(Number(held[0]?.bytes)).toBe(stored.bytes);
});
