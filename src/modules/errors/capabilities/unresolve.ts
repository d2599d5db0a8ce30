import { statusCapability } from '../groups/status-capability.ts';

export const unresolve = statusCapability({
  path: '/v1/errors/unresolve/{error_group_id}',
  summary: 'Reopens a resolved error group.',
  description: 'Takes the resolution back. A group that is not resolved stays as it is.',
  keywords: ['reopen issue', 'regression'],
  example: { title: 'Not done after all', after: 'errors.resolve', expect: { is_resolved: false } },
  activity: 'unresolved',
  isSo: (group) => !group.is_resolved,
  status: (group) => ({ isResolved: false, isIgnored: group.is_ignored }),
});
