// Mail that was sent is found by whom it went to and by words of its subject: through the list, the search of all objects, and the console.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageVisitor } from '../support/page-visitor.ts';
import { EmailBench } from './harness.ts';

let bench: EmailBench;
beforeAll(async () => {
  bench = await EmailBench.start({ relay: false });
  const mail = (to: string[], subject: string, more = {}) =>
    bench.sent({ from: 'a@agents.test', to, subject, text: 'x', ...more });
  await mail(['Ada@Example.org'], 'Invoice 17 of March');
  await mail(['bob@example.org'], 'Invoice 18 of April', { bcc: ['ada@example.org'] });
  await mail(['bob@example.org'], '100% off');
});
afterAll(() => bench.stop());

async function subjects(query: Record<string, string>, of = bench): Promise<string[]> {
  const { status, body, text } = await of.call('GET', `/v1/email/list?${new URLSearchParams(query)}`);
  expect(status, text).toBe(200);
  return body.data.items.map(({ subject }: { subject: string }) => subject);
}

test('by recipient: to, cc or bcc, in any case, the whole address, the newest first', async () => {
  const both = ['Invoice 18 of April', 'Invoice 17 of March'];
  expect(await subjects({ recipient: 'ada@example.org' })).toEqual(both);
  expect(await subjects({ recipient: 'ADA@EXAMPLE.ORG' })).toEqual(both);
  expect(await subjects({ recipient: 'da@example.org' })).toEqual([]);
  expect(await subjects({ recipient: '%@example.org' })).toEqual([]);
});

test('by words of the subject, each of which it holds, and by both', async () => {
  expect(await subjects({ subject: 'april INVOICE' })).toEqual(['Invoice 18 of April']);
  expect(await subjects({ subject: 'invoice', recipient: 'bob@example.org' })).toEqual(['Invoice 18 of April']);
  expect(await subjects({ subject: '%' })).toEqual(['100% off']);
  expect(await subjects({ subject: '_' })).toEqual([]);
  expect(await subjects({ subject: 'invoice', status: 'bounced' })).toEqual([]);
});

test('page by page, and a cursor is of the same search only', async () => {
  const page = async (query: Record<string, string>) =>
    (await bench.call('GET', `/v1/email/list?${new URLSearchParams(query)}`)).body;
  const { data: first } = await page({ subject: 'invoice', limit: '1' });
  expect(first).toMatchObject({ items: [{ subject: 'Invoice 18 of April' }], has_more: true });
  const { data: second } = await page({ subject: 'invoice', limit: '1', cursor: first.next_cursor });
  expect(second).toMatchObject({ items: [{ subject: 'Invoice 17 of March' }], has_more: false, next_cursor: null });
  const { error } = await page({ subject: 'off', limit: '1', cursor: first.next_cursor });
  expect(error.code).toBe('INVALID_CURSOR');
});

test('another account finds nothing', async () => {
  const other = await bench.withAccount();
  expect(await subjects({ recipient: 'ada@example.org' }, other)).toEqual([]);
  expect(await subjects({ subject: 'invoice' }, other)).toEqual([]);
});

test.each([
  ['recipient', 'a'],
  ['recipient', `a@${'b'.repeat(400)}.org`],
  ['subject', 'x'.repeat(201)],
])('a %s of %.3s is refused, naming the field', async (param, value) => {
  const { body } = await bench.call('GET', `/v1/email/list?${new URLSearchParams({ [param]: value })}`);
  expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED', param });
});

test('the search of all objects, which the palette of the console asks, finds it by both', async () => {
  const find = async (q: string) => {
    const { items } = (await bench.call('GET', `/v1/account/search?${new URLSearchParams({ q })}`)).body.data;
    return items.filter(({ kind }: { kind: string }) => kind === 'mail').map(({ name }: { name: string }) => name);
  };
  expect(await find('ada@example.org')).toEqual(['Invoice 18 of April', 'Invoice 17 of March']);
  expect(await find('march')).toEqual(['Invoice 17 of March']);
});

test('the page of the console lists what is sought, and keeps what was typed', async () => {
  const visitor = new PageVisitor(bench.service.url);
  await visitor.post('/auth/key', { key: bench.account.secret });
  const { text } = await visitor.get('/console/email?recipient=ada%40example.org&subject=march');
  expect(text).toContain('Invoice 17 of March');
  expect(text).not.toContain('Invoice 18');
  expect(text).toMatch(/name="recipient" value="ada@example.org"/);
  expect((await visitor.get('/console/email?subject=nothing')).text).toContain('No email found');
});

test('mail that the outbox kept is not shown as delivered, in the list and on its page', async () => {
  const visitor = new PageVisitor(bench.service.url);
  await visitor.post('/auth/key', { key: bench.account.secret });
  const { text } = await visitor.get('/console/email');
  const [, mail = ''] = /href="\/console(\/email\/sent\/[^"]+)"/.exec(text) ?? [];
  for (const page of [text, (await visitor.get(`/console${mail}`)).text]) {
    expect(page).toContain('kept in the outbox</span>');
    expect(page).not.toContain('badge good');
  }
});
