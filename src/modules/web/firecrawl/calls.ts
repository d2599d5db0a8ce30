// Data of a capability's answer, as an object for the Firecrawl wire.
import type { Answer } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';

export function dataOf<Data>({ data }: Pick<Answer, 'data'>): Data {
  return (data instanceof JsonText ? JSON.parse(data.text) : data) as Data;
}
