// How long a body may be is a rule of the manifest: a limit that would let reading take long is seen before the service starts.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type Capability, defineCapability } from '../kit/capability.ts';
import { plainDeployment } from '../kit/deployment.ts';
import { checkManifest } from './check.ts';
import { composeOffer } from './compose.ts';

const sound = defineCapability()({
  method: 'POST',
  path: '/v1/parcel/send',
  summary: 'Sends a parcel.',
  description: 'Sends one parcel to its address.',
  input: Type.Object({}),
  output: Type.Object({}),
  price: 'parcel.send',
  examples: [],
  run: async () => ({ data: {} }),
});
const prices = { 'parcel.send': { unit: 'parcel', nanosPerUnit: 20_000n } };

function faultsOf(change: Partial<Capability>): string[] {
  const capabilities = [{ ...sound, ...change }];
  const modules = [{ name: 'parcel', summary: 'For the test.', status: 'ga' as const, capabilities, prices }];
  return checkManifest(modules, composeOffer(modules, plainDeployment), 'quick');
}

describe('a body limit that lets reading take long is refused', () => {
  const KIB = 1024;
  const bulk = { source: import.meta.url, reduce: (value: object) => ({ value, transfer: [] }) };
  const limited = (bodyBytesMax: number, change: Partial<Capability> = {}) => faultsOf({ bodyBytesMax, ...change });

  test('of a billable operation beyond 64 KiB, unless a thread reads it', () => {
    expect(limited(64 * KIB)).toEqual([]);
    expect(limited(64 * KIB + 1)).toEqual([
      'parcel.send: its body may have 65537 bytes, but without `bulk` at most 65536',
    ]);
    expect(limited(4_096 * KIB, { bulk })).toEqual([]);
  });

  test('of one that no rate bounds beyond 16 KiB, the default included', () => {
    const hot: Partial<Capability> = { price: 'free', unlimited: true };
    expect(limited(16 * KIB, hot)).toEqual([]);
    expect(limited(16 * KIB + 1, hot)).toHaveLength(1);
    expect(faultsOf(hot)).toEqual(['parcel.send: its body may have 65536 bytes, but without `bulk` at most 16384']);
  });

  test('of one with a rate beyond 512 KiB', () => {
    expect(limited(512 * KIB, { price: 'free' })).toEqual([]);
    expect(limited(512 * KIB + 1, { price: 'free' })).toHaveLength(1);
  });

  test('a limit that is none, and one of a GET', () => {
    expect(limited(0)).toEqual(['parcel.send: 0 is no body limit in bytes']);
    expect(limited(1.5)).toEqual(['parcel.send: 1.5 is no body limit in bytes']);
    expect(limited(1, { method: 'GET', scope: 'read', idempotent: false })).toEqual([
      'parcel.send: a GET takes no body',
    ]);
  });
});
