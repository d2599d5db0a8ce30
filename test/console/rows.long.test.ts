// Rules as rows, in a browser without scripts: a rollout and a rule of a flag, a rule of risk that is tried on a call and saved.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole } from '../support/console.ts';
import { ConsoleBench } from '../support/console-bench.ts';

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await ConsoleBench.start();
});
afterAll(() => bench?.stop());

async function open(path: string) {
  const { browser } = bench.chromium;
  const opened = await openConsole(browser, bench.service.url, bench.account.secret, { javaScriptEnabled: false });
  await opened.page.goto(`${bench.service.url}/console/${path}`);
  return opened;
}

test('a flag is on for 10 %, and for a plan by a rule, in four clicks and what is typed', async () => {
  const variants = { on: true, off: false };
  const made = { key: 'checkout', type: 'boolean', variants, default_variant: 'on' };
  await bench.call('POST', '/v1/flags/create', made);
  const { page, faults } = await open('flags');
  await page.click('tbody a:has-text("checkout")');
  await page.click('button:has-text("Add a rule")');
  await page.fill('#rules-rule-0-attribute', 'plan');
  await page.fill('#rules-rule-0-value', 'pro');
  await page.selectOption('#rules-rest-0-give', 'shares');
  await page.fill('#rules-rest-0-share-0', '10');
  // Enter in a field saves: it does not press the button of a row.
  await page.press('#rules-rest-0-share-0', 'Enter');
  await page.waitForSelector('.done:has-text("Rules saved")');
  const { targeting } = (await bench.call('GET', '/v1/flags/get/checkout')).body.data;
  const rest = { fractional: Object.entries({ on: 10, off: 90 }) };
  expect(targeting).toEqual({ if: [{ '==': [{ var: 'plan' }, 'pro'] }, 'on', rest] });
  await page.click('a:has-text("Feature flags")');
  expect(await page.textContent('tbody')).toContain('1 rule, then on for 10 %');
  await page.click('button[role="switch"]');
  await page.waitForSelector('.done');
  expect((await bench.call('GET', '/v1/flags/get/checkout')).body.data.enabled).toBe(false);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a rule of risk is added, tried on a call that is made up, and saved', async () => {
  const { page, faults } = await open('risk/rules');
  await page.click('button:has-text("Add a rule")');
  const n = 10;
  await page.fill(`[name="rule-${n}-name"]`, 'big_payment');
  await page.fill(`[name="rule-${n}-points"]`, '50');
  await page.fill(`[name="rule-${n}-when-0-signal"]`, 'amount_usd');
  await page.fill(`[name="rule-${n}-when-0-value"]`, '1000');
  await page.fill('[name="signals"]', '{"event": "payment", "amount_usd": 2000}');
  await page.click('button:text-is("Try") >> nth=0');
  await page.waitForSelector('h2:has-text("Tried, nothing saved")');
  expect(await page.textContent('main')).toContain('review with a score of 50.');
  const rules = async () => (await bench.call('GET', '/v1/risk/rules/get')).body.data;
  expect(await rules()).toMatchObject({ is_default: true });
  await page.click('button:has-text("Save rules") >> nth=0');
  await page.waitForSelector('.done:has-text("Rules saved")');
  expect((await rules()).rules[n]).toMatchObject({ name: 'big_payment', when: { '>': [{ var: 'amount_usd' }, 1000] } });
  expect(faults).toEqual([]);
  await page.context().close();
});
