// A promise with an end: look-ups that others answer have none.

/**
 * `work`, or a rejection after `ms`, or at once when the signal aborts. The work itself goes on; its later outcome is of no interest.
 */
export async function within<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const end = Promise.withResolvers<never>();
  const timer = setTimeout(() => end.reject(new Error(`no answer within ${ms} ms`)), ms);
  const onAbort = () => end.reject(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, end.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
