// The key's scopes must include the capability.
import { scopesAllow } from '../../core/keys/scopes.ts';
import { problem } from '../../problems/problem.ts';
import type { Step } from '../step.ts';

export const authorize: Step = (call) => {
  const { id, scope, anyKey } = call.endpoint.capability;
  if (anyKey === true || scopesAllow(call.key.scopes, id, scope)) return;
  throw problem('INSUFFICIENT_SCOPE', {
    message: `This key may not call ${id}: it needs a scope such as \`${call.endpoint.module}:${scope}\` or \`${id}\`.`,
    detail: `${call.endpoint.module}:${scope}`,
  });
};
