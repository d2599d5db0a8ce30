// Releases of the distributed engine (Citus) that keep plans.

// They plan a prepared statement that a node executes itself anew each time, and keep every plan that is made for all values. Measured: 154 MB a
// connection after 6,000 statements. Mended by https://github.com/citusdata/citus/pull/8824.
const KEEP_PLANS = new Set(['12.1.11', '12.1.12', '13.2.1', '13.2.2', '14.0.0', '14.0.1']);

/** `version` as citus_version() answers it: `Citus 13.2.2 on x86_64-pc-linux-gnu, …`. */
export function releaseOf(version: string): string | undefined {
  return /^Citus (\d+\.\d+\.\d+)\b/.exec(version)?.[1];
}

export function keepsPlans(version: string): boolean {
  const release = releaseOf(version);
  return release !== undefined && KEEP_PLANS.has(release);
}
