// Calls of capabilities without HTTP: what the gateway does with an input, for loops over all of them in which no socket is the question.
import { secretCredential } from '../../src/core/credentials/credential.ts';
import { invoke } from '../../src/gateway/invoke.ts';
import { JsonText } from '../../src/lib/json-text.ts';
import type { Input } from './capabilities.ts';
import type { Reply, TestService } from './service.ts';

export type Outcome = Pick<Reply, 'status' | 'text' | 'body'>;

/** Calls capabilities of the service with the key, all fields of the path, query and body in one object. */
/** @param signal of the caller's leaving; of the same for all calls */
export async function inProcess(
  { core, service: { gateway } }: Pick<TestService, 'core' | 'service'>,
  secret: string,
  signal = new AbortController().signal,
): Promise<(capability: string, input: Input) => Promise<Outcome>> {
  const principal = await secretCredential(secret).find(core);
  if (typeof principal === 'string') throw new Error(`the key stands for nobody: ${principal}`);
  return async (capability, input) => {
    const endpoint = gateway.endpoints.get(capability);
    if (endpoint === undefined) throw new Error(`there is no capability ${capability}`);
    const call = { endpoint, principal, input: new JsonText(JSON.stringify(input)), idempotencyKey: null, signal };
    const { status, envelope } = await invoke(gateway, { ...call, entryForm: 'rest' });
    return { status, text: envelope, body: JSON.parse(envelope) };
  };
}
