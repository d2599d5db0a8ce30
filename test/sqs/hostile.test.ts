// Bodies that are no requests, names of others, and values that no SDK sends: each is refused or harmless, and nobody waits for it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { elements, formRequest, jsonRequest, type SqsReply } from '../support/sqs.ts';
import { SqsBench } from './harness.ts';

let bench: SqsBench;
let url: string;
beforeAll(async () => {
  bench = await SqsBench.start();
  url = await bench.create('hostile');
});
afterAll(() => bench.stop());
beforeEach(async () => {
  expect((await bench.json('PurgeQueue', { QueueUrl: url })).status).toBe(200);
});

type Pairs = readonly (readonly [string, string])[];
const form = (action: string, pairs: Pairs) =>
  bench.raw(formRequest([['Action', action], ['Version', '2012-11-05'], ...pairs]));
const MIB = 2 ** 20;

/** A refusal in the protocol's own form, not a crash, not a page. */
function expectRefused(reply: SqsReply, statuses = [400, 413]): void {
  expect(statuses, reply.text.slice(0, 300)).toContain(reply.status);
  expect(reply.code, reply.text.slice(0, 300)).toMatch(/^[A-Za-z.]+$/);
  expect(reply.headers.get('x-request-id') ?? reply.headers.get('x-amzn-requestid')).toMatch(/./);
}

/** Runs `attack` while another account calls, which is served all the while. */
async function besides<T>(attack: () => Promise<T>): Promise<T> {
  const other = await bench.withAccount();
  let served = 0;
  let over = false;
  const watch = async () => {
    while (!over) {
      expect((await other.json('ListQueues', {})).status).toBe(200);
      served += 1;
    }
  };
  const watching = watch();
  const answer = await attack();
  over = true;
  await watching;
  expect(served).toBeGreaterThan(0);
  return answer;
}

describe('bodies in JSON', () => {
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['half an object', '{"QueueUrl":'],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['bytes that are no UTF-8', Buffer.from('7b22517565756555726c223a22ff227d', 'hex')],
    ['10,000 arrays in each other', `{"QueueUrl":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['100,000 members', `{${Array.from({ length: 100_000 }, (_, n) => `"a${n}":1`).join()}}`],
    ['an object in place of the URL', '{"QueueUrl":{},"MessageBody":"x"}'],
    ['a number in place of the body', '{"QueueUrl":"http://x/hostile","MessageBody":7}'],
    ['attributes that are a list', '{"QueueUrl":"http://x/hostile","MessageBody":"x","MessageAttributes":[]}'],
  ])('are refused: %s', async (_, body) => {
    expectRefused(await besides(() => bench.raw(jsonRequest('SendMessage', body))));
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('unknown and foreign targets are told so', async () => {
    for (const target of ['AmazonSQS.Nothing', 'AmazonSQS.constructor', 'AmazonSQS.__proto__', 'AmazonSNS.Publish', ''])
      expectRefused(await bench.raw(jsonRequest('', {}, { 'x-amz-target': target })), [400, 404]);
  });

  test('names of prototypes are names like any other', async () => {
    const attributes =
      '{"__proto__":{"DataType":"String","StringValue":"p"},"constructor":{"DataType":"String","StringValue":"c"}}';
    const sent = await bench.raw(
      jsonRequest('SendMessage', `{"QueueUrl":"${url}","MessageBody":"x","MessageAttributes":${attributes}}`),
    );
    expect(sent.status, sent.text).toBe(200);
    const { text } = await bench.json('ReceiveMessage', { QueueUrl: url, MessageAttributeNames: ['All'] });
    expect(text).toContain('"__proto__":{');
    expect(text).toContain('"constructor":{');
    const tagged = await bench.raw(jsonRequest('TagQueue', `{"QueueUrl":"${url}","Tags":{"__proto__":"t"}}`));
    expect(tagged.status, tagged.text).toBe(200);
    expect((await bench.json('ListQueueTags', { QueueUrl: url })).text).toContain('"__proto__":"t"');
    expect(({} as { StringValue?: string }).StringValue).toBeUndefined();
  });

  test('invalid UTF-8 is refused, not stored as something else', async () => {
    const before = Buffer.from(`{"QueueUrl":"${url}","MessageBody":"a`);
    for (const bytes of ['ff', 'c3', 'eda080', 'c0af', 'f4908080']) {
      const body = Buffer.concat([before, Buffer.from(bytes, 'hex'), Buffer.from('b"}')]);
      expectRefused(await bench.raw(jsonRequest('SendMessage', body)));
      const escaped = bytes.replaceAll(/../g, '%$&');
      const sent = await bench.raw(
        formRequest(`Action=SendMessage&QueueUrl=${encodeURIComponent(url)}&MessageBody=a${escaped}b`),
      );
      expectRefused(sent);
    }
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('10 MiB are refused, whatever is in them', async () => {
    const MessageBody = 'x'.repeat(10 * MIB);
    const sent = await besides(() => bench.json('SendMessage', { QueueUrl: url, MessageBody }));
    expectRefused(sent);
    expectRefused(await besides(() => bench.raw(formRequest(`Action=SendMessage&MessageBody=${MessageBody}`))));
  });

  test('lists far beyond their bound are refused', async () => {
    const Entries = Array.from({ length: 5_000 }, (_, n) => ({ Id: `e${n}`, MessageBody: 'x' }));
    expectRefused(await besides(() => bench.json('SendMessageBatch', { QueueUrl: url, Entries })));
    const names = Array.from({ length: 50_000 }, (_, n) => `name${n}`);
    const asked = await besides(() => bench.json('ReceiveMessage', { QueueUrl: url, MessageAttributeNames: names }));
    // Only messages may be long.
    expect(asked.status).toBe(413);
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });
});

describe('forms', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['no action', 'Version=2012-11-05'],
    ['an unknown action', 'Action=Nothing&Version=2012-11-05'],
    ['an action of a prototype', 'Action=toString&Version=2012-11-05'],
    ['100,000 parameters', `Action=SendMessage&${Array.from({ length: 100_000 }, (_, n) => `a${n}=1`).join('&')}`],
    ['a name of 10,000 parts', `Action=SendMessage&MessageAttribute${'.1'.repeat(10_000)}=x`],
    ['a list index without bound', 'Action=SendMessageBatch&SendMessageBatchRequestEntry.999999999.Id=x'],
    ['a list index below one', 'Action=SendMessageBatch&SendMessageBatchRequestEntry.-1.Id=x'],
    ['a prototype in a name', 'Action=SendMessage&__proto__.MessageBody=x&constructor.prototype.a=1'],
    ['broken escapes', 'Action=SendMessage&MessageBody=%E0%A4%A&QueueUrl=%'],
    ['XML', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
  ])('are refused: %s', async (_, body) => {
    expectRefused(await besides(() => bench.raw(formRequest(body))), [400, 404, 413]);
    expect(await bench.counts(url)).toEqual([0, 0, 0]);
  });

  test('a body of XML is never parsed: entities that unfold without end cost nothing', async () => {
    const levels = Array.from({ length: 30 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');
    const bomb = `<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "x">${levels}]><r>&e30;</r>`;
    for (const type of ['application/xml', 'text/xml', 'application/x-www-form-urlencoded'])
      expectRefused(await besides(() => bench.raw({ headers: { 'content-type': type }, body: bomb })), [400, 404, 415]);
  });

  test('of a parameter that comes twice one is taken, and nothing else of the two', async () => {
    const sent = await form('SendMessage', [
      ['QueueUrl', url],
      ['MessageBody', 'first'],
      ['MessageBody', 'second'],
    ]);
    const bodies = await bench.bodies(url);
    if (sent.status === 200) expect(['first', 'second']).toContain(bodies.join());
    else expectRefused(sent);
  });

  test('text of all kinds comes back from XML as it was sent', async () => {
    const body = `<![CDATA[x]]> & "quoted" 'single' é 漢 😀 \t\r\n ]]> &amp;`;
    expect(
      (
        await form('SendMessage', [
          ['QueueUrl', url],
          ['MessageBody', body],
        ])
      ).status,
    ).toBe(200);
    const { text } = await form('ReceiveMessage', [
      ['QueueUrl', url],
      ['MaxNumberOfMessages', '10'],
    ]);
    expect(elements(text, 'Body')).toEqual([body]);
    // A parser makes a bare carriage return a line feed (XML 1.0, section 2.11): it must be written as a reference.
    expect(text).not.toContain('\r');
  });

  test('what is refused is told without what was sent in it being markup', async () => {
    const { text } = await form('GetQueueUrl', [['QueueName', '<script>alert(1)</script>']]);
    expect(text).not.toContain('<script>');
    expect(text).toMatch(/<ErrorResponse.*<Type>Sender<\/Type>.*<RequestId>[^<]+<\/RequestId>/s);
  });
});

describe('contents and names', () => {
  const controls = ['\u0000', '\u0001', '\u0008', '\u000B', '\u000C', '\u001F', '\uFFFE', '\uFFFF'];
  test.each(controls.map((control) => [JSON.stringify(control), control]))(
    'a body with %s is InvalidMessageContents, as JSON and as a form',
    async (_, control) => {
      const body = `a${control}b`;
      const asJson = await bench.json('SendMessage', { QueueUrl: url, MessageBody: body });
      expect([asJson.status, asJson.code]).toEqual([400, 'InvalidMessageContents']);
      const asForm = await form('SendMessage', [
        ['QueueUrl', url],
        ['MessageBody', body],
      ]);
      expect([asForm.status, asForm.code]).toEqual([400, 'InvalidMessageContents']);
    },
  );

  test('half of a surrogate pair is InvalidMessageContents', async () => {
    const sent = await bench.raw(jsonRequest('SendMessage', `{"QueueUrl":"${url}","MessageBody":"a\\ud800b"}`));
    expect([sent.status, sent.code]).toEqual([400, 'InvalidMessageContents']);
  });

  test.each(['SendMessage', 'ReceiveMessage', 'DeleteQueue', 'PurgeQueue', 'GetQueueAttributes', 'ListQueueTags'])(
    '%s of another account’s queue answers as of one that is not there, and changes nothing',
    async (action) => {
      const other = await bench.withAccount();
      const theirs = await other.create('theirs');
      await other.send(theirs, 'private');
      const ask = async (QueueUrl: string) => {
        const { status, code, json } = await bench.json(action, { QueueUrl, MessageBody: 'x' });
        return [status, code, json.message ?? json.Message];
      };
      expect(await ask(theirs)).toEqual(await ask(theirs.replace(/theirs$/, 'nobodys')));
      expect((await ask(theirs))[0]).toBe(400);
      expect(await other.bodies(theirs)).toEqual(['private']);
    },
  );

  test('another account’s handle and ARN open nothing', async () => {
    const other = await bench.withAccount();
    const theirs = await other.create('hostile');
    await other.send(theirs, 'private');
    const [message] = await other.receive(theirs, { VisibilityTimeout: 600 });
    const { status, code } = await bench.json('DeleteMessage', {
      QueueUrl: url,
      ReceiptHandle: message?.ReceiptHandle,
    });
    expect(status === 200 || code === 'ReceiptHandleIsInvalid', code ?? '').toBe(true);
    expect(await other.counts(theirs)).toEqual([0, 1, 0]);
    const { QueueArn } = await other.attributes(theirs);
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: QueueArn, maxReceiveCount: 1 });
    const Attributes = { RedrivePolicy: RedrivePolicy.replace(/:hostile"/, ':theirs-only"') };
    await other.create('theirs-only');
    expectRefused(await bench.json('SetQueueAttributes', { QueueUrl: url, Attributes }));
  });
});
