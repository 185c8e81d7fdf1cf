import { join } from 'node:path';
import { z } from 'zod';
import { asGwError } from '../../error/index.ts';
import { readStateFile, writeStateFile } from '../../json/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import type { Decision, GateContext, SeenView } from './model.ts';

const FILE = 'cloud-seen.json';
const FORMAT = 'gw/cloud-seen/1';
/** Kept of each kind. Project decision: a broker redelivers for about an hour, and sends few of these messages. */
export const MAX_SEEN = 256;
/** Time between two writes of the file, so that a flood of stops does not wear the flash memory. */
const SAVE_EVERY_MS = 1_000;
/** The same after a failure. */
const RETRY_MS = 10_000;
/** A SHA-256, or `bytes-N`; an earlier version kept the id of a stop that had one. */
const contents = z.array(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)).max(MAX_SEEN);
const deliveries = z.array(z.string().regex(/^\d{1,5}-[a-z0-9-]{1,64}$/)).max(MAX_SEEN);
const seenFile = z.object({
  format: z.literal(FORMAT),
  stops: contents,
  notifications: contents,
  deliveries: deliveries.default([]),
});

/**
 * After this time on one connection the broker has received the acknowledgements before it, since it has answered a
 * PINGREQ (every 30 s, answered within 45 s) that followed them. Project decision.
 */
export const DELIVERED_AFTER_MS = 120_000;

type Lookups = 'hasSeenStop' | 'hasSeenDelivery' | 'hasSeenNotification' | 'hasSeenExecution';

export interface Seen extends Pick<GateContext, Lookups> {
  /** Adds the marks of earlier runs. Never rejects: without them a repeated stop is accepted once more, which is safe. */
  load(): Promise<void>;
  /**
   * Remembers an accepted message; call it after the message was acted on. The file is written in the background, and
   * again after a failure. No failure of the disk has an effect on a stop.
   */
  add(decision: Exclude<Decision, { readonly kind: 'answer' | 'discard' }>): void;
  /**
   * Forgets the deliveries that the broker knows as acknowledged: their packet identifiers are free for other messages, and
   * a stop that takes one must not be taken for an earlier one. `connectedForMs`: how long the present connection lasts.
   */
  forgetDelivered(connectedForMs: number): void;
  /** Forgets all deliveries: the broker has made a new session, in which it delivers nothing of the one before again. */
  forgetSession(): void;
  /** Resolves when what was added is saved, or could not be. For an orderly end. */
  settled(): Promise<void>;
  view(): SeenView;
}

/**
 * Contents and deliveries of the accepted stops, and hashes of the access tokens of notifications, across restarts. Job
 * executions are remembered until the restart only: what was done about them is kept by the release agent.
 */
export function createSeen(options: { readonly stateDir: string; readonly clock: Clock; readonly log: Log }): Seen {
  const { clock, log } = options;
  const path = join(options.stateDir, FILE);
  const stops = new Set<string>();
  /** With the time since which each is known. */
  const delivered = new Map<string, number>();
  const notifications = new Set<string>();
  const executions = new Set<string>();
  /** Whether the session of the deliveries on the disk has ended. */
  let isNewSession = false;
  let view: SeenView = { status: 'not-checked', detail: 'The file has not been read yet.', remedy: null };
  let isChanged = false;
  let saving: Promise<void> | null = null;
  /** Until the next write is allowed. */
  let pause: Disposable | null = null;

  function fail(error: unknown, what: string): void {
    const { message, remedy } = asGwError(error);
    if (view.status !== 'failing') log.warn({ path, error: message }, what);
    view = { status: 'failing', detail: `${message} A stop that is delivered again counts as new.`, remedy };
  }

  async function save(): Promise<void> {
    isChanged = false;
    let pauseMs = SAVE_EVERY_MS;
    try {
      await writeStateFile(path, {
        ...{ format: FORMAT, stops: [...stops], notifications: [...notifications] },
        deliveries: [...delivered.keys()],
      });
      if (view.status === 'failing') log.info({ path }, 'received cloud messages are remembered on the disk again');
      view = { status: isChanged ? 'saving' : 'saved', detail: savedDetail(), remedy: null };
    } catch (error) {
      fail(error, 'which cloud messages were received could not be saved');
      isChanged = true;
      pauseMs = RETRY_MS;
    }
    pause = clock.after(pauseMs, () => {
      pause = null;
      start();
    });
  }

  function start(): void {
    if (!isChanged || pause !== null || saving !== null) return;
    saving = save().finally(() => {
      saving = null;
    });
  }

  function savedDetail(): string {
    return `The last ${MAX_SEEN} stops and notifications are recognised after a restart too.`;
  }

  return {
    hasSeenStop: (content) => stops.has(content),
    hasSeenDelivery: (delivery) => delivered.has(delivery),
    hasSeenNotification: (token) => notifications.has(sha256(token)),
    hasSeenExecution: (jobId, executionNumber) => executions.has(`${jobId} ${executionNumber}`),

    async load() {
      try {
        const kept = await readStateFile(path, seenFile);
        // Behind those that were accepted while the file was read, which are newer.
        if (kept !== null) {
          prepend(stops, kept.stops);
          prepend(notifications, kept.notifications);
          if (isNewSession && kept.deliveries.length > 0) isChanged = true;
          const deliveries = isNewSession ? [] : kept.deliveries;
          for (const each of deliveries) if (!delivered.has(each)) delivered.set(each, clock.monotonicMs());
          start();
        }
        if (view.status === 'not-checked') view = { status: 'saved', detail: savedDetail(), remedy: null };
      } catch (error) {
        fail(error, 'which cloud messages were received earlier could not be read');
      }
    },

    add(decision) {
      switch (decision.kind) {
        case 'release':
          remember(executions, `${decision.execution.jobId} ${decision.execution.executionNumber}`);
          return;
        case 'stop':
          remember(stops, decision.content);
          if (decision.delivery !== null) {
            delivered.set(decision.delivery, clock.monotonicMs());
            for (const oldest of delivered.keys()) if (delivered.size > MAX_SEEN) delivered.delete(oldest);
          }
          break;
        case 'tunnel-notification':
          remember(notifications, sha256(decision.notification.clientAccessToken));
      }
      isChanged = true;
      if (view.status === 'saved') view = { ...view, status: 'saving' };
      start();
    },

    forgetDelivered(connectedForMs) {
      if (connectedForMs < DELIVERED_AFTER_MS) return;
      const before = clock.monotonicMs() - DELIVERED_AFTER_MS;
      for (const [delivery, sinceMs] of delivered) {
        if (sinceMs > before) continue;
        delivered.delete(delivery);
        isChanged = true;
      }
      start();
    },

    forgetSession() {
      isNewSession = true;
      if (delivered.size > 0) isChanged = true;
      delivered.clear();
      start();
    },

    async settled() {
      await saving;
      pause?.[Symbol.dispose]();
      pause = null;
      start();
      await saving;
    },

    view: () => view,
  };
}

function remember(seen: Set<string>, id: string): void {
  seen.delete(id);
  seen.add(id);
  for (const oldest of seen) {
    if (seen.size <= MAX_SEEN) return;
    seen.delete(oldest);
  }
}

function prepend(seen: Set<string>, older: readonly string[]): void {
  const newer = [...seen];
  seen.clear();
  for (const id of [...older, ...newer]) remember(seen, id);
}
