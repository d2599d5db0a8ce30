// What ends something for good asks for its name on a page of its own; what does not, though it is destructive, stands here with the reason.
import { expect, test } from 'vitest';
import { pages } from '../../../test/support/console-pages.ts';
import type { Act } from '../../kit/console/page.ts';
import type { Visit } from '../../kit/console/visit.ts';
import { modules } from '../../modules/index.ts';
import { Problem } from '../../problems/problem.ts';

const canBeUndone: Readonly<Record<string, string>> = {
  'key.rotate': 'the old secret lives on for an hour at least',
  'key.leak': 'a suspicion: the old secret lives on for an hour',
  'realtime_app.rotate': 'the old secret lives on for an hour at least',
  'account.cancel': 'the plan goes on by another button until its end',
  'queue_dlq.cancel': 'what went back stays, and the rest can be sent anew',
  'video_job.cancel': 'it ends work under way, and nothing that was made',
  'image_job.cancel': 'it ends work under way, and nothing that was made',
  'email_sent.cancel': 'the mail can be sent anew',
  'email_suppressions.remove': 'the address can be suppressed again',
  'risk_lists.remove': 'the entry can be added again',
  'dns_zone.remove': 'the record can be set again',
  'shares.revoke': 'the object stays, and another link can be made',
};

const destructive = new Set(
  modules.flatMap(({ capabilities }) => capabilities.filter((each) => each.destructive === true).map(({ id }) => id)),
);
const ends = pages.flatMap(({ name, acts = {} }) =>
  Object.entries(acts).flatMap(([act, made]) =>
    destructive.has(made.capability.id) ? [[`${name}.${act}`, made] as const] : [],
  ),
);

const nameIsRead = Symbol('the name of what ends is read');

/** The field that the form is refused for when this was typed, which may be the name of what ends; null: it is taken. */
async function refusal(act: Act, typed: string, name?: string): Promise<string | null> {
  const params = {
    id: 'wanted',
    name: 'wanted',
    topup_id: 'wanted',
    bucket: 'wanted',
    domain: 'wanted',
    zone: 'wanted',
    inbox_id: 'wanted',
    distinct_id: 'wanted',
    key: 'wanted',
    connection: 'wanted',
    rule: 'wanted',
    provider: 'wanted',
  };
  const query = new URLSearchParams({ key: 'wanted' });
  // As the list of keys gives it.
  const need = async () => {
    if (name === undefined) throw nameIsRead;
    return { items: [{ key_id: 'wanted', name }], next_cursor: null };
  };
  const visit = { params, query, need, principal: { accountId: 'wanted' } } as unknown as Visit;
  try {
    await act.input(new URLSearchParams({ typed }), visit);
    return null;
  } catch (error) {
    if (error === nameIsRead) return 'typed';
    if (!(error instanceof Problem)) throw error;
    return error.param ?? null;
  }
}

test('whatever a form of the console ends for good asks for the name or id to be typed', async () => {
  const tried = await Promise.all(
    ends.map(async ([, act]) => [await refusal(act, 'another'), await refusal(act, 'wanted')] as const),
  );
  const asks = ends.filter((_, i) => tried[i]?.[0] === 'typed' && tried[i][1] === null);
  const names = (all: typeof ends) => all.map(([name]) => name);
  expect(names(asks)).toEqual(expect.arrayContaining(['key_leaked.leaked', 'operator_reject.reject']));
  const revoke = ends.find(([name]) => name === 'key_revoke.revoke')?.[1] ?? expect.fail('keys are not revoked');
  expect(await refusal(revoke, 'named', 'named')).toBeNull();
  expect(await refusal(revoke, 'another', 'named')).toBe('typed');
  expect(
    names(ends)
      .filter((name) => !names(asks).includes(name))
      .sort(),
  ).toEqual(Object.keys(canBeUndone).sort());
});

test('a key keeps its old secret for an hour at least: what ends one at once has another page', () => {
  const rotate = pages.find(({ name }) => name === 'key')?.acts?.rotate ?? expect.fail('keys are not rotated');
  const input = (hours: string) =>
    rotate.input(new URLSearchParams({ grace_hours: hours }), { params: { id: 'key_1' } } as unknown as Visit);
  expect(() => input('0')).toThrow('At least 1');
  expect(input('1')).toEqual({ key_id: 'key_1', grace_hours: 1 });
});
