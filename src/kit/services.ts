// All services of one process, as modules, the gateway and the surfaces receive them: those of core plus the parts of the folders above it. A
// function takes only the parts that it needs, by Pick or by the folder's own type.
import type { AssetsPart } from '../assets/assets.ts';
import type { BlocksPart } from '../blocks/threads.ts';
import type { CallContext as CallContextOf } from '../core/callers/context.ts';
import type { Core } from '../core/core.ts';
import type { PaymentsPart } from '../payments/terms.ts';
import type { PeoplePart } from '../people/terms.ts';
import type { PicturesPart } from '../pictures/decode-places.ts';
import type { RenderingPart } from '../rendering/rendering.ts';
import type { RoutingPart } from '../routing/vendors.ts';
import type { AlertSourcesPart } from './alert-source.ts';

/** Built once, by service/start-service.ts. */
export interface Services
  extends Core,
    AlertSourcesPart,
    AssetsPart,
    BlocksPart,
    PaymentsPart,
    PeoplePart,
    PicturesPart,
    RenderingPart,
    RoutingPart {}

/** What a capability is given. */
export type CallContext = CallContextOf<Services>;
