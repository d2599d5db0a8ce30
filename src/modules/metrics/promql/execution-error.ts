// Problem of a valid PromQL query whose evaluation fails, for example because several series match one.
import { invalidField, type Problem } from '../../../problems/problem.ts';

export function executionError(message: string): Problem {
  return invalidField('query', 'execution', message);
}
