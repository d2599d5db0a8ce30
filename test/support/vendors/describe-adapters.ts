// Every adapter with a double of its vendor: what holds for one of them is said once, for all.

import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import { videoAdapters } from '../../../src/modules/video/vendors/index.ts';
import type { VideoAdapter, VideoProgress, VideoWork } from '../../../src/modules/video/vendors/port.ts';
import type { JobSubmission, VendorJob } from '../../../src/vendors/call/job.ts';
import type { OutboundClient } from '../../../src/vendors/http/port.ts';
import { startVendor, type VendorDouble } from './double.ts';
import { type CallChanges, callOf, guardedClient, wires, workFor } from './index.ts';
import type { DoubleJob, Wire } from './wire.ts';

export const CALLBACK_URL = 'https://qm.example.com/v1/vendors/callback/tok_0123456789abcdef';

/** What a test has at hand; made anew for each. */
export class AtVendor {
  readonly wire: Wire;
  readonly outbound: OutboundClient;
  readonly double: VendorDouble;
  readonly adapter: VideoAdapter;

  constructor(wire: Wire, outbound: OutboundClient, double: VendorDouble) {
    this.wire = wire;
    this.outbound = outbound;
    this.double = double;
    this.adapter = videoAdapters().find((each) => each.name === wire.name) as VideoAdapter;
  }

  call(more: CallChanges = {}) {
    return callOf(this.double, this.outbound, more);
  }

  submit(more: Partial<VideoWork> = {}): Promise<JobSubmission> {
    return this.adapter.submit(this.call(), workFor(this.double, more));
  }

  poll(job: VendorJob): Promise<VideoProgress> {
    return this.adapter.poll(this.call(), job);
  }

  /** A job as we know it, and as the vendor has it. */
  async acceptedJob(more: Partial<VideoWork> = {}): Promise<{ job: VendorJob; at: DoubleJob }> {
    const submission = await this.submit(more);
    if (submission.kind !== 'accepted') throw new Error(JSON.stringify(submission));
    return { job: submission.job, at: this.double.jobs.at(-1) as DoubleJob };
  }
}

/** @param define gets the wire, and the vendor of the test that runs. */
export function describeAdapters(define: (wire: Wire, there: () => AtVendor) => void): void {
  let outbound: OutboundClient;
  beforeAll(() => {
    outbound = guardedClient();
  });
  afterAll(() => outbound.close());
  describe.each(wires.map((wire) => [wire.label ?? wire.name, wire] as const))('%s', (_, wire: Wire) => {
    let there: AtVendor;
    beforeEach(async () => {
      there = new AtVendor(wire, outbound, await startVendor(wire));
    });
    afterEach(() => there.double.close());
    define(wire, () => there);
  });
}
