// The page of a flag: rules as a form, and all settings as JSON, each guarded by the revision that the page has shown.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { callerOf, type FlagOwner, startFlagBench } from './harness.ts';

let bench: Awaited<ReturnType<typeof startFlagBench>>;
let owner: FlagOwner;
let visitor: Awaited<ReturnType<typeof signedIn>>;
beforeAll(async () => {
  bench = await startFlagBench();
  owner = await bench.owner();
  visitor = await signedIn(bench.url, owner.secret);
});
afterAll(() => bench.stop());

const get = (key: string) => owner.data('GET', `/v1/flags/get/${key}`);

const row = (n: number, attribute: string, operator: string, value: string, variant: string) => ({
  [`rule-${n}-attribute`]: attribute,
  [`rule-${n}-operator`]: operator,
  [`rule-${n}-value`]: value,
  [`rule-${n}-give`]: `=${variant}`,
});
const form = ({ revision }: { readonly revision: number }) => ({
  revision: String(revision),
  variants: '["on","off"]',
  default_variant: 'off',
  'rest-0-give': 'default',
});
const sendRules = (key: string, fields: Record<string, string>) =>
  sendForm(visitor, `/console/flags/${key}`, 'rules', fields);

test('rows become the rule, and are shown again as they were typed', async () => {
  const sent = {
    ...form(await owner.flag('rows')),
    ...row(0, 'email', 'ends_with', '@example.org', 'on'),
    'rest-0-give': 'shares',
    'rest-0-share-0': '10',
    'rest-0-share-1': '',
  };
  expect((await sendRules('rows', sent)).status).toBe(303);
  expect((await get('rows')).targeting).toEqual({
    if: [{ ends_with: [{ var: 'email' }, '@example.org'] }, 'on', { fractional: Object.entries({ on: 10, off: 90 }) }],
  });
  const page = (await visitor.get('/console/flags/rows')).text;
  for (const text of ['value="email"', '<option value="ends_with" selected>', 'value="@example.org"', 'value="90"'])
    expect(page).toContain(text);
  const again = await sendRules('rows', sent);
  expect([again.status, again.text.includes('STATE_CONFLICT')]).toEqual([409, true]);
});

test('a rollout of 10 % reaches 10 %, whichever variant is the default', async () => {
  for (const usual of ['on', 'off']) {
    const key = `rollout-${usual}`;
    const sent = { ...form(await owner.flag(key, { default_variant: usual })), default_variant: usual };
    await sendRules(key, { ...sent, 'rest-0-give': 'shares', 'rest-0-share-0': '10', 'rest-0-share-1': '' });
    expect((await get(key)).targeting).toEqual({ fractional: Object.entries({ on: 10, off: 90 }) });
  }
});

test('a rule is added, moved and removed by buttons of the form, and nothing is saved by them', async () => {
  const key = 'moved';
  const typed = {
    ...form(await owner.flag(key)),
    ...row(0, 'email', 'is', 'a', 'on'),
    ...row(1, 'plan', 'is', 'pro', 'on'),
  };
  const attributes = ({ text }: { readonly text: string }) =>
    [...text.matchAll(/name="rule-\d-attribute"[^>]* value="([^"]*)"/g)].map(([, value]) => value);
  const pressed = async (edit: string) => attributes(await sendRules(key, { ...typed, edit }));
  expect(await pressed('add:rule')).toEqual(['email', 'plan', '']);
  expect(await pressed('up:rule:1')).toEqual(['plan', 'email']);
  expect(await pressed('remove:rule:0')).toEqual(['plan']);
  expect((await get(key)).targeting).toEqual({});
  await sendRules(key, { ...typed, ...row(1, '', 'is', '', 'on') });
  expect(attributes(await visitor.get(`/console/flags/${key}`))).toEqual(['email']);
});

test('shares and conditions that cannot be are refused beside what was typed', async () => {
  const sent = { ...form(await owner.flag('wrong')), ...row(0, 'email', 'is', 'x@example.org', 'on') };
  const shares = { 'rest-0-give': 'shares' };
  for (const [fields, at] of [
    [{ ...shares, 'rest-0-share-0': 'half' }, 'rest-0-share-0'],
    [{ ...shares, 'rest-0-share-0': '10', 'rest-0-share-1': '10' }, 'rest-0-give'],
    [{ 'rule-0-attribute': '' }, 'rule-0-attribute'],
    [{ 'rule-0-operator': 'json', 'rule-0-value': '{' }, 'rule-0-value'],
  ] as const) {
    const { status, text } = await sendRules('wrong', { ...sent, ...fields } as Record<string, string>);
    expect([at, status, text.includes(`id="rules-${at}-fault"`)]).toEqual([at, 400, true]);
  }
});

test('a condition that compares no attribute is a row with JSON, and stays as it was written', async () => {
  const targeting = { if: [{ and: [{ var: 'a' }, { '!': [{ var: 'b' }] }] }, 'on', null] };
  const flag = await owner.flag('by-hand', { targeting });
  expect((await visitor.get('/console/flags/by-hand')).text).toContain('<option value="json" selected>');
  const condition = JSON.stringify(targeting.if[0]);
  await sendRules('by-hand', {
    ...form(flag),
    ...row(0, '', 'json', condition, 'on'),
    ...row(1, 'email', 'is', 'a', 'on'),
  });
  expect((await get('by-hand')).targeting.if.slice(0, 2)).toEqual(targeting.if.slice(0, 2));
});

test('the list says the rollout in words, and turns flags on and off', async () => {
  const other = await bench.owner();
  const reader = await signedIn(bench.url, other.secret);
  const asks = { '==': [{ var: 'plan' }, 'pro'] };
  await other.flag('a', { targeting: { fractional: Object.entries({ on: 10, off: 90 }) }, default_variant: 'off' });
  await other.flag('b', { targeting: { if: [asks, 'on'] }, default_variant: 'off' });
  await other.flag('c', {
    targeting: { var: 'plan' },
    default_variant: 'off',
    type: 'string',
    variants: { on: '1', off: '' },
  });
  const list = async () => (await reader.get('/console/flags')).text;
  for (const words of ['on for 10 %', '1 rule, then off for everybody', 'a rule of your own'])
    expect((await list()).replaceAll(/<[^>]*>/g, '')).toContain(words);
  await sendForm(reader, '/console/flags', 'turn', { key: 'a', enabled: 'false' });
  expect(await other.data('GET', '/v1/flags/get/a')).toMatchObject({ enabled: false });
  expect(await list()).toContain('aria-checked="false" class="switch" aria-label="a"');
});

test('the history names who changed the flag', async () => {
  await owner.flag('named');
  const made = await owner.data('POST', '/v1/account/keys/create', { name: 'shop-api', scopes: ['flags:write'] });
  const shop = callerOf(bench.url, owner.accountId, made.key_secret);
  await shop.data('PATCH', '/v1/flags/update/named', { default_variant: 'off' });
  const { text } = await visitor.get('/console/flags/named');
  expect(text).toMatch(/Changed default variant<\/td><td[^>]*><bdi>shop-api</);
});

test('a rule that rows do not show is edited as JSON', async () => {
  const targeting = { if: [{ '==': [{ var: 'a' }, 'x'] }, { if: [{ var: 'b' }, 'on', 'off'] }, null] };
  const { revision } = await owner.flag('json', { description: 'Stays', targeting });
  expect((await visitor.get('/console/flags/json')).text).toContain('This rule is more than rows show.');
  const whole = { revision: String(revision), description: 'Stays', default_variant: 'off', metadata: '{}' };
  const send = (variants: string, rule: string) =>
    sendForm(visitor, '/console/flags/json', 'json', { ...whole, variants, targeting: rule });
  const usual = '{"on": true, "off": false}';
  expect((await send(usual, '{')).text).toContain('id="json-targeting-fault"');
  expect((await send('{"on":1}', '{}')).text).toContain('The value of this variant is not of type boolean.');
  expect((await send(usual, '{}')).status).toBe(303);
  expect(await get('json')).toMatchObject({ description: 'Stays', targeting: {} });
});
