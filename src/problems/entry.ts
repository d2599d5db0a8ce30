// One error code as data.

export interface ProblemEntry {
  readonly status: number;
  readonly title: string;
  readonly retryable: boolean;
  /** What the caller should do; shown on the documentation page of the code. */
  readonly advice: string;
}

/** One entry of a catalogue; `retryable`: whether the same call may succeed later. */
export const problemEntry = (status: number, title: string, advice: string, retryable = false): ProblemEntry => ({
  status,
  title,
  retryable,
  advice,
});
