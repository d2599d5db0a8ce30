// The rtc module: rooms for audio and video, by the operator's LiveKit server or by peer connections between browsers.
import { defineModule } from '../../kit/module.ts';
import { iceServers } from './capabilities/ice-servers.ts';
import { token } from './capabilities/token.ts';
import { TOKEN } from './limits.ts';
import { type RtcSettings, rtcSettings } from './settings.ts';
import { type RtcState, startRtc } from './state.ts';

export const rtc = defineModule<RtcState, RtcSettings>({
  name: 'rtc',
  summary:
    'Calls with audio and video: tokens for LiveKit, or channels and TURN for browsers that connect to one another.',
  status: 'beta',
  capabilities: [token, iceServers],
  console: async () => (await import('./console/index.ts')).rtcConsole,
  prices: { [TOKEN]: { unit: 'token', nanosPerUnit: 100_000n } },
  settings: rtcSettings,
  start: (_core, settings) => startRtc(settings),
});
