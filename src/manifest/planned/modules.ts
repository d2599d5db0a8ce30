// Modules of the specification that are not built. A call of one is answered as planned, not as a typo.
import { type Problem, problem } from '../../problems/problem.ts';
import { moduleTags } from '../version.ts';

/** Their names: the first segment of a path below /v1, or of a capability id. */
export function plannedModules(built: readonly { readonly name: string }[]): ReadonlySet<string> {
  const names = new Set(built.map(({ name }) => name));
  // One tag is no name: "ai (chat-completions-compatible)".
  return new Set(moduleTags.filter((tag) => /^[a-z]+$/.test(tag) && !names.has(tag)));
}

export function notBuilt(module: string): Problem {
  return problem('CAPABILITY_NOT_FOUND', { detail: 'planned', message: notBuiltText(module) });
}

export function notBuiltText(module: string): string {
  return `The module ${module} is planned and not available here.`;
}

/** What users call what a planned module will do, for searches. A module without words is found by its name alone. */
export const plannedWords: Readonly<Record<string, string>> = {
  auth: 'log users in, sign up end users, passwords of my users, user accounts of my app',
  db: 'sql database, tables, postgres, run a query in sql',
  storage: 'upload a file, files, objects, bucket, s3, blob, share a file, download a file',
};
