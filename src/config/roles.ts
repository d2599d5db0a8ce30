// ROLES: what a process of a deployment does. RENDER_PORT and RENDERERS: where processes that do not render have it done.
import { ConfigError, type Variables } from './variables.ts';

/** Answers calls; does due work, deliveries and crawls; makes pictures, PDFs and pages in a browser. */
const ROLES = ['web', 'work', 'render'] as const;
export type Role = (typeof ROLES)[number];

export interface RendererAddress {
  readonly host: string;
  readonly port: number;
}

export interface RoleSettings {
  readonly roles: readonly Role[];
  /** Where other processes ask this one to render; null: none does. */
  readonly renderPort: number | null;
  /** Of processes that render; of none where this one does. */
  readonly renderers: readonly RendererAddress[];
}

const RENDERERS_MAX = 64;
const ADDRESS = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9][a-z0-9.-]{0,252})):(\d{1,5})$/i;

/** Throws ConfigError. */
export function roleSettings(variables: Variables, ports: readonly number[]): RoleSettings {
  const roles = variables.someOf('ROLES', ROLES);
  const renderPort = variables.integer('RENDER_PORT', 0, { min: 1, max: 65_535 });
  const renderers = variables.list('RENDERERS').map(addressOf);
  if (renderers.length > RENDERERS_MAX) throw new ConfigError(`RENDERERS must have at most ${RENDERERS_MAX} addresses`);
  const renders = roles.includes('render');
  if (renders && renderers.length > 0)
    throw new ConfigError('RENDERERS is for processes without the role render: leave render out of ROLES');
  if (!renders && renderers.length === 0)
    throw new ConfigError(
      'RENDERERS must name the processes that render, such as 10.0.0.7:8790, where ROLES lacks render',
    );
  if (!renders && renderPort !== 0) throw new ConfigError('RENDER_PORT is for processes with the role render');
  if (roles.length === 1 && renders && renderPort === 0)
    throw new ConfigError('RENDER_PORT must be set where ROLES is render alone: by it others ask');
  if (renderPort !== 0 && ports.includes(renderPort))
    throw new ConfigError('RENDER_PORT must be another port than PORT');
  return { roles, renderPort: renderPort === 0 ? null : renderPort, renderers };
}

function addressOf(entry: string): RendererAddress {
  const [, ipv6, name, digits] = ADDRESS.exec(entry) ?? [];
  const port = Number(digits);
  const host = ipv6 ?? name;
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new ConfigError(`RENDERERS must be a comma-separated list of addresses such as 10.0.0.7:8790, not ${entry}`);
}
