// Problem of a query that costs too much.
import { invalidField, type Problem } from '../../../problems/problem.ts';

export function tooComplex(message: string): Problem {
  return invalidField('query', 'too_complex', message);
}
