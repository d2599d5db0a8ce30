// The shared state of a module's jobs in one process, beside the parts specific to the module.
import type { Services } from '../kit/services.ts';
import { isLoopback } from '../lib/loopback.ts';
import { HOUR_MS } from '../lib/time.ts';
import { BeforeDecoding } from './before-decoding.ts';
import { BeginJob } from './begin.ts';
import { WorkTimes } from './due/pace.ts';
import type { JobHost, JobKind } from './kind.ts';
import { JobLinks, type LinkShape } from './links.ts';
import { progressReader } from './progress.ts';

export interface JobParts extends Omit<JobHost, 'vendorWork'> {
  readonly begin: BeginJob;
  readonly progress: ReturnType<typeof progressReader>;
  readonly beforeDecoding: BeforeDecoding;
}

export function jobParts(core: Services, kind: JobKind, links: LinkShape, pickupHours: number): JobParts {
  const { baseUrl, cnyPerUsd } = core;
  const shown = { baseUrl, cnyPerUsd, links: new JobLinks(links, core.secrets, baseUrl) };
  return {
    core,
    kind,
    shown,
    begin: new BeginJob(kind, shown),
    progress: progressReader(core.db.hot, kind.tables),
    times: new WorkTimes(),
    publicUrl: isLoopback(new URL(baseUrl).hostname) ? null : baseUrl,
    beforeDecoding: new BeforeDecoding(kind.tables),
    pickupMs: pickupHours * HOUR_MS,
  };
}
