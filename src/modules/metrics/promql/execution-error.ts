// The refusal of a query that is PromQL, and fails while it is evaluated, such as two series that match one.
import { invalidField, type Problem } from '../../../problems/problem.ts';

export function executionError(message: string): Problem {
  return invalidField('query', 'execution', message);
}
