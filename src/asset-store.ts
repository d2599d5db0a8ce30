// Opens the place for files that the settings name.
import type { Config } from './config/config.ts';
import { Assets } from './core/assets/assets.ts';
import { fileAssets } from './vendors/assets/file.ts';
import { s3Assets } from './vendors/assets/s3.ts';
import type { OutboundClient } from './vendors/http/port.ts';

/** Throws StartupError when the place is not the one that the database knows. */
export async function openAssets(
  place: Config['assets'],
  outbound: OutboundClient,
  known: ConstructorParameters<typeof Assets>[1],
): Promise<Assets> {
  const assets = new Assets(place.kind === 's3' ? s3Assets(place, outbound) : fileAssets(place.folder), known);
  await assets.requireSame();
  return assets;
}
