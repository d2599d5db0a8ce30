// Replaces a cluster by another in two renames. A marker file states that the new cluster is complete; a start after only the first rename makes
// the second.
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from '../layout.ts';

/** In the home of the clusters. */
export const UPGRADED = 'data.upgraded';
const WHOLE = 'quartermaster-upgraded';

/** Answers where the old cluster lies now. The new one must have been stopped. */
export function swapClusters(layout: Layout, kept: string): string {
  const old = join(layout.home, kept);
  writeFileSync(join(layout.home, UPGRADED, WHOLE), '', { flush: true });
  renameSync(layout.cluster, old);
  finishUpgrade(layout);
  return old;
}

/** Whether there is a database, also when an upgrade was cut off between the two moves. */
export function hasCluster({ cluster, home }: Layout): boolean {
  return existsSync(cluster) || existsSync(join(home, UPGRADED, WHOLE));
}

/** Makes the second move of an upgrade that was cut off between the two. */
export function finishUpgrade({ cluster, home }: Layout): void {
  const upgraded = join(home, UPGRADED);
  if (existsSync(cluster) || !existsSync(join(upgraded, WHOLE))) return;
  renameSync(upgraded, cluster);
  rmSync(join(cluster, WHOLE));
}
