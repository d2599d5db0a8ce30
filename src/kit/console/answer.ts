// Text for the result of an HTTP POST by the service, such as a run of a schedule or a webhook delivery: status or error code, and latency.

const reasons: Readonly<Record<string, string>> = {
  refused: 'Address not allowed',
  dns: 'Host not found',
  connect: 'Connection refused',
  tls: 'TLS handshake failed',
  timeout: 'Timed out',
  reset: 'Connection closed without an answer',
  protocol: 'Invalid HTTP answer',
  interrupted: 'Interrupted: the service stopped',
  job_deleted: 'The schedule was deleted',
  insufficient_credit: 'Skipped: insufficient credit',
  key_cap: "Skipped: the key's spend cap is reached",
  budget_daily: 'Skipped: the daily budget is used up',
  budget_monthly: 'Skipped: the monthly budget is used up',
  frozen: 'Skipped: the wallet is frozen',
  account_suspended: 'Skipped: the account is suspended',
};

export interface Answer {
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
}

/** `HTTP 500 (12 ms)`, `Connection refused (2 ms)`; null: it is still awaited. */
export function answerText({ http_status: status, error_code: code, latency_ms: ms }: Answer): string | null {
  if (status === null && code === null) return null;
  const what = status === null ? (reasons[code ?? ''] ?? code) : `HTTP ${status}`;
  return ms === null ? `${what}` : `${what} (${ms.toLocaleString('en')} ms)`;
}
