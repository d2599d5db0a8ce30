import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { iso } from '../../../lib/time.ts';
import { iceServersFor, NO_TURN } from '../ice-servers.ts';
import { TTL_SECONDS } from '../limits.ts';
import { expiresAtField, expiresSecondsField, iceServersField } from '../schemas.ts';
import type { RtcState } from '../state.ts';

export const iceServers = defineCapability<RtcState>()({
  method: 'GET',
  path: '/v1/rtc/ice_servers',
  summary: 'Shows STUN and TURN servers with credentials that expire.',
  description: 'For pages that connect to one another by a signalling of their own. rtc.token brings the same.',
  keywords: ['turn credentials', 'stun turn servers', 'rtcpeerconnection configuration'],
  input: Type.Object({ expires_seconds: expiresSecondsField }),
  output: Type.Object({ ice_servers: iceServersField, expires_at: expiresAtField }),
  answersSecret: 'callers',
  examples: [{ title: 'For an hour', input: { expires_seconds: 3_600 } }],
  async run({ ctx, input, state: { settings } }) {
    const expiresMs = Date.now() + (input.expires_seconds ?? TTL_SECONDS.usual) * 1_000;
    if (settings.turn.urls.length === 0) ctx.warnings.push(NO_TURN);
    return {
      data: { ice_servers: iceServersFor(settings.turn, ctx.accountId, expiresMs), expires_at: iso(expiresMs) },
    };
  },
});
