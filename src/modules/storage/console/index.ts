// Console pages of module storage.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { bucketPages } from './bucket.ts';
import { bucketsPage, sharesPage } from './buckets.ts';
import { objectDeletePage, objectPage } from './object.ts';

export const storageConsole: ModuleConsole = {
  pages: [bucketsPage, sharesPage, ...bucketPages, objectPage, objectDeletePage],
};
