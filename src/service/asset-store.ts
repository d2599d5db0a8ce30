// Opens the asset store that the settings name, and that of a backup.

import { Assets } from '../assets/assets.ts';
import type { AssetsLocation } from '../config/assets-url.ts';
import type { Config } from '../config/config.ts';
import { fileAssets } from '../vendors/assets/file.ts';
import type { AssetStore } from '../vendors/assets/port.ts';
import { s3Assets } from '../vendors/assets/s3.ts';
import { createOutboundClient } from '../vendors/http/client.ts';
import type { OutboundClient } from '../vendors/http/port.ts';

/** Throws StartupError when the place is not the one that the database knows. */
export async function openAssets(
  place: Config['assets'],
  outbound: OutboundClient,
  known: ConstructorParameters<typeof Assets>[1],
): Promise<Assets> {
  const assets = new Assets(storeAt(place, outbound), known);
  await assets.requireSame();
  return assets;
}

/** For a command, which has no service around it. */
export function openBackupPlace(place: AssetsLocation): AssetStore {
  return storeAt(place, createOutboundClient({ allowPrivateTargets: [] }));
}

function storeAt(place: AssetsLocation, outbound: OutboundClient): AssetStore {
  return place.kind === 's3' ? s3Assets(place, outbound) : fileAssets(place.folder);
}
