// Limits and constants of the vault module.
import type { PriceName } from '../../kit/capability.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The capability, and its entry of the price book. */
export const CALL = 'vault.call' satisfies PriceName;
export const CALL_NANOS = 20_000n;

/** Before the name of a connection, and the path at its target. */
export const BY_PATH = '/v1/vault/to/';

export const HOSTS_MAX = 20;
export const ALLOW_MAX = 50;
export const KEYS_MAX = 100;
export const HEADERS_MAX = 20;
export const PATTERN_CHARACTERS_MAX = 512;
export const HOST_CHARACTERS_MAX = 260;
/** A shorter one would be found in what has nothing to do with it. */
export const SECRET_CHARACTERS_MIN = 8;
export const SECRET_CHARACTERS_MAX = 4_096;
/** Of the patterns that answers are searched for, with what finds them: those of connections that were used lately are kept. */
export const FORMS_BYTES_MAX = 32 * MIB;

/** The body of a request that a call carries. */
export const BODY_BYTES_MAX = 4 * MIB;
/** As base64, with room for the other fields. */
export const CALL_BYTES_MAX = 6 * MIB;
/** Of an answer that a call answers with: the rest is cut off. */
export const ANSWER_BYTES_MAX = 16 * MIB;
/** Of a text in the answer of a call; longer ones are linked or stored. */
export const INLINE_BYTES_MAX = MIB;
/** What flows by path or proxy, either way. */
export const STREAM_BYTES_MAX = 1024 * MIB;
export const TIMEOUT_MS = { min: 1_000, max: 300_000, usual: 60_000 };
/** Of what flows: without a byte, and in all. */
export const STREAM_IDLE_MS = 300_000;
export const STREAM_TOTAL_MS = 60 * 60_000;
/** Behind the end of a call: whoever has not written how it ended by then is taken for dead. */
export const LOST_AFTER_MS = 60_000;

/** A message of MCP, and a list of tools. */
export const MCP_BYTES_MAX = MIB;

/** A call's row, hold and answer, while it waits for its commit. */
export const ROW_BYTES = 2_048;
export const KEEP_DAYS = 30;
/** The background work that ends calls whose process died. */
export const LOST_CALLS = 'vault.lost_calls';
/** How long a call waits for a person. */
export const APPROVAL_MS = 24 * 3_600_000;

export const PROVIDERS_MAX = 50;
export const SCOPES_MAX = 100;
export const SCOPE_CHARACTERS_MAX = 256;
/** For whom a page to connect is good. */
export const CONNECT_SECONDS = { min: 60, max: 86_400, usual: 600 };
/** From the button to the way back: as long as a sign-in at the provider may take. */
export const ATTEMPT_MS = 10 * 60_000;

/** So long before its end an access token is refreshed. */
export const REFRESH_BEFORE_MS = 60_000;
/** Longer than a request of a token takes. */
export const REFRESH_LEASE_MS = 15_000;
/** How long calls wait for a token that another call or process fetches. */
export const REFRESH_WAIT_MS = 10_000;
/** Of a token of client_credentials whose server does not say: it is fetched anew then. */
export const USUAL_TOKEN_MS = 3_600_000;
/** The background work that tells queues of connections. */
export const NOTICES = 'vault.notices';
