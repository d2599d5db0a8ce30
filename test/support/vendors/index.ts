// All doubles by the name of their adapter, and how a test calls an adapter at one of them.

import type { VideoWork } from '../../../src/modules/video/vendors/port.ts';
import { type VendorCall, type VendorTimeouts, vendorTimeouts } from '../../../src/vendors/call/port.ts';
import { createOutboundClient } from '../../../src/vendors/http/client.ts';
import type { OutboundClient } from '../../../src/vendors/http/port.ts';
import type { VendorDouble } from './double.ts';
import { falWire, openaiWire, openrouterWire, replicateWire } from './wires.ts';
import { arkWire, dashscopeWire } from './wires-china.ts';

export const wires = [openaiWire, openrouterWire, falWire, replicateWire, dashscopeWire, arkWire] as const;

/** A client that reaches what is private only where the operator wrote it. */
export function guardedClient(): OutboundClient {
  return createOutboundClient({ allowPrivateTargets: [], resolve: async () => ['127.0.0.1'] });
}

export type CallChanges = Partial<Omit<VendorCall, 'timeouts'>> & { readonly timeouts?: Partial<VendorTimeouts> };

/** Within the usual limits; tests of silence bring short ones. */
export function callOf(double: VendorDouble, outbound: OutboundClient, more: CallChanges = {}): VendorCall {
  return {
    baseUrl: double.baseUrl,
    key: double.key,
    assetHosts: [double.assetHost],
    outbound,
    signal: new AbortController().signal,
    ...more,
    timeouts: { ...vendorTimeouts, ...more.timeouts },
  };
}

/** A request that the model of the double's wire can do. */
export function workFor(double: VendorDouble, more: Partial<VideoWork> = {}): VideoWork {
  return {
    operation: 'generate',
    model: double.wire.model,
    options: double.wire.options,
    prompt: 'A calico cat plays a piano.',
    negativePrompt: null,
    seconds: 5,
    resolution: '720p',
    aspectRatio: '16:9',
    width: 1280,
    height: 720,
    seed: null,
    image: null,
    parent: null,
    token: 'tok_0123456789abcdef',
    callbackUrl: null,
    deadlineMinutes: 60,
    ...more,
  };
}
