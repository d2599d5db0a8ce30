// Model family of relays in the operator's file: `{ id, adapter: smtp, url }`. The price of a mail is the service's own.
import Type from 'typebox';
import type { Adapter, ModelFamily } from '../../../vendors/file/port.ts';

export const SMTP = 'smtp';

const adapter: Adapter = {
  name: SMTP,
  modelFields: {},
  modelless: { fields: {}, secrets: [], protocols: ['smtp:', 'smtps:'] },
};

export const emailFamily: ModelFamily = {
  name: 'email',
  capabilities: ['email.send'],
  traits: Type.Object({}),
  price: Type.Literal('free'),
  timeouts: [],
  sandbox: [],
  serves: () => ['email.send'],
  lowestNanos: () => 0n,
  adapters: () => [adapter],
};
