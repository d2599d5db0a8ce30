// Asks one vendor for embeddings. They come in one piece, so one timeout bounds the whole call.
import type { Candidate } from '../../../../routing/choose.ts';
import { tooLate } from '../../../../routing/walk.ts';
import type { NotSent, Refused } from '../../../../vendors/call/port.ts';
import { DRAIN_MS } from '../../limits.ts';
import { aiModel, timeoutsOf, vectorDimensions, wireModel } from '../../models/family.ts';
import type { AiAdapter, EmbedReply, EmbedRequest } from '../../vendors/port.ts';
import type { ModelCall } from '../model-call.ts';
import { Upstream } from '../upstream.ts';

type Done = Extract<EmbedReply, { kind: 'embedded' }>;

export async function askEmbedder(
  { core, signal }: ModelCall,
  ask: Pick<EmbedRequest, 'inputs' | 'dimensions' | 'further' | 'inputTokens'>,
  candidate: Candidate,
): Promise<Done | { readonly kind: 'left' } | Refused | NotSent> {
  const { row } = candidate;
  const { baseUrl, key, assetHosts, adapter: name } = row.vendor;
  const { embed: asked } = core.vendors.adapter<AiAdapter>('ai', name);
  if (asked === undefined) throw new Error(`the adapter ${name} has no embeddings`);
  const model = aiModel(row);
  const said = timeoutsOf(model);
  const timeouts = { ...said, idleMs: said.firstContentMs, totalMs: said.firstContentMs };
  const upstream = new Upstream(signal, model.billsAfterDisconnect ? DRAIN_MS : 0);
  upstream.limit(timeouts.totalMs);
  try {
    const call = {
      baseUrl,
      assetHosts,
      timeouts,
      outbound: core.outbound,
      signal: upstream.signal,
      key: key?.reveal() ?? null,
      holdPicture: () => undefined,
      markAccepted: () => {
        upstream.isAccepted = true;
      },
      countDroppedLine: () => core.vendors.lineDropped(row.vendor.id),
    };
    const { inputs, dimensions, further, inputTokens } = ask;
    const dimensionsMax = Math.max(dimensions ?? 0, vectorDimensions(model));
    const reply = await asked(call, {
      model: wireModel(model),
      inputs,
      dimensions,
      dimensionsMax,
      further,
      inputTokens,
    });
    if (reply.kind === 'embedded') return reply;
    if (upstream.isLate) return tooLate();
    return upstream.isLeft && upstream.isAccepted ? { kind: 'left' } : reply;
  } finally {
    upstream.close();
  }
}
