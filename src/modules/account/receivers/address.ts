// The address of a receiver. Its token names account and receiver with a MAC of 192 bits that only this deployment can write, so nothing of it is
// stored, and a made-up one is refused without a read. A new address has another number.
import { SignedTokens } from '../../../core/secrets/signed-token.ts';
import type { Services } from '../../../kit/services.ts';

export const RECEIVE_PATH = '/hooks';
const KIND = 'receiver';

export interface Address {
  readonly accountId: string;
  readonly receiverId: string;
  readonly addressNumber: number;
}

const tokensOf = ({ secrets }: Pick<Services, 'secrets'>) => new SignedTokens(secrets, 'webhook-receivers');

export function urlOf(
  core: Pick<Services, 'secrets' | 'baseUrl'>,
  { accountId, receiverId, addressNumber }: Address,
): string {
  return `${core.baseUrl}${RECEIVE_PATH}/${tokensOf(core).write(KIND, [accountId, receiverId, addressNumber])}`;
}

/** Null: it is none of ours. */
export function readToken(core: Pick<Services, 'secrets'>, token: string): Address | null {
  const fields = tokensOf(core).read(KIND, token);
  if (fields === null) return null;
  const [accountId, receiverId, addressNumber] = fields;
  return { accountId, receiverId, addressNumber } as Address;
}
