// The end of a look: what changed is written with its notices in one transaction of the account, everything else together with other looks.
import { openTurn } from '../../../core/background/turns.ts';
import { lockAccount } from '../../../core/callers/lock.ts';
import { rideOut } from '../../../db/ride-out.ts';
import type { Services } from '../../../kit/services.ts';
import { Coalescer } from '../../../lib/coalesce.ts';
import { newId } from '../../../lib/ids.ts';
import { addChange } from '../changes/store.ts';
import { LOOKS } from '../limits.ts';
import type { Notice, NoticeKind } from '../notices/notice.ts';
import { tellNotices } from '../notices/tell.ts';
import { labelsOf, type RuleRow, type SeriesState, seriesOf, seriesText } from '../rules/row.ts';
import type { State } from '../schemas.ts';
import { type Silence, silencedUntil, silencesOf } from '../silences/store.ts';
import type { Judged, SeriesChange } from './judge.ts';
import { type ClaimedLook, type LookEnd, saveChangedLook, saveQuietLooks, setLookDue } from './store.ts';

const BATCH_MAX = 64;

/** What was found at a step. */
export type Finding =
  | { readonly judged: Judged }
  /** Why it could not be looked at. */
  | { readonly unknown: string };

export interface EndedLook {
  readonly look: ClaimedLook;
  readonly stepMs: number;
  readonly finding: Finding;
  readonly tookMs: number;
  readonly spread: number;
  readonly dueMs: number;
  /** Looks that failed, one after the other, this one among them. */
  readonly failures: number;
  /** What else its owner should know. */
  readonly words: string | null;
}

/** Writes looks of this process. */
export class LookEnds {
  readonly #core: Services;
  readonly #quiet: Coalescer<LookEnd, null>;

  constructor(core: Services) {
    this.#core = core;
    this.#quiet = new Coalescer({ batchMax: BATCH_MAX, run: (accountId, ends) => this.#saveQuiet(accountId, ends) });
  }

  async write(ended: EndedLook): Promise<void> {
    const { look, finding } = ended;
    const { accountId, row } = look;
    if ('judged' in finding && row.state !== 'unknown') {
      const { judged } = finding;
      const isSame = judged.state === row.state && judged.changes.length === 0;
      const mayTell = judged.series.some(({ state, told }) => state === 'firing' && !told) || isRepeatDue(ended);
      if (isSame && (!mayTell || (await this.#isSilent(accountId, row, judged.series))))
        return void (await this.#quiet.add(accountId, quietEnd(ended, judged)));
    }
    if ('unknown' in finding && row.state === 'unknown')
      return void (await this.#quiet.add(accountId, { ...baseOf(ended), ...standingOf(row), words: finding.unknown }));
    await rideOut(() => this.#writeChange(ended));
  }

  /** There is nothing to look at before `dueMs`. */
  skip(look: ClaimedLook, dueMs: number): Promise<void> {
    return this.#core.db.transaction(async (tx) => {
      await setLookDue(tx, look, dueMs);
      await openTurn(tx, look.accountId, LOOKS, dueMs, { later: true });
    });
  }

  /** Everything that would be told is silenced. */
  async #isSilent(accountId: string, row: RuleRow, series: readonly SeriesState[]): Promise<boolean> {
    const silences = await silencesOf(this.#core.db, accountId);
    return (
      silences.length > 0 && series.every((each) => each.state !== 'firing' || isSilenced(silences, row, each.labels))
    );
  }

  async #saveQuiet(accountId: string, ends: readonly LookEnd[]): Promise<null[]> {
    const nextMs = Math.min(...ends.map(({ dueMs }) => dueMs));
    await rideOut(() =>
      this.#core.db.transaction(async (tx) => {
        await saveQuietLooks(tx, accountId, ends);
        await openTurn(tx, accountId, LOOKS, nextMs, { later: true });
      }),
    );
    return ends.map(() => null);
  }

  #writeChange(ended: EndedLook): Promise<void> {
    const core = this.#core;
    const { accountId, row, id } = ended.look;
    return core.db.transaction(async (tx) => {
      const nowMs = await lockAccount(tx, accountId);
      if (nowMs === null) return;
      const decided = decide(ended, await silencesOf(tx, accountId), nowMs);
      if (!(await saveChangedLook(tx, { ...baseOf(ended), ...decided.row }))) return;
      const told = await tellNotices(tx, { core, accountId, row, nowMs }, decided.notices);
      const words = [decided.words, ...told.words].filter((each) => each !== null);
      const isTold = told.notices > 0 || decided.changes.length > 0 || decided.row.state !== row.state;
      if (isTold) {
        const change = {
          rule: id,
          atMs: ended.stepMs,
          before: row.state,
          state: decided.row.state,
          value: decided.row.value,
          series: decided.changes,
          notices: told.notices,
          mails: told.mails,
          words: words.length === 0 ? null : words.join(' '),
        };
        addChange(tx, accountId, change, nowMs);
      }
      await openTurn(tx, accountId, LOOKS, ended.dueMs, { later: true });
    });
  }
}

interface Decided {
  readonly row: {
    readonly state: State;
    readonly sinceMs: number;
    readonly value: number | null;
    readonly series: string;
    readonly more: number;
    readonly words: string | null;
    readonly unknownTold: boolean;
    readonly toldMs: number | null;
  };
  readonly changes: readonly SeriesChange[];
  readonly notices: readonly Notice[];
  readonly words: string | null;
}

/** What the rule is from now on, and what is told of it. */
export function decide(ended: EndedLook, silences: readonly Silence[], nowMs: number): Decided {
  const { look, stepMs, finding } = ended;
  const { row } = look;
  const noticeOf = (kind: NoticeKind, of: Partial<Notice>): Notice => ({
    noticeId: newId('aln_', nowMs),
    kind,
    isRepeat: false,
    atMs: stepMs,
    series: [],
    words: null,
    ...of,
  });
  const standing = { toldMs: row.told_at, unknownTold: row.unknown_told };
  if ('unknown' in finding) {
    const words = finding.unknown;
    const isTold = !isSilenced(silences, row, {});
    const kept = { sinceMs: stepMs, value: null, series: row.series, more: row.more_series, words };
    const notices = isTold ? [noticeOf('unknown', { words })] : [];
    return { row: { ...standing, ...kept, state: 'unknown', unknownTold: isTold }, changes: [], notices, words };
  }
  const { judged } = finding;
  const tells = (labels: SeriesState['labels']) => !isSilenced(silences, row, labels);
  const begun = judged.series.filter((each) => each.state === 'firing' && !each.told && tells(each.labels));
  const still = isRepeatDue(ended)
    ? judged.series.filter((each) => each.state === 'firing' && each.told && tells(each.labels))
    : [];
  const over = judged.changes.filter(({ before, told }) => before === 'firing' && told);
  const isKnownAgain = row.state === 'unknown' && row.unknown_told && judged.state !== 'firing' && over.length === 0;
  const notices = [
    ...(begun.length === 0 ? [] : [noticeOf('firing', { series: begun })]),
    ...(still.length === 0 ? [] : [noticeOf('firing', { series: still, isRepeat: true })]),
    ...(over.length === 0 ? [] : [noticeOf('resolved', { series: over })]),
    ...(isKnownAgain ? [noticeOf('resolved', { words: 'The rule can be looked at again.' })] : []),
  ];
  const told = new Set(begun);
  const series = judged.series.map((each) => (told.has(each) ? { ...each, told: true } : each));
  const isSame = judged.state === row.state;
  return {
    row: {
      state: judged.state,
      sinceMs: isSame ? Math.min(row.since_at, stepMs) : stepMs,
      value: judged.value,
      series: seriesText(series),
      more: judged.more,
      words: ended.words,
      unknownTold: false,
      toldMs: begun.length + still.length > 0 ? stepMs : row.told_at,
    },
    changes: judged.changes,
    notices,
    words: null,
  };
}

/** What fires is told again: it was told so long ago. */
function isRepeatDue({ look: { row }, stepMs }: EndedLook): boolean {
  const { repeat_seconds: seconds, told_at: toldMs, state } = row;
  return state === 'firing' && seconds !== null && toldMs !== null && stepMs - toldMs >= seconds * 1_000;
}

function isSilenced(silences: readonly Silence[], row: RuleRow, labels: SeriesState['labels']): boolean {
  return silencedUntil(silences, row.rule, { ...labelsOf(row), ...labels }) !== null;
}

function baseOf({ look, stepMs, failures, tookMs, spread, dueMs }: EndedLook) {
  const { accountId, id, attempt, row } = look;
  return { accountId, id, attempt, version: row.version, lookedMs: stepMs, failures, tookMs, spread, dueMs };
}

/** What stays of a rule that cannot be looked at. */
const standingOf = ({ value, series, more_series: more }: RuleRow) => ({ value, series, more });

function quietEnd(ended: EndedLook, { value, series, more }: Judged): LookEnd {
  return { ...baseOf(ended), value, series: seriesText(series), more, words: ended.words };
}

/** What receivers that were told of a rule are told when it ends without a look: it was changed, or deleted. */
export function endingNotices(row: RuleRow, words: string, nowMs: number): readonly Notice[] {
  const told = seriesOf(row).filter((each) => each.state === 'firing' && each.told);
  if (told.length === 0 && !row.unknown_told) return [];
  const noticeId = newId('aln_', nowMs);
  return [{ noticeId, kind: 'resolved', isRepeat: false, atMs: nowMs, series: told, words }];
}
