// Pages of the console: decisions, a subject's timeline, rules that are tried and then saved, lists.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { RiskBench } from './harness.ts';

let service: TestService;
beforeAll(async () => {
  // own service: its bench may move the clock
  service = await startTestService();
});
afterAll(() => service.stop());

test('what is scored, tried, saved and listed on pages is so', async () => {
  const created = await createTestAccount(service.core, 5);
  const account = new RiskBench(service, created);
  const visitor = await signedIn(service.url, created.secret);
  const text = async (path: string) => (await visitor.get(`/console${path}`)).text;
  expect(await text('/risk')).toContain('No decisions yet');
  await account.score({ event: 'signup', email: 'joe@mailinator.com', device_id: 'phone' });
  const shown = await text('/risk?action=review');
  expect(shown).toContain('disposable_email +40');
  const [, key = ''] = /\/risk\/subject\?key=(device_[\w-]{20})/.exec(shown) ?? [];
  for (const path of [`/risk/subject?key=${key}`, '/risk/subject?by=device_id&value=phone']) {
    expect(await text(path)).toContain('disposable_email +40');
  }
  const rules = { thresholds: { review: 40, block: 80 }, rules: [{ name: 'always', points: 90, when: true }] };
  const tried = await sendForm(visitor, '/console/risk/rules', 'try', { rules: JSON.stringify(rules) });
  expect(tried.text).toContain('0 / 0 / 1');
  expect(await account.data('GET', 'rules/get')).toMatchObject({ is_default: true });
  const wrong = { ...rules, rules: [{ name: 'always', points: 90, when: { log: 1 } }] };
  for (const [sent, says] of [
    ['{', 'rules must be JSON: '],
    [JSON.stringify(wrong), 'Rule always must be an object with one operator'],
  ] as const) {
    const { text: refused } = await sendForm(visitor, '/console/risk/rules', 'save', { rules: sent });
    expect(refused).toContain(says);
  }
  await sendForm(visitor, '/console/risk/rules', 'save', { rules: JSON.stringify(rules) });
  expect(await account.data('GET', 'rules/get')).toMatchObject({ is_default: false, rules: [{ name: 'always' }] });
  expect(await text('/risk/rules')).toContain('&quot;always&quot;');
  await sendForm(visitor, '/console/risk/lists?new=1', 'create', {
    list: 'block',
    kind: 'cidr',
    value: '198.51.100.7/24',
    note: '',
  });
  expect(await text('/risk/lists')).toContain('198.51.100.0/24');
  await sendForm(visitor, '/console/risk/lists', 'remove', { kind: 'cidr', value: '198.51.100.0/24' });
  expect(await text('/risk/lists')).toContain('No entries');
});
