import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { rehearseTunnel } from '../../../src/lib/toolkit/tunnel/rehearsal.ts';
import { tunnelRehearsalSchema } from '../../../src/lib/toolkit/tunnel/tunnel.result.ts';
import type { SupportView } from '../../../src/lib/tunnel/index.ts';
import { lostView } from '../../cloud/views.ts';
import { eachTest } from '../kit.ts';
import {
  type FakeSupport,
  RECORDED_ID,
  recorded,
  runningView,
  startFakeSupport,
  waiting,
  writeRecords,
} from './fake-support.ts';

const OPEN = 'Open a tunnel for SN0007 naming web in the cloud console now';
const PAGE = 'Open the page of the robot through the tunnel now';
const WAIT_S = 3;

const rehearse = async (gateway: FakeSupport, password = gateway.operator.password) => {
  const options = { password, waitS: WAIT_S, proxiesOf: async () => gateway.proxies };
  return tunnelRehearsalSchema.parse(await rehearseTunnel(gateway.toolkit, options, gateway.context));
};
type Rehearsal = Awaited<ReturnType<typeof rehearse>>;

const verdicts = ({ findings }: Rehearsal) => Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));
const detailOf = ({ findings }: Rehearsal, id: string) => findings.find((finding) => finding.id === id)?.detail;
const remedies = ({ findings }: Rehearsal) =>
  findings.filter(({ verdict }) => verdict !== 'ok').map(({ remedy }) => remedy);

/** A person opens a tunnel when asked, then the page; the gateway does the rest. */
function play(gateway: FakeSupport, more: { page?: Partial<NonNullable<SupportView['running']>> } = {}) {
  gateway.onAsked = (text) => {
    if (text === OPEN) {
      gateway.proxies = [4711];
      gateway.view = runningView(RECORDED_ID, { state: 'connecting', open: null, connections: null });
    }
    if (text === PAGE) gateway.view = runningView(RECORDED_ID, more.page ?? { open: 0, connections: 4 });
  };
  const end = gateway.onEnd;
  gateway.onEnd = () => {
    gateway.proxies = [];
    writeRecords(gateway.toolkit.site.stateDir);
    return end();
  };
}

const allOk = {
  ready: 'ok',
  opened: 'ok',
  'own-clock': 'ok',
  connected: 'ok',
  ended: 'ok',
  proxy: 'ok',
  recorded: 'ok',
  sent: 'ok',
  audit: 'ok',
};
const none = Object.fromEntries(Object.keys(allOk).map((id) => [id, 'not-checked']));

let gateway: FakeSupport;
eachTest(
  () => startFakeSupport(),
  (one) => {
    gateway = one;
  },
);

describe('a session of remote support, rehearsed', () => {
  it('is ok when it is opened on request, the page opened through it, ended on site, recorded and sent', async () => {
    play(gateway);
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual(allOk);
    expect(data).toMatchObject({ serial: 'SN0007', session: RECORDED_ID, services: ['web'], connections: 4 });
    expect(gateway.asked).toEqual([OPEN, PAGE]);
    expect(detailOf(data, 'proxy')).toBe('process 4711 ran during the session and has ended');
    expect(gateway.operator.sessions.size).toBe(0);
  });

  it('asks for the services of the site file, three at most', async () => {
    await using gateway = await startFakeSupport({ host: 't.example.test', services: ['a', 'b', 'c', 'd'] });
    await rehearse(gateway);
    expect(gateway.asked).toEqual(['Open a tunnel for SN0007 naming a, b, c in the cloud console now']);
  });

  it('asks for nothing with a wrong password, and for no session that cannot arrive', async () => {
    await expect(rehearse(gateway, 'another')).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' });
    gateway.cloud = lostView;
    await expect(rehearse(gateway)).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    expect(gateway.asked).toEqual([]);
  });

  it('does not count a session that runs already, and does not end it', async () => {
    gateway.view = runningView('s-0', { connections: 9 });
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual(none);
    expect(detailOf(data, 'ready')).toContain('a session runs already since 2026-11-22T19:00:00.000Z');
    expect(gateway.asked).toEqual([]);
    expect(gateway.view.status).toBe('running');
  });

  it('does not count a session that begins while the check does', async () => {
    const before = gateway.operator.override;
    gateway.operator.override = (request, body) => {
      if (request.url === '/api/cloud') gateway.view = runningView('s-0', { connections: 9 });
      return before(request, body);
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual(none);
    expect([gateway.asked, gateway.view.status]).toEqual([[], 'running']);
  });

  it.each<[string, object | null, SupportView, string, RegExp]>([
    ['the site file has no tunnel', null, { ...waiting, status: 'not-configured' }, 'not-checked', /Add cloud\.tunnel/],
    ['gw serve has not read it', {}, { ...waiting, status: 'not-configured' }, 'wrong', /restart `gw serve`/],
    ['this site file lacks it', null, waiting, 'wrong', /Restart `gw serve`/],
    [
      'the records fail',
      {},
      { ...waiting, records: { status: 'failing', detail: 'No space left.', notSentYet: 0 } },
      'wrong',
      /stateDir/,
    ],
    [
      'the state is not known',
      {},
      { ...waiting, status: 'not-checked', remedy: 'See the log.' },
      'not-checked',
      /See the log/,
    ],
  ])('is never ok, and asks for nothing, where %s', async (_what, tunnel, view, ready, remedy) => {
    await using gateway = await startFakeSupport(tunnel && { host: 'tunnel.example.test' });
    gateway.view = view;
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ ...none, ready });
    expect(remedies(data)[0]).toMatch(remedy);
    expect([gateway.asked, data.waitedMs]).toEqual([[], 0]);
  });

  it('is not checked without a session', async () => {
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ ...none, ready: 'ok' });
    expect(detailOf(data, 'opened')).toBe(`none started within ${WAIT_S} s`);
    expect(data.session).toBeNull();
  });

  const refused = (reason: NonNullable<SupportView['lastRefused']>['reason'], at = '2026-11-22T19:01:00.000Z') =>
    ({ reason, at, detail: 'The region is not eu-central-1.' }) as const;

  it('is wrong where the request is refused; an earlier refusal does not count', async () => {
    gateway.view = { ...waiting, lastRefused: refused('services-count') };
    expect(verdicts(await rehearse(gateway))).toMatchObject({ ready: 'ok', opened: 'not-checked' });
    gateway.onAsked = () => {
      gateway.view = { ...waiting, lastRefused: refused('other-region', '2026-11-22T19:02:00.000Z') };
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ opened: 'wrong', ended: 'not-checked', sent: 'not-checked' });
    expect(detailOf(data, 'opened')).toContain('refused (other-region): The region is not eu-central-1.');
  });

  it('waits on after a notification that the broker delivers again', async () => {
    const lastRefused = refused('seen-before');
    gateway.onAsked = () => {
      gateway.view = { ...waiting, lastRefused };
    };
    expect(detailOf(await rehearse(gateway), 'opened')).toContain('an earlier notification was delivered again');
    gateway.view = waiting;
    play(gateway);
    const asked = gateway.onAsked;
    gateway.onAsked = (text) => {
      if (text !== OPEN) return asked(text);
      gateway.view = { ...waiting, lastRefused };
      const from = gateway.views;
      gateway.onView = (n) => n === from + 3 && asked(OPEN);
    };
    expect(verdicts(await rehearse(gateway))).toEqual(allOk);
  });

  it('is wrong where a service is accepted that the site file does not have', async () => {
    gateway.onAsked = () => {
      gateway.view = runningView(RECORDED_ID, { services: ['web', 'ssh'], connections: 1 });
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ opened: 'wrong', ended: 'ok' });
    expect(detailOf(data, 'opened')).toContain('ssh not in cloud.tunnel.services');
  });

  it.each<[string, Partial<NonNullable<SupportView['running']>>]>([
    ['longer than the configured maximum', { leftMs: 7_200_000 }],
    ['not armed', { leftMs: 0 }],
  ])('is wrong where the own clock is %s', async (_what, running) => {
    gateway.onAsked = () => {
      gateway.view = runningView(RECORDED_ID, { connections: 1, ...running });
    };
    expect(verdicts(await rehearse(gateway))).toMatchObject({ 'own-clock': 'wrong', connected: 'ok' });
  });

  it('is wrong where the tunnel never connects, and not checked where nothing is opened through it', async () => {
    {
      play(gateway, { page: { state: 'connecting', open: null, connections: null } });
      const data = await rehearse(gateway);
      expect(verdicts(data)).toEqual({ ...allOk, connected: 'wrong' });
      expect(data.connections).toBeNull();
    }
    await using idle = await startFakeSupport();
    play(idle, { page: { state: 'connected', open: 0, connections: 0 } });
    const data = await rehearse(idle);
    expect(verdicts(data)).toEqual({ ...allOk, connected: 'not-checked' });
    expect(detailOf(data, 'connected')).toContain('nothing was opened through it');
  });

  it('counts open connections of a gateway that reports no others', async () => {
    play(gateway, { page: { open: 2, connections: null } });
    expect(verdicts(await rehearse(gateway))).toEqual(allOk);
  });

  it.each([
    ['token-refused', 'wrong'],
    ['proxy-failed', 'wrong'],
    ['closed-by-cloud', 'not-checked'],
    ['own-clock', 'not-checked'],
  ] as const)('ends nothing where the session ended before as %s', async (reason, connected) => {
    gateway.onAsked = (text) => {
      if (text === OPEN)
        gateway.view = runningView(RECORDED_ID, { state: 'connecting', open: null, connections: null });
      else {
        gateway.view = waiting;
        gateway.entries = [recorded(RECORDED_ID, { reason, detail: 'Because.' })];
      }
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ connected, ended: 'not-checked', proxy: 'not-checked', recorded: 'ok' });
    expect(detailOf(data, 'connected')).toBe(`the session ended before: ${reason}, Because.`);
    expect(gateway.operator.requests).not.toContain('DELETE /api/wartung/sitzung');
  });

  it('does not end a session that replaced it', async () => {
    gateway.onAsked = (text) => {
      gateway.view = runningView(text === OPEN ? RECORDED_ID : 's-2', { connections: text === OPEN ? 0 : 7 });
      if (text === PAGE) gateway.entries = [recorded(RECORDED_ID, { reason: 'replaced' })];
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ connected: 'not-checked', ended: 'not-checked' });
    expect(gateway.view.running?.session).toBe('s-2');
    expect(gateway.operator.requests).not.toContain('DELETE /api/wartung/sitzung');
  });

  it('is wrong where the end is refused, changes nothing, or is not recorded as one on site', async () => {
    const withEnd = async (end: (gateway: FakeSupport) => readonly [number, object]) => {
      await using gateway = await startFakeSupport();
      gateway.onAsked = () => {
        gateway.view = runningView(RECORDED_ID, { connections: 1 });
        gateway.entries = [recorded(RECORDED_ID, null)];
      };
      gateway.onEnd = () => end(gateway);
      return await rehearse(gateway);
    };
    const denied = await withEnd(() => [401, { error: { code: 'NOT_SIGNED_IN', message: 'Sign-in required.' } }]);
    expect(verdicts(denied)).toMatchObject({ ended: 'wrong', recorded: 'wrong', sent: 'not-checked' });
    expect(detailOf(denied, 'ended')).toBe('not ended: Sign-in required.');
    const idle = await withEnd(() => [200, { ended: true }]);
    expect(verdicts(idle)).toMatchObject({ ended: 'wrong' });
    expect(detailOf(idle, 'ended')).toBe('the session still runs');
    const unrecorded = await withEnd((gateway) => {
      gateway.view = waiting;
      return [200, { ended: true }];
    });
    expect(verdicts(unrecorded)).toMatchObject({ ended: 'wrong', recorded: 'wrong', sent: 'not-checked' });
    const other = await withEnd((gateway) => {
      gateway.view = waiting;
      gateway.entries = [recorded(RECORDED_ID, { reason: 'closed-by-cloud' })];
      return [200, { ended: false }];
    });
    expect(verdicts(other)).toMatchObject({ ended: 'not-checked', recorded: 'ok' });
  });

  it('is wrong where the session is not in the records, though others are', async () => {
    play(gateway);
    gateway.onList = () => [200, { sessions: [recorded('s-0')], hasMore: false }];
    const data = await rehearse(gateway);
    expect(verdicts(data)).toMatchObject({ ended: 'wrong', recorded: 'wrong', sent: 'not-checked' });
    expect(detailOf(data, 'recorded')).toBe(`session ${RECORDED_ID} is not in the records`);
  });

  it('waits for an end record that is written a moment later', async () => {
    play(gateway);
    let reads = 0;
    const list = gateway.onList;
    gateway.onList = () => {
      reads += 1;
      return reads < 4 ? [200, { sessions: [recorded(RECORDED_ID, null)], hasMore: false }] : list();
    };
    expect(verdicts(await rehearse(gateway))).toEqual(allOk);
  });

  it.each<[string, Partial<SupportView['records']>, string]>([
    ['wait for the outbox', { notSentYet: 2 }, 'wrong'],
    ['fail', { status: 'failing' }, 'wrong'],
    ['were not checked', { status: 'not-checked' }, 'not-checked'],
    ['are of unknown number', { notSentYet: null }, 'not-checked'],
  ])('is never ok where its records %s', async (_what, records, sent) => {
    play(gateway);
    const end = gateway.onEnd;
    gateway.onEnd = () => {
      const answer = end();
      gateway.view = { ...waiting, records: { ...waiting.records, ...records } };
      return answer;
    };
    expect(verdicts(await rehearse(gateway))).toEqual({ ...allOk, sent });
  });

  it.each<[string, ((lines: readonly string[]) => readonly string[]) | null, string, RegExp]>([
    ['a changed line', (lines) => lines.map((line) => line.replace('"web"', '"ssh"')), 'wrong', /changed-line 1/],
    ['a missing start', (lines) => lines.slice(1), 'wrong', /missing-records 1/],
    ['the end of another session', (lines) => lines.slice(0, 1), 'not-checked', /does not have the end/],
    ['no records', null, 'not-checked', /./],
  ])('is never ok with %s on the disk of the gateway', async (_what, change, audit, detail) => {
    play(gateway);
    const end = gateway.onEnd;
    gateway.onEnd = () => {
      const answer = end();
      const { stateDir } = gateway.toolkit.site;
      if (change === null) rmSync(join(stateDir, 'support'), { recursive: true });
      else writeRecords(stateDir, change);
      return answer;
    };
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ ...allOk, audit });
    expect(detailOf(data, 'audit')).toMatch(detail);
  });

  it('is wrong where the process of the proxy outlives the session, and not checked where none was seen', async () => {
    writeRecords(gateway.toolkit.site.stateDir);
    // One that was there before is not of this session.
    gateway.proxies = [815];
    gateway.onAsked = () => {
      gateway.view = runningView(RECORDED_ID, { connections: 1 });
    };
    expect(verdicts(await rehearse(gateway))).toEqual({ ...allOk, proxy: 'not-checked' });

    gateway.entries = [];
    gateway.onAsked = () => {
      gateway.proxies = [815, 4711];
      gateway.view = runningView('s-2', { connections: 1 });
    };
    const left = await rehearse(gateway);
    expect(verdicts(left)).toEqual({ ...allOk, proxy: 'wrong' });
    expect(detailOf(left, 'proxy')).toBe('still running: process 4711');
  });

  it('reads no processes of another machine', async () => {
    play(gateway);
    const ssh = {
      where: 'robot',
      dialer: gateway.toolkit.dialer,
      exec: () => Promise.reject(new GwError('SSH_CHANNEL_REFUSED', 'Refused.')),
      socketDialer: () => ({ dial: () => Promise.reject(new GwError('SSH_CHANNEL_REFUSED', 'Refused.')) }),
    } as unknown as NonNullable<typeof gateway.toolkit.ssh>;
    Object.assign(gateway.toolkit, { ssh });
    const data = await rehearse(gateway);
    expect(verdicts(data)).toEqual({ ...allOk, proxy: 'not-checked', audit: 'not-checked' });
    expect(detailOf(data, 'audit')).toBe('the records are on another machine');
    expect(detailOf(data, 'proxy')).toBe('the process of the gateway is not visible here');
  });
});
