// In-process state of the rtc module. LiveKit's library is large: it is loaded at startup, and only if a LiveKit server is set.
import { AnswerEffect } from '../../core/wallet/charge/charge-answer.ts';
import { TOKEN } from './limits.ts';
import type { LivekitSettings, RtcSettings } from './settings.ts';

export interface Join {
  /** As the LiveKit server knows it. */
  readonly room: string;
  readonly identity: string;
  readonly name: string | undefined;
  readonly canPublish: boolean;
  readonly canSubscribe: boolean;
  readonly expiresSeconds: number;
}

export interface RtcState {
  readonly settings: RtcSettings;
  readonly effect: AnswerEffect;
  /** Null: people meet by peer connections. */
  readonly livekit: { readonly url: string; tokenFor(join: Join): Promise<string> } | null;
}

export async function startRtc(settings: RtcSettings): Promise<RtcState> {
  const livekit = settings.livekit === null ? null : await openLivekit(settings.livekit);
  return { settings, effect: new AnswerEffect(TOKEN), livekit };
}

async function openLivekit({ url, apiKey, apiSecret }: LivekitSettings): Promise<RtcState['livekit']> {
  const { AccessToken } = await import('livekit-server-sdk');
  return {
    url,
    tokenFor({ room, identity, name, canPublish, canSubscribe, expiresSeconds }) {
      const token = new AccessToken(apiKey, apiSecret, { identity, ttl: expiresSeconds, ...(name && { name }) });
      // Never roomCreate: it would let its holder end rooms, also of other accounts. Servers make a room when the first one joins.
      token.addGrant({ room, roomJoin: true, canPublish, canPublishData: canPublish, canSubscribe });
      return token.toJwt();
    },
  };
}
