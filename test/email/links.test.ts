// What recipients can do with links of a mail: unsubscribe, open, follow. And what nobody else can.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmailBench } from './harness.ts';

let bench: EmailBench;
beforeAll(async () => {
  bench = await EmailBench.start();
});
afterAll(() => bench.stop());

const decoded = (source: string) => source.replaceAll('=\r\n', '').replaceAll('=3D', '=');

/** Sends to two, and answers the copy of each. */
async function copies(fields: object): Promise<[string, string]> {
  bench.relay?.mails.splice(0);
  await bench.sent({
    to: ['ada@example.net', 'bob@example.net'],
    html: '<p><a href="https://example.com/a?b=1&amp;c=2">Go</a></p>',
    ...fields,
  });
  const mails = bench.relay?.mails ?? [];
  expect(mails.map(({ to }) => to)).toEqual([['ada@example.net'], ['bob@example.net']]);
  return mails.map(({ source }) => decoded(source)) as [string, string];
}

const linkIn = (source: string, kind: string) =>
  new URL(new RegExp(`(http[^">\\s]*/${kind}/[^">\\s]+)`).exec(source)?.[1] as string);
const visit = (link: URL, method = 'GET') => fetch(bench.service.url + link.pathname, { method, redirect: 'manual' });

test('one click unsubscribes whom the copy was for, and a look alone does not', async () => {
  const [first, other] = await copies({ unsubscribe: true });
  expect(first).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  const link = linkIn(first, 'unsubscribe');
  expect(linkIn(other, 'unsubscribe').href).not.toBe(link.href);
  const page = await visit(link);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('ada@example.net')]);
  expect((await bench.send({ to: 'ada@example.net' })).status).toBe(200);
  expect((await visit(link, 'POST')).status).toBe(200);
  expect((await visit(link, 'POST')).status).toBe(200);
  const { body } = await bench.send({ to: ['ada@example.net', 'bob@example.net'] });
  expect(body.data.recipients.map(({ status }: { status: string }) => status)).toEqual(['suppressed', 'sent']);
  const { body: list } = await bench.call('GET', '/v1/email/suppression/list?reason=unsubscribe');
  expect(list.data.items).toMatchObject([{ address: 'ada@example.net', reason: 'unsubscribe' }]);
  expect((await bench.events()).filter(({ type }) => type === 'email.unsubscribed')).toHaveLength(1);
});

test('openings and clicks are told once a minute with whom they are of, and a click leads on', async () => {
  bench = await bench.withAccount();
  const [first] = await copies({ track_opens: true, track_clicks: true });
  expect(first).not.toContain('href="https://example.com');
  const [open, click] = [linkIn(first, 'open'), linkIn(first, 'click')];
  for (let i = 0; i < 2; i += 1) {
    const pixel = await visit(open);
    expect([pixel.status, pixel.headers.get('content-type')]).toEqual([200, 'image/gif']);
    const led = await visit(click);
    expect([led.status, led.headers.get('location')]).toEqual([302, 'https://example.com/a?b=1&c=2']);
  }
  const told = (await bench.events()).filter(({ type }) => /opened|clicked/.test(type));
  expect(told.map(({ type, data }) => [type, data.recipients, data.url])).toEqual([
    ['email.opened', ['ada@example.net'], undefined],
    ['email.clicked', ['ada@example.net'], 'https://example.com/a?b=1&c=2'],
  ]);
});

test('without being asked for nothing is tracked', async () => {
  await bench.sent({ html: '<a href="https://example.com/">Go</a>' });
  expect(bench.relay?.mails.at(-1)?.source).toContain('<a href="https://example.com/">');
});

test('a token that is made up, or of another kind, leads nowhere', async () => {
  const [first] = await copies({ track_clicks: true, unsubscribe: true });
  const click = linkIn(first, 'click');
  const changed = new URL(click.href.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')));
  const asUnsubscribe = new URL(click.href.replace('/click/', '/unsubscribe/'));
  for (const link of [changed, asUnsubscribe]) expect((await visit(link, 'POST')).status).toBeGreaterThanOrEqual(400);
  expect((await visit(changed)).headers.get('location')).toBeNull();
});
