import { mkdirSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordText } from '../../../src/lib/checklist/index.ts';
import { asGwError, type GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import type { Lamp, PageState, WordCode } from '../../../src/lib/pages/index.ts';
import { lampLevels } from '../../../src/lib/pages/model.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { judgeStatus, readStatus } from '../../../src/lib/toolkit/gateway/status.ts';
import { freePort } from '../../free-port.ts';
import { latched, ready } from '../../pages/states.ts';
import { recordOf, robotOf } from '../../report/records.ts';
import { context, forAll, httpServer, ownFolder, sharedFolder } from '../kit.ts';

let server: Awaited<ReturnType<typeof httpServer>>;
let events: (response: ServerResponse) => void;
let incidents: unknown = { incidents: [], recording: null, unreadable: 0, folderProblem: null, notKept: null };
let robot: string | undefined = ready.site.serial;
const dir = sharedFolder();
let toolkit: Parameters<typeof readStatus>[0];

beforeAll(async () => {
  server = await httpServer((request, response) => {
    if (robot !== undefined) response.setHeader('gw-robot', robot);
    if (request.url === '/api/events') events(response);
    else response.end(JSON.stringify(incidents));
  });
  const { port } = server;
  const chassis = { host: '127.0.0.1', port: await freePort(), serial: ready.site.serial };
  const site = { name: 'Test', path: join(dir, 'site.yaml'), chassis, operator: { port }, stateDir: dir };
  toolkit = { site: site as unknown as Site, dialer: directDialer, clock: systemClock };
});
afterAll(() => server[Symbol.asyncDispose]());

const streamed = (state: unknown) => (response: ServerResponse) => {
  // Without an end, as the gateway sends it.
  response.write(`event: state\ndata: ${JSON.stringify(state)}\n\n`);
};

async function statusOf(state: unknown) {
  events = streamed(state);
  return (await readStatus(toolkit, {}, context())).status;
}

describe('the status by the gateway', () => {
  it('answers whether the robot is connected, may drive and is stopped, without waiting for the end of the stream', async () => {
    expect(await statusOf(ready)).toMatchObject({
      source: 'gateway',
      headline: 'Ready',
      mayDrive: 'yes',
      stop: { latched: false },
      robot: { from: 'connection' },
      incidents: { status: 'listed', count: 0 },
      record: { status: 'none' },
    });
    expect(await statusOf(latched)).toMatchObject({ verdict: 'wrong', mayDrive: 'no', stop: { latched: true } });
  });

  it('calls what is of an earlier connection remembered, and the battery no current value', async () => {
    const link = { ...ready.link, kind: 'not-connected', failure: 'refused' };
    const headline = { level: 'bad', code: 'not-connected', notes: [{ code: 'not-connected' }] };
    const status = await statusOf({ ...ready, link, headline });
    expect(status).toMatchObject({ verdict: 'wrong', mayDrive: 'no', robot: { from: 'remembered', ageMs: null } });
    expect(status.battery?.doubt).toBe('no connection');
  });

  it('names the facts that the gate lacks, and the command that verifies them', async () => {
    const gate = {
      ...ready.gate,
      isOpen: false,
      notes: [{ code: 'facts', count: 1 }],
      unverified: ['angles.pose-ori'],
    };
    const headline = { level: 'bad', code: 'locked', notes: [{ code: 'facts', count: 1 }] };
    const status = await statusOf({ ...ready, gate, headline });
    expect(status).toMatchObject({ mayDrive: 'no', gate: { isOpen: false, lacks: ['angles.pose-ori'] } });
    expect(status.remedies.join()).toContain('gw evidence verify');
  });

  it('has no age where the clock of the gateway was set back or is no time', async () => {
    const stop = { ...latched.stop, since: '2031-01-01T00:00:00.000Z' };
    expect((await statusOf({ ...latched, stop })).stop).toMatchObject({ ageMs: null });
    const status = await statusOf({ ...ready, time: 'never' });
    expect(status.gateway?.clockAheadMs).toBeNull();
    expect((await statusOf({ ...ready, time: '1970-01-01T00:00:00.000Z' })).gateway?.clockAheadMs).toBeLessThan(-1e12);
  });

  it('is not completely checked while incidents cannot be listed', async () => {
    const lost = { incidents: [], recording: null, unreadable: 2, folderProblem: null, notKept: null };
    const before = incidents;
    for (const answer of [lost, 'garbage', { incidents: 3 }]) {
      incidents = answer;
      const lamps: PageState['lamps'] = [{ id: 'gate', level: 'good', state: [], rows: [] }];
      const status = await statusOf({ ...ready, lamps });
      expect(status).toMatchObject({ verdict: 'not-checked', incidents: { status: 'not-checked' } });
    }
    incidents = before;
  });

  it('does not decide which incidents were after the record while the clocks of both machines differ', async () => {
    const stateDir = ownFolder();
    const nowMs = Date.parse('2026-11-25T12:00:00.000Z');
    const recordedAt = '2026-11-25T11:00:00.000Z';
    const clock = { ...systemClock, wall: () => new Date(nowMs) };
    const site = { ...toolkit.site, stateDir, path: join(stateDir, 'site.yaml') } as Site;
    const near = { ...toolkit, clock, site };
    const { serial } = ready.site;
    writeFileSync(site.path, `name: T\nchassis: { host: 127.0.0.1, serial: ${serial} }\n`);
    mkdirSync(join(stateDir, 'records'));
    const record = recordOf([robotOf([], { serial })], { attachments: [], endedAt: recordedAt });
    writeFileSync(join(stateDir, 'records', 'a.json'), recordText({ ...record, signature: null }));
    const at = async (time: Date) => {
      events = streamed({ ...ready, time: time.toISOString() });
      return (await readStatus(near, {}, context())).status;
    };
    expect(await at(new Date(nowMs))).toMatchObject({ incidents: { status: 'listed', count: 0, since: recordedAt } });
    for (const offMs of [-7_200_000, 7_200_000]) {
      const status = await at(new Date(nowMs + offMs));
      expect(status).toMatchObject({ verdict: expect.not.stringMatching('ok'), incidents: { status: 'not-checked' } });
      expect(status.incidents.detail).toContain('clocks of the gateway and of this machine differ');
    }
  });
});

describe('the verdict of the status', () => {
  const levels = fc.constantFrom(...lampLevels);
  const ids = fc.constantFrom('gate', 'cloud', 'outbox', 'disk', 'support', 'gateway', 'heartbeat');

  it('is ok only with a good headline, no failing part and none that is set up and not checked', {
    tags: 'property',
  }, () => {
    const lamps = fc.array(fc.record({ id: ids, level: levels, state: fc.constant([]), rows: fc.constant([]) }));
    const headline = fc.constantFrom('good', 'attention', 'bad');
    forAll(headline, lamps, fc.boolean(), (level, all, isListed) => {
      const state = { headline: { level, code: 'ready', notes: [] }, lamps: all } as unknown as PageState;
      const verdict = judgeStatus(state, { status: isListed ? 'listed' : 'not-checked' });
      const isBad = all.some((lamp) => lamp.level === 'bad');
      const isOpen = all.some((lamp) => lamp.level === 'unknown') || !isListed;
      expect(verdict === 'ok').toBe(level === 'good' && !isBad && !isOpen);
      if (isBad || level === 'bad') expect(verdict).toBe('wrong');
    });
  });

  it('is wrong by a clock that is known to be wrong, and not open by one that no endpoint is compared with', () => {
    const headline = { level: 'good', code: 'ready', notes: [] } as unknown as PageState['headline'];
    const judged = (id: 'clock' | 'tablet', level: Lamp['level'], word: WordCode = 'not-checked') =>
      judgeStatus({ headline, lamps: [{ id, level, state: [{ word }], rows: [] }] }, { status: 'listed' });
    expect([judged('clock', 'bad'), judged('clock', 'good')]).toEqual(['wrong', 'ok']);
    expect([judged('clock', 'unknown', 'no-time-source'), judged('tablet', 'unknown')]).toEqual(['ok', 'ok']);
  });

  it.each(['not-decided', 'not-checked'] as const)(
    'is not green by a clock that is to be compared and is %s',
    (word) => {
      const headline = { level: 'good', code: 'ready', notes: [] } as unknown as PageState['headline'];
      const clock: Lamp = { id: 'clock', level: 'unknown', state: [{ word }], rows: [] };
      expect(judgeStatus({ headline, lamps: [clock] }, { status: 'listed' })).toBe('not-checked');
    },
  );

  it('is not-checked, and not wrong, where only values of the robot were not received', () => {
    const notes: PageState['headline']['notes'] = [{ code: 'not-checked', conditions: ['emergency-stop'] }];
    const headline = { level: 'attention', code: 'limited', notes } as PageState['headline'];
    expect(judgeStatus({ headline, lamps: [] }, { status: 'listed' })).toBe('not-checked');
  });
});

describe('without a gateway that answers', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['garbage', (response) => response.end('garbage')],
    ['a web page', (response) => response.end('<h1>Hello</h1>')],
    ['an event of another shape', streamed({ headline: 'green' })],
    ['an error', (response) => response.writeHead(500).end('{}')],
  ])('the chassis itself is looked at, and nothing of the gateway is said: %s', (_what, how) => isChassisAlone(how));

  it('nor by an answer without end and without an event', { tags: 'large' }, () => isChassisAlone(flood));

  async function isChassisAlone(how: typeof events) {
    events = how;
    const { status, error } = await readStatus(toolkit, {}, context());
    expect(error).toMatchObject({ code: 'OPERATOR_NOT_REACHABLE', exitCode: 3 });
    expect(status).toMatchObject({ verdict: 'not-checked', source: 'chassis', mayDrive: 'not-checked', stop: null });
    expect(status).toMatchObject({ gate: null, gateway: null, parts: [], chassis: { state: 'not-connected' } });
    expect(status.notes.join()).toContain('tried');
  }

  it('refuses the gateway of another robot', async () => {
    events = streamed(ready);
    robot = 'OTHER-1';
    const error = await readStatus(toolkit, {}, context()).catch((thrown: unknown): GwError => asGwError(thrown));
    robot = ready.site.serial;
    expect(error).toMatchObject({ code: 'GATEWAY_OTHER_ROBOT' });
  });
});

/** Up to 100 MB, as long as the client reads. */
function flood(response: ServerResponse): void {
  let sent = 0;
  const more = () => {
    while (!response.destroyed && sent < 100e6 && response.write(' '.repeat(65_536))) sent += 65_536;
  };
  response.on('drain', more);
  more();
}
