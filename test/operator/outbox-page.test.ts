// The operator's pages of mail that is not sent: read with the operator's session, page by page.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockNow } from '../../src/core/database-clock.ts';
import { sendMail } from '../../src/core/mail/mail.ts';
import { createOperatorLink } from '../../src/core/operator/link.ts';
import { PageVisitor } from '../support/page-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const PATH = '/console/operator/outbox';
let service: TestService;
let operator: PageVisitor;
beforeAll(async () => {
  service = await startTestService();
  const { db } = service.core;
  const token = await db.transaction(async (tx) => {
    for (let n = 1; n <= 25; n += 1) {
      const mail = { to: `p${n}@example.org`, subject: `Mail ${n}.`, text: `text ${n}`, html: '' };
      await sendMail(tx, mail, (await clockNow(tx)) + n);
    }
    return createOperatorLink(tx, await clockNow(tx));
  });
  operator = new PageVisitor(service.url);
  expect((await operator.post(`/auth/operator/${token}`, {})).status).toBe(303);
});
afterAll(() => service.stop());

test('each mail stands on one page of the list, the newest first, and on its own', async () => {
  const first = await operator.get(PATH);
  const [, older = ''] = /href="(\?cursor=[^"]+)"/.exec(first.text) ?? [];
  const second = await operator.get(PATH + older);
  const shown = `${first.text}${second.text}`.match(/Mail \d+\./g);
  expect(shown).toEqual(Array.from({ length: 25 }, (_, i) => `Mail ${25 - i}.`));
  expect(second.text).not.toContain('cursor=');
  const [, id = ''] = /href="\.\/outbox\/(mail_\w+)"/.exec(second.text) ?? [];
  const mail = await operator.get(`${PATH}/${id}`);
  expect([mail.status, mail.text.includes('text 5')]).toEqual([200, true]);
  expect(mail.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('what is no cursor, or no mail, is not there', async () => {
  for (const path of [
    `${PATH}?cursor=x`,
    `${PATH}?cursor=a&cursor=b`,
    `${PATH}/mail_1111111111111111111111`,
    `${PATH}/x`,
  ])
    expect([path, (await operator.get(path)).status]).toEqual([path, 404]);
});

test('nobody else is shown anything of it: not signed in, nor by a key for everything', async () => {
  const stranger = new PageVisitor(service.url);
  const asked = await stranger.get(PATH);
  expect(asked.text).not.toContain('Mail 1');
  const { secret } = await createTestAccount(service.core);
  expect((await stranger.post('/auth/key', { key: secret, return_to: PATH })).status).toBe(303);
  const refused = await stranger.get(PATH);
  expect([refused.status, refused.text.includes('Mail 1')]).toEqual([403, false]);
});
