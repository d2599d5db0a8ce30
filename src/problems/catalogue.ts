// Error codes that any part of the service may answer, as data (contract §5): status, title, advice, and whether a retry may succeed.
// Modules add their own. Pages, the OpenAPI document and discovery are derived from all of them together.

import { type ProblemEntry, problemEntry } from './entry.ts';
import { objectProblems } from './objects.ts';

export { type ProblemEntry, problemEntry };

const RETRYABLE = true;

/** Codes and what they mean. */
export type ProblemCatalogue = Readonly<Record<string, ProblemEntry>>;

export const sharedProblems = {
  INVALID_REQUEST: problemEntry(
    400,
    'The request is not valid as a whole.',
    'Two or more fields conflict, or the request line or its encoding is wrong. Read the message, mend the request and send it again.',
  ),
  VALIDATION_FAILED: problemEntry(
    400,
    'A field of the request is not valid.',
    '`param` names the field, `code_detail` the rule it breaks, `did_you_mean` the nearest name that is known; `errors` lists up to 20 fields. Correct them and send the request again.',
  ),
  MALFORMED_JSON: problemEntry(
    400,
    'The body is not valid JSON.',
    'Send one JSON object in UTF-8 with the content type application/json, nested at most 32 levels deep.',
  ),
  INVALID_CURSOR: problemEntry(
    400,
    'The cursor is not valid for this list.',
    'Use next_cursor exactly as returned, with the same key and the same filters, or start again without a cursor.',
  ),
  INVALID_SCOPE: problemEntry(
    400,
    'A scope is not known.',
    'Use `*`, a module, `module:read`, `module:write`, `module:admin` or a capability id. GET /v1/discovery lists them.',
  ),
  SIGNUP_CLOSED: problemEntry(
    403,
    'Sign-up is closed.',
    'Ask for an invitation to an account, or the operator of this service for one.',
  ),
  INVALID_IDEMPOTENCY_KEY: problemEntry(
    400,
    'The idempotency key is not valid.',
    'Send 1 to 255 printable ASCII characters, in one place, or the same value in every place.',
  ),
  UNSUPPORTED_FILTER: problemEntry(
    400,
    'The filter uses an operator or key that is not supported.',
    'Discovery lists the operators of the capability.',
  ),
  TARGET_REJECTED: problemEntry(
    400,
    'The URL may not be fetched or called.',
    'Use a URL of a public host, at the usual port. Redirects that are followed are checked too. The operator may allow private networks (ALLOW_PRIVATE_SOURCES).',
  ),
  TARGET_FAILED: problemEntry(
    502,
    'The URL could not be fetched or called.',
    'code_detail says why: dns, connect, tls, timeout, reset, protocol. Check the URL, or try again later.',
    RETRYABLE,
  ),
  WEBHOOK_URL_REJECTED: problemEntry(
    400,
    'The URL is not acceptable as a target.',
    'The message says what is wrong with it. The description of the capability says where URLs may lead on this service.',
  ),
  WEBHOOK_HEADER_REJECTED: problemEntry(
    400,
    'A custom header is not acceptable.',
    'Use at most 20 token names with visible ASCII values; hop-by-hop and signing headers are reserved.',
  ),
  DURATION_EXCEEDED: problemEntry(
    400,
    'The duration is longer than the vendor allows.',
    'Ask GET /v1/video/capabilities for max_seconds and send a shorter duration.',
  ),
  VENDOR_NOT_AVAILABLE: problemEntry(
    400,
    'No vendor that the call allows serves this capability.',
    'GET /v1/discovery/{capability} lists the vendors; or leave vendor out. code_detail `region`: cross_region lets the call go elsewhere. `excluded`: the routing of the account forbids the vendor. `made_elsewhere`: only who made the video can go on with it. `disabled`, `no_vendor_configured`, `no_public_address`, `not_installed`: only the operator can help.',
  ),
  CONTENT_REFUSED: problemEntry(
    400,
    'The vendor refuses the content.',
    'Its rules forbid what was asked for. Change the content; no other vendor is tried.',
  ),
  UNAUTHORIZED: problemEntry(401, 'No API key was sent.', 'Send the header `Authorization: Bearer <API_KEY>`.'),
  INVALID_API_KEY: problemEntry(
    401,
    'The API key is not valid.',
    'code_detail `revoked` or `expired`: this key, or this secret of it, has ended; without code_detail no such key exists here. Use another key.',
  ),
  INSUFFICIENT_CREDIT: problemEntry(
    402,
    'The wallet, the budget or the spend cap of the key does not cover this call.',
    'error.shortfall says what the call needs, what is left of which cap, when the window ends, and in lifted_by what makes room. code_detail `balance`: add credit. `budget_daily`, `budget_monthly`: raise the budget with PUT /v1/account/budget/set, or wait for window_end. `key_cap`: raise spend_cap_usd of the key with PATCH /v1/account/keys/update/{id}, or use another key. `frozen`: a payment is disputed or credit was taken back beyond the balance; GET /v1/account/balance says which, and new credit pays a debt.',
  ),
  PAYMENT_METHOD_REQUIRED: problemEntry(
    402,
    'A payment method is needed.',
    'Add a payment method to the account first: account.payment_method.attach answers a page where a person leaves one.',
  ),
  PAYMENT_DECLINED: problemEntry(
    402,
    'The payment was declined.',
    'Check the payment method or use another one. code_detail `charge_limit`: more would be charged without the payer than the account allows in a month; a person who has signed in changes that.',
  ),
  INSUFFICIENT_SCOPE: problemEntry(
    403,
    'The key has no permission for this capability.',
    'Use a key whose scopes include the capability named in the message. code_detail `secret_in_grace`: use the current secret of the key.',
  ),
  APPROVAL_REQUIRED: problemEntry(
    403,
    'A person must approve this call first.',
    'Nothing was done and nothing was charged. Wait: GET error.approval.wait_url answers once a person has decided. Then repeat the same call, with its idempotency key if it had one. code_detail `too_many_pending`: too many calls of the account wait already.',
    RETRYABLE,
  ),
  APPROVAL_DENIED: problemEntry(
    403,
    'A person did not approve this call.',
    'The message has the words of the person. code_detail `denied`: do something else, or ask the person. `expired`: nobody decided in time. The call may be asked for again a day later.',
  ),
  ACCOUNT_SUSPENDED: problemEntry(
    403,
    'The account is suspended, or was deleted.',
    'An owner can restore a deleted account for seven days, at /auth/account; else contact the operator of this service.',
  ),
  LINK_EXPIRED: problemEntry(
    403,
    'The link has expired.',
    'Links are signed and end by time. Repeat the call that gave it; of a video, get a new one with GET /v1/video/download_url/{job_id}.',
  ),
  REAUTHENTICATION_REQUIRED: problemEntry(
    403,
    'The sign-in is too long ago for this.',
    'Sign in again, then repeat within 15 minutes. API keys do not need this.',
  ),
  EMAIL_BINDING_REQUIRED: problemEntry(
    403,
    'An e-mail address must be bound to the account first.',
    'Bind one with POST /v1/account/email/bind and /v1/account/email/verify, then repeat the call.',
  ),
  KYC_REQUIRED: problemEntry(
    403,
    'The owner of the account must be verified first.',
    'Ask the operator of this service to verify the owner; kyc_status of account.get says how far it is.',
  ),
  TIER_REQUIRED: problemEntry(
    403,
    'The tier of the account does not include this.',
    'Upgrade the tier of the account.',
  ),
  NOT_FOUND: problemEntry(
    404,
    'There is nothing at this address.',
    'Check the path and the identifier. GET /v1/discovery lists every capability with its path.',
  ),
  ...objectProblems,
  JOB_NOT_FOUND: problemEntry(404, 'The job does not exist.', 'Check the job id.'),
  KEY_NOT_FOUND: problemEntry(404, 'The API key does not exist.', 'Check the key id with GET /v1/account/keys/list.'),
  CAPABILITY_NOT_FOUND: problemEntry(
    404,
    'The capability does not exist.',
    'code_detail `planned`: its module is not built yet. Otherwise check the name: the message suggests similar ones, and GET /v1/discovery lists all.',
  ),
  MODEL_NOT_FOUND: problemEntry(
    404,
    'No vendor has the model.',
    'The message names what is near. A model is named `vendor/model`, or `model` for any vendor that has it; `auto`, `cheapest` and `smartest` let the service choose.',
  ),
  METHOD_NOT_ALLOWED: problemEntry(
    405,
    'The path exists, but not with this method.',
    'Use a method that the Allow header names.',
  ),
  ALREADY_EXISTS: problemEntry(
    409,
    'A resource with this name already exists with other settings.',
    'Use another name, or update the existing one.',
  ),
  RANGE_NOT_SATISFIABLE: problemEntry(
    416,
    'The content has no such bytes.',
    'Content-Range of the answer says how long the content is; ask for a part that lies in it.',
  ),
  STATE_CONFLICT: problemEntry(
    409,
    'The state of the resource does not allow this.',
    'Read the message; change the state first.',
  ),
  RECIPIENT_SUPPRESSED: problemEntry(
    409,
    'All recipients want no more messages.',
    'Of mail: look at email.suppression.list, and delete an entry only when its owner asks for mail again. Of SMS: wait until the number sends START.',
  ),
  IDEMPOTENCY_IN_FLIGHT: problemEntry(
    409,
    'A call with this idempotency key is still running.',
    'Wait and repeat the same call: it will return the first result.',
    RETRYABLE,
  ),
  IDEMPOTENCY_KEY_REUSED: problemEntry(
    409,
    'This idempotency key belongs to another request.',
    'Use a new key for a new request; repeat a request exactly to get its first result.',
  ),
  IDEMPOTENCY_CONFLICT: problemEntry(
    409,
    'The answer of this idempotency key holds a secret of another API key.',
    'Repeat the call with the API key that made it, or send a new idempotency key.',
  ),
  IDEMPOTENCY_INDETERMINATE: problemEntry(
    409,
    'The outcome of the first call with this key is not known yet.',
    'Repeat the same call later.',
    RETRYABLE,
  ),
  KEY_ROTATION_LIMIT: problemEntry(
    409,
    'Two earlier secrets of this key are still alive.',
    'Wait until one expires, or rotate with grace_hours 0.',
  ),
  KEY_NOT_ROTATABLE: problemEntry(409, 'A revoked or expired key cannot be rotated.', 'Create a new key.'),
  ROUTING_EMPTY: problemEntry(409, 'No vendor is left for this capability.', 'Exclude fewer vendors.'),
  QUOTA_EXCEEDED: problemEntry(
    409,
    'The account has reached its limit for this resource.',
    'Delete some, or upgrade the tier.',
  ),
  CAPABILITY_SUNSET: problemEntry(410, 'The capability has been retired.', 'The message names its successor.'),
  PAYLOAD_TOO_LARGE: problemEntry(
    413,
    'The body is too large.',
    'Send at most the number of bytes that the message names.',
  ),
  UNSUPPORTED_MEDIA_TYPE: problemEntry(
    415,
    'The content type or encoding is not supported.',
    'Send application/json in UTF-8.',
  ),
  UPGRADE_REQUIRED: problemEntry(
    426,
    'This path takes WebSockets only.',
    'Open it with a WebSocket client: a GET with Upgrade: websocket and Sec-WebSocket-Version: 13. A proxy in between must pass both on.',
  ),
  RATE_LIMITED: problemEntry(
    429,
    'Too many calls.',
    'Wait for Retry-After and spread the calls; the RateLimit header shows what is left.',
    RETRYABLE,
  ),
  CONCURRENCY_LIMITED: problemEntry(
    429,
    'Too many calls of this account are running at once.',
    'Wait for some to finish, then repeat.',
    RETRYABLE,
  ),
  RATE_LIMIT_VENDOR: problemEntry(429, 'The vendor limits the rate.', 'Wait for Retry-After and repeat.', RETRYABLE),
  INTERNAL_ERROR: problemEntry(
    500,
    'Something failed inside the service.',
    'Repeat the call with the same idempotency key; if it persists, report the request_id to the operator.',
    RETRYABLE,
  ),
  VENDOR_ERROR: problemEntry(
    502,
    'The vendor answered with an error.',
    'Read the message; repeating will probably not help.',
  ),
  VENDOR_AUTH_ERROR: problemEntry(
    502,
    'The vendor refused the credentials of the service.',
    'Report it to the operator.',
  ),
  EMAIL_SEND_FAILED: problemEntry(
    502,
    'The upstream sender failed to send the e-mail.',
    'Repeat the call with the same idempotency key.',
    RETRYABLE,
  ),
  VENDOR_DOWN: problemEntry(
    503,
    'The vendor is not reachable.',
    'Repeat later, or let the service choose the vendor.',
    RETRYABLE,
  ),
  SERVICE_UNAVAILABLE: problemEntry(
    503,
    'The service cannot answer at the moment.',
    'It is starting, stopping, or its database is unreachable. Repeat after Retry-After with the same idempotency key.',
    RETRYABLE,
  ),
  OVERLOADED: problemEntry(503, 'The service has more work than it can take.', 'Repeat after Retry-After.', RETRYABLE),
  VENDOR_TIMEOUT: problemEntry(
    504,
    'The vendor did not answer in time.',
    'Repeat the call with the same idempotency key.',
    RETRYABLE,
  ),
  DEADLINE_EXCEEDED: problemEntry(
    504,
    'The call did not finish in time.',
    'Repeat the call with the same idempotency key.',
    RETRYABLE,
  ),
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof sharedProblems;
