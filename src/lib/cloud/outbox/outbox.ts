import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { asGwError, GwError } from '../../error/index.ts';
import { assertOwnFolder, type Clock, ensureFolder, type Log, onAbort, orAfter } from '../../lifecycle/index.ts';
import { createAppender, silent } from './appender.ts';
import { createDrain, type Drain } from './drain/drain.ts';
import { createSuspects } from './drain/suspect.ts';
import { createHealth } from './health.ts';
import {
  DISK_TIMEOUT_MS,
  ID_LENGTH,
  MAX_PAYLOAD_BYTES,
  MAX_TOPIC_BYTES,
  THINNING_RECORD_INTERVAL_MS,
} from './limits.ts';
import type { MessageClass } from './message-class.ts';
import type { Outbox, OutgoingMessage } from './model.ts';
import { createPace } from './pace.ts';
import { keyOf } from './store/keys.ts';
import { createStoreThread, type StoreThread } from './thread/store-thread.ts';

/** Removals that may wait for the disk; beyond it nothing more is sent, so that a restart resends no more than that. */
const MAX_WAITING = 10_000;
/** Keys in one transaction. */
const MAX_BATCH = 2_000;
/** A transaction is made for so many keys, or after so long. */
const ENOUGH = 500;
const DELAY_MS = 100;

/** Removes acknowledged messages from the disk, in groups. */
interface Remover {
  add(key: number): void;
  /** Acknowledged, and perhaps still on the disk. */
  has(key: number): boolean;
  readonly isBehind: boolean;
  /** Tries again after a failure. */
  retry(): void;
  /** Resolves when nothing waits any more, or a removal has failed. */
  flush(): Promise<void>;
}

/** Fields that the envelope adds. */
const ENVELOPE = ['id', 'seq', 'at', 'serial'];
/** Names, punctuation and values of the envelope, without id and serial number. */
const ENVELOPE_BYTES = 96;

export interface OutboxOptions {
  /** Database file, in a folder that only this user may write to. */
  readonly path: string;
  readonly serial: string;
  /** Topic of the records about thinned telemetry. */
  readonly recordTopic: string;
  /** Topic of the messages without an envelope. */
  readonly shadowTopic: string;
  readonly maxBytes: number;
  readonly maxPerSecond: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the outbox. Resolves also when the disk fails or does not answer within 5 s; the view says so, and the outbox
 * recovers by itself.
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  const { path, serial, recordTopic, shadowTopic, maxBytes, maxPerSecond, clock, log } = options;
  const health = createHealth({ path, maxBytes, clock, log, probe: () => void probe(), onRecovered });
  const thread = createStoreThread({ path, serial, recordTopic, shadowTopic, maxBytes }, clock, {
    onReply: health.onReply,
    onSilence() {
      health.onSilence();
      appender.rejectWaiting(silent(path));
    },
    onEnd: health.onEnd,
  });
  const appender = createAppender({ path, maxBytes, thread, onAccepted });
  const remover = createRemover(thread, clock, () => drain?.wake());
  const suspects = createSuspects(() => clock.monotonicMs());
  const pace = createPace(maxPerSecond, () => clock.monotonicMs());
  const counts = { accepted: 0, acknowledged: 0, refused: 0 };
  const closing = new AbortController();
  let drain: Drain | null = null;
  let lastDrain: Promise<void> = Promise.resolve();
  let lastRecordMs = Number.NEGATIVE_INFINITY;
  /** Why nothing is opened in the folder; null: it was found right. */
  let folderProblem: GwError | null = silent(path);

  function onAccepted({ class: messageClass }: { readonly class: MessageClass }, seq: number): void {
    counts.accepted += 1;
    drain?.feed.added(messageClass, keyOf(messageClass, seq));
  }

  function onRecovered(): void {
    remover.retry();
    drain?.feed.retry();
  }

  async function prepareFolder(): Promise<boolean> {
    try {
      await ensureFolder(dirname(path), 0o700);
      await assertOwnFolder(dirname(path));
      folderProblem = null;
      return true;
    } catch (error) {
      const { message, remedy } = asGwError(error);
      folderProblem = new GwError('FILE_UNWRITABLE', `${path} cannot be written to: ${message}`, { remedy });
      health.onFolder(folderProblem);
      return false;
    }
  }

  async function probe(): Promise<void> {
    if (await prepareFolder()) await thread.call('probe', null);
  }

  async function append(message: OutgoingMessage) {
    try {
      closing.signal.throwIfAborted();
      const bodyJson = admit(message, serial);
      if (folderProblem !== null) throw folderProblem;
      if (health.isSilent) throw silent(path);
      const { class: messageClass, topic, idField = null } = message;
      const [id, atMs] = [randomUUID(), clock.wall().getTime()];
      const seq = await appender.append({ class: messageClass, topic, bodyJson, idField, id, atMs });
      return { id, seq };
    } catch (error) {
      counts.refused += 1;
      throw error;
    }
  }

  function createNextDrain(): Drain {
    return createDrain({
      clock,
      pace,
      suspects,
      async page(request) {
        if (folderProblem !== null) return null;
        const isRecordDue = clock.monotonicMs() - lastRecordMs >= THINNING_RECORD_INTERVAL_MS;
        const outcome = await thread.call('page', { ...request, recordId: isRecordDue ? randomUUID() : null });
        if (outcome.kind !== 'done') return null;
        if (outcome.result.recordKey !== null) lastRecordMs = clock.monotonicMs();
        return outcome.result;
      },
      isAcknowledged: remover.has,
      isRemovalBehind: () => remover.isBehind,
      onAcknowledged(key) {
        if (remover.has(key)) return;
        counts.acknowledged += 1;
        remover.add(key);
      },
    });
  }

  await orAfter(clock, DISK_TIMEOUT_MS, probe());
  if (health.state === null && health.view().status === 'not-open') health.onSilence();

  return {
    append,

    async drain(publisher, signal) {
      const before = lastDrain;
      const { promise, resolve } = Promise.withResolvers<void>();
      lastDrain = promise;
      const ended = new AbortController();
      using _aborted = onAbort(signal, () => ended.abort());
      using _closed = onAbort(closing.signal, () => ended.abort());
      try {
        await before;
        if (ended.signal.aborted) return;
        drain = createNextDrain();
        await drain.run(publisher, ended.signal).finally(() => {
          drain = null;
        });
      } finally {
        resolve();
      }
    },

    view() {
      const { status, detail, remedy } = health.view();
      const { state } = health;
      const held = suspects.heldBack;
      return {
        status,
        detail: held === 0 ? detail : `${detail} ${held} held back: the connection ended each time it was sent.`,
        remedy: remedy ?? (held === 0 ? null : HELD_BACK_REMEDY),
        kept: state?.kept ?? null,
        bytes: state?.bytes ?? null,
        maxBytes,
        oldestAt: state === null || state.oldestAtMs === null ? null : new Date(state.oldestAtMs).toISOString(),
        ...counts,
        thinned: state?.thinned ?? null,
      };
    },

    async [Symbol.asyncDispose]() {
      if (closing.signal.aborted) return;
      const closed = closedError(path);
      closing.abort(closed);
      appender.rejectAll(closed);
      await lastDrain;
      await orAfter(clock, DISK_TIMEOUT_MS, remover.flush());
      health.close();
      await thread.close();
    },
  };
}

export function createRemover(thread: Pick<StoreThread, 'call'>, clock: Clock, onProgress: () => void): Remover {
  const waiting = new Set<number>();
  let work: Promise<void> | null = null;
  let timer: Disposable | null = null;

  async function remove(): Promise<void> {
    timer?.[Symbol.dispose]();
    timer = null;
    let isFailed = false;
    while (waiting.size > 0) {
      const keys = [...waiting].slice(0, MAX_BATCH);
      const outcome = await thread.call('remove', { keys });
      // Those that are left are tried again with the next acknowledgement, or when the disk works again.
      isFailed = outcome.kind !== 'done';
      if (isFailed) break;
      for (const key of keys) waiting.delete(key);
      onProgress();
      if (waiting.size < ENOUGH) break;
    }
    work = null;
    if (waiting.size > 0 && !isFailed) schedule();
  }

  function start(): Promise<void> {
    // Without any key `remove` would end before `work` is set, which would stay set.
    if (waiting.size === 0) return Promise.resolve();
    work ??= remove();
    return work;
  }

  function schedule(): void {
    if (work !== null || waiting.size === 0) return;
    if (waiting.size >= ENOUGH) void start();
    else timer ??= clock.after(DELAY_MS, () => void start());
  }

  return {
    add(key) {
      waiting.add(key);
      schedule();
    },
    has: (key) => waiting.has(key),
    get isBehind() {
      return waiting.size >= MAX_WAITING;
    },
    retry: schedule,
    async flush() {
      await work;
      await start();
      timer?.[Symbol.dispose]();
    },
  };
}

/** Checks a message before anything is kept of it, and encodes its body. Throws OUTBOX_REFUSED. */
function admit({ class: messageClass, topic, body, idField }: OutgoingMessage, serial: string): string {
  const refuse = (why: string): never => {
    throw new GwError(
      'OUTBOX_REFUSED',
      `A message of class ${messageClass} for ${topic.slice(0, MAX_TOPIC_BYTES)}: ${why}.`,
    );
  };
  const topicBytes = Buffer.byteLength(topic);
  if (topicBytes > MAX_TOPIC_BYTES) refuse(`its topic has ${topicBytes} bytes, more than ${MAX_TOPIC_BYTES}`);
  if (topic === '' || /[+#\0]/.test(topic)) refuse('its topic is empty or has a wildcard');
  const taken = (idField === undefined ? ENVELOPE : [idField]).filter((field) => Object.hasOwn(body, field));
  if (taken.length > 0) refuse(`its field ${taken.join(', ')} is one that the outbox adds`);
  const bodyJson = encodeBody(body) ?? refuse('its fields are no JSON values');
  const bytes = Buffer.byteLength(bodyJson) + ENVELOPE_BYTES + ID_LENGTH + Buffer.byteLength(JSON.stringify(serial));
  if (bytes > MAX_PAYLOAD_BYTES) refuse(`its payload has ${bytes} bytes, more than the limit of ${MAX_PAYLOAD_BYTES}`);
  return bodyJson;
}

/** Null for what JSON would change or cannot hold: numbers that are not finite, big integers, circles. */
function encodeBody(body: object): string | null {
  try {
    const text = JSON.stringify(body, (_, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('not finite');
      return value;
    });
    return text?.startsWith('{') ? text : null;
  } catch {
    return null;
  }
}

const HELD_BACK_REMEDY = 'Check on the broker which topics this device may publish to; it is sent again every hour.';

function closedError(path: string): GwError {
  return new GwError('FILE_UNWRITABLE', `The outbox ${path} is closed; a message that was being written may be kept.`, {
    remedy: 'Repeat it when gw runs again.',
  });
}
