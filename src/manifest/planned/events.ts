// Planned kinds of events that nothing emits yet. The catalogue is closed, so webhooks may already name them.
export const plannedEvents: Readonly<Record<string, string>> = {
  'system.maintenance.scheduled': 'Maintenance of the service is planned.',
};
