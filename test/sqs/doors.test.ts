// What is asked before anything of a request is read or looked up: who it names, whether that may do so, and how often.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACTIONS } from '../../src/modules/queue/sqs/routes.ts';
import { QueueBench } from '../queue/harness.ts';
import { openRaw } from '../support/raw.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { callSqs, jsonRequest, type SqsRequest, signedHeaders } from '../support/sqs.ts';
import { SqsBench } from './harness.ts';

let bench: SqsBench;
let publicKey: SqsBench;
let url: string;
let arn: string;
beforeAll(async () => {
  const service = await startTestService({ env: { RATE_LIMITS: 'on' } });
  bench = await SqsBench.of(new QueueBench(service, await createTestAccount(service.core)));
  publicKey = await bench.withScopes(['errors.capture']);
  url = await bench.create('jobs');
  arn = (await bench.attributes(url, ['QueueArn'])).QueueArn as string;
});
afterAll(() => bench?.stop());

const nameless = (text: string) => text.replace(/"request_id":"[^"]*"|<RequestId>[^<]*/g, '');
/** What any action may want. */
const inputOf = (queue: string) => ({
  QueueName: queue,
  QueueUrl: url.replace(/jobs$/, queue),
  SourceArn: arn.replace(/jobs$/, queue),
  MessageBody: 'x',
  ReceiptHandle: 'x',
  VisibilityTimeout: 5,
  TagKeys: ['a'],
  Tags: { a: 'b' },
  TaskHandle: 'x',
  Attributes: {},
  Entries: [{ Id: 'a', MessageBody: 'x', ReceiptHandle: 'x', VisibilityTimeout: 5 }],
});

describe('a public key learns nothing', () => {
  const served = [...ACTIONS].filter(([, [, ...capabilities]]) => capabilities.length > 0).map(([action]) => action);

  test.each(served)('%s is denied before the queue is looked up, and before the body is decoded', async (action) => {
    const inputs = [inputOf('jobs'), inputOf('nobody-has-it'), '{', { nothing: 1 }];
    const answers = await Promise.all(inputs.map((input) => publicKey.json(action, input)));
    expect(answers.map(({ status, code }) => [status, code])).toEqual(inputs.map(() => [403, 'AccessDenied']));
    expect(new Set(answers.map(({ text }) => nameless(text))).size).toBe(1);
    const forms = await Promise.all(
      ['jobs', 'nobody-has-it'].map((name) => publicKey.form(action, { QueueUrl: url.replace(/jobs$/, name) })),
    );
    expect(forms.map(({ code }) => code)).toEqual(['AccessDenied', 'AccessDenied']);
  });
});

test('guesses of names take the rate of the call, whether the queue is there or not', async () => {
  const guesser = await bench.withAccount();
  const codes = new Set<string | null>();
  const guesses = Array.from({ length: 150 }, (_, n) => guesser.json('DeleteQueue', inputOf(`guess-${n}`)));
  for (const { code } of await Promise.all(guesses)) codes.add(code);
  expect([...codes].sort()).toEqual(['QueueDoesNotExist', 'RequestThrottled']);
});

/** The status that comes back for a head that announces so many bytes, of which none is sent. */
async function statusOfHead(request: SqsRequest, headers: Record<string, string>, bytes: number): Promise<string> {
  const connection = await openRaw(bench.url);
  const lines = { ...headers, host: new URL(bench.url).host, 'content-length': String(bytes) };
  const text = Object.entries(lines).map((pair) => pair.join(': '));
  connection.send(`POST ${request.path ?? '/sqs'} HTTP/1.1\r\n${text.join('\r\n')}\r\n\r\n`);
  const answer = await connection.receive();
  connection.destroy();
  return answer.slice(9, 12);
}

describe('a long body is not read', () => {
  const MIB = 2 ** 20;
  const message = jsonRequest('SendMessage', { MessageBody: 'x' });
  const list = jsonRequest('ListQueues', {});
  const headOf = (request: SqsRequest, by: Pick<SqsBench, 'key'>, nowMs = Date.now()) =>
    signedHeaders(bench.url, request, by.key, { nowMs });

  test.each<[string, () => [SqsRequest, Record<string, string>], string]>([
    ['without a signature', () => [message, message.headers as Record<string, string>], '403'],
    [
      'of a key id that is nobody’s',
      () => [message, headOf(message, { key: { ...bench.key, accessKeyId: `key_${'0'.repeat(22)}` } })],
      '403',
    ],
    ['of a clock that is off', () => [message, headOf(message, bench, Date.now() - 3_600_000)], '403'],
    ['of a key that may not send', () => [message, headOf(message, publicKey)], '403'],
    ['for an action that needs none', () => [list, headOf(list, bench)], '413'],
    [
      'of a hash that is told, for an action that needs none',
      () => {
        const told = { ...list, headers: { ...list.headers, 'x-amz-content-sha256': '0'.repeat(64) } };
        return [told, headOf(told, bench)];
      },
      '403',
    ],
  ])('%s', async (_, make, status) => {
    const [request, headers] = make();
    expect(await statusOfHead(request, headers, 4 * MIB - 1)).toBe(status);
  });

  test('of a key whose signatures from this address were wrong twenty times, while short and right ones pass', async () => {
    const other = await bench.withAccount();
    const target = await other.create('mine');
    const wrong = { ...other.key, secretAccessKey: 'x'.repeat(40) };
    for (let n = 0; n < 21; n += 1) await callSqs(bench.url, list, wrong);
    expect(await statusOfHead(message, headOf(message, other), MIB)).toBe('429');
    expect((await other.raw(list)).status).toBe(200);
    // The keys of others at the same address are heard as before.
    const long = 'x'.repeat(200_000);
    expect((await bench.json('SendMessage', { QueueUrl: url, MessageBody: long })).status).toBe(200);
    expect((await other.json('SendMessage', { QueueUrl: target, MessageBody: 'short' })).status).toBe(200);
  });
});
