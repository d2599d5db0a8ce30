// The guarded outbound client.
import type { OutboundClient } from './port.ts';

export function createOutboundClient(_options: { readonly allowPrivateTargets: readonly unknown[] }): OutboundClient {
  return {
    checkUrl: async () => null,
    post: async () => ({
      kind: 'failed',
      code: 'refused',
      message: 'The outbound client is not built yet.',
      latencyMs: 0,
    }),
    close: async () => undefined,
  };
}
