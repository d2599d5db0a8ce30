// Email in the console: mail is sent, followed and cancelled; HTML of strangers is shown and does nothing; inboxes, domains, suppressions.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectDone, forgetStatus, openConsole } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench?.stop());

const open = () => openConsole(bench.chromium.browser, bench.service.url, bench.account.secret);
const at = (path: string) => `${bench.service.url}/console${path}`;
const send = async (fields: object) => {
  const mail = { from: 'news@example.com', to: 'ada@example.org', subject: 'Hello', text: 'Hi.' };
  const { status, body, text } = await bench.call('POST', '/v1/email/send', { ...mail, ...fields });
  expect(status, text).toBe(200);
  return body.data;
};

test('a mail is written and sent, and its page says what became of it', async () => {
  const { page, faults } = await open();
  await page.goto(at('/email?new=1'));
  await page.fill('input[name=from]', 'Billing <billing@example.com>');
  await page.fill('input[name=to]', 'ada@example.org, grace@example.org');
  await page.fill('input[name=subject]', 'Invoice 7');
  await page.fill('textarea[name=text]', 'It is in your account.');
  await page.click('main button.main');
  await expectDone(page, 'Email accepted.');
  expect(await page.textContent('h1')).toBe('Invoice 7');
  expect(await page.textContent('main')).toContain('nothing left the service');
  expect(await page.locator('table tbody tr').count()).toBe(2);
  expect(await page.textContent('pre[aria-label=Text]')).toBe('It is in your account.');
  await page.click('text=Source');
  await expect.poll(() => page.textContent('pre[aria-label=Source]')).toContain('DKIM-Signature:');
  expect(faults).toEqual([]);
});

test('what is wrong with a mail stands beside its field', async () => {
  const { page, faults } = await open();
  await page.goto(at('/email?new=1'));
  await page.fill('input[name=from]', 'nobody');
  await page.fill('input[name=to]', 'ada@example.org');
  await page.fill('input[name=subject]', 'Hello');
  await page.fill('textarea[name=text]', 'Hi.');
  await page.click('main button.main');
  await expect.poll(() => page.textContent('#create-from-fault')).toContain('must be one address');
  expect(await page.inputValue('textarea[name=text]')).toBe('Hi.');
  forgetStatus(faults);
  expect(faults).toEqual([]);
});

test('HTML of a mail shows its styles; scripts, pictures from elsewhere, forms and links do nothing', async () => {
  const hostile = `<style>p { color: rgb(1, 2, 3) }</style><p id="styled" style="font-weight: 700">Hello</p>
<script>parent.document.title = 'taken'</script><img src="https://tracker.example.org/pixel.gif" onerror="parent.document.title='taken'">
<img src="/v1/discovery" onerror="top.location='https://elsewhere.example.org'"><a id="out" target="_top" href="https://elsewhere.example.org">out</a>
<form id="form" action="https://elsewhere.example.org"><button>go</button></form></iframe><script>document.title = 'taken'</script>`;
  const { email_id } = await send({ subject: 'Hostile', html: hostile });
  const { page, faults } = await open();
  await page.goto(at(`/email/sent/${email_id}`));
  await expect.poll(() => page.frames().length).toBe(2);
  const style = "getComputedStyle(document.getElementById('styled'))";
  const shown = () => page.frames()[1]?.evaluate(`[${style}.color, ${style}.fontWeight]`);
  await expect.poll(shown).toEqual(['rgb(1, 2, 3)', '700']);
  await page.waitForTimeout(300);
  expect(await page.title()).toContain('Hostile');
  expect(page.url()).toBe(at(`/email/sent/${email_id}`));
  expect(faults.filter((fault) => fault.startsWith('asked for'))).toEqual([]);
  expect(await page.getAttribute('iframe.mail', 'sandbox')).toBe('');
});

test('a scheduled mail is cancelled by its button', async () => {
  const { email_id } = await send({ subject: 'Later', send_at: new Date(Date.now() + 3_600_000).toISOString() });
  const { page, faults } = await open();
  await page.goto(at(`/email/sent/${email_id}`));
  await page.click('text=Cancel');
  await expectDone(page, 'Email cancelled.');
  expect(await page.textContent('.badge')).toBe('cancelled');
  expect(faults).toEqual([]);
});

test('an inbox is made; what arrives is read and answered', async () => {
  const { page, faults } = await open();
  await page.goto(at('/email/inboxes?new=1'));
  await page.fill('input[name=address]', 'tickets@console.test');
  await page.click('text=Create inbox');
  await expectDone(page, 'Inbox created.');
  await send({
    from: 'customer@asking.test',
    to: 'tickets@console.test',
    subject: 'Where is it?',
    html: '<p>My order</p>',
  });
  await expect.poll(() => page.locator('table a').allTextContents()).toEqual(['Where is it?']);
  await page.click('text=Where is it?');
  await page.fill('textarea[name=text]', 'It is on its way.');
  await page.click('main button.main');
  await expectDone(page, 'Reply accepted.');
  expect(await page.textContent('h1')).toBe('Re: Where is it?');
  expect(faults).toEqual([]);
});

test('a domain is added with records to copy, and deleted by its name', async () => {
  const { page, faults } = await open();
  await page.goto(at('/email/domains?new=1'));
  await page.fill('input[name=domain]', 'added.example.org');
  await page.click('main button.main');
  await expectDone(page, 'Domain added. Create its DNS records next.');
  expect(await page.textContent('pre[aria-label="Value of the DKIM record"]')).toMatch(/^v=DKIM1; k=rsa; p=MII/);
  await page.click('text=Check DNS now');
  await expectDone(page, 'DNS records checked.');
  await page.click('text=Delete…');
  await page.fill('input[name=typed]', 'added.example.org');
  await page.click('button.danger');
  await expectDone(page, 'Domain deleted.');
  expect(faults).toEqual([]);
});

test('an address is suppressed, and taken off the list again', async () => {
  const { page, faults } = await open();
  await page.goto(at('/email/suppressions?new=1'));
  await page.fill('input[name=address]', 'Grace@example.org');
  await page.click('main button.main');
  await expectDone(page, 'Address suppressed.');
  expect(await page.textContent('table tbody th')).toContain('grace@example.org');
  await page.click('button:has-text("Remove")');
  await expectDone(page, 'Address removed. It gets mail again.');
  expect(faults).toEqual([]);
});
