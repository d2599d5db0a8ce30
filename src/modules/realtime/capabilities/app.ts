import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { appRecord, showApp } from '../app/app.ts';
import { appSchema } from '../schemas.ts';
import type { RealtimeState } from '../state.ts';

export const app = defineCapability<RealtimeState>()({
  method: 'GET',
  path: '/v1/realtime/app',
  summary: 'Shows what programs connect with.',
  description:
    'The key, secret and host of the account, for clients and server libraries of Pusher. The first call makes the app: an API key named ' +
    '"Realtime app", which you can cap and revoke as any other. app_key may stand in a web page; app_secret signs for servers: keep it as secret ' +
    'as a key.',
  keywords: ['pusher app key', 'pusher credentials', 'websocket address'],
  input: Type.Object({}),
  output: appSchema,
  answersSecret: 'admins',
  currentSecretOnly: true,
  gates: ['recent_sign_in'],
  errors: ['QUOTA_EXCEEDED'],
  examples: [{ title: 'The app', input: {} }],
  async run({ ctx }) {
    return { data: appRecord(ctx, await showApp(ctx)) };
  },
});
