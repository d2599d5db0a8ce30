// What module email brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { domainDeletePage, domainPage } from './domain.ts';
import { domainsPage } from './domains.ts';
import { failingEmail } from './failing.ts';
import { inboxDeletePage, inboxPage } from './inbox.ts';
import { inboxesPage } from './inboxes.ts';
import { mailPage } from './mail.ts';
import { mailsPage } from './mails.ts';
import { receivedPage } from './received.ts';
import { suppressionsPage } from './suppressions.ts';
import { SENT } from './tabs.ts';

export const emailConsole: ModuleConsole = {
  pages: [
    ...[mailsPage, mailPage, inboxesPage, inboxPage, inboxDeletePage, receivedPage],
    ...[domainsPage, domainPage, domainDeletePage, suppressionsPage],
  ],
  failing: { path: SENT, of: failingEmail },
};
