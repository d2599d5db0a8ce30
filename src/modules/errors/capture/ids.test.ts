import { expect, test } from 'vitest';
import { Secrets } from '../../../core/secrets/secrets.ts';
import { ErrorIds } from './ids.ts';

const ids = new ErrorIds(new Secrets('a secret of the tests, long enough to be one'));
const SEQ = 381_203_948_120_394n;

test('ids have the shape of the specification and give their number back', () => {
  expect(ids.eventId('acct_anon_a', SEQ)).toMatch(/^evt_err_[A-Za-z0-9]{20,}$/);
  expect(ids.groupId('acct_anon_a', SEQ)).toMatch(/^errgrp_[A-Za-z0-9]{20,}$/);
  expect(ids.parseEvent('acct_anon_a', ids.eventId('acct_anon_a', SEQ))).toBe(SEQ);
  expect(ids.parseGroup('acct_anon_a', ids.groupId('acct_anon_a', SEQ))).toBe(SEQ);
});

test('the id of another account, of the other kind or made up names nothing', () => {
  expect(ids.parseEvent('acct_anon_b', ids.eventId('acct_anon_a', SEQ))).toBeNull();
  expect(ids.parseGroup('acct_anon_a', ids.eventId('acct_anon_a', SEQ).replace('evt_err_', 'errgrp_'))).toBeNull();
  for (const text of ['', 'evt_err_', `evt_err_${'1'.repeat(22)}`, `evt_err_${'z'.repeat(22)}`, 'evt_err_é'])
    expect(ids.parseEvent('acct_anon_a', text)).toBeNull();
});
