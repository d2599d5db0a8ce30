// Tracing as configured, and the outbound client whose requests it records as spans. The code for spans is loaded only with an endpoint.
import { hostname } from 'node:os';
import release from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import type { Logger } from '../core/process/logger.ts';
import type { Tracing } from '../core/tracing/tracing.ts';
import { createOutboundClient } from '../vendors/http/client.ts';
import type { OutboundClient } from '../vendors/http/port.ts';

interface Opened {
  readonly tracing: Tracing | null;
  readonly outbound: OutboundClient;
}

interface Opening {
  readonly log: Logger;
  /** Tells this process from others of the service. */
  readonly processId: string;
  /** Where the service listens. */
  readonly ownPorts: () => ReadonlySet<number>;
}

export async function openOutbound(
  {
    tracing: settings,
    allowPrivateTargets,
    allowPrivateSources,
  }: Pick<Config, 'tracing' | 'allowPrivateTargets' | 'allowPrivateSources'>,
  { log, processId, ownPorts }: Opening,
): Promise<Opened> {
  const client = createOutboundClient({ allowPrivateTargets, allowPrivateSources, ownPorts });
  if (settings === null) return { tracing: null, outbound: client };
  const { Tracer } = await import('../core/tracing/tracer.ts');
  const { SpanExporter } = await import('../core/tracing/exporter.ts');
  const { TracedOutbound } = await import('../core/tracing/traced-outbound.ts');
  const { url, headers, resource, sampling } = settings;
  const process = { 'service.version': release.version, 'service.instance.id': processId, 'host.name': hostname() };
  const exporter = new SpanExporter({
    url,
    headers,
    resource: { ...process, ...resource },
    log,
    outbound: createOutboundClient({ allowPrivateTargets: [] }),
  });
  const tracing = new Tracer({ exporter, ...sampling });
  return { tracing, outbound: new TracedOutbound(client, tracing) };
}
