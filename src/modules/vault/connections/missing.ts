import type { Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';

export function connectionMissing(name: string): Problem {
  return problem('NOT_FOUND', {
    param: 'connection',
    message: `There is no connection ${name}. vault.connection.list has them.`,
  });
}
