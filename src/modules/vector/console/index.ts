// What module vector brings to the console.
import { foundIn } from '../../../kit/console/find.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { collectionList } from '../capabilities/collection/list.ts';
import { collectionDeletePage, collectionPage } from './collection.ts';
import { collectionPath as pathOf, vectorsPage } from './vectors.ts';

export const vectorConsole: ModuleConsole = {
  pages: [vectorsPage, collectionPage, collectionDeletePage],
  find: (visit, text) =>
    foundIn(visit, collectionList, text, ({ collection: name }) => ({
      ...{ kind: 'collection', name, id: name, path: pathOf(name) },
    })),
};
