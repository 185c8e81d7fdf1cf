import { describe, expect, it } from 'vitest';
import * as render from '../../src/cli/render/cloud.ts';
import { type CloudView, linkTroubleKinds } from '../../src/lib/cloud/index.ts';
import { noCloud as none } from '../../src/lib/gateway/cloud.ts';
import type { CloudUpload } from '../../src/lib/toolkit/cloud/cloud.result.ts';
import { connectedView as connected, lostView as lost } from '../cloud/views.ts';
import { firstLine, linesOf, plain } from './shown.ts';

/** The same gateway with these troubles of its link. */
function withTroubles(...kinds: NonNullable<CloudView['link']>['troubles'][number]['kind'][]): CloudView {
  const troubles = kinds.map((kind) => ({ kind, detail: `it has ${kind}`, remedy: `Mend ${kind}.`, ask: null }));
  return { ...connected, link: connected.link && { ...connected.link, troubles } };
}

describe('gw cloud status', () => {
  const place = 'mqtt.example.test:443 with ALPN x-example-mqtt-ca, for 11 h';

  it('states in its first line whether it is connected, where, and for how long', () => {
    expect(firstLine(render.renderCloudStatus(withTroubles()))).toBe(`connected: ${place}`);
  });

  it.each(linkTroubleKinds)('names %s in its first line, not only that it is connected', (kind) => {
    const [first, second] = linesOf(render.renderCloudStatus(withTroubles(kind)));
    expect([first, second]).toEqual([`connected, with trouble: ${place}`, `  trouble  it has ${kind}`]);
  });

  it('shows the subscriptions as accepted only when none has QoS 0', () => {
    const row = (view: CloudView) => /^subscriptions +(.*)$/m.exec(plain(render.renderCloudStatus(view)))?.[1];
    expect(row(withTroubles('region-difference'))).toBe('all accepted by the broker');
    expect(row(withTroubles('region-difference', 'qos-0'))).toBe('it has qos-0');
  });

  it('shows what is reported, what of it failed, and whether received stops are remembered', () => {
    const text = plain(render.renderCloudStatus(connected));
    for (const line of [
      /^telemetry +every 10 s, 96 accepted, 2 skipped$/m,
      /^faults +2 raised: 1 present, 1 not checked$/m,
      /^shadow +accepted: Version 7 is accepted\.$/m,
      /^remembered stops +saved$/m,
    ])
      expect(text).toMatch(line);
    const { reporting } = connected;
    if (reporting === null) throw new Error('nothing is reported');
    const failing = plain(
      render.renderCloudStatus({
        ...connected,
        seen: { status: 'failing', detail: 'ENOSPC. A stop counts as new.', remedy: 'Free space.' },
        reporting: {
          telemetry: { ...reporting.telemetry, trouble: 'full' },
          faults: { raised: [], unreported: 3, trouble: 'not read yet' },
          shadow: { ...reporting.shadow, status: 'rejected', detail: 'Rejected (413).' },
        },
      }),
    );
    for (const line of [
      /^telemetry +every 10 s, 96 accepted, 2 skipped; trouble: full$/m,
      /^faults +0 raised, 3 not reported: too many; trouble: not read yet$/m,
      /^shadow +rejected: Rejected \(413\)\.$/m,
      /^remembered stops +failing: ENOSPC\. A stop counts as new\. Free space\.$/m,
    ])
      expect(failing).toMatch(line);
  });

  it('shows how many stops had the content of an earlier one', () => {
    const { received } = connected;
    const view = { ...connected, received: received && { ...received, stopsOfKnownContent: 1 } };
    expect(plain(render.renderCloudStatus(view))).toContain(
      '2 stops (1 with the content of an earlier one), 1 release',
    );
  });

  it('shows why messages are held back', () => {
    const { outbox } = connected;
    const held = outbox && { ...outbox, detail: '7 messages kept. 1 held back: why.', remedy: 'Check the topics.' };
    const row = /^outbox +(.*)$/m.exec(plain(render.renderCloudStatus({ ...connected, outbox: held })))?.[1];
    expect(row).toContain('1 held back: why. Check the topics.');
  });

  it('states that it is not connected and why, then what to do and what to ask the IT', () => {
    const lines = plain(render.renderCloudStatus(lost)).split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'not connected: no answer from mqtt.example.test:8883.',
      '  do next  Check the firewall of the site.',
      '  ask IT   Allow outgoing TCP to mqtt.example.test port 8883.',
      '  next attempt in 25.0 s',
    ]);
    expect(lines.join('\n')).toMatch(/mqtt\.example\.test:443 +tcp +2026-11-22T08:19:36\.000Z +no answer/);
    const trying = plain(render.renderCloudStatus({ ...lost, link: lost.link && { ...lost.link, retryInMs: null } }));
    expect(trying).toContain('\n  next attempt under way\n');
    // Without an identity there is none.
    expect(plain(render.renderCloudStatus({ ...lost, status: 'not-enrolled' }))).not.toContain('next attempt');
  });

  it.each<[string, CloudView['status'], RegExp]>([
    ['not enrolled', 'not-enrolled', /^not connected: this device is not enrolled\./],
    ['not checked', 'not-checked', /^not checked: no connection attempt has a result yet\./],
    ['not configured', 'not-configured', /^No cloud: the running gateway has none in its site file\./],
  ])('never says connected for a gateway that is %s', (_what, status, first) => {
    const text = render.renderCloudStatus({ ...none, status });
    expect(firstLine(text)).toMatch(first);
    expect(plain(text)).not.toMatch(/^connected/m);
    expect(plain(text)).not.toContain('subscriptions');
  });

  it('shows path, TLS, session, certificate, difference of the hosts, outbox, release and uploads', () => {
    const text = plain(render.renderCloudStatus(connected));
    for (const part of [
      ...['path', 'fallback, with ALPN; the direct path is tried again in 3 min', 'TLSv1.3', 'kept by the broker'],
      'until 2027-11-22T00:00:00.000Z',
      '7 messages kept, the oldest of 2026-11-22T09:00:00.000Z',
      '2 stops, 1 release, 0 tunnel notifications, 3 discarded',
      '1.3.0 runs, ready; 1.4.0: rolled-back (the cloud link was not connected within 180 s)',
      '1 uploading, 1 uploaded',
      'the site file has the broker mqtt.example.test, the enrolment gave other.example.test',
    ])
      expect(text).toContain(part);
  });

  it('says what to do where the gateway was started without the cloud of the site file', () => {
    const remedy = 'site.yaml has `cloud`: restart `gw serve`, so that it reads it.';
    expect(plain(render.renderCloudStatus({ ...none, remedy })).split('\n')[1]).toBe(`  do next  ${remedy}`);
  });

  it('prints no control character of the cloud', () => {
    expect(plain(render.renderCloudStatus({ ...lost, detail: 'a\u001b[2Jb\u202ec' }))).toContain('a\uFFFD[2Jb\uFFFDc');
  });
});

describe('gw cloud outbox', () => {
  const link = { status: 'connected', detail: '', remedy: null } as const;
  const outbox = connected.outbox;
  if (outbox === null) throw new Error('no outbox');

  it('counts the kept messages, also per class, with size and oldest message', () => {
    const text = plain(render.renderCloudOutbox({ link, outbox }));
    expect(firstLine(text)).toBe('7 messages kept in the outbox.');
    expect(text).toMatch(/^record +1$/m);
    expect(text).toMatch(/^telemetry +4$/m);
    expect(text).toContain('1.5 of 256.0 MB');
    expect(text).toContain('107 accepted, 100 acknowledged, 1 refused');
  });

  it('gives the reason whenever there is something to do, also while it is open', () => {
    const held = { ...outbox, detail: '7 messages kept. 1 held back: why.', remedy: 'Check the topics.' };
    const text = plain(render.renderCloudOutbox({ link, outbox: held }));
    expect(text.split('\n').slice(0, 3)).toEqual([
      '7 messages kept in the outbox.',
      '  do next  Check the topics.',
      '  reason   7 messages kept. 1 held back: why.',
    ]);
    expect(plain(render.renderCloudOutbox({ link, outbox }))).not.toContain('reason');
  });

  const kept = { record: 0, fault: 0, shadow: 0, telemetry: 0 };
  const away = { status: 'not-connected', detail: 'x', remedy: null } as const;
  it.each<[RegExp, object | null, typeof away | typeof link]>([
    [/^The outbox is empty\.\n/, { kept }, link],
    [/^not checked: It is being opened\./, { status: 'not-open', kept: null, detail: 'It is being opened.' }, link],
    [
      /^The outbox refuses new messages\.\n(.*\n)? *reason {3}ENOSPC/,
      { status: 'failing', kept, detail: 'ENOSPC' },
      link,
    ],
    [/^.*the link is not-connected/, { kept }, away],
    [/^not checked: no outbox/, null, away],
  ])('says empty only for a known count of zero: %s', (text, change, of) => {
    expect(plain(render.renderCloudOutbox({ link: of, outbox: change && { ...outbox, ...change } }))).toMatch(text);
  });
});

describe('gw cloud discarded', () => {
  const { discarded: byReason, lastDiscarded: last, ...accepted } = connected.received ?? ({} as never);
  const link = { status: 'connected', detail: '', remedy: null } as const;

  it('counts by reason, and lists the last ones without payload', () => {
    const text = plain(render.renderCloudDiscarded({ link, total: 3, byReason, accepted, last }));
    expect(firstLine(text)).toBe('3 messages from the cloud discarded since the start of gw.');
    expect(text).toMatch(/^retained +2$/m);
    expect(text).not.toMatch(/^late/m);
    expect(text).toMatch(/^2026-11-22T10:00:00\.000Z +retained +gw\/TEST-0001\/stop +44$/m);
  });

  it('says none only when something was judged, and names a missing link beside it', () => {
    const data = { link, total: 0, byReason, accepted, last: [] };
    expect(firstLine(render.renderCloudDiscarded(data))).toMatch(
      /^No message from the cloud was discarded since the start/,
    );
    const away = { status: 'not-connected', detail: 'x', remedy: null } as const;
    expect(firstLine(render.renderCloudDiscarded({ ...data, link: away }))).toContain('the link is not-connected');
    const unknown = { link: away, total: null, byReason: null, accepted: null, last: [] };
    expect(firstLine(render.renderCloudDiscarded(unknown))).toMatch(/^not checked: /);
  });
});

describe('gw cloud watch', () => {
  const at = '2026-11-22T08:00:00.000Z';

  it('writes one line per event', () => {
    const events = [
      { event: 'state', at, status: 'connected', detail: 'x', kept: 7, discarded: 0 },
      { event: 'change', at, part: 'stop', detail: '1 stop received\n' },
      { event: 'unreachable', at, detail: 'not connected' },
      { event: 'ended', watchedMs: 3_000, status: null },
    ] as const;
    const lines = events.map((event) => plain(render.renderCloudWatch(event)));
    expect(lines).toEqual([
      `${at}  connected  x (7 kept, 0 discarded)`,
      `${at}  stop  1 stop received\uFFFD`,
      `${at}  gateway does not answer  not connected`,
      'Watched for 3.0 s; at the end: the gateway did not answer.',
    ]);
  });
});

describe('gw cloud upload', () => {
  const data: CloudUpload = {
    file: 'a.tar.gz',
    complete: true,
    isNew: true,
    upload: {
      ...{ name: 'maps/a.tar.gz', bytes: 7, sha256: 'ab'.repeat(32), state: 'waiting', sentBytes: 0, detail: null },
      addedAt: '2026-11-22T08:00:00.000Z',
    },
    link: { status: 'connected', detail: '' },
    waitedMs: null,
  };
  const of = (state: CloudUpload['upload']['state'], waitedMs: number | null = null) =>
    firstLine(render.renderCloudUpload({ ...data, upload: { ...data.upload, state }, waitedMs }));

  it('says that it is in the object storage only when it is uploaded', () => {
    expect(of('waiting')).toBe('a.tar.gz is added; the gateway uploads it.');
    expect(of('waiting', 600_000)).toBe('a.tar.gz is not uploaded yet, after 10 min.');
    expect(of('refused', 1_000)).toBe('a.tar.gz was refused; the gateway keeps it and tries again.');
    expect(of('uploaded')).toBe('a.tar.gz is in the object storage.');
  });

  it('says that the backup is incomplete', () => {
    const text = plain(render.renderCloudUpload({ ...data, complete: false }));
    expect(text.split('\n')[1]).toBe('The backup is INCOMPLETE: gw map verify a.tar.gz lists what it lacks.');
  });

  it('names a missing link', () => {
    const text = plain(render.renderCloudUpload({ ...data, link: { status: 'not-connected', detail: 'No answer.' } }));
    expect(text.split('\n')[1]).toBe('The link is not-connected: No answer. It is uploaded once the link is there.');
  });
});
