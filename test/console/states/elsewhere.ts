// The pages around the console, signed out and in: sign-in, devices, payments; and those of the operator.
import { keepDoctorResult } from '../../../src/upkeep/doctor-result.ts';
import { eventually } from '../../cron/harness.ts';
import { leaveCard } from '../../support/leave-card.ts';
import { PageVisitor } from '../../support/page-visitor.ts';
import { client, createTestAccount, createTestOperator } from '../../support/service.ts';
import type { FilledAccount } from './account.ts';
import { act, type Scene, type State, sessionOf } from './state.ts';

const UNKNOWN = 'acct_email_1111111111111111111111';

export async function signInStates({ service }: Scene, { account, owner }: FilledAccount): Promise<readonly State[]> {
  const byKey = await sessionOf(service, account);
  return [
    { name: 'auth', path: '/auth', by: null },
    { name: 'auth-again', path: '/auth?again=1&return_to=%2Fconsole', by: owner, says: '15 minutes' },
    { name: 'auth-wrong-key', path: '/auth', by: null, status: 401, form: { has: '#key', fields: { key: 'none' } } },
    {
      name: 'auth-wrong-mail',
      path: '/auth',
      by: null,
      status: 400,
      form: { has: '#email', fields: { email: 'none' } },
    },
    {
      name: 'auth-code',
      path: '/auth',
      by: null,
      form: { has: '#email', fields: { email: 'new@example.org' } },
      says: 'Check your email',
    },
    {
      name: 'auth-wrong-code',
      path: '/auth/code',
      by: null,
      status: 400,
      form: { has: '#code', fields: { code: '1' } },
    },
    { name: 'auth-used-link', path: '/auth/mail/none', by: null, status: 404 },
    { name: 'auth-operator', path: '/auth/operator/none', by: null },
    {
      name: 'auth-operator-used',
      path: '/auth/operator/none',
      by: null,
      status: 404,
      form: { has: 'button', fields: {} },
    },
    { name: 'auth-no-provider', path: '/auth/start/none', by: null, status: 404 },
    { name: 'auth-account', path: '/auth/account', by: owner, says: 'Devices' },
    { name: 'auth-account-key', path: '/auth/account', by: byKey, says: 'an API key' },
    {
      name: 'auth-wrong-invitation',
      path: '/auth/account',
      by: owner,
      status: 400,
      form: { has: '#email', fields: { email: 'none' } },
    },
  ];
}

export async function deviceStates({ service, mark }: Scene, { owner: by }: FilledAccount): Promise<readonly State[]> {
  const begin = async (scope = '') => {
    // A device's name has no marks of direction.
    const body = new URLSearchParams({ client_id: mark.replaceAll(/\p{Cf}/gu, ''), scope });
    const answer = await fetch(`${service.url}/oauth/device_authorization`, { method: 'POST', body });
    return ((await answer.json()) as { user_code: string }).user_code;
  };
  const code = (user_code: string) => ({ has: '#user_code', fields: { user_code } });
  const asked = { path: '/device', by, says: 'Authorize this device?' };
  return [
    { name: 'device-signed-out', path: '/device', by: null, says: 'Sign in' },
    { name: 'device', path: `/device?user_code=${encodeURIComponent(mark)}`, by },
    { name: 'device-wrong', path: '/device', by, status: 400, form: code('AAAA-AAAA') },
    { name: 'device-asked', ...asked, form: code(await begin()) },
    { name: 'device-asked-little', ...asked, form: code(await begin('queue:read vector:write')) },
    { name: 'device-decided', path: '/device?decided', by, says: 'Answer sent' },
  ];
}

export async function payStates({ service }: Scene, { owner }: FilledAccount): Promise<readonly State[]> {
  const account = await createTestAccount(service.core, 1);
  const call = client(service.url, account.secret);
  const page = async (path = '/v1/account/topup', input: object = { amount_usd: 20 }) => {
    const { checkout_url: url } = (await call('POST', path, input)).body.data;
    return new URL(url).pathname;
  };
  const card = (value: string) => ({ has: '[name=card]', fields: { card: value } });
  const paid = async (value: string, says: string) => ({ path: await page(), by: null, form: card(value), says });
  return [
    { name: 'pay', path: await page(), by: null, says: 'Test money' },
    {
      name: 'pay-setup',
      path: await page('/v1/account/payment_method/attach', {}),
      by: null,
      says: 'Save a test card',
    },
    { name: 'pay-paid', ...(await paid('pays', 'Thank you')) },
    { name: 'pay-declined', ...(await paid('declines', 'declined')) },
    { name: 'pay-confirm', ...(await paid('authenticates', 'Confirm that it is you')) },
    { name: 'pay-reviewed', ...(await paid('reviewed', 'being reviewed')) },
    { name: 'pay-none', path: '/pay/none', by: null, status: 404 },
    { name: 'pay-return-none', path: '/pay/return/none', by: null, status: 404 },
    { name: 'charge-limit', path: '/wallet/charge-limit', by: owner },
    {
      name: 'charge-limit-wrong',
      path: '/wallet/charge-limit',
      by: owner,
      status: 400,
      form: { has: '#limit_usd', fields: { limit_usd: 'x' } },
    },
    {
      name: 'charge-limit-forbidden',
      path: '/wallet/charge-limit',
      by: await sessionOf(service, account),
      status: 403,
    },
  ];
}

export async function operatorStates({ service, mark }: Scene): Promise<readonly State[]> {
  const { core, url } = service;
  const [operator, account] = [await createTestOperator(core), await createTestAccount(core, 10)];
  const call = client(url, account.secret);
  await call('PATCH', '/v1/account/update', { name: mark });
  const toppedUp = async (card: string, status: string): Promise<string> => {
    const { topup_id: id, checkout_url } = (await call('POST', '/v1/account/topup', { amount_usd: 20 })).body.data;
    await leaveCard(checkout_url, card);
    await eventually(
      async () => (await call('GET', `/v1/account/topup/get/${id}`)).body.data.status === status,
      20_000,
    );
    return id;
  };
  const by = await sessionOf(service, operator);
  const at = (name: string, path: string, rest: Partial<State> = {}): State => ({
    name: `operator-${name}`,
    path: `/console/operator${path}`,
    by,
    ...rest,
  });
  await new PageVisitor(url).post('/auth/mail', { email: 'written.to@example.org' });
  const [paid, review] = [await toppedUp('pays', 'succeeded'), await toppedUp('reviewed', 'review')];
  await keepDoctorResult(core.db, { accounts: 2, findings: 3 });
  const [mail] = (await client(url, operator.secret)('GET', '/v1/operator/outbox/list')).body.data.items;
  const one = `/accounts/${account.accountId}`;
  return [
    at('accounts', ''),
    at('accounts-none', '?search=none'),
    at('account', one),
    at('account-refused', one, { status: 400, form: act('grant', { amount_usd: '-1' }) }),
    at('account-none', `/accounts/${UNKNOWN}`, { status: 404 }),
    at('refund', `${one}/refund/${paid}`),
    at('refund-refused', `${one}/refund/${paid}`, {
      status: 400,
      form: act('refund', { amount_usd: '5', typed: 'x' }),
    }),
    at('reject', `${one}/reject/${review}`),
    at('topups', '/topups', { says: 'Approve' }),
    at('topups-unreadable', '/topups?cursor=none', { says: 'INVALID_CURSOR' }),
    at('outbox', '/outbox'),
    at('mail', `/outbox/${mail.mail_id}`),
    at('health', '/health', { says: '3 findings' }),
  ];
}
