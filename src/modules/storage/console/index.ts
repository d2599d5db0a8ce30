// What module storage brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { bucketDeletePage, bucketPage, bucketSettingsPage } from './bucket.ts';
import { bucketsPage, sharesPage } from './buckets.ts';
import { objectDeletePage, objectPage } from './object.ts';

export const storageConsole: ModuleConsole = {
  pages: [bucketsPage, sharesPage, bucketPage, objectPage, objectDeletePage, bucketSettingsPage, bucketDeletePage],
};
