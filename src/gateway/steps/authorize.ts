// The key's scopes must include the capability; what could take a key over asks for its current secret.
import { secretInGrace } from '../../core/keys/record.ts';
import { scopesAllow } from '../../core/keys/scopes.ts';
import { problem } from '../../problems/problem.ts';
import type { Step } from '../step.ts';

export const authorize: Step = (call) => {
  const { id, scope, anyKey, currentSecretOnly } = call.endpoint.capability;
  if (anyKey === true || scopesAllow(call.principal.scopes, id, scope)) {
    if (currentSecretOnly === true && !call.principal.isCurrent) throw secretInGrace();
    return;
  }
  throw problem('INSUFFICIENT_SCOPE', {
    message: `This key may not call ${id}: it needs a scope such as \`${call.endpoint.module}:${scope}\` or \`${id}\`.`,
    detail: `${call.endpoint.module}:${scope}`,
  });
};
