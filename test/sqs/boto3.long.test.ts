// Programs in Python, each in a process of its own: boto3 of both protocols (forms up to 2023, JSON since) and a Celery worker. They run where
// an interpreter has the packages: TEST_PYTHONS names interpreters, separated by colons.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { printedByPythons } from '../support/pythons.ts';
import { md5OfAttributes } from '../support/sqs.ts';
import { SqsBench } from './harness.ts';

const PROTOCOL = `import botocore.session as b; print(b.get_session().get_service_model('sqs').metadata['protocol'])`;
const CELERY = 'import boto3, celery, kombu, pycurl; print(celery.__version__)';

const protocols = printedByPythons(PROTOCOL);
const pythonOf = (protocol: string) => protocols.find(({ printed }) => printed === protocol)?.python;
const celeryPython = printedByPythons(CELERY).find(({ printed }) => printed?.startsWith('5.2.'))?.python;
const note = (found: string | undefined, hint: string) => (found === undefined ? ` (not here: ${hint})` : '');

let bench: SqsBench;
let folder: string;
beforeAll(async () => {
  bench = await SqsBench.start();
  folder = await mkdtemp(join(tmpdir(), 'qm-celery-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await bench.stop();
});

/** Runs a program to its end; answers what it printed. */
async function run(python: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(python, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 90_000,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  const [[code], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  expect(code, stderr).toBe(0);
  return stdout;
}

const BODY = 'é 漢 😀 <b>&amp;</b>\r\n\t"quoted"';
const ATTRIBUTES = {
  text: { DataType: 'String', StringValue: 'é & <x>' },
  number: { DataType: 'Number.int', StringValue: '-17' },
  bytes: { DataType: 'Binary', BinaryValue: Uint8Array.of(0, 255, 128) },
};
const md5 = createHash('md5').update(BODY).digest('hex');

/** What the program must see. `prefix`: of its queues. */
const due = (prefix: string) => ({
  same_url: true,
  body: true,
  body_md5: [md5, md5],
  attributes: true,
  attributes_md5: [md5OfAttributes(ATTRIBUTES), md5OfAttributes(ATTRIBUTES)],
  receive_count: '1',
  nothing_left: true,
  second_count: { ApproximateReceiveCount: '2' },
  batch: [['a', 'c'], [['b', 'InvalidMessageContents', true]]],
  batch_bodies: ['1', '{}'],
  visibility_batch: 2,
  delete_batch: 2,
  told: ['40', '7', '3600', '0'],
  arn: expect.stringMatching(new RegExp(`^arn:aws:sqs:us-east-1:\\d{12}:${prefix}Main$`)),
  tags: { cost: 'é&' },
  sequence: [true, true],
  fifo: [
    ['x', 'g'],
    ['y', 'g'],
  ],
  queues: [`${prefix}Main`, `${prefix}order.fifo`],
  sources: [true],
  failures: {
    missing: ['AWS.SimpleQueueService.NonExistentQueue', 400, 'QueueDoesNotExist'],
    exists: ['QueueAlreadyExists', 400, expect.stringMatching(/^(QueueNameExists|ClientError)$/)],
    handle: ['ReceiptHandleIsInvalid', expect.toBeOneOf([400, 404]), 'ReceiptHandleIsInvalid'],
    contents: ['InvalidMessageContents', 400, 'InvalidMessageContents'],
    empty_batch: ['AWS.SimpleQueueService.EmptyBatchRequest', 400, 'EmptyBatchRequest'],
    attribute: ['InvalidAttributeName', 400, 'InvalidAttributeName'],
    delay: ['InvalidParameterValue', 400, 'ClientError'],
    permission: ['AWS.SimpleQueueService.UnsupportedOperation', 400, 'UnsupportedOperation'],
    signature: ['SignatureDoesNotMatch', 403, 'ClientError'],
  },
  deleted: ['AWS.SimpleQueueService.NonExistentQueue', 400, 'QueueDoesNotExist'],
});

describe.each([
  ['query', 'forms', 'Debian 12 has it as python3-boto3'],
  ['json', 'JSON', 'pip install boto3'],
])('boto3 %s', (protocol, sends, hint) => {
  const python = pythonOf(protocol);
  test.skipIf(python === undefined).each(['/sqs', ''])(
    `what sends ${sends} does all that a program does, at the address %o${note(python, hint)}`,
    async (path) => {
      const prefix = `${protocol}-${path === '' ? 'root' : 'path'}-`;
      const program = join(import.meta.dirname, 'boto3_program.py');
      const { accessKeyId, secretAccessKey } = bench.key;
      const printed = await run(python as string, [program, bench.url + path, accessKeyId, secretAccessKey, prefix]);
      const seen = JSON.parse(printed);
      expect(seen).toMatchObject({ protocol, ...due(prefix) });
      expect(seen.url).toMatch(new RegExp(`^${bench.url}/sqs/\\d{12}/${prefix}Main$`));
    },
  );
});

describe('Celery 5.2', () => {
  const hint = 'Debian 12 has it as python3-celery, with python3-boto3 and python3-pycurl';
  const program = join(import.meta.dirname, 'celery_tasks.py');

  test.skipIf(celeryPython === undefined)(
    `a worker with the root address as its broker runs each task once, retries too, and its queue is empty then${note(celeryPython, hint)}`,
    async () => {
      const { accessKeyId, secretAccessKey } = bench.key;
      const result = join(folder, 'result');
      const credentials = `${encodeURIComponent(accessKeyId)}:${encodeURIComponent(secretAccessKey)}`;
      const env = {
        BROKER_URL: `sqs://${credentials}@${new URL(bench.url).host}`,
        QUEUE: 'celery-videos',
        RESULT: result,
      };
      await run(celeryPython as string, [program, '2+3', '0+7', '10+20'], env);
      const url = `${bench.url}/sqs/000000000000/celery-videos`;
      expect(await bench.counts(url)).toEqual([3, 0, 0]);
      const worker = startWorker(celeryPython as string, env);
      try {
        await vi.waitFor(
          async () => {
            expect(worker.exitCode, worker.told()).toBeNull();
            expect(existsSync(result), worker.told()).toBe(true);
            const sums = readFileSync(result, 'utf8').trim().split('\n').map(Number);
            expect(
              sums.sort((a, b) => a - b),
              worker.told(),
            ).toEqual([5, 7, 30]);
            expect(await bench.counts(url)).toEqual([0, 0, 0]);
          },
          { timeout: 45_000, interval: 200 },
        );
      } finally {
        await worker.stop();
      }
    },
  );
});

/** A worker of one process. */
function startWorker(python: string, env: Record<string, string>) {
  const options = [
    '--pool',
    'solo',
    '--without-gossip',
    '--without-mingle',
    '--without-heartbeat',
    '--loglevel',
    'INFO',
  ];
  const child: ChildProcess = spawn(python, ['-m', 'celery', '-A', 'celery_tasks', 'worker', ...options], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      told += chunk;
    });
  return {
    told: () => told.slice(-3_000),
    get exitCode() {
      return child.exitCode;
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await once(child, 'exit');
      clearTimeout(late);
    },
  };
}
