// Fields shared by the queries.
import Type from 'typebox';
import { DISTINCT_ID_CHARACTERS_MAX, NAME_CHARACTERS_MAX } from '../limits.ts';

export const eventField = (description: string) =>
  Type.String({ minLength: 1, maxLength: NAME_CHARACTERS_MAX, pattern: '^[^\\0]*$', description });
export const breakdownField = Type.Optional(
  eventField(
    'Name of a property of events: each of its values is counted apart, the 20 most frequent one by one, the others as one.',
  ),
);
export const distinctIdField = Type.String({
  minLength: 1,
  maxLength: DISTINCT_ID_CHARACTERS_MAX,
  description: 'Any distinct ID of the person.',
});
