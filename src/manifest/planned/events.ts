// Kinds of events that nothing tells yet, with when they will be: the catalogue is closed, so webhooks may name them already.
export const plannedEvents: Readonly<Record<string, string>> = {
  'system.maintenance.scheduled': 'Maintenance of the service is planned.',
};
