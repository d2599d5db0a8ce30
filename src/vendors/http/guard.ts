// The full URL check of the contract of webhooks: the URL, the addresses its host resolves to, and whether all of them may be reached.
import { type Address, type AddressRange, inRanges, isPublic, readAddress } from '../../lib/address.ts';
import { type Refusal, readTarget, type Target } from './target.ts';

/** All addresses of a name; rejects or answers none when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface CheckedTarget {
  readonly target: Target;
  /** At least one; every one was checked. A socket may connect to these and to nothing else. */
  readonly addresses: readonly string[];
  /** Only because its addresses are exempt. */
  readonly isExempt: boolean;
}

export interface JudgeRules {
  readonly charactersMax?: number;
  readonly isOfWeb?: boolean;
  /** Whether no exemption holds for this address and port. */
  readonly isForbidden?: (address: Address, port: number) => boolean;
}

export type Verdict =
  | ({ readonly kind: 'admitted' } & CheckedTarget)
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The name gave no address (`cause`), and nothing else stands against the URL. */
  | { readonly kind: 'unresolved'; readonly host: string; readonly cause: unknown };

export const OWN_PORT: Refusal = { rule: 'port', message: 'The port is one of this service itself.' };
const NOT_PUBLIC: Refusal = { rule: 'address', message: 'The host is, or resolves to, an address that is not public.' };

/**
 * Checks a URL as it stands and resolves now. One refused address among several refuses all: nobody's public service has private
 * addresses beside its public ones, rebinding attacks do.
 * @param allowed ranges that are exempt from all rules but `url` and `userinfo` when every address of the URL lies in them.
 */
export async function judge(
  url: string,
  resolve: Resolve,
  allowed: readonly AddressRange[],
  { charactersMax, isOfWeb, isForbidden = () => false }: JudgeRules = {},
): Promise<Verdict> {
  const target = readTarget(url, charactersMax, isOfWeb);
  if ('rule' in target) return { kind: 'refused', refusal: target };
  // Without exempt ranges a look-up cannot save what is already refused, and would tell the name service of it.
  if (target.refusal !== null && allowed.length === 0) return { kind: 'refused', refusal: target.refusal };
  const found = target.literal === null ? await lookUp(target.host, resolve) : [target.literal.toString()];
  if ('cause' in found || found.length === 0) {
    if (target.refusal !== null) return { kind: 'refused', refusal: target.refusal };
    return { kind: 'unresolved', host: target.host, cause: 'cause' in found ? found.cause : undefined };
  }
  return judgeAddresses(target, found, { allowed, isForbidden });
}

function judgeAddresses(
  target: Target,
  found: readonly string[],
  { allowed, isForbidden }: { readonly allowed: readonly AddressRange[] } & Required<Pick<JudgeRules, 'isForbidden'>>,
): Verdict {
  const addresses = found.map(readAddress);
  const isExempt = (address: Address | null) => address !== null && inRanges(address, allowed);
  const admitted = { kind: 'admitted', target, addresses: addresses.map(String) } as const;
  if (addresses.every(isExempt)) {
    const isOwn = addresses.some((address) => address !== null && isForbidden(address, target.port));
    return isOwn ? { kind: 'refused', refusal: OWN_PORT } : { ...admitted, isExempt: true };
  }
  if (target.refusal !== null) return { kind: 'refused', refusal: target.refusal };
  const mayReach = (address: Address | null) => address !== null && isPublic(address);
  return addresses.every(mayReach) ? { ...admitted, isExempt: false } : { kind: 'refused', refusal: NOT_PUBLIC };
}

async function lookUp(host: string, resolve: Resolve): Promise<readonly string[] | { readonly cause: unknown }> {
  try {
    return await resolve(host);
  } catch (cause) {
    return { cause };
  }
}
