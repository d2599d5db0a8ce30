// The sms module: text messages by carriers or the sandbox, inbound messages, and codes that verify a number.
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { callbackRoute } from './callback.ts';
import { get } from './capabilities/get.ts';
import { list } from './capabilities/list.ts';
import { sandboxInbound } from './capabilities/sandbox-inbound.ts';
import { send } from './capabilities/send.ts';
import { verifyCheck } from './capabilities/verify-check.ts';
import { verifyList } from './capabilities/verify-list.ts';
import { verifyStart } from './capabilities/verify-start.ts';
import { SANDBOX_NANOS, smsFamily } from './carriers/family.ts';
import { smsEvents } from './events.ts';
import { messageTable, unsettledMessages } from './messages/store.ts';
import { smsProblems } from './problems.ts';
import { type SmsSettings, smsSettings } from './settings.ts';
import { closeSms, type SmsState, startSms } from './state.ts';
import { smsSweeps } from './sweeps.ts';

export const sms = defineModule<SmsState, SmsSettings>({
  name: 'sms',
  summary: 'Text messages to phones by your carriers, answers of people, and codes that prove a number.',
  status: 'beta',
  shownBy: ['sms.send', 'sms.verify.start'],
  capabilities: [send, get, list, sandboxInbound, verifyStart, verifyCheck, verifyList],
  finders: [
    finder('message', list, ({ sms_id: id, to, from, direction }) => ({
      id,
      name: direction === 'inbound' ? from : to,
      path: `/sms/${id}`,
    })),
  ],
  console: async () => (await import('./console/index.ts')).smsConsole,
  // What the sandbox takes; prices of carriers stand in the operator's file.
  prices: { 'sms.send': { unit: 'segment', nanosPerUnit: SANDBOX_NANOS } },
  problems: smsProblems,
  events: smsEvents,
  models: smsFamily,
  rawRoutes: [callbackRoute],
  settings: smsSettings,
  start: startSms,
  close: closeSms,
  isEmpty: messageTable.isEmpty,
  sweeps: ({ core }) => smsSweeps(core.db),
  jobs: ({ loop }) => [loop],
  liveWork: (db, accountId, ids) => unsettledMessages(db, accountId, ids),
});
