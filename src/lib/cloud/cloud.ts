import { join } from 'node:path';
import { asGwError, GwError } from '../error/index.ts';
import {
  aborted,
  type Clock,
  createBackoff,
  createWakeup,
  firstOf,
  type Log,
  onAbort,
  orAfter,
  untilAborted,
} from '../lifecycle/index.ts';
import { readSiteCa } from '../net/path/index.ts';
import { createRequester } from './gate/requester.ts';
import { createSeen, DELIVERED_AFTER_MS } from './gate/seen.ts';
import { createInbound } from './inbound.ts';
import { createCloudLink } from './link/link.ts';
import type { Connection } from './link/model.ts';
import type { Cloud, CloudOptions, CloudView } from './model.ts';
import type { Outbox, OutboxView, OutgoingMessage } from './outbox/model.ts';
import { openOutbox } from './outbox/outbox.ts';
import { createReleaseAgent } from './release/agent.ts';
import { createReporting } from './reporting/reporting.ts';
import { download } from './storage/download.ts';
import { UPLOADS_FOLDER } from './storage/spool.ts';
import { createUploads } from './storage/uploads.ts';
import { subscribedFilters, topicsOf } from './topics.ts';

/** Records that wait in memory; beyond that new ones are refused. Project decision. */
export const MAX_WAITING = 100;
const RETRY_MS = 5_000;

interface Records {
  /** Keeps a record for the cloud; resolves when it is in the outbox. Rejects with OUTBOX_REFUSED when too many wait. */
  add(body: OutgoingMessage['body']): Promise<void>;
  /** Gives the records to this outbox, in order, until the signal is aborted. */
  run(outbox: Pick<Outbox, 'append'>, signal: AbortSignal): Promise<void>;
}

const ENROLMENT_POLL_MS = 1_000;
const CA_RETRY = { firstMs: 1_000, maxMs: 5_000 };
const OUTBOX_RETRY = { firstMs: 1_000, maxMs: 60_000 };
/** How long the last message of an orderly end may take. */
const FAREWELL_MS = 300;
const MB = 1_000_000;

/**
 * The cloud of one robot. Its parts do not depend on each other: without a disk for the outbox the link still brings a
 * stop, and without a link the outbox keeps what is reported. Nothing runs before `start`, and nothing is kept before
 * this device is enrolled.
 */
export function createCloud(options: CloudOptions): Cloud {
  const { site, clock, log } = options;
  const { cloud, stateDir } = site;
  const { serial } = site.chassis;
  const topics = topicsOf(cloud.topics, serial);
  let outbox: Outbox | null = null;
  let outboxTrouble: GwError | null = null;
  /** PEM of `cloud.caFile`; undefined without one: the CA certificates of Node and the operating system. */
  let storageTrust: { readonly pem: string | undefined } | { readonly error: GwError } =
    cloud.caFile === undefined
      ? { pem: undefined }
      : { error: new GwError('STORAGE_NOT_REACHABLE', 'The CA file of the storage has not been read yet.') };
  let life = new AbortController();
  let work: readonly Promise<void>[] = [];
  let leaving: Promise<void> | null = null;

  const seen = createSeen({ stateDir, clock, log });
  const records = createRecords({ topic: topics.records, clock, log });
  const requester = createRequester({ clock, connection: () => link.connection() });
  const reporting = createReporting({ ...options, topics, outbox: { append, view: outboxView } });
  const agent = createReleaseAgent({
    ...options,
    release: cloud.release,
    storageTrust: requireTrust,
    requester,
    topics,
    health: options.releaseHealth,
    download: (target, transfer) => download(target, { ...transfer, storageUrl: cloud.storageUrl, clock }),
    reserveBytes: site.disk.reserveMb * MB,
  });
  const inbound = createInbound({ ...options, serial, topics, seen, requester, agent, reporting, record: records.add });
  const link = createCloudLink({
    ...options,
    cloud,
    stateDir,
    filters: subscribedFilters(topics),
    will: { topic: topics.presence, payload: presence(serial, { online: false, reason: 'connection lost' }) },
    onMessage: inbound.receive,
    onNewSession: inbound.onNewSession,
    troubles: inbound.troubles,
  });
  const uploads = createUploads({
    dir: join(stateDir, UPLOADS_FOLDER),
    requester,
    topic: topics.storage,
    storageUrl: cloud.storageUrl,
    trust: requireTrust,
    connected: () => link.connection() !== null,
    clock,
    log,
  });

  function outboxView(): OutboxView {
    if (outbox !== null) return outbox.view();
    return {
      status: outboxTrouble === null ? 'not-open' : 'failing',
      detail: outboxTrouble?.message ?? notOpenDetail(),
      remedy: outboxTrouble?.remedy ?? null,
      kept: null,
      bytes: null,
      maxBytes: cloud.outbox.maxMb * MB,
      oldestAt: null,
      accepted: 0,
      acknowledged: 0,
      refused: 0,
      thinned: null,
    };
  }

  function notOpenDetail(): string {
    switch (link.view().identity) {
      case 'none':
        return 'Not open: nothing is kept before this device is enrolled.';
      case 'broken':
        return 'Not open: it waits until the identity of this device can be used.';
      default:
        return 'Not open yet.';
    }
  }

  async function append(message: OutgoingMessage) {
    if (outbox === null) throw new GwError('OUTBOX_REFUSED', 'The outbox is not open.');
    return outbox.append(message);
  }

  /** Throws STORAGE_NOT_REACHABLE while the file cannot be used: transfers wait for it, and a stop does not. */
  function requireTrust(): string | undefined {
    if (!('error' in storageTrust)) return storageTrust.pem;
    const { message, remedy } = storageTrust.error;
    throw new GwError('STORAGE_NOT_REACHABLE', message, { remedy });
  }

  async function readTrust(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(CA_RETRY, clock);
    for (;;) {
      try {
        storageTrust = { pem: (await readSiteCa(cloud.caFile, 'cloud.caFile')) ?? undefined };
        return;
      } catch (error) {
        storageTrust = { error: asGwError(error) };
        log.error(
          { error: storageTrust.error.message },
          'no transfer with the object storage: the CA file is unusable',
        );
        await clock.sleep(backoff.nextMs(), signal);
      }
    }
  }

  /** Opens the outbox once this device is enrolled, and again after a failure. */
  async function keepOutbox(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(OUTBOX_RETRY, clock);
    while (link.view().identity !== 'enrolled') await clock.sleep(ENROLMENT_POLL_MS, signal);
    for (;;) {
      try {
        outbox = await openOutbox({
          path: join(stateDir, 'cloud', 'outbox', 'outbox.db'),
          serial,
          recordTopic: topics.records,
          maxBytes: cloud.outbox.maxMb * MB,
          maxPerSecond: cloud.outbox.maxPerSecond,
          clock,
          log,
        });
        outboxTrouble = null;
        break;
      } catch (error) {
        outboxTrouble = asGwError(error);
        log.error({ error: outboxTrouble.message }, 'the outbox cannot be opened');
        await clock.sleep(backoff.nextMs(), signal);
      }
    }
    signal.throwIfAborted();
    const open = outbox;
    await Promise.all([reporting.run(signal), records.run(open, signal), drainOver(open, signal)]);
  }

  /** Publishes over each connection until it ends. */
  async function drainOver(open: Outbox, signal: AbortSignal): Promise<void> {
    let current: { readonly connection: Connection; readonly done: Promise<void> } | null = null;
    const over = (connection: Connection | null) => {
      if (connection === null || current?.connection === connection) return;
      const before = current?.done;
      const done = (async () => {
        await before;
        await open.drain(connection, firstOf(signal, connection.ended));
      })().catch((error: unknown) => {
        if (!connection.ended.aborted && !signal.aborted) {
          log.error({ error: asGwError(error).message }, 'publishing from the outbox failed');
        }
      });
      current = { connection, done };
    };
    using _each = link.subscribe(over);
    over(link.connection());
    await aborted(signal);
    await (current as { readonly done: Promise<void> } | null)?.done;
  }

  function onConnection(connection: Connection | null): void {
    if (connection === null) return;
    // Not through the outbox: presence is about now.
    connection.publish(topics.presence, presence(serial, { online: true, reason: null })).catch(() => {});
    agent.checkQueue();
  }

  /** For an orderly end, after which the broker does not publish the last will. */
  async function sayOffline(): Promise<void> {
    const connection = link.connection();
    if (connection === null) return;
    const farewell = connection.publish(topics.presence, presence(serial, { online: false, reason: 'stopped' }));
    await orAfter(clock, FAREWELL_MS, farewell);
  }

  function leave(): Promise<void> {
    leaving ??= sayOffline().finally(() => life.abort());
    return leaving;
  }

  function statusOf(): Pick<CloudView, 'status' | 'detail' | 'remedy'> {
    const view = link.view();
    if (view.identity === 'none') {
      return {
        status: 'not-enrolled',
        detail: 'This device has no identity, so nothing is sent and nothing is received.',
        remedy: 'Enrol it with `gw enrol`; the link then starts by itself.',
      };
    }
    const status = view.status === 'connected' ? 'connected' : view.status === 'not-checked' ? 'not-checked' : null;
    return { status: status ?? 'not-connected', detail: view.detail, remedy: view.remedy };
  }

  return {
    name: 'cloud',
    failedStart: 'is-retried',

    async start({ signal, fail }) {
      life = new AbortController();
      leaving = null;
      // The parts outlive the signal by the last message.
      const ending = life.signal;
      onAbort(signal, () => void leave());
      // Not awaited: a hung disk must not delay a stop, and a stop that counts as new again is safe.
      void seen.load();
      const connections = link.subscribe(onConnection);
      const forgetting = clock.every(DELIVERED_AFTER_MS / 4, () =>
        seen.forgetDelivered(link.view().connection?.forMs ?? 0),
      );
      onAbort(ending, () => {
        connections[Symbol.dispose]();
        forgetting[Symbol.dispose]();
      });
      work = [link.run(ending), readTrust(ending), keepOutbox(ending), agent.run(ending), uploads.run(ending)].map(
        (part) =>
          part.catch((error: unknown) => {
            if (!ending.aborted) fail(error);
          }),
      );
    },

    async stop() {
      await leave();
      await Promise.all(work);
      work = [];
      await seen.settled();
      await outbox?.[Symbol.asyncDispose]();
      outbox = null;
    },

    describe: () => statusOf().detail,

    checkPath: link.checkPath,

    async sendRecord(body) {
      await append({ class: 'record', topic: topics.records, body });
    },

    view: () => ({
      ...statusOf(),
      link: link.view(),
      outbox: outboxView(),
      received: inbound.view(),
      seen: seen.view(),
      reporting: reporting.view(),
      release: agent.view(),
      uploads: uploads.view(),
    }),
  };
}

/**
 * Records for the cloud, in memory until the outbox takes them: a stop that the broker has kept arrives before the outbox
 * is open, and stops also while the disk fails.
 */
export function createRecords(options: { readonly topic: string; readonly clock: Clock; readonly log: Log }): Records {
  const { topic, clock, log } = options;
  const waiting: { readonly body: OutgoingMessage['body']; readonly accepted: () => void }[] = [];
  const wakeup = createWakeup();
  let lost = 0;
  let isFailing = false;

  return {
    add(body) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (waiting.length >= MAX_WAITING) {
        lost += 1;
        log.error({ kind: body.kind, lost }, 'a record for the cloud is not kept: too many wait for the outbox');
        reject(new GwError('OUTBOX_REFUSED', `${MAX_WAITING} records wait for the outbox already.`));
      } else {
        waiting.push({ body, accepted: resolve });
        wakeup.wake();
      }
      return promise;
    },

    async run(outbox, signal) {
      using _aborted = onAbort(signal, wakeup.wake);
      while (!signal.aborted) {
        const [next] = waiting;
        if (next === undefined) {
          await wakeup.wait();
          continue;
        }
        try {
          // A disk that does not answer must not hide at the end which records wait.
          await untilAborted(signal, outbox.append({ class: 'record', topic, body: next.body }));
          waiting.shift();
          next.accepted();
          isFailing = false;
        } catch (error) {
          if (signal.aborted) break;
          if (!isFailing) log.error({ error: asGwError(error).message }, 'a record for the cloud waits for the outbox');
          isFailing = true;
          await clock.sleep(RETRY_MS, signal).catch(() => {});
        }
      }
      if (waiting.length > 0) {
        log.error({ records: waiting.map(({ body }) => body) }, 'records for the cloud may not have been kept');
      }
    },
  };
}

function presence(serial: string, state: { readonly online: boolean; readonly reason: string | null }): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ serial, ...state }));
}
