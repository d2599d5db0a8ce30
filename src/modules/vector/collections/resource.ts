// Collections as a resource: their naming and records in operations.
import type { Resource } from '../../../kit/resource.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { problem } from '../problems.ts';
import { collectionField, collectionSchema } from '../schemas.ts';
import type { VectorState } from '../state.ts';
import { type CollectionRow, collectionTable, collectionText } from './store.ts';

export const collectionNotFound = () => problem('COLLECTION_NOT_FOUND', { param: 'collection' });

export const collections: Resource<CollectionRow, VectorState, typeof collectionSchema> = {
  ...collectionTable,
  noun: 'collection',
  keyName: 'collection',
  keyField: collectionField,
  notFound: collectionNotFound,
  output: collectionSchema,
  show: (row, { state }) => new JsonText(collectionText(row, state.engine)),
};
