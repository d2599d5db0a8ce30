// The manifests that every contract test loops over.
import type { Manifest } from '../../src/manifest/manifest.ts';
import { manifest } from '../support/capabilities.ts';
import { fixtureManifest } from './fixture.ts';

export const manifests: readonly (readonly [name: string, manifest: Manifest])[] = [
  ['of every trait', fixtureManifest],
  ['of this service', manifest],
];
