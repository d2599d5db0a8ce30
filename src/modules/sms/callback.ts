// HTTP callback route of carriers. A callback that the carrier has not signed is refused.
import type { RawRoute } from '../../kit/raw-route.ts';
import { problem } from '../../problems/problem.ts';
import { CALLBACK_BYTES_MAX } from './limits.ts';
import type { SmsState } from './state.ts';

export const callbackRoute: RawRoute<SmsState> = {
  name: 'sms.callback',
  methods: ['POST'],
  path: '/v1/sms/callback/{vendor}/{token}',
  capability: null,
  bodyBytesMax: CALLBACK_BYTES_MAX,
  async answer(request, { carriers, listener }) {
    const carrier = carriers.get(request.params.vendor ?? '');
    if (carrier?.readCallback === undefined) throw problem('NOT_FOUND');
    return carrier.readCallback(request, listener);
  },
};
