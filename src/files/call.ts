// Types that reading a source and answering a result share: the bounds, the bytes, and the parts of a call's context that they need.
import type { AssetsPart } from '../assets/assets.ts';
import type { CallContext } from '../core/callers/context.ts';
import type { Core } from '../core/core.ts';
import type { ObjectServices } from '../objects/door.ts';

export interface SourceBytes {
  readonly bytes: Buffer;
  /** As the sender says: of the answer to a URL, a data URL or an object. Nothing has looked whether it is so. */
  readonly contentType: string | null;
}

export interface SourceBounds {
  readonly bytesMax: number;
  /** The field that names it; parts are named `param.url`. */
  readonly param: string;
  /** Of a call that is free: an object that it names is read for nothing. */
  readonly isFree?: boolean;
}

type FileServices = ObjectServices & AssetsPart & Pick<Core, 'baseUrl' | 'outbound'>;

export type SourceContext = Pick<
  CallContext<FileServices>,
  'accountId' | 'core' | 'principal' | 'signal' | 'holdAnswer' | 'perform'
>;
