// In-process state of the storage module: the link signer and the background loops.
import type { JobLoop } from '../../core/background/job-loop.ts';
import type { Services } from '../../kit/services.ts';
import { expiryLoop } from './buckets/expiry.ts';
import { heldLoop } from './held-loop.ts';
import { ObjectLinks } from './links.ts';
import { noticeLoop } from './notices.ts';
import type { StorageSettings } from './settings.ts';

export interface StorageState {
  readonly core: Services;
  readonly links: ObjectLinks;
}

export interface StartedStorage extends StorageState {
  readonly loops: readonly JobLoop[];
}

export function startStorage(core: Services, settings: StorageSettings): StartedStorage {
  return { core, links: new ObjectLinks(core), loops: [expiryLoop(core), heldLoop(core, settings), noticeLoop(core)] };
}
