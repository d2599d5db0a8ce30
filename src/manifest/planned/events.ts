// Kinds of events that nothing tells yet, with when they will be: the catalogue is closed, so webhooks may name them already.
export const plannedEvents: Readonly<Record<string, string>> = {
  'sms.queued': 'A text message was accepted and waits to be sent.',
  'sms.sent': 'A text message was handed to the carrier.',
  'sms.delivered': 'The carrier reported a text message as delivered.',
  'sms.failed': 'A text message could not be delivered.',
  'sms.inbound': 'A text message was received.',
  'captcha.verified': 'A captcha was solved.',
  'captcha.failed': 'A captcha was not solved.',
  'realtime.channel.occupied': 'A channel got its first subscriber.',
  'realtime.channel.vacated': 'A channel lost its last subscriber.',
  'realtime.member.added': 'A member joined a presence channel.',
  'realtime.member.removed': 'A member left a presence channel.',
  'system.maintenance.scheduled': 'Maintenance of the service is planned.',
};
