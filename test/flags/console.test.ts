// The page of a flag: rules as a form, and all settings as JSON, each guarded by the revision that the page has shown.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendForm, signedIn } from '../support/console.ts';
import { type FlagOwner, startFlagBench } from './harness.ts';

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
  [`attribute_${n}`]: attribute,
  [`operator_${n}`]: operator,
  [`value_${n}`]: value,
  [`variant_${n}`]: variant,
});
// One share each, for form fields of one name are sent as lists by browsers alone.
const share = (of: string, percent: string) => ({ share_of: of, share_0: percent });

test('rows become the rule, and are shown again as they were typed', async () => {
  const { revision } = await owner.flag('rows');
  const typed = row(0, 'email', 'ends_with', '@example.org', 'on');
  const sent = { revision: String(revision), ...typed, ...share('off', '100') };
  expect((await sendForm(visitor, '/console/flags/rows', 'rules', sent)).status).toBe(303);
  expect((await get('rows')).targeting).toEqual({
    if: [{ ends_with: [{ var: 'email' }, '@example.org'] }, 'on', { fractional: [['off', 100]] }],
  });
  const page = (await visitor.get('/console/flags/rows')).text;
  for (const text of ['value="email"', '<option value="ends_with" selected>', 'value="@example.org"', 'value="100"'])
    expect(page).toContain(text);
  const again = await sendForm(visitor, '/console/flags/rows', 'rules', sent);
  expect([again.status, again.text.includes('STATE_CONFLICT')]).toEqual([409, true]);
});

test('a share that is no number is refused beside what was typed', async () => {
  const { revision } = await owner.flag('wrong');
  const sent = { revision: String(revision), ...row(0, 'email', 'is', 'x@example.org', 'on'), ...share('on', 'half') };
  const { status, text } = await sendForm(visitor, '/console/flags/wrong', 'rules', sent);
  expect([status, text.includes('id="rules-share_0-fault"'), text.includes('x@example.org')]).toEqual([
    400,
    true,
    true,
  ]);
});

test('a rule that rows do not show is edited as JSON', async () => {
  const targeting = { if: [{ and: [{ var: 'a' }, { var: 'b' }] }, 'on', null] };
  const { revision } = await owner.flag('json', { description: 'Stays', targeting });
  expect((await visitor.get('/console/flags/json')).text).toContain('This rule is more than a form shows.');
  const whole = { revision: String(revision), description: 'Stays', default_variant: 'off', metadata: '{}' };
  const send = (variants: string, rule: string) =>
    sendForm(visitor, '/console/flags/json', 'json', { ...whole, variants, targeting: rule });
  const usual = '{"on": true, "off": false}';
  expect((await send(usual, '{')).text).toContain('id="json-targeting-fault"');
  expect((await send('{"on":1}', '{}')).text).toContain('The value of this variant is not of type boolean.');
  expect((await send(usual, '{}')).status).toBe(303);
  expect(await get('json')).toMatchObject({ description: 'Stays', targeting: {} });
});
