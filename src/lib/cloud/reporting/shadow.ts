import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { asGwError } from '../../error/index.ts';
import { isRecord, readStateFile, writeStateFile } from '../../json/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Answer, OwnRequest } from '../gate/model.ts';
import type { Outbox } from '../outbox/model.ts';
import type { ShadowUpdateWire } from '../wire.ts';
import type { ShadowView } from './model.ts';
import { createSingleRun } from './single-run.ts';

const FORMAT = 'gw/cloud-shadow/1';
const shadowFile = z.object({
  format: z.literal(FORMAT),
  sent: z.record(z.string(), z.unknown()),
  pending: z.array(z.string()),
});
/** Project decision. */
const MIN_INTERVAL_MS = 5_000;
const RETRY_MS = 10_000;
/** Wait before the whole state is sent again after a rejection; doubled each time. Project decision. */
const RESEND = { firstMs: 60_000, maxMs: 3_600_000 };
/** Of a shadow document. @source vendor, quota page: 8 KB (HINWEIS) */
const MAX_BYTES = 8_000;
/** Updates whose ids are remembered. More than one waits for its answer only after a restart. */
const MAX_TOKENS = 16;

/**
 * Keeps the reported state of the shadow up to date: the whole state at the start, then what has changed. A new update is
 * made only when the outbox holds none, so that a long cut leaves one and not hundreds. The desired state is neither
 * subscribed to nor acted on: it is no command.
 */
export function createShadowReports(options: {
  readonly topic: string;
  readonly path: string;
  readonly state: () => State;
  readonly outbox: Pick<Outbox, 'append' | 'view'>;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { topic, path, outbox, clock, log } = options;
  /** As given to the outbox last, or by an earlier run. */
  let sent: State = {};
  let isWholeDue = true;
  let notBeforeMs = 0;
  let resendMs = RESEND.firstMs;
  const tokens = new Map<string, OwnRequest['state']>();
  let newestToken: string | null = null;
  let version: number | null = null;
  let rejected: ShadowView['rejected'] = null;
  let trouble: string | null = null;
  let isLoaded = false;
  const reporting = createSingleRun(clock);

  function wait(ms: number): void {
    notBeforeMs = Math.max(notBeforeMs, clock.monotonicMs() + ms);
  }

  function fail(message: string): void {
    if (trouble !== message) log.warn({ reason: message }, 'the shadow could not be sent');
    trouble = message;
    wait(RETRY_MS);
  }

  async function report(): Promise<void> {
    if (clock.monotonicMs() < notBeforeMs) return;
    const state = shadowState(options.state());
    const reported = isWholeDue ? wholeState(sent, state) : changesOf(sent, state);
    if (reported === null) {
      trouble = null;
      return;
    }
    const { kept } = outbox.view();
    if (kept === null) return fail('The outbox is not open.');
    if (kept.shadow > 0) return;
    const bytes = Buffer.byteLength(JSON.stringify(state));
    if (bytes > MAX_BYTES) return fail(`The state has ${bytes} bytes; a shadow holds ${MAX_BYTES}.`);
    const body = { state: { reported } } satisfies Omit<ShadowUpdateWire, 'clientToken'>;
    const wasWholeDue = isWholeDue;
    // Before the wait: an earlier update that is rejected meanwhile makes the whole state due again.
    isWholeDue = false;
    const { id } = await outbox
      .append({ class: 'shadow', topic, body, idField: 'clientToken' })
      .catch((error: unknown) => {
        isWholeDue ||= wasWholeDue;
        throw error;
      });
    [sent, trouble, newestToken] = [state, null, id];
    remember(id);
    wait(MIN_INTERVAL_MS);
    await save();
  }

  function remember(id: string): void {
    tokens.set(id, 'pending');
    for (const oldest of tokens.keys()) {
      if (tokens.size <= MAX_TOKENS) return;
      tokens.delete(oldest);
    }
  }

  async function save(): Promise<void> {
    const pending = [...tokens].filter(([, state]) => state === 'pending').map(([id]) => id);
    try {
      await writeStateFile(path, { format: FORMAT, sent, pending });
    } catch (error) {
      // Without the file the whole state is sent at the next start; only keys that a new version drops would stay.
      log.warn({ error: asGwError(error).message }, 'the sent state of the shadow could not be saved');
    }
  }

  return {
    /** Reads what an earlier run has sent. Never rejects. */
    async load(): Promise<void> {
      try {
        const kept = await readStateFile(path, shadowFile);
        if (kept !== null) {
          sent = kept.sent;
          for (const id of kept.pending) remember(id);
        }
      } catch (error) {
        log.warn({ error: asGwError(error).message }, 'the sent state of the shadow could not be read');
      }
      isLoaded = true;
    },

    /** Sends what has changed. Never rejects; a call during another one does nothing. */
    async tick(): Promise<void> {
      if (!isLoaded) return;
      await reporting.run(async () => {
        await report().catch((error: unknown) => fail(asGwError(error).message));
      });
    },

    /** The update with this id, for the gate. It waits as long as the outbox may keep it. */
    requestOf(clientToken: string): OwnRequest | null {
      const state = tokens.get(clientToken);
      return state === undefined ? null : { kind: 'shadow-update', topic, state };
    },

    /** Takes an answer that the gate matched. */
    onAnswer(clientToken: string, answer: Answer): void {
      if (tokens.get(clientToken) !== 'pending') return;
      tokens.set(clientToken, 'answered');
      if (answer.kind === 'shadow') {
        const isNewest = clientToken === newestToken;
        // Answers can arrive out of order.
        if (!isNewest && version !== null && answer.version <= version) return;
        version = answer.version;
        // Changes that are accepted after a rejection do not bring what was rejected.
        if (isNewest && !isWholeDue) [rejected, resendMs] = [null, RESEND.firstMs];
      } else if (answer.kind === 'rejected') {
        rejected = { ...answer.rejected, at: clock.wall().toISOString() };
        log.warn({ ...answer.rejected, retryInMs: resendMs }, 'the shadow was rejected');
        // The service holds an older state, so changes alone would not bring it up to date.
        isWholeDue = true;
        wait(resendMs);
        resendMs = Math.min(2 * resendMs, RESEND.maxMs);
      }
    },

    view(): ShadowView {
      const base = { version, rejected };
      if (!isLoaded) return { ...base, status: 'not-sent', detail: 'What was sent before is not read yet.' };
      const why = reporting.stall() ?? trouble;
      if (why !== null) return { ...base, status: 'not-sent', detail: why };
      if (rejected !== null) {
        const { code, message } = rejected;
        return { ...base, status: 'rejected', detail: `Rejected (${code}): ${message} It is sent again as a whole.` };
      }
      if (newestToken === null) return { ...base, status: 'not-sent', detail: 'Not sent since the start of gw.' };
      if (tokens.get(newestToken) === 'answered') {
        return { ...base, status: 'accepted', detail: `Version ${version} is accepted.` };
      }
      const detail =
        outbox.view().kept?.shadow === 0
          ? 'Sent; the shadow service has not answered yet.'
          : 'It waits in the outbox until the broker has acknowledged it.';
      return { ...base, status: 'not-answered', detail };
    },
  };
}

export type State = Readonly<Record<string, unknown>>;

/**
 * A state as a shadow can hold it: `null` deletes a key there, so keys without a value, and numbers that JSON does not
 * have, are left out.
 */
export function shadowState(state: State): State {
  return Object.fromEntries(
    Object.entries(state).flatMap(([key, value]): [string, unknown][] => {
      if (value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return [];
      return [[key, isRecord(value) ? shadowState(value) : value]];
    }),
  );
}

/** The changed keys, `null` for removed ones; null when the states are the same. */
export function changesOf(from: State, to: State): State | null {
  const changes: [string, unknown][] = [];
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) changes.push([key, null]);
  for (const [key, value] of Object.entries(to)) {
    const before = Object.hasOwn(from, key) ? from[key] : undefined;
    if (isRecord(before) && isRecord(value)) {
      const inner = changesOf(before, value);
      if (inner !== null) changes.push([key, inner]);
    } else if (!isDeepStrictEqual(before, value)) changes.push([key, value]);
  }
  return changes.length === 0 ? null : Object.fromEntries(changes);
}

/** The whole state, and `null` for each key of an earlier one that it does not have any more. */
export function wholeState(from: State, to: State): State {
  const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  return {
    ...Object.fromEntries(removed.map((key) => [key, null])),
    ...Object.fromEntries(
      Object.entries(to).map(([key, value]) => {
        const before = Object.hasOwn(from, key) ? from[key] : undefined;
        return [key, isRecord(before) && isRecord(value) ? wholeState(before, value) : value];
      }),
    ),
  };
}
