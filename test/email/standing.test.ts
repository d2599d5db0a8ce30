import { beforeAll, expect, test } from 'vitest';
import { domainStanding } from '../../src/modules/email/domains/may-send.ts';
import { suppress, suppressedAmong, suppressionKey } from '../../src/modules/email/suppressions/suppressed.ts';
import { createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

let service: SharedService;
let accountId: string;
let otherId: string;

beforeAll(async () => {
  service = await sharedService();
  accountId = (await createTestAccount(service.core)).accountId;
  otherId = (await createTestAccount(service.core)).accountId;
  for (const [domain, status] of [
    ['acme.io', 'verified'],
    ['late.io', 'pending'],
    ['lost.io', 'failed'],
    ['rehearsed.test', 'verified'],
  ])
    await service.core.db.query(
      {
        name: '',
        text: `INSERT INTO email.domain (account_id, domain, status, records, created_at) VALUES ($1, $2, $3, '[]', now())`,
      },
      [accountId, domain as string, status as string],
    );
});

const standing = (domain: string, account = accountId) =>
  domainStanding(service.core.db, account, domain, { trustedDomains: ['operator.io'] });

test.each([
  ['acme.io', 'verified'],
  ['mail.acme.io', 'unverified'],
  ['late.io', 'unverified'],
  ['lost.io', 'unverified'],
  ['unknown.io', 'unverified'],
  ['operator.io', 'trusted'],
  ['mail.operator.io', 'unverified'],
  ['rehearsed.test', 'verified'],
  ['agents.test', 'reserved'],
  ['test', 'reserved'],
  ['a.b.example', 'reserved'],
  ['shop.invalid', 'reserved'],
  ['localhost', 'reserved'],
  ['mail.localhost', 'reserved'],
  ['example.com', 'reserved'],
  ['mail.example.net', 'reserved'],
  ['example.org', 'reserved'],
  ['notexample.com', 'unverified'],
  ['example.com.evil.io', 'unverified'],
  ['example.de', 'unverified'],
  ['contest', 'unverified'],
])('%s is %s', async (domain, expected) => {
  expect(await standing(domain)).toBe(expected);
});

test('a domain is verified for the account that proved it, and for no other', async () => {
  expect(await standing('acme.io', otherId)).toBe('unverified');
});

test('an address is suppressed for its account, in whatever case it is written, and keeps its first reason', async () => {
  const { db } = service.core;
  const bounced = {
    accountId,
    address: 'Gone@Acme.io',
    reason: 'bounce',
    emailId: 'eml_1',
    nowMs: Date.now(),
  } as const;
  expect(await db.transaction((tx) => suppress(tx, bounced))).toBe(true);
  expect(await db.transaction((tx) => suppress(tx, { ...bounced, address: 'gone@acme.io', reason: 'manual' }))).toBe(
    false,
  );
  const pairs = [
    [accountId, 'GONE@acme.io'],
    [accountId, 'kept@acme.io'],
    [otherId, 'gone@acme.io'],
  ] as const;
  const found: [string, string][] = [];
  // On a distributed engine a commit is for one account.
  for (const account of [accountId, otherId]) {
    const own = pairs.filter(([of]) => of === account);
    const look = await db.transaction((tx) =>
      suppressedAmong(
        tx,
        own.map(([of]) => of),
        own.map(([, address]) => address),
      ),
    );
    found.push(...look);
  }
  expect(found).toEqual([[suppressionKey(accountId, 'gone@acme.io'), 'bounce']]);
});
