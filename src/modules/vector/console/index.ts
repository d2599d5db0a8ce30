// What module vector brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { collectionPages } from './collection.ts';
import { vectorsPage } from './vectors.ts';

export const vectorConsole: ModuleConsole = {
  pages: [vectorsPage, ...collectionPages],
};
