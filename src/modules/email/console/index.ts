// What module email brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { domainDeletePage, domainPage } from './domain.ts';
import { domainsPage } from './domains.ts';
import { inboxDeletePage, inboxPage } from './inbox.ts';
import { inboxesPage } from './inboxes.ts';
import { receivedPage } from './received.ts';
import { suppressionsPage } from './suppressions.ts';

export const emailConsole: ModuleConsole = {
  pages: [
    ...[inboxesPage, inboxPage, inboxDeletePage, receivedPage],
    ...[domainsPage, domainPage, domainDeletePage, suppressionsPage],
  ],
};
