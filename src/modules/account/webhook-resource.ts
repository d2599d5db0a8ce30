// Resource definition of webhook registrations, shared by the operations of the module.
import type { Resource } from '../../kit/resource.ts';
import { registrationRecord } from '../../webhooks/registrations/record.ts';
import { findRegistration, listRegistrations, type Registration } from '../../webhooks/registrations/store.ts';
import { problem } from './problems.ts';
import { webhookIdField, webhookSchema } from './webhook-schemas.ts';

export const webhooks: Omit<Resource<Registration, unknown, typeof webhookSchema>, 'remove'> = {
  noun: 'webhook',
  keyName: 'webhook_id',
  keyField: webhookIdField,
  notFound: () => problem('WEBHOOK_NOT_FOUND', { param: 'webhook_id' }),
  output: webhookSchema,
  show: registrationRecord,
  find: (db, { core, accountId }, id) => findRegistration(db, core.secrets, accountId, id),
  list: (db, { core, accountId }, { after, limit }) => listRegistrations(db, core.secrets, accountId, after, limit),
  positionOf: ({ webhookId }) => webhookId,
};
