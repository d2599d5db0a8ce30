// Console pages of module sms.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { inboundPage } from './inbound.ts';
import { messagePage } from './message.ts';
import { messagesPage } from './messages.ts';
import { verificationsPage } from './verifications.ts';

export const smsConsole: ModuleConsole = {
  pages: [messagesPage, inboundPage, verificationsPage, messagePage],
};
