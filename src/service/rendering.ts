// Where this process has things rendered, and where it renders for others (RENDERERS, RENDER_PORT).
import type { Config } from '../config/config.ts';
import type { Admission } from '../core/admission.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import type { Services } from '../kit/services.ts';
import { channelKey } from '../rendering/channel.ts';
import { RenderServer } from '../rendering/render-server.ts';
import { Renderers } from '../rendering/renderers.ts';
import { Rendering } from '../rendering/rendering.ts';
import type { OwnServer } from '../surfaces/servers/open-servers.ts';

export function openRendering(
  { renderers, chromiumPath }: Pick<Config, 'renderers' | 'chromiumPath'>,
  secrets: Secrets,
  bounds: Admission,
): Rendering {
  return renderers.length === 0
    ? new Rendering(chromiumPath)
    : new Rendering(null, new Renderers(renderers, channelKey(secrets), bounds));
}

/** None without RENDER_PORT. */
export function renderServerOf(
  { renderPort }: Pick<Config, 'renderPort'>,
  { rendering, secrets, bounds, log }: Pick<Services, 'rendering' | 'secrets' | 'bounds' | 'log'>,
): readonly OwnServer[] {
  if (renderPort === null) return [];
  const server = new RenderServer({ rendering, psk: channelKey(secrets), bounds, log });
  return [{ setting: 'RENDER_PORT', port: renderPort, server }];
}
