// Messages as a resource: their naming and records in operations.
import type { Resource } from '../../../kit/resource.ts';
import { type MessageRow, smsRecord } from '../messages/row.ts';
import { messageTable } from '../messages/store.ts';
import { smsIdField, smsSchema } from '../schemas.ts';
import type { SmsState } from '../state.ts';

export const messages: Resource<MessageRow, SmsState, typeof smsSchema> = {
  ...messageTable,
  noun: 'message',
  keyName: 'sms_id',
  keyField: smsIdField,
  output: smsSchema,
  show: smsRecord,
};
