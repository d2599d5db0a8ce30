// What module email brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { domainDeletePage, domainPage } from './domain.ts';
import { domainsPage } from './domains.ts';
import { suppressionsPage } from './suppressions.ts';

export const emailConsole: ModuleConsole = {
  pages: [domainsPage, domainPage, domainDeletePage, suppressionsPage],
};
