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

test('rules are rows: tried on a call, changed, and saved as they are shown', async () => {
  const created = await createTestAccount(service.core, 5);
  const account = new RiskBench(service, created);
  const visitor = await signedIn(service.url, created.secret);
  const stored = async () => account.data('GET', 'rules/get');
  const before = await stored();
  const rules = (await visitor.get('/console/risk/rules')).text;
  const fields = formFields(rules);
  expect(fields).toMatchObject({ 'rule-0-name': 'disposable_email', 'rule-0-when-0-signal': 'email.is_disposable' });
  const send = (act: string, more: Record<string, string> = {}) =>
    sendForm(visitor, '/console/risk/rules', act, { ...fields, ...more });
  const added = (await send('save', { edit: 'add:rule' })).text;
  expect(formFields(added)).toHaveProperty([`rule-${before.rules.length}-name`], '');
  expect(await stored()).toEqual(before);
  const call = JSON.stringify({ event: 'login', email: { is_disposable: true }, ip: { count_1m: 21, kind: 'public' } });
  const tried = (await send('try', { signals: call })).text;
  expect(tried).toContain('with a score of 70');
  expect(tried).toContain('ip_burst');
  expect(formFields(tried)).toMatchObject({ 'rule-0-name': 'disposable_email', signals: call });
  const wrong = await send('save', { 'rule-0-points': '500' });
  expect(wrong.text).toContain('id="save-rule-0-points-fault"');
  await send('save', { 'rule-0-points': '45' });
  const [first, ...others] = before.rules;
  expect((await stored()).rules).toEqual([{ ...first, points: 45 }, ...others]);
});

test('one rule is tried alone: on a call, on the latest decisions, and with nothing of the others', async () => {
  const created = await createTestAccount(service.core, 5);
  const account = new RiskBench(service, created);
  const visitor = await signedIn(service.url, created.secret);
  const path = '/console/risk/rules';
  const page = (await visitor.get(path)).text;
  const at = rowOf(page, 'ip_burst');
  expect(page).toContain(`formaction="${path}?rule=${at}"`);
  const tokens = { form_token: /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '', form_key: 'a'.repeat(32) };
  const tried = async (more: Record<string, string> = {}) => {
    const fields = { ...tokens, ...formFields(page), act: 'try', ...more };
    const { text } = await visitor.post(`${path}?rule=${at}`, fields);
    return (
      /<section class="panel" aria-live="polite">(.*?)<\/section>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? text
    );
  };
  expect(await tried()).toContain('No decisions yet');
  const calm = JSON.stringify({ event: 'login', email: { is_disposable: true }, ip: { count_1m: 1, kind: 'public' } });
  expect(await tried({ signals: calm })).toContain('Rule ip_burst does not match this call: it adds nothing.');
  const burst = { signals: calm.replace('"count_1m":1', '"count_1m":21') };
  expect(await tried(burst)).toContain('Rule ip_burst matches this call and adds 30 points. Alone it scores 30: allow');
  expect(await tried({ ...burst, 'rule-0-points': 'many' })).toContain('Alone it scores 30');
  expect(await tried({ ...burst, [`rule-${at}-points`]: '500' })).toContain(`id="try-rule-${at}-points-fault"`);
  await account.score({ event: 'signup', email: 'joe@mailinator.com', ip: '192.0.2.7' });
  expect(await tried()).toContain('Rule ip_burst matches 0 of the latest 1 decision');
  expect(await account.data('GET', 'rules/get')).toMatchObject({ is_default: true });
});

/** The place of the rule among the rows. */
function rowOf(page: string, name: string): number {
  const [field = ''] = Object.entries(formFields(page)).find(([, value]) => value === name) ?? [];
  return Number(/^rule-(\d+)-name$/.exec(field)?.[1] ?? -1);
}

/** What the first form with rows sends, as a browser would. */
function formFields(page: string): Record<string, string> {
  const of = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]);
  const selects = [...page.matchAll(/<select id="[^"]*" name="([^"]+)"[^>]*>(.*?)<\/select>/gs)].map(
    ([, name = '', options = '']) => [name, /value="([^"]*)" selected/.exec(options)?.[1] ?? ''],
  );
  const texts = of(/<textarea[^>]*name="(signals)"[^>]*>\n?([^<]*)</g);
  const inputs = of(/<input[^>]* name="((?:rule-|review|block)[^"]*)"[^>]* value="([^"]*)"/g);
  const plainText = (text: string) =>
    text.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  return Object.fromEntries([...inputs, ...selects, ...texts].map(([name, value = '']) => [name, plainText(value)]));
}

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
