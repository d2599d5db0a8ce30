// Operator settings of the web module.
import { ConfigError, type Variables } from '../../config/variables.ts';
import { HOST_EVERY_MS } from './limits.ts';

const THREADS = 1;
const BROWSERS = 2;
const AGENT_CHARACTERS_MAX = 200;

export function webSettings(variables: Variables) {
  const robots = variables.text('WEB_ROBOTS') ?? 'on';
  if (robots !== 'on' && robots !== 'off') throw new ConfigError('WEB_ROBOTS must be on or off');
  const userAgent = variables.text('WEB_USER_AGENT') ?? null;
  if (userAgent !== null && !(/^[\x20-\x7e]+$/.test(userAgent) && userAgent.length <= AGENT_CHARACTERS_MAX)) {
    throw new ConfigError(`WEB_USER_AGENT must be at most ${AGENT_CHARACTERS_MAX} visible ASCII characters`);
  }
  return {
    /** Whether robots.txt of sites is obeyed. */
    obeysRobots: robots === 'on',
    /** How requests name their sender; null: this service and its address. */
    userAgent,
    /** Between two requests to one host. */
    hostEveryMs: variables.integer('WEB_HOST_INTERVAL_MS', HOST_EVERY_MS, { min: 0, max: 60_000 }),
    /** Pages that are made into text at once on this process; each takes a core. */
    threads: variables.integer('WEB_THREADS', THREADS, { min: 1, max: 64 }),
    /** Screenshots that are taken at once on this process. Of two or more, one account never has all. */
    browsers: variables.integer('WEB_BROWSERS', BROWSERS, { min: 1, max: 64 }),
  };
}

export type WebSettings = ReturnType<typeof webSettings>;
