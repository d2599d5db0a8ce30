// The service as its own main runs it, but quick to judge its workers, so that a test takes seconds.
import { serve } from '../../src/serve.ts';

await serve({ heartbeats: { everyMs: 250, missedMax: 12, missedAtStartMax: 400 }, stopMs: 4_000 });
