// Kinds of events that nothing tells yet, with when they will be: the catalogue is closed, so webhooks may name them already.
export const plannedEvents: Readonly<Record<string, string>> = {
  'captcha.verified': 'A captcha was solved.',
  'captcha.failed': 'A captcha was not solved.',
  'realtime.channel.occupied': 'A channel got its first subscriber.',
  'realtime.channel.vacated': 'A channel lost its last subscriber.',
  'realtime.member.added': 'A member joined a presence channel.',
  'realtime.member.removed': 'A member left a presence channel.',
  'system.maintenance.scheduled': 'Maintenance of the service is planned.',
};
