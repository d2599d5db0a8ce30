// The pages of realtime beside each other.
import { pageTabs } from '../../../kit/console/table.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import type { Html } from '../../../lib/html.ts';
import { app } from '../capabilities/app.ts';
import { getSettings } from '../capabilities/settings.ts';

export function realtimeTabs(visit: Visit, here: '/realtime' | '/realtime/app' | '/realtime/settings'): Html {
  const tab = (text: string, path: string) => ({ text, href: visit.path(path), isHere: path === here });
  return pageTabs('Pages of realtime', [
    tab('Channels', '/realtime'),
    ...(visit.may(app) ? [tab('App', '/realtime/app')] : []),
    ...(visit.may(getSettings) ? [tab('Settings', '/realtime/settings')] : []),
  ]);
}

export function channelPath(visit: Visit, channel: string): string {
  return visit.path(`/realtime/channels/${encodeURIComponent(channel)}`);
}
