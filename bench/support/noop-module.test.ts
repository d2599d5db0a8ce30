import { expect, test } from 'vitest';
import { buildManifest } from '../../src/manifest/manifest.ts';
import { modules } from '../../src/modules/index.ts';
import { benchModule } from './noop-module.ts';

test('the service of the benchmarks starts with the yardstick beside the modules', () => {
  expect(() => buildManifest([...modules, benchModule])).not.toThrow();
});
