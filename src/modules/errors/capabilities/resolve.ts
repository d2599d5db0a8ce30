import { statusCapability } from '../groups/status-capability.ts';

export const resolve = statusCapability({
  path: '/v1/errors/resolve/{error_group_id}',
  summary: 'Resolves an error group.',
  description:
    'Marks the group as done; it is no longer ignored. A new event reopens it. Resolving a resolved group changes nothing.',
  keywords: ['close issue', 'mark as fixed', 'resolve bug'],
  example: { title: 'Done', expect: { is_resolved: true, is_ignored: false } },
  activity: 'resolved',
  isSo: (group) => group.is_resolved,
  status: () => ({ isResolved: true, isIgnored: false }),
});
