// Console pages of module vector.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { collectionPages } from './collection.ts';
import { vectorsPage } from './vectors.ts';

export const vectorConsole: ModuleConsole = {
  pages: [vectorsPage, ...collectionPages],
};
