// Tenant-isolation fixture of error events and groups, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

export const tenants: TenantFixture = {
  first: 'errors.capture',
  nobody: { errorEvent: `evt_err_${'1'.repeat(22)}`, errorGroup: `errgrp_${'1'.repeat(22)}` },
  async fill({ act }) {
    const fail = (message: string) => act('errors.capture', { message });
    const [failure] = [await fail('failure one'), await fail('failure one'), await fail('failure two')];
    return { errorEvent: failure.event_id, errorGroup: failure.error_group_id };
  },
  async fillOther({ act }) {
    return { errorGroup: (await act('errors.capture', { message: 'of b' })).error_group_id };
  },
  aims: {
    'errors.capture': [],
    'errors.message': [],
    'errors.list': [(names) => ({ filter: { error_group_id: names.errorGroup } })],
    'errors.search': [(names) => ({ q: 'failure', filter: { error_group_id: names.errorGroup } })],
    'errors.get': [(names) => ({ event_id: names.errorEvent })],
    'errors.group_detail': [(names) => ({ error_group_id: names.errorGroup })],
    'errors.events': [(names) => ({ error_group_id: names.errorGroup })],
    'errors.resolve': [(names) => ({ error_group_id: names.errorGroup })],
    'errors.unresolve': [(names) => ({ error_group_id: names.errorGroup })],
    'errors.ignore': [(names) => ({ error_group_id: names.errorGroup })],
    'errors.unignore': [(names) => ({ error_group_id: names.errorGroup })],
    'errors.assign': [(names) => ({ error_group_id: names.errorGroup, assigned_to: 'taken' })],
    'errors.comment': [(names) => ({ error_group_id: names.errorGroup, text: 'taken' })],
  },
  lists: {
    'errors.search': () => ({ q: 'failure' }),
    'errors.events': ({ errorGroup }) => ({ error_group_id: errorGroup }),
  },
};
