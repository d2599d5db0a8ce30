// The page of a flag: rules as lines, and all settings as JSON, each guarded by the revision that the page has shown.
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

test('lines become the rule, and are shown again as they were written', async () => {
  const { revision } = await owner.flag('lines');
  const rules = 'email ends with @example.org: on\r\n25% on, 75% off';
  const sent = { revision: String(revision), rules, default_variant: 'off' };
  expect((await sendForm(visitor, '/console/flags/lines', 'rules', sent)).status).toBe(303);
  const flag = await get('lines');
  expect(flag).toMatchObject({
    default_variant: 'off',
    targeting: {
      if: [
        { ends_with: [{ var: 'email' }, '@example.org'] },
        'on',
        { fractional: Object.entries({ on: 25, off: 75 }) },
      ],
    },
  });
  const page = (await visitor.get('/console/flags/lines')).text;
  expect(page).toContain('email ends with @example.org: on\n25% on, 75% off</textarea>');
  const again = await sendForm(visitor, '/console/flags/lines', 'rules', sent);
  expect([again.status, again.text.includes('STATE_CONFLICT')]).toEqual([409, true]);
});

test('a line that is none is refused beside what was typed', async () => {
  const { revision } = await owner.flag('wrong');
  const sent = { revision: String(revision), rules: 'email is: on', default_variant: 'on' };
  const { status, text } = await sendForm(visitor, '/console/flags/wrong', 'rules', sent);
  expect([status, text.includes('id="rules-rules-fault"'), text.includes('email is: on')]).toEqual([400, true, true]);
});

test('a rule that lines do not tell is edited as JSON, which may leave settings out', async () => {
  const targeting = { if: [{ and: [{ var: 'a' }, { var: 'b' }] }, 'on', null] };
  const { revision } = await owner.flag('json', { description: 'Stays', targeting });
  expect((await visitor.get('/console/flags/json')).text).toContain('This rule is more than lines tell.');
  const sent = (flag: string) => sendForm(visitor, '/console/flags/json', 'json', { revision: String(revision), flag });
  expect((await sent('{')).text).toContain('id="json-flag-fault"');
  expect((await sent('{"variants":{"on":1}}')).text).toContain('The value of this variant is not of type boolean.');
  expect((await sent('{"targeting":{},"key":"another"}')).status).toBe(303);
  expect(await get('json')).toMatchObject({ description: 'Stays', targeting: {} });
});
