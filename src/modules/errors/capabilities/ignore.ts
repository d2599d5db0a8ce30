import { statusCapability } from '../groups/status-capability.ts';

export const ignore = statusCapability({
  path: '/v1/errors/ignore/{error_group_id}',
  summary: 'Ignores an error group.',
  description:
    'Events go on being counted, but no webhook is told of them and they do not reopen anything. The group is no longer resolved.',
  keywords: ['mute issue', 'snooze error', 'silence bug', 'stop hearing of an error'],
  example: { title: 'Known and harmless', expect: { is_ignored: true, is_resolved: false } },
  activity: 'ignored',
  isSo: (group) => group.is_ignored,
  status: () => ({ isResolved: false, isIgnored: true }),
});
