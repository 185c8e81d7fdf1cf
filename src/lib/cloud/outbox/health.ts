import type { Clock, Log } from '../../lifecycle/index.ts';
import { PROBE_INTERVAL_MS } from './limits.ts';
import type { OutboxView } from './model.ts';
import type { AsideKind, SetAside, StoreState } from './store/model.ts';
import type { StoreCallName, StoreReply } from './thread/messages.ts';

export interface HealthOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Writes to the disk, to find out whether it works again. */
  readonly probe: () => void;
  /** The disk works again. */
  readonly onRecovered: () => void;
}

/** What is known of the store, from its replies and from their absence. */
export interface Health {
  onReply(name: StoreCallName, reply: StoreReply): void;
  onSilence(): void;
  onEnd(text: string): void;
  /** The folder of the file cannot be used. */
  onFolder(problem: { readonly message: string; readonly remedy: string }): void;
  close(): void;
  /** Whether the disk has not answered the present request for too long. */
  readonly isSilent: boolean;
  readonly state: StoreState | null;
  view(): Pick<OutboxView, 'status' | 'detail' | 'remedy'>;
}

interface Failure {
  readonly detail: string;
  readonly remedy: string;
}

const REMEDY = 'Free space on the disk, make it writable or replace it; the outbox then continues by itself.';

export function createHealth({ path, maxBytes, clock, log, probe, onRecovered }: HealthOptions): Health {
  let state: StoreState | null = null;
  let failure: Failure | null = null;
  let isSilent = false;
  let isClosed = false;
  let aside: SetAside | null = null;
  let next: Disposable | null = null;

  function fail(detail: string, remedy = REMEDY): void {
    if (isClosed) return;
    if (failure?.detail !== detail) log.error({ path, detail }, 'outbox: the disk cannot be written to');
    failure = { detail, remedy };
    next ??= clock.after(PROBE_INTERVAL_MS, () => {
      next = null;
      if (!isClosed) probe();
    });
  }

  function recovered(): void {
    if (failure === null) return;
    failure = null;
    log.info({ path }, 'outbox: the disk can be written to again');
    onRecovered();
  }

  return {
    onReply(name, { outcome, state: read, setAside }) {
      isSilent = false;
      if (setAside !== null) {
        aside = setAside;
        log.error({ ...setAside, path }, `outbox: ${asideLog[setAside.kind]}, a new one begun`);
      }
      if (read !== null) state = read;
      if ('result' in outcome) {
        // A disk that is full can still be read.
        if (name !== 'page') recovered();
        return;
      }
      const { kind, text } = outcome.failure;
      if (kind === 'foreign') {
        fail(`${text}.`, `Install that version again, or move ${path} away; its messages are then not sent.`);
      } else fail(`${path} cannot be written to: ${text}.`);
    },
    onSilence() {
      isSilent = true;
      fail(
        `${path} cannot be written to: the disk does not answer.`,
        'Check the disk, and restart the computer if it stays so.',
      );
    },
    onEnd(text) {
      isSilent = false;
      fail(`the thread of ${path} ended: ${text}.`, 'It is started again by itself; see the log of gw when it recurs.');
    },
    onFolder: ({ message, remedy }) => fail(message, remedy),
    close() {
      isClosed = true;
      next?.[Symbol.dispose]();
    },
    get isSilent() {
      return isSilent;
    },
    get state() {
      return isClosed ? null : state;
    },
    view() {
      if (isClosed) return { status: 'not-open', detail: 'The outbox is closed.', remedy: null };
      if (failure !== null) return { status: 'failing', ...failure };
      if (state === null) return { status: 'not-open', detail: `${path} is being opened.`, remedy: null };
      const kept = Object.values(state.kept).reduce((sum, count) => sum + count, 0);
      const count = `${kept} ${kept === 1 ? 'message' : 'messages'} kept, ${mb(state.bytes)} of ${mb(maxBytes)} MB.`;
      if (aside === null) return { status: 'open', detail: count, remedy: null };
      return { status: 'open', ...asideTexts(aside, count) };
    },
  };
}

const asideLog: Readonly<Record<AsideKind, string>> = {
  corrupt: 'damaged database set aside',
  'other-robot': 'database with messages of another robot set aside',
};

function asideTexts({ kind, path, reason, salvaged }: SetAside, count: string): Failure {
  if (kind === 'other-robot') {
    return {
      detail: `${count} The file held messages of another robot (${reason}); they are not sent, and ${salvaged} of this one are kept.`,
      remedy: `Those of the other robot are kept in ${path}; export them with \`gw cloud others\`, and remove it when they are not needed any more.`,
    };
  }
  return {
    detail: `${count} The file was damaged (${reason}); ${salvaged} of its messages were still readable and are kept.`,
    remedy: `Check the disk. The damaged file is kept as ${path}; remove it when it is not needed any more.`,
  };
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
