import { join } from 'node:path';
import { onAbort } from '../lifecycle/index.ts';
import { drainOverLink } from './drain-over-link.ts';
import { createRequester } from './gate/requester.ts';
import { createSeen, DELIVERED_AFTER_MS } from './gate/seen.ts';
import { createInbound } from './inbound.ts';
import { createCloudLink } from './link/link.ts';
import type { LinkView } from './link/model.ts';
import type { Cloud, CloudOptions, CloudView } from './model.ts';
import { createEnrolledOutbox } from './outbox/enrolled-outbox.ts';
import { createPresence } from './presence.ts';
import { createRecords } from './records.ts';
import { createReleaseAgent } from './release/agent.ts';
import { createReporting } from './reporting/reporting.ts';
import { download } from './storage/download.ts';
import { UPLOADS_FOLDER } from './storage/spool.ts';
import { createStorageTrust } from './storage/trust.ts';
import { createUploads } from './storage/uploads.ts';
import { subscribedFilters, topicsOf } from './topics.ts';

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
  let life = new AbortController();
  let work: readonly Promise<void>[] = [];
  let leaving: Promise<void> | null = null;

  const seen = createSeen({ stateDir, clock, log });
  const records = createRecords({ topic: topics.records, clock, log });
  const presence = createPresence({ topic: topics.presence, serial, clock });
  const trust = createStorageTrust({ caFile: cloud.caFile, clock, log });
  const requester = createRequester({ clock, connection: () => link.connection() });
  const outbox = createEnrolledOutbox({
    path: join(stateDir, 'cloud', 'outbox', 'outbox.db'),
    serial,
    recordTopic: topics.records,
    shadowTopic: `${topics.shadow}/update`,
    maxBytes: cloud.outbox.maxMb * MB,
    maxPerSecond: cloud.outbox.maxPerSecond,
    identity: () => link.view().identity,
    clock,
    log,
  });
  const reporting = createReporting({ ...options, topics, outbox });
  const agent = createReleaseAgent({
    ...options,
    release: cloud.release,
    storageTrust: trust.pem,
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
    will: presence.will,
    onMessage: inbound.receive,
    onNewSession: inbound.onNewSession,
    troubles: inbound.troubles,
  });
  const uploads = createUploads({
    dir: join(stateDir, UPLOADS_FOLDER),
    requester,
    topic: topics.storage,
    storageUrl: cloud.storageUrl,
    trust: trust.pem,
    connected: () => link.connection() !== null,
    clock,
    log,
  });

  const publish = (signal: AbortSignal) =>
    outbox.run(signal, (open) =>
      Promise.all([reporting.run(signal), records.run(open, signal), drainOverLink(open, link, { log, signal })]),
    );

  function leave(): Promise<void> {
    leaving ??= presence.sayOffline(link.connection()).finally(() => life.abort());
    return leaving;
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
      const connections = link.subscribe((connection) => {
        if (connection === null) return;
        presence.sayOnline(connection);
        agent.checkQueue();
      });
      const forgetting = clock.every(DELIVERED_AFTER_MS / 4, () =>
        seen.forgetDelivered(link.view().connection?.forMs ?? 0),
      );
      onAbort(ending, () => {
        connections[Symbol.dispose]();
        forgetting[Symbol.dispose]();
      });
      work = [link.run(ending), trust.read(ending), publish(ending), agent.run(ending), uploads.run(ending)].map(
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
      await outbox[Symbol.asyncDispose]();
    },

    describe: () => headOf(link.view()).detail,

    checkPath: link.checkPath,

    async sendRecord(body) {
      await outbox.append({ class: 'record', topic: topics.records, body });
    },

    view: () => ({
      ...headOf(link.view()),
      link: link.view(),
      outbox: outbox.view(),
      received: inbound.view(),
      seen: seen.view(),
      reporting: reporting.view(),
      release: agent.view(),
      uploads: uploads.view(),
    }),
  };
}

function headOf(link: LinkView): Pick<CloudView, 'status' | 'detail' | 'remedy'> {
  if (link.identity === 'none') {
    return {
      status: 'not-enrolled',
      detail: 'This device has no identity, so nothing is sent and nothing is received.',
      remedy: 'Enrol it with `gw enrol`; the link then starts by itself.',
    };
  }
  const status = link.status === 'connected' ? 'connected' : link.status === 'not-checked' ? 'not-checked' : null;
  return { status: status ?? 'not-connected', detail: link.detail, remedy: link.remedy };
}
