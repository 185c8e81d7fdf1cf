import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { directDialer } from '../../../src/lib/net/index.ts';
import { localSocketPath, parseSite } from '../../../src/lib/site/index.ts';
import { type ActName, checkActs } from '../../../src/lib/toolkit/gateway/acts-check.ts';
import { actsCheckSchema } from '../../../src/lib/toolkit/gateway/gateway.result.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { context, has, httpServer, ownFolder, verdictsOf } from '../kit.ts';

const clock = createPacedClock();
const at = (minutesAgo: number) => new Date(clock.wall().getTime() - minutesAgo * 60_000).toISOString();
/** Of a gateway whose clock is as that of this machine. */
const event = (message: string, minutesAgo: number, fields: object = {}) => ({
  ...{ time: at(minutesAgo), level: 'info', message, fields, count: 1 },
  ...{ lastTime: at(minutesAgo), lastFields: null, ageMs: minutesAgo * 60_000 },
});
const incident = (minutesAgo: number, code: string) => ({
  ...{ format: 'gw/incident/1', id: 1, serial: 'SN-1', site: 'T', version: '1.0.0', at: at(minutesAgo) },
  ...{ timeZone: 'UTC', causes: [{ code, atMs: 0, failure: null }], moreCauses: 0, fromMs: -60_000, toMs: 0 },
  ...{ isComplete: true, ageMs: minutesAgo * 60_000 },
});

let site: ReturnType<typeof parseSite>;
beforeEach(() => {
  const dir = ownFolder();
  site = parseSite('name: T\nchassis: { host: 127.0.0.1, serial: SN-1 }\n', join(dir, 'site.yaml'));
});

/** A gateway with these events, on its socket for local commands. */
async function look(of: ActName, events: { audit?: object[]; entries?: object[]; incidents?: object[] }) {
  mkdirSync(join(site.stateDir, 'local'), { recursive: true, mode: 0o700 });
  await using _server = await httpServer((request, response) => {
    const log = { entries: events.entries ?? [], audit: events.audit ?? [], clientAborts: 0 };
    const list = {
      incidents: events.incidents ?? [],
      recording: null,
      unreadable: 0,
      folderProblem: null,
      notKept: null,
    };
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-gw-robot', 'SN-1');
    response.end(JSON.stringify(request.url === '/api/vorfaelle' ? list : log));
  }, localSocketPath(site));
  return actsCheckSchema.parse(
    await checkActs({ site, dialer: directDialer, clock }, { of, withinMin: 240 }, context()),
  );
}

describe('what the gateway saw of an act', () => {
  it('is ok for a tour that was started and reached its end, with time and place', async () => {
    const started = event('tour started', 12, { address: '192.0.2.20', tour: 'lunch' });
    const result = await look('tour', {
      audit: [started],
      entries: [event('the tour has ended', 10, { tour: 'lunch', state: 'succeeded' })],
    });
    expect(verdictsOf(result.findings)).toEqual({ 'tour-1': 'ok', 'tour-2': 'ok' });
    expect(result.findings[0]?.detail).toBe(
      `12 min ago, at ${started.lastTime} by the clock of the gateway, from 192.0.2.20`,
    );
  });

  it('is not checked for a tour that failed, or that was long ago', async () => {
    const failed = await look('tour', {
      audit: [event('tour started', 12)],
      entries: [event('the tour has ended', 10, { state: 'failed' })],
    });
    expect(failed).toMatchObject({ verdict: 'not-checked', findings: [{ verdict: 'ok' }, { verdict: 'not-checked' }] });
    const old = await look('stop', { audit: [event('stop requested', 241), event('stop cleared', 239)] });
    expect(verdictsOf(old.findings)).toEqual({ 'stop-1': 'not-checked', 'stop-2': 'ok' });
    expect(old.findings[0]?.remedy).toContain('repeat this step');
  });

  it('takes no act of gw itself on the gateway for that of a person, but beside a simulator', async () => {
    const acts = (address: string) => [
      event('stop requested', 12, { address }),
      event('stop cleared', 11, { address }),
    ];
    const signIns = (address: string) => [
      event('sign-in refused', 12, { address, code: 'SIGN_IN_FAILED' }),
      event('signed in', 11, { address }),
    ];
    expect(await look('stop', { audit: acts('127.0.0.1') })).toMatchObject({ verdict: 'ok' });
    site = parseSite('name: T\nchassis: { host: 192.0.2.10, serial: SN-1 }\n', join(ownFolder(), 'site.yaml'));
    for (const own of ['127.0.0.1', '::1', 'a command on the gateway']) {
      const stopped = await look('stop', { audit: acts(own) });
      expect(verdictsOf(stopped.findings)).toEqual({ 'stop-1': 'not-checked', 'stop-2': 'ok' });
      expect(await look('sign-in', { audit: signIns(own) })).toMatchObject({ verdict: 'not-checked' });
    }
    const folded = acts('127.0.0.1').map((act) => ({ ...act, count: 9, lastFields: { address: '192.0.2.20' } }));
    expect(await look('stop', { audit: folded })).toMatchObject({ verdict: 'ok' });
    const both = [...signIns('192.0.2.20'), ...signIns('127.0.0.1')];
    expect(await look('sign-in', { audit: both })).toMatchObject({ verdict: 'ok' });
  });

  it('is ok for a lost link by the incident that the gateway keeps', async () => {
    expect(await look('lost-link', { incidents: [incident(5, 'link-lost')] })).toMatchObject({ verdict: 'ok' });
    const others = [incident(300, 'link-lost'), incident(5, 'does-not-stop')];
    expect(await look('lost-link', { incidents: others })).toMatchObject({ verdict: 'not-checked' });
  });

  it('goes by the age that the gateway reports, whatever the wall clocks of the two machines say', async () => {
    // The laptop is a day behind, or the gateway a day ahead: by their wall clocks each act is recent, or in the future.
    for (const minutesOff of [0, 1_440, -1_440]) {
      const off = (one: object, ageMs: number) => ({ ...one, ageMs });
      const old = 241 * 60_000;
      const acts = [off(event('stop requested', minutesOff), old), off(event('stop cleared', minutesOff), 60_000)];
      expect(verdictsOf((await look('stop', { audit: acts })).findings)).toEqual({
        'stop-1': 'not-checked',
        'stop-2': 'ok',
      });
      const lost = { incidents: [off(incident(minutesOff, 'link-lost'), old)] };
      expect(await look('lost-link', lost)).toMatchObject({ verdict: 'not-checked' });
    }
  });

  it('is not checked by a gateway that reports no age, and for an incident of an earlier start', async () => {
    const { ageMs: _none, ...acted } = event('stop requested', 1);
    const { ageMs: _no, ...lost } = incident(1, 'link-lost');
    const older = await look('stop', { audit: [acted] });
    expect(older.findings[0]).toMatchObject({ verdict: 'not-checked', detail: has('reports no age') });
    expect(await look('lost-link', { incidents: [lost] })).toMatchObject({ verdict: 'not-checked' });
    const restarted = await look('lost-link', { incidents: [{ ...lost, ageMs: null }] });
    expect(restarted.findings[0]).toMatchObject({ verdict: 'not-checked', detail: has('an earlier start') });
  });

  it('is not checked, and not wrong, where the log cannot be read', async () => {
    const result = await checkActs({ site, dialer: directDialer, clock }, { of: 'stop', withinMin: 240 }, context());
    expect(result).toMatchObject({ verdict: 'not-checked', findings: [{ detail: has('Sign-in required') }] });
  });
});
