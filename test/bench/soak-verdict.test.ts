import { describe, expect, it } from 'vitest';
import { judgeSoak, type Soak } from '../../bench/soak/verdict.ts';

const MINUTE_MS = 60_000;
const START_MS = 7_000_000;

const memory = (value: (second: number) => number) =>
  Array.from({ length: 901 }, (_, second) => ({ atMs: START_MS + second * 1_000, value: value(second) }));

const healthAt = (second: number, restarts = 0, status = 'running') => ({
  upForMs: 5_000 + second * 1_000,
  services: [
    { name: 'chassis', status, restarts },
    { name: 'operator', status: 'running', restarts: 0 },
  ],
});

const healthSamples = Array.from({ length: 900 }, (_, second) => healthAt(second));

/** The samples of 15 minutes in which every condition held. */
const healthy: Soak = {
  wantedMs: 15 * MINUTE_MS,
  lastedMs: 15 * MINUTE_MS + 3,
  rss: memory((second) => 130 + (second % 20)),
  peakRssMb: 190,
  stops: Array.from({ length: 15 }, () => ({ ms: 12, ok: true, what: 'status 200' })),
  health: healthSamples,
  isOver: false,
  ended: { code: 0, signal: null, tookMs: 80 },
  faults: { switched: 30, failed: 0 },
  clients: {
    browser: { did: { 'event read': 9 } },
    'slow reader': { did: { sip: 9 } },
    'greedy poller': { did: { 'GET 200': 9 } },
    'signed-in person': { did: { 'signed in': 1, 'stop cleared': 1, stopped: 1 } },
    'tour starter': { did: { 'GET 200': 9, 'tour started': 1 } },
    uploader: { did: { 'upload broken off': 1 } },
    hoarder: { did: { 'connections held': 90 } },
    'wrong password': { did: { 'POST 401': 1 } },
    'byte flooder': { did: { 'connections flooded': 1 } },
    'route reader': { did: { 'routes read': 90 } },
    'stop flooder': { did: { 'stops flooded': 40 } },
  },
};

/** Names of the conditions that did not hold. */
const missed = (changes: Partial<Soak>) =>
  judgeSoak({ ...healthy, ...changes })
    .filter(({ holds }) => !holds)
    .map(({ name }) => name);

describe('the verdict of a soak test', () => {
  it('is passed where every condition held', () => {
    expect(missed({})).toEqual([]);
  });

  const then = (...more: Soak['health']) => ({ health: [...healthSamples, ...more] });
  const without = (client: string, did: Record<string, number> = {}) => ({
    clients: { ...healthy.clients, [client]: { did } },
  });
  const afterStop = (ms: number, ok: boolean, what: string) => ({ stops: [...healthy.stops, { ms, ok, what }] });
  it.each<[string, Partial<Soak>, string]>([
    ['a run that was cut short', { lastedMs: 14 * MINUTE_MS }, 'ran for'],
    ['memory that peaked between two samples', { peakRssMb: 301 }, 'peak RSS'],
    ['memory that peaked in one sample', { rss: memory((second) => (second === 500 ? 301 : 130)) }, 'peak RSS'],
    ['memory that grows slowly', { rss: memory((second) => 130 + second / 40) }, 'RSS level'],
    ['a restarted service that lost its count', then(healthAt(901, 1), healthAt(902)), 'restarts of services'],
    ['a service that does not come back', then(healthAt(901, 0, 'restarting')), 'restarts of services'],
    ['a last sample without an answer', then(null), 'restarts of services'],
    ['a run without a health sample', { health: [] }, 'restarts of services'],
    ['health samples without services', { health: [{ upForMs: 1, services: [] }] }, 'restarts of services'],
    ['a process that restarted', then(healthAt(3)), 'life of the process'],
    ['a process that ended', { isOver: true }, 'life of the process'],
    ['a run without a stop', { stops: [] }, 'stops, one a minute'],
    ['a run with one stop too few', { stops: healthy.stops.slice(1) }, 'stops, one a minute'],
    ['a run with a slow stop', afterStop(1_001, true, ''), 'stops, one a minute'],
    ['a run with a refused stop', afterStop(1, false, 'status 429'), 'stops, one a minute'],
    ['a run in which no browser received an event', without('browser', { 'GET 200': 5 }), 'clients did their work'],
    ['a run without one kind of client', without('hoarder'), 'clients did their work'],
    ['a run without a tour', without('tour starter', { 'GET 200': 9 }), 'clients did their work'],
    ['a run without a fault', { faults: { switched: 0, failed: 9 } }, 'faults switched'],
    ['a daemon that had to be killed', { ended: { code: null, signal: 'SIGKILL', tookMs: 6_010 } }, 'end in order'],
    ['a daemon that ended late', { ended: { code: 0, signal: null, tookMs: 5_200 } }, 'end in order'],
    ['a daemon that ended with an error', { ended: { code: 70, signal: null, tookMs: 20 } }, 'end in order'],
  ])('is not passed for %s', (_, changes, line) => {
    expect(missed(changes)).toContain(line);
  });

  it('is undecided about growth after a run that was too short, and not green', () => {
    const short = judgeSoak({ ...healthy, rss: healthy.rss.slice(0, 150) }).find(({ name }) => name === 'RSS level');
    expect(short).toMatchObject({ value: 'not decided', holds: false });
  });

  it('is undecided about growth where memory use varies too much', () => {
    const wild = memory((second) => 100 + 90 * (Math.floor(second / 90) % 2));
    const line = judgeSoak({ ...healthy, rss: wild }).find(({ name }) => name === 'RSS level');
    expect(line?.value).toContain('not decided');
    expect(line?.holds).toBe(false);
  });

  it('allows memory growth during warm-up', () => {
    expect(missed({ rss: memory((second) => Math.min(150, 100 + second / 2)) })).toEqual([]);
  });
});
