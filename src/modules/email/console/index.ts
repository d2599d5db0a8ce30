// Console pages of module email, and its current failures for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { domainPages } from './domain.ts';
import { domainsPage } from './domains.ts';
import { failingEmail } from './failing.ts';
import { inboxPages } from './inbox.ts';
import { inboxesPage } from './inboxes.ts';
import { mailPage } from './mail.ts';
import { mailsPage } from './mails.ts';
import { receivedPage } from './received.ts';
import { suppressionsPage } from './suppressions.ts';
import { SENT } from './tabs.ts';

export const emailConsole: ModuleConsole = {
  pages: [
    ...[mailsPage, mailPage, inboxesPage, ...inboxPages, receivedPage],
    ...[domainsPage, ...domainPages, suppressionsPage],
  ],
  failing: { path: SENT, of: failingEmail },
};
