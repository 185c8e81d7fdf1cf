import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { CloudView, cloudViewSchema } from '../../../src/lib/cloud/index.ts';
import { cloudChanges } from '../../../src/lib/toolkit/cloud/changes.ts';
import { type CloudWatchEvent, cloudWatchSchema } from '../../../src/lib/toolkit/cloud/cloud.result.ts';
import { watchCloudLink } from '../../../src/lib/toolkit/cloud/watch.ts';
import { connectedView as connected, lostView as lost } from '../../cloud/views.ts';
import { forAll } from '../kit.ts';
import { startFakeOperator } from '../operator/fake-operator.ts';

const changes = (before: CloudView, after: CloudView) =>
  cloudChanges(before, after)?.map(({ part, detail }) => `${part} ${detail}`);

type Changeable = z.infer<typeof cloudViewSchema>;
function with_(view: CloudView, change: (copy: Changeable) => void): CloudView {
  const copy = structuredClone(view) as Changeable;
  change(copy);
  return copy;
}

describe('changes of the cloud link', () => {
  it('are none between two views that differ in ages and counters of sent messages only', () => {
    const after = with_(connected, ({ link, outbox, received }) => {
      if (link?.connection) link.connection.forMs += 1_000;
      if (outbox?.kept) outbox.kept.telemetry += 1;
      if (outbox) outbox.accepted += 1;
      if (received) received.answers += 1;
    });
    expect(changes(connected, after)).toEqual([]);
  });

  it('name the loss with its failure, and the new connection with its path', () => {
    expect(changes(connected, lost)).toEqual([
      `link ${lost.detail}`,
      'link port 443: no answer from mqtt.example.test:8883',
    ]);
    const again = with_(connected, ({ link }) => {
      if (link) link.connects += 1;
    });
    expect(changes(lost, again)).toEqual([
      'link connected to mqtt.example.test:443 with ALPN x-example-mqtt-ca, TLSv1.3',
      `link ${connected.link?.troubles[0]?.detail}`,
    ]);
  });

  it('name a trouble of the link when it begins and when it is over', () => {
    const sound = with_(connected, ({ link }) => {
      if (link) link.troubles = [];
    });
    const detail = connected.link?.troubles[0]?.detail;
    expect(changes(sound, connected)).toEqual([`link ${detail}`]);
    expect(changes(connected, sound)).toEqual([`link over: ${detail}`]);
  });

  it('name a loss that was over before anybody asked', () => {
    const after = with_(connected, ({ link }) => {
      if (link) Object.assign(link, { connects: 4, losses: 3 });
    });
    expect(changes(connected, after)?.[0]).toBe('link connection lost');
  });

  it('name each received, discarded, refused and thinned message', () => {
    const after = with_(connected, ({ received, outbox }) => {
      if (received) Object.assign(received, { stops: 3, tunnelNotifications: 1 });
      if (received) received.discarded.retained += 2;
      if (outbox) Object.assign(outbox, { refused: 3, thinned: 20 });
      if (outbox?.kept) outbox.kept.telemetry = 5_000;
    });
    expect(changes(connected, after)).toEqual([
      'stop 1 stop received',
      'tunnel tunnel notification received',
      'discarded 2 messages discarded: retained on gw/TEST-0001/stop (44 bytes)',
      'outbox 2 messages refused',
      'outbox 8 telemetry messages removed for lack of space',
      'outbox 5003 messages kept',
    ]);
  });

  it('name the phase of a release and the state of an upload', () => {
    const after = with_(connected, ({ release, uploads }) => {
      if (release?.run) Object.assign(release.run, { jobId: 'release-8', phase: 'downloading', detail: null });
      if (uploads[1]) Object.assign(uploads[1], { state: 'refused', detail: 'quota' });
    });
    expect(changes(connected, after)).toEqual([
      'release 1.4.0: downloading',
      'upload maps/new.tar.gz: refused (quota)',
    ]);
  });

  it('are unknown after a restart of gw, whose counters begin anew', () => {
    const after = with_(connected, ({ outbox }) => {
      if (outbox) outbox.accepted = 3;
    });
    expect(changes(connected, after)).toBeUndefined();
  });

  it('are never reported for equal views', { tags: 'property' }, () => {
    forAll(fc.nat(1e6), fc.nat(1e6), (accepted, telemetry) => {
      const view = with_(connected, ({ outbox }) => {
        if (outbox?.kept) Object.assign(outbox.kept, { telemetry });
        if (outbox) outbox.accepted = accepted;
      });
      expect(cloudChanges(view, structuredClone(view))).toEqual([]);
    });
  });
});

describe('gw cloud watch', () => {
  it('gives the state, one event per change, and the loss of the gateway once', async () => {
    await using operator = await startFakeOperator();
    const views: (CloudView | null)[] = [connected, connected, lost, null, null, lost];
    let asked = 0;
    const ending = new AbortController();
    operator.override = () => {
      const view = views[asked];
      asked += 1;
      if (asked >= views.length) ending.abort();
      return view === null ? [502, { error: { code: 'SOMETHING', message: 'bad gateway' } }] : [200, view ?? lost];
    };
    const events: CloudWatchEvent[] = [];
    const last = await watchCloudLink(operator.toolkit, {}, { signal: ending.signal, onProgress: () => {} }, (event) =>
      events.push(cloudWatchSchema.parse(event)),
    );
    expect(events.map((event) => `${event.event}${'status' in event ? ` ${event.status}` : ''}`)).toEqual([
      'state connected',
      'change',
      'change',
      'unreachable',
    ]);
    expect(events[0]).toMatchObject({ kept: 7, discarded: 3 });
    expect(cloudWatchSchema.parse(last)).toMatchObject({ event: 'ended' });
  });

  it('ends after the given time', async () => {
    await using operator = await startFakeOperator();
    operator.override = () => [200, connected];
    const signal = new AbortController().signal;
    const last = await watchCloudLink(operator.toolkit, { seconds: 3 }, { signal, onProgress: () => {} }, () => {});
    expect(last).toMatchObject({ event: 'ended', status: 'connected' });
    if (last.event === 'ended') expect(last.watchedMs).toBeGreaterThanOrEqual(3_000);
    expect(operator.requests.length).toBeLessThanOrEqual(5);
  });
});
