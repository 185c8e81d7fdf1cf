import { describe, expect, it } from 'vitest';
import { siteSchema } from '../../../src/lib/site/index.ts';
import { cloudStopSchema, releaseRehearsalSchema } from '../../../src/lib/toolkit/cloud/cloud.result.ts';
import { rehearseRelease } from '../../../src/lib/toolkit/cloud/release-rehearsal.ts';
import { rehearseCloudStop } from '../../../src/lib/toolkit/cloud/stop-rehearsal.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { eachTest } from '../kit.ts';
import { startFakeOperator } from '../operator/fake-operator.ts';

type Received = NonNullable<typeof connectedView.received>;
type Release = NonNullable<typeof connectedView.release>;
type Run = NonNullable<Release['run']>;

const STOP_TOPIC = 'gw/SN0007/stop';

/** A gateway that a test changes while a check asks it. */
async function startGateway() {
  const operator = await startFakeOperator();
  const free = { latched: false, saved: true as boolean | 'pending', by: null as string | null };
  const gateway = {
    operator,
    view: { ...connectedView } as object,
    latch: { ...free, reason: null as string | null, repeated: null as { by: string[]; last: { by: string } } | null },
    /** Requests of the check to the person at the cloud account. */
    asked: [] as string[],
    /** What happens then. */
    onAsked: () => {},
    /** Called at every request for the state of the cloud. */
    onView: () => {},
    /** Called at every other request, before its answer: `METHOD path`. */
    onRequest: (_request: string) => {},
    set(received: Partial<Received>) {
      const before = (gateway.view as typeof connectedView).received;
      gateway.view = { ...gateway.view, received: { ...before, ...received } };
    },
    setRelease(release: Partial<Release>) {
      const before = (gateway.view as typeof connectedView).release;
      gateway.view = { ...gateway.view, release: { ...before, ...release } };
    },
    stop(by: string, more: object = {}) {
      gateway.latch = { latched: true, saved: true, by, reason: 'fire alarm', repeated: null, ...more };
    },
    /** A stop that arrives by the cloud link. */
    receive(by: string, more: object = {}, received: Partial<Received> = {}) {
      gateway.set({ stops: 3, ...received });
      gateway.stop(by, more);
    },
    context: {
      signal: new AbortController().signal,
      onProgress(text: string) {
        if (!text.endsWith('now') && !text.includes('account now')) return;
        gateway.asked.push(text);
        gateway.onAsked();
      },
    },
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
  operator.override = (request) => {
    const { method, url } = request;
    if (url === '/api/cloud') {
      gateway.onView();
      return [200, gateway.view];
    }
    gateway.onRequest(`${method} ${url}`);
    if (url !== '/api/stopp') return undefined;
    if (method === 'DELETE') {
      if (!operator.sessions.has(request.headers.cookie ?? '')) return [401, { error: { code: 'NOT_SIGNED_IN' } }];
      gateway.latch = { ...free, reason: null, repeated: null };
    }
    return [200, { stop: gateway.latch }];
  };
  const file = siteSchema.parse({
    name: 'Test',
    chassis: { host: '127.0.0.1', serial: 'SN0007' },
    operator: { port: operator.toolkit.site.operator.port },
    cloud: { mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' } },
  });
  const toolkit = {
    ...operator.toolkit,
    site: { ...file, path: '/nowhere/site.yaml', dir: '/nowhere', stateDir: '/nowhere/state' },
  } as Toolkit;
  return Object.assign(gateway, { toolkit });
}
type Gateway = Awaited<ReturnType<typeof startGateway>>;

const verdicts = ({ findings }: { findings: readonly { id: string; verdict: string }[] }) =>
  Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));
const details = ({ findings }: { findings: readonly { detail: string }[] }) =>
  findings.map(({ detail }) => detail).join('\n');

let gateway: Gateway;
eachTest(startGateway, (one) => {
  gateway = one;
});

describe('a stop from the cloud, rehearsed on site', () => {
  const rehearse = async ({ toolkit, context, operator }: Gateway, password = operator.password) =>
    cloudStopSchema.parse(await rehearseCloudStop(toolkit, { password, withinMs: 3_000 }, context));

  it('is ok when it arrives after the request, is latched and saved, and is cleared by a signed-in person', async () => {
    gateway.onAsked = () => {
      gateway.set({ stops: 3 });
      gateway.stop('cloud, control centre', { saved: 'pending' });
      gateway.toolkit.clock.after(20, () => gateway.latch.latched && gateway.stop('cloud, control centre'));
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ received: 'ok', distinct: 'ok', latched: 'ok', cleared: 'ok' });
    expect(data).toMatchObject({ serial: 'SN0007', by: 'cloud, control centre', reason: 'fire alarm' });
    expect(gateway.asked).toEqual(['Send a stop to SN0007 from the cloud account now']);
    expect(gateway.latch.latched).toBe(false);
    expect(gateway.operator.sessions.size).toBe(0);
  });

  it('is refused while an old stop is latched, also one from the cloud, which stays', async () => {
    for (const by of ['cloud', 'operator surface, 192.0.2.7']) {
      await using gateway = await startGateway();
      gateway.stop(by);
      await expect(rehearse(gateway)).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
      expect([gateway.asked, gateway.latch.latched]).toEqual([[], true]);
    }
  });

  it('asks for no stop that cannot arrive or could not be cleared', async () => {
    await using lost = await startGateway();
    lost.view = lostView;
    await expect(rehearse(lost)).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    await expect(rehearse(gateway, 'another password')).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' });
    expect([...lost.asked, ...gateway.asked]).toEqual([]);
  });

  it('is not disturbed by a link that moves to its other path meanwhile, as by a network check beside it', async () => {
    const { received } = gateway.view as typeof connectedView;
    let views = 0;
    gateway.onView = () => {
      views += 1;
      // Lost while the step begins, and again while it waits; the counts of the gateway stay.
      const isMoving = views <= 3 || (views >= 6 && views <= 8);
      // Sent during the second move, the stop arrives after it.
      if (views === 9) gateway.stop('cloud, control centre');
      const stops = gateway.latch.latched ? 3 : received?.stops;
      gateway.view = { ...(isMoving ? lostView : connectedView), received: { ...received, stops } };
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ received: 'ok', distinct: 'ok', latched: 'ok', cleared: 'ok' });
    expect(gateway.asked).toHaveLength(1);
    expect(views).toBeGreaterThan(5);
  });

  it('is not checked without a stop, and a stop from the cloud before the request does not count', async () => {
    const data = await rehearse(gateway);
    expect(new Set(Object.values(verdicts(data)))).toEqual(new Set(['not-checked']));
    expect(details(data)).toContain('no stop arrived within 3 s');
    expect(data.by).toBeNull();
  });

  it.each(['operator surface, 192.0.2.7', 'local command', 'cloudy, technician'])(
    'is not checked, and not cleared, where the stop comes from %s',
    async (by) => {
      gateway.onAsked = () => gateway.stop(by);
      const data = await rehearse(gateway);
      expect(new Set(Object.values(verdicts(data)))).toEqual(new Set(['not-checked']));
      expect(details(data)).toContain(`stopped from another place meanwhile: ${by}`);
      expect(gateway.latch.latched).toBe(true);
    },
  );

  it('is not cleared where a person on site stopped the robot as well, before it or after it', async () => {
    for (const [by, repeated] of [
      ['operator surface, 192.0.2.7', ['cloud']],
      ['cloud', ['operator surface, 192.0.2.7']],
    ] as const) {
      await using gateway = await startGateway();
      gateway.onAsked = () => gateway.receive(by, { repeated: { by: [...repeated], last: { by: 'cloud' } } });
      const data = await rehearse(gateway);
      expect(verdicts(data)).toMatchObject({ received: 'ok', cleared: 'not-checked' });
      expect(verdicts(data).latched).toBe(by === 'cloud' ? 'ok' : 'not-checked');
      expect(gateway.latch.latched).toBe(true);
    }
  });

  const person = 'operator surface, 192.0.2.7';
  const also = (by: string) => ({ repeated: { by: [by], last: { by } } });
  it.each<[string, (gateway: Gateway) => void]>([
    [
      'during the sign-in',
      (gateway) => {
        let signIns = 0;
        gateway.onRequest = (request) => {
          if (request !== 'POST /api/anmeldung') return;
          signIns += 1;
          if (signIns === 2) gateway.stop('cloud', also(person));
        };
      },
    ],
    [
      'during the request without a session',
      (gateway) => {
        gateway.onRequest = (request) => {
          if (request === 'DELETE /api/stopp') gateway.stop('cloud', also(person));
        };
      },
    ],
    [
      'after another person had cleared that of the cloud',
      (gateway) => {
        gateway.onRequest = (request) => {
          if (request === 'DELETE /api/stopp') gateway.stop(person);
        };
      },
    ],
  ])('is not cleared where a person on site stops the robot %s', async (_when, setUp) => {
    setUp(gateway);
    gateway.onAsked = () => gateway.receive('cloud');
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ received: 'ok', latched: 'ok', cleared: 'not-checked' });
    expect(details(data)).toContain(`not cleared: also stopped by ${person}`);
    expect(gateway.latch.latched).toBe(true);
    expect(gateway.operator.sessions.size).toBe(0);
  });

  it('is not cleared where the last of many stops is that of a person, whom the list does not name', async () => {
    const by = Array.from({ length: 16 }, (_, i) => `cloud, user ${i}`);
    gateway.onAsked = () => gateway.receive('cloud', { repeated: { by, last: { by: person } } });
    expect(details(await rehearse(gateway))).toContain(`not cleared: also stopped by ${person}`);
    expect(gateway.latch.latched).toBe(true);
  });

  it('sends nothing that could clear it before the sign-in, and does not clear it where that fails', async () => {
    gateway.onAsked = () => {
      gateway.set({ stops: 3 });
      gateway.stop('cloud');
      const answer = gateway.operator.override;
      const failed = { error: { code: 'SIGN_IN_FAILED', message: 'Too many attempts.' } };
      gateway.operator.override = (request, body) =>
        request.url === '/api/anmeldung' ? [429, failed] : answer(request, body);
    };
    await expect(rehearse(gateway)).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' });
    expect(gateway.operator.requests).not.toContain('DELETE /api/stopp');
    expect(gateway.latch.latched).toBe(true);
  });

  it.each(['POST /api/anmeldung', 'DELETE /api/stopp'])(
    'is not checked where another person clears it before the answer to %s',
    async (at) => {
      let requests = 0;
      gateway.onRequest = (request) => {
        if (request !== at) return;
        requests += 1;
        const isBeforeClearing = at.startsWith('DELETE') ? requests === 1 : requests === 2;
        if (isBeforeClearing) gateway.latch = { ...gateway.latch, latched: false, by: null, reason: null };
      };
      gateway.onAsked = () => gateway.receive('cloud');
      const data = await rehearse(gateway);
      expect(verdicts(data)).toMatchObject({ received: 'ok', latched: 'ok', cleared: 'not-checked' });
      expect(details(data)).toContain('cleared from another place meanwhile');
    },
  );

  it('is refused where a stop arrives while the check begins, before it asks for one', async () => {
    gateway.onView = () => {
      gateway.set({ stops: 3 });
      gateway.stop('cloud');
    };
    await expect(rehearse(gateway)).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    expect([gateway.asked, gateway.latch.latched]).toEqual([[], true]);
  });

  it('is wrong where a new message is discarded; older ones, and those of other topics, are not meant', async () => {
    const old = { reason: 'duplicate', topic: STOP_TOPIC, bytes: 40, at: '2026-11-22T10:00:00.000Z' } as const;
    gateway.set({ lastDiscarded: [old] });
    let views = 0;
    gateway.onView = () => {
      views += 1;
      const other = { ...old, topic: 'gw/SN0007/shadow/update/delta', at: '2026-11-22T11:00:00.000Z' };
      if (views === 3) gateway.set({ lastDiscarded: [other, old] });
      const repeated = { ...old, reason: 'duplicate', at: '2026-11-22T11:00:01.000Z' } as const;
      if (views === 6) gateway.set({ lastDiscarded: [repeated, other, old] });
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ received: 'wrong', distinct: 'not-checked', latched: 'not-checked' });
    expect(details(data)).toContain('no new stop arrived within 3 s, and one was discarded: duplicate');
    expect(views).toBeGreaterThanOrEqual(6);
  });

  it('waits on after a message that was discarded, which may be an old one that is retained', async () => {
    let views = 0;
    gateway.onView = () => {
      views += 1;
      const repeated = { reason: 'duplicate', topic: STOP_TOPIC, bytes: 40, at: '2026-11-22T11:00:01.000Z' } as const;
      if (views === 3) gateway.set({ lastDiscarded: [repeated] });
      if (views === 5) gateway.receive('cloud');
    };
    expect(verdicts(await rehearse(gateway))).toMatchObject({ received: 'ok', distinct: 'ok', cleared: 'ok' });
  });

  it('is wrong where it has the content of an earlier stop, also where it stops the robot', async () => {
    gateway.set({ stopsOfKnownContent: 1 });
    gateway.onAsked = () => gateway.receive('cloud', {}, { stopsOfKnownContent: 2 });
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ received: 'ok', distinct: 'wrong', latched: 'ok', cleared: 'ok' });
    expect(details(data)).toContain('has the content of an earlier stop');
  });

  it.each(['failing', 'not-checked'] as const)(
    'is not known to be distinct where the earlier stops are %s',
    async (status) => {
      gateway.view = { ...gateway.view, seen: { status, detail: 'why', remedy: null } };
      gateway.onAsked = () => gateway.receive('cloud');
      const data = await rehearse(gateway);
      expect(verdicts(data)).toMatchObject({ received: 'ok', distinct: 'not-checked', latched: 'ok', cleared: 'ok' });
      expect(details(data)).toContain('earlier stops are not known: why');
    },
  );

  it('is distinct where a second copy of it arrives', async () => {
    gateway.onAsked = () => gateway.receive('cloud', {}, { stops: 4, stopsOfKnownContent: 1 });
    expect(verdicts(await rehearse(gateway))).toMatchObject({ received: 'ok', distinct: 'ok' });
  });

  it('is not checked where the gateway was restarted meanwhile', async () => {
    gateway.onAsked = () => {
      gateway.set({ stops: 1 });
      gateway.stop('cloud');
    };
    expect(verdicts(await rehearse(gateway))).toMatchObject({ received: 'not-checked', latched: 'not-checked' });
    expect(gateway.latch.latched).toBe(true);
  });

  it('is wrong where it is counted and not latched, not saved, or cleared without a session', async () => {
    await using loose = await startGateway();
    loose.onAsked = () => loose.set({ stops: 3 });
    expect(verdicts(await rehearse(loose))).toMatchObject({ received: 'ok', latched: 'wrong', cleared: 'not-checked' });

    await using unsaved = await startGateway();
    unsaved.onAsked = () => unsaved.receive('cloud', { saved: false });
    expect(verdicts(await rehearse(unsaved))).toMatchObject({ received: 'ok', latched: 'wrong', cleared: 'ok' });

    await using hung = await startGateway();
    hung.onAsked = () => hung.receive('cloud', { saved: 'pending' });
    expect(verdicts(await rehearse(hung))).toMatchObject({ received: 'ok', latched: 'not-checked', cleared: 'ok' });

    await using open = await startGateway();
    open.onAsked = () => open.receive('cloud');
    const answer = open.operator.override;
    open.operator.override = (request, body) => {
      if (request.method === 'DELETE' && request.url === '/api/stopp') {
        open.latch = { ...open.latch, latched: false };
        return [200, { stop: open.latch }];
      }
      return answer(request, body);
    };
    expect(verdicts(await rehearse(open))).toMatchObject({ received: 'ok', latched: 'ok', cleared: 'wrong' });
  });
});

describe('a release from the cloud, rehearsed on site', () => {
  const earlier = connectedView.release?.run as Run;
  const begun: Run = {
    ...earlier,
    jobId: 'release-8',
    phase: 'downloading',
    fromVersion: '1.3.0',
    toVersion: '1.3.0',
    detail: null,
    isReported: false,
    hasJobEnded: false,
  };
  const rehearse = async ({ toolkit, context }: Pick<Gateway, 'toolkit' | 'context'>) =>
    releaseRehearsalSchema.parse(await rehearseRelease(toolkit, { withinMs: 4_000 }, context));
  /** From the request on, every read of the state shows the next of these. */
  const script = (gateway: Gateway, ...steps: readonly (Partial<Release> | 'away')[]) => {
    let at = -1;
    gateway.onAsked = () => {
      at = 0;
    };
    gateway.onView = () => {
      const step = at < 0 ? undefined : steps[Math.min(at, steps.length - 1)];
      if (at >= 0) at += 1;
      if (step === undefined) return;
      const { status, ...rest } = { ...connectedView, ...gateway.view };
      gateway.view = step === 'away' ? { ...rest, status: 'restarts' } : { ...rest, status: 'connected' };
      if (step !== 'away') gateway.setRelease(step);
    };
  };

  it('is ok for a release of the running version that begins, restarts the gateway, is confirmed and reported', async () => {
    script(
      gateway,
      {},
      { run: begun },
      'away',
      { run: { ...begun, phase: 'switched' } },
      { run: { ...begun, phase: 'confirmed' } },
      { run: { ...begun, phase: 'confirmed', isReported: true } },
    );
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ ready: 'ok', received: 'ok', installed: 'ok', reported: 'ok' });
    expect(data).toMatchObject({ jobId: 'release-8', toVersion: '1.3.0', runningVersion: '1.3.0' });
    expect(gateway.asked).toEqual([
      'Release a version to SN0007 in the cloud account now; that of the running version will do',
    ]);
  });

  it('counts a job that is executed again', async () => {
    script(gateway, { run: { ...earlier, executionNumber: 2, phase: 'confirmed' }, runningVersion: '1.4.0' });
    expect(verdicts(await rehearse(gateway))).toMatchObject({ received: 'ok', installed: 'ok', reported: 'ok' });
  });

  it('does not count a release that had ended before, nor one that began before and ends meanwhile', async () => {
    for (const phase of ['confirmed', 'switched'] as const) {
      await using gateway = await startGateway();
      gateway.setRelease({ run: { ...begun, phase } });
      script(gateway, { run: { ...begun, phase: 'confirmed', isReported: true } });
      const data = await rehearse(gateway);
      expect(verdicts(data)).toEqual({
        ready: 'ok',
        received: 'not-checked',
        installed: 'not-checked',
        reported: 'not-checked',
      });
      expect(details(data)).toContain('none began within 4 s');
    }
  });

  it.each([
    ['rolled back', { phase: 'rolled-back', detail: 'not healthy' }, {}, { installed: 'wrong' }],
    ['rejected', { phase: 'rejected', detail: 'wrong signature' }, {}, { installed: 'wrong' }],
    [
      'confirmed while another version runs',
      { phase: 'confirmed' },
      { runningVersion: '1.2.0' },
      { installed: 'wrong' },
    ],
    ['confirmed and not acknowledged', { phase: 'confirmed', isReported: false }, {}, { reported: 'not-checked' }],
    [
      'confirmed, and its job had been cancelled',
      { phase: 'confirmed', isReported: false, hasJobEnded: true },
      {},
      { installed: 'ok', reported: 'not-checked' },
    ],
    ['still waiting for the robot to stand', { phase: 'ready' }, {}, { installed: 'not-checked' }],
  ] as const)('is never ok when it is %s', async (_what, change, release, expected) => {
    script(gateway, { ...release, run: { ...begun, isReported: true, ...change } });
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ received: 'ok', ...expected });
    expect(data.releasedMs).toBeNull();
    if ('detail' in change) expect(details(data)).toContain(change.detail);
  });

  it('does not take the end of a job that follows for its own', async () => {
    const next: Run = { ...begun, jobId: 'release-9', phase: 'confirmed', isReported: true };
    script(gateway, { run: { ...begun, phase: 'unpacking' } }, { run: next });
    const data = await rehearse(gateway);
    expect(data.jobId).toBe('release-8');
    expect(verdicts(data)).toMatchObject({ installed: 'not-checked', reported: 'not-checked' });
  });

  const withRelease = (
    { toolkit, ...gateway }: Gateway,
    cloud: object | undefined = { release: { keyFile: 'k.pem' } },
  ) => ({
    ...gateway,
    toolkit: { ...toolkit, site: { ...toolkit.site, cloud: cloud && { ...toolkit.site.cloud, ...cloud } } } as Toolkit,
  });

  it.each(['unmanaged', 'not-configured', 'failing'] as const)(
    'is wrong, and asks for nothing, where the site file has the key of releases and the gateway is %s',
    async (status) => {
      gateway.setRelease({ status, detail: 'because', remedy: 'do this' });
      const data = await rehearse(withRelease(gateway));
      expect(verdicts(data)).toMatchObject({ ready: 'wrong', received: 'not-checked', installed: 'not-checked' });
      expect([gateway.asked, data.waitedMs, data.releasedMs]).toEqual([[], 0, null]);
      if (status === 'not-configured') expect(data.findings[0]?.remedy).toContain('restart `gw serve`');
    },
  );

  it('is not checked, with the key to add, where the site file has none', async () => {
    gateway.setRelease({ status: 'not-configured' });
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ ready: 'not-checked', received: 'not-checked', installed: 'not-checked' });
    expect(data.findings[0]?.remedy).toContain('Add cloud.release to the site file');
    expect(gateway.asked).toEqual([]);
  });

  it('is wrong for a gateway started without a cloud, and asks for no release that cannot arrive', async () => {
    await using none = await startGateway();
    none.view = { ...connectedView, status: 'not-configured', release: null };
    expect(verdicts(await rehearse(withRelease(none)))).toMatchObject({ ready: 'wrong' });
    await using lost = await startGateway();
    lost.view = { ...lostView, release: connectedView.release };
    await expect(rehearse(lost)).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    expect([...none.asked, ...lost.asked]).toEqual([]);
  });
});
