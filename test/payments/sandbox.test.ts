import { afterAll, beforeAll, describe } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { conformsToPort, type ProviderBench } from './conformance.ts';
import { sandboxBench } from './sandbox-bench.ts';

let service: TestService;
let bench: ProviderBench;

beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
  bench = sandboxBench(service.core.db, service.url, (seconds) => service.advance(seconds));
});
afterAll(() => service?.stop());

describe('the sandbox', () => {
  conformsToPort(() => bench);
});
