import { asGwError } from '../error/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import {
  type ClockAgreement,
  type ClockDifference,
  type ClockReading,
  compareClocks,
  doAgree,
  judgeOffset,
  secondsText,
} from '../net/index.ts';
import type { ClockAnswer } from '../net/path/index.ts';
import type { ClockHealth } from '../operator/index.ts';
import { JUMP_MS, watchClockJumps } from './clock-jumps.ts';

/** Project decisions: when the time is read. A random part keeps the robots of a fleet apart. */
const FIRST_MS = 60_000;
const EVERY_MS = 6 * 3_600_000;
const AGAIN_MS = 30 * 60_000;
/** A clock that is set again and again must not make requests without end. */
const MIN_GAP_MS = 10 * 60_000;
/** Two readings may fail before a comparison no longer counts. */
const MAX_AGE_MS = 13 * 3_600_000;
/** Project decision: of two quartz clocks without synchronisation, far beyond what is usual. */
const DRIFT = 200e-6;

export interface ClockWatch extends Disposable {
  /** Judged at the moment of the call, by the monotonic clock. */
  view(): ClockHealth;
}

/** A comparison that several endpoints agreed on; it is true for the moment of its reading. */
interface Compared extends ClockDifference {
  readonly hosts: readonly string[];
  readonly atMs: number;
  /** The wall clock minus the monotonic one at that moment. */
  readonly apartMs: number;
}

/** What the last attempt left open. */
interface Doubt {
  readonly status: 'not-checked' | 'not-decided';
  readonly detail: string;
  readonly remedy: string | null;
}

const SET_IT = 'Set the clock with timedatectl, and name the time server of the site where it has one.';
const notYet: Doubt = { status: 'not-checked', detail: 'No time was read yet.', remedy: null };

/**
 * Compares the wall clock with several https endpoints every few hours, and watches it in between. The clock is never set,
 * and nothing that moves the robot depends on it. `read` null: not configured; then the jumps alone are watched.
 */
export function watchClock({
  read,
  clock,
  log,
}: {
  /** Asks each endpoint once. Rejects only when aborted. */
  readonly read: ((signal: AbortSignal) => Promise<readonly ClockAnswer[]>) | null;
  readonly clock: Clock;
  readonly log: Log;
}): ClockWatch {
  const ending = new AbortController();
  let compared: Compared | null = null;
  let doubt: Doubt = notYet;
  let isReading = false;
  let lastBeganMs = Number.NEGATIVE_INFINITY;
  let timer: Disposable | undefined;
  let logged = '';

  const jumps = watchClockJumps({
    clock,
    log,
    onJump() {
      if (compared !== null) {
        doubt = { status: 'not-checked', detail: 'The wall clock was set since the last comparison.', remedy: null };
      }
      compared = null;
      if (!isReading) readIn(FIRST_MS);
    },
  });

  function readIn(ms: number): void {
    timer?.[Symbol.dispose]();
    if (read === null || ending.signal.aborted) return;
    const leftMs = lastBeganMs + MIN_GAP_MS - clock.monotonicMs();
    timer = clock.after(Math.max(leftMs, ms * (0.9 + 0.2 * clock.random())), round);
  }

  function round(): void {
    if (read === null) return;
    isReading = true;
    const [beganMs, apartMs] = [clock.monotonicMs(), jumps.apartMs()];
    lastBeganMs = beganMs;
    read(ending.signal)
      .then(
        (answers) => take(answers, beganMs, apartMs),
        (error: unknown) => fail(error),
      )
      .finally(() => {
        isReading = false;
        if (compared !== null && compared.atMs === beganMs) readIn(EVERY_MS);
        else readIn(AGAIN_MS);
      });
  }

  function take(answers: readonly ClockAnswer[], atMs: number, apartMs: number): void {
    if (Math.abs(jumps.apartMs() - apartMs) > JUMP_MS) {
      doubt = { status: 'not-checked', detail: 'The wall clock was set while the time was being read.', remedy: null };
      return;
    }
    const readings = answers.flatMap((answer) => (answer.kind === 'read' ? [answer.reading] : []));
    const together = compareClocks(readings);
    if (together.kind === 'agreed') {
      compared = { ...together, atMs, apartMs };
    } else {
      // What was agreed on earlier still counts, as long as no new reading contradicts it.
      const known = compared === null ? null : held(compared, jumps.apartMs(), clock.monotonicMs());
      if (known !== null && readings.some((reading) => !doAgree(known, reading))) compared = null;
      if (together.kind === 'disagree') compared = null;
      doubt = doubtOf(together, answers);
    }
    say();
  }

  function fail(error: unknown): void {
    if (ending.signal.aborted) return;
    doubt = { status: 'not-checked', detail: `The time could not be read: ${asGwError(error).message}`, remedy: null };
  }

  function say(): void {
    const { status, detail, behindMs, uncertainMs, from } = view();
    if (status === logged) return;
    logged = status;
    const fields = { status, behindMs, uncertainMs, from, detail };
    if (status === 'ok') log.info(fields, 'clock compared');
    else log.warn(fields, 'clock compared');
  }

  function view(): ClockHealth {
    const apartMs = jumps.apartMs();
    const nowMs = clock.monotonicMs();
    const state = jumps.view();
    const open = { behindMs: null, uncertainMs: null, ageMs: null, from: [], ...state };
    if (read === null) {
      const detail = 'The site file has no `time`, so no time is read; only whether the wall clock is set is watched.';
      return { ...open, status: 'not-configured', detail, remedy: null };
    }
    if (compared === null) return { ...open, ...doubt };
    const ageMs = Math.round(nowMs - compared.atMs);
    if (ageMs > MAX_AGE_MS) {
      const detail = `The last comparison is too old to count. ${doubt === notYet ? '' : doubt.detail}`;
      return { ...open, status: 'not-checked', detail: detail.trim(), remedy: doubt.remedy };
    }
    const { behindMs, uncertainMs } = held(compared, apartMs, nowMs);
    const verdict = judgeOffset({ behindMs, uncertainMs });
    const detail = `${secondsText(Math.abs(behindMs))} ${behindMs >= 0 ? 'behind' : 'ahead of'} ${compared.hosts.join(' and ')} (± ${secondsText(uncertainMs)}).`;
    return {
      ...{ ...state, behindMs, uncertainMs, ageMs, from: [...compared.hosts] },
      status: verdict === 'right' ? 'ok' : verdict,
      detail:
        verdict === 'wrong'
          ? `${detail} Certificates then look expired or not yet valid, and records have wrong times.`
          : detail,
      remedy: verdict === 'right' ? null : SET_IT,
    };
  }

  if (read !== null) readIn(FIRST_MS);
  return {
    view,
    [Symbol.dispose]() {
      ending.abort();
      timer?.[Symbol.dispose]();
      jumps[Symbol.dispose]();
    },
  };
}

/** What a comparison still says now: less and less exactly with its age, and with what the wall clock moved since. */
function held({ behindMs, uncertainMs, atMs, apartMs }: Compared, nowApartMs: number, nowMs: number): ClockDifference {
  const movedMs = Math.abs(nowApartMs - apartMs);
  return { behindMs, uncertainMs: Math.ceil(uncertainMs + movedMs + (nowMs - atMs) * DRIFT) };
}

function doubtOf(together: Exclude<ClockAgreement, { kind: 'agreed' }>, answers: readonly ClockAnswer[]): Doubt {
  const failed = answers.flatMap((answer) => (answer.kind === 'not-read' ? [answer] : []));
  const others = failed.length === 0 ? '' : ` Not read: ${failed.map(({ detail }) => detail).join('; ')}.`;
  switch (together.kind) {
    case 'disagree': {
      const [one, other] = together.readings.map(offsetOf);
      const remedy = 'Ask the operators of both which of them has the wrong time.';
      return { status: 'not-decided', detail: `The endpoints disagree: ${one}, and ${other}.${others}`, remedy };
    }
    case 'one': {
      const detail = `Only one endpoint, which may itself be wrong: ${offsetOf(together.reading)}.${others}`;
      return {
        status: 'not-decided',
        detail,
        remedy: 'At least two hosts are needed: check the network, or name another in `time.urls`.',
      };
    }
    case 'none': {
      // Whether the clock or the certificates are wrong cannot be known without a time.
      const isTime = failed.some(({ why }) => why === 'certificate-time');
      return {
        status: isTime ? 'not-decided' : 'not-checked',
        detail: `No endpoint gave a verified time.${others}`,
        remedy: isTime
          ? `Check the clock first (\`timedatectl\`): if it is far off, no certificate can be verified. ${SET_IT}`
          : null,
      };
    }
  }
}

function offsetOf({ behindMs, uncertainMs, host }: ClockReading): string {
  return `${secondsText(Math.abs(behindMs))} ${behindMs >= 0 ? 'behind' : 'ahead of'} ${host} (± ${secondsText(uncertainMs)})`;
}
