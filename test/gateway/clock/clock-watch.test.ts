import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClockWatch, watchClock } from '../../../src/lib/gateway/clock-watch.ts';
import { faultsOf } from '../../../src/lib/gateway/cloud-state/index.ts';
import { gatewayHealth } from '../../../src/lib/gateway/gateway.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import type { ClockAnswer } from '../../../src/lib/net/path/index.ts';
import { createJournal } from '../../../src/lib/operator/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { chassisAfter, inOrder, motion, health as sourceHealth } from '../cloud-state/sources.ts';
import { partsWith } from '../health-parts.ts';

const HOUR_MS = 3_600_000;

let open: ClockWatch[] = [];
afterEach(() => {
  for (const one of open) one[Symbol.dispose]();
  open = [];
});

/** A gateway whose clock is right at first, with endpoints that know the true time. */
function setUp(random = 0.5) {
  const clock = createFakeClock({ random });
  const trueMs = (() => {
    const apartMs = clock.wall().getTime() - clock.monotonicMs();
    return () => clock.monotonicMs() + apartMs;
  })();
  const journal = createJournal(silentLog, clock);
  let readings = 0;
  const endpoints: { behind: (host: string) => number; failed: ClockAnswer[]; uncertainMs: number; hosts: string[] } = {
    behind: () => trueMs() - clock.wall().getTime(),
    failed: [],
    uncertainMs: 600,
    hosts: ['a.example', 'b.example'],
  };
  const watch = watchClock({
    read: async () => {
      readings += 1;
      return [
        ...endpoints.hosts.map((host): ClockAnswer => {
          const { uncertainMs } = endpoints;
          return { kind: 'read', reading: { host, addresses: [host], behindMs: endpoints.behind(host), uncertainMs } };
        }),
        ...endpoints.failed,
      ];
    },
    clock,
    log: journal.log,
  });
  open.push(watch);
  return {
    ...{ clock, watch, endpoints, journal },
    readings: () => readings,
    offMs: () => clock.wall().getTime() - trueMs(),
    set: (byMs: number) => clock.setWall(new Date(clock.wall().getTime() + byMs)),
  };
}

describe('the clock of the gateway', () => {
  it('is not checked before the first reading, a minute after the start, and right with its age afterwards', async () => {
    const { clock, watch, readings } = setUp();
    expect(watch.view()).toMatchObject({ status: 'not-checked', behindMs: null, ageMs: null });
    await clock.advance(59_000);
    expect(readings()).toBe(0);
    await clock.advance(1_000);
    expect(watch.view()).toMatchObject({
      status: 'ok',
      behindMs: 0,
      uncertainMs: 600,
      from: ['a.example', 'b.example'],
    });
    await clock.advance(HOUR_MS);
    // 200 ppm of an hour.
    expect(watch.view()).toMatchObject({ status: 'ok', ageMs: HOUR_MS, uncertainMs: 1_320, jumps: 0 });
  });

  it('is read every six hours, a random part apart from the other robots', async () => {
    const early = setUp(0);
    const late = setUp(0.999);
    await early.clock.advance(5.42 * HOUR_MS);
    await late.clock.advance(6.59 * HOUR_MS);
    expect([early.readings(), late.readings()]).toEqual([2, 1]);
    await early.clock.advance(18.5 * HOUR_MS);
    expect(early.readings()).toBe(5);
  });

  it('is wrong when it is more than a minute off, with a fault to the cloud and a degraded health', async () => {
    const { clock, watch, set } = setUp();
    set(-90_000);
    await clock.advance(15 * 60_000);
    const view = watch.view();
    expect(view).toMatchObject({ status: 'wrong', behindMs: 90_000, remedy: expect.stringContaining('timedatectl') });
    const { status, ...parts } = gatewayHealth(partsWith({ clock: view }));
    expect(status).toBe('degraded');
    expect(gatewayHealth(partsWith({ clock: { ...view, status: 'not-decided' } })).status).toBe('ok');
    const health = sourceHealth({ clock: parts.clock });
    const faults = faultsOf({ snapshot: chassisAfter(...inOrder).snapshot(), motion: motion(), health });
    expect(faults.present).toContainEqual(expect.objectContaining({ key: 'clock.wrong', number: -90 }));
    const open = sourceHealth({ clock: { ...view, status: 'not-decided' } });
    expect(faultsOf({ snapshot: chassisAfter(...inOrder).snapshot(), motion: motion(), health: open })).toEqual({
      ...{ present: [], unchecked: ['clock.'] },
    });
  });

  it('is not decided between both: the uncertainty is on both sides of a minute', async () => {
    const { clock, watch, set, endpoints } = setUp();
    set(59_000);
    endpoints.uncertainMs = 3_000;
    await clock.advance(15 * 60_000);
    expect(watch.view()).toMatchObject({ status: 'not-decided', behindMs: -59_000 });
  });

  it('is not decided by one endpoint, nor by two that disagree, and both are named', async () => {
    const { clock, watch, endpoints } = setUp();
    endpoints.hosts = ['a.example'];
    await clock.advance(60_000);
    expect(watch.view()).toMatchObject({ status: 'not-decided', detail: expect.stringContaining('Only one endpoint') });
    endpoints.hosts = ['a.example', 'b.example'];
    endpoints.behind = (host) => (host === 'a.example' ? 0 : 3_600_000);
    await clock.advance(HOUR_MS);
    const { status, detail } = watch.view();
    expect(status).toBe('not-decided');
    expect(detail).toMatch(/disagree: .* a\.example .* b\.example/);
  });

  it('is not checked without a network, and not decided where it makes every certificate look expired', async () => {
    const { clock, watch, endpoints } = setUp();
    endpoints.hosts = [];
    endpoints.failed = [{ kind: 'not-read', why: 'other', detail: 'a.example:443: no route' }];
    await clock.advance(60_000);
    expect(watch.view()).toMatchObject({ status: 'not-checked', detail: expect.stringContaining('no route') });
    endpoints.failed = [{ kind: 'not-read', why: 'certificate-time', detail: 'a.example:443: expired' }];
    await clock.advance(HOUR_MS);
    const { status, remedy } = watch.view();
    expect(status).toBe('not-decided');
    expect(remedy).toContain('no certificate can be verified');
  });

  it.each([
    ['forwards', 5_000],
    ['back, by years', -20 * 365 * 24 * HOUR_MS],
    ['by as much as a sleep of the machine', 8 * HOUR_MS],
  ])('that is set %s is logged, counted, and makes the comparison void until the next one', async (_what, byMs) => {
    const { clock, watch, set, journal, readings } = setUp();
    await clock.advance(2 * HOUR_MS);
    expect(watch.view().status).toBe('ok');
    set(byMs);
    // At once, also between two looks.
    expect(watch.view()).toMatchObject({ status: 'not-checked', behindMs: null, jumps: 1, lastJump: { byMs } });
    expect(journal.audit()).toMatchObject([{ message: 'the wall clock was set', fields: { byMs } }]);
    expect(readings()).toBe(1);
    await clock.advance(61_000);
    expect(readings()).toBe(2);
    expect(watch.view()).toMatchObject({ status: byMs === 5_000 ? 'ok' : 'wrong', behindMs: -byMs });
  });

  it('that is set without end makes no more than a request in ten minutes', async () => {
    const { clock, set, readings, watch } = setUp();
    for (let minute = 0; minute < 120; minute += 1) {
      set(minute % 2 === 0 ? 5_000 : -5_000);
      await clock.advance(60_000);
      expect(watch.view().status).not.toBe('wrong');
    }
    expect(readings()).toBeLessThanOrEqual(12);
  });

  it('keeps what was agreed on while a later reading fails, until it is too old', async () => {
    const { clock, watch, endpoints } = setUp();
    await clock.advance(60_000);
    endpoints.hosts = [];
    await clock.advance(12 * HOUR_MS);
    expect(watch.view()).toMatchObject({ status: 'ok', ageMs: 12 * HOUR_MS });
    await clock.advance(HOUR_MS + 1);
    expect(watch.view()).toMatchObject({ status: 'not-checked', detail: expect.stringContaining('too old') });
  });

  it('counts no longer where one endpoint alone contradicts what was agreed on', async () => {
    const { clock, watch, endpoints } = setUp();
    await clock.advance(60_000);
    endpoints.hosts = ['c.example'];
    endpoints.behind = () => 600_000;
    await clock.advance(7 * HOUR_MS);
    expect(watch.view()).toMatchObject({ status: 'not-decided', behindMs: null });
  });

  it('is watched for jumps also where no time is read, and leaves no timer behind', async () => {
    const clock = createFakeClock();
    const watch = watchClock({ read: null, clock, log: silentLog });
    clock.setWall(new Date('2001-01-01T00:00:00Z'));
    await clock.advance(10_000);
    expect(watch.view()).toMatchObject({ status: 'not-configured', jumps: 1 });
    watch[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });

  it('aborts a reading at the end of the gateway, which waits for none', async () => {
    const clock = createFakeClock();
    let ended: AbortSignal | undefined;
    const watch = watchClock({
      read: (signal) => {
        ended = signal;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
      clock,
      log: silentLog,
    });
    await clock.advance(60_000);
    expect(ended?.aborted).toBe(false);
    watch[Symbol.dispose]();
    await clock.advance(24 * HOUR_MS);
    expect(ended?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('is never called right while it is more than a minute off, whatever is set, fails or disagrees when', {
    tags: 'property',
  }, async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 8 * HOUR_MS }) }),
      fc.record({ kind: fc.constant('set' as const), ms: fc.integer({ min: -200_000, max: 200_000 }) }),
      // Below what counts as a jump, and again.
      fc.record({ kind: fc.constant('creep' as const), ms: fc.integer({ min: -999, max: 999 }) }),
      fc.record({ kind: fc.constant('uncertain' as const), ms: fc.integer({ min: 500, max: 20_000 }) }),
      fc.record({ kind: fc.constant('hosts' as const), ms: fc.integer({ min: 0, max: 3 }) }),
      // The first of them has another time than the others.
      fc.record({ kind: fc.constant('lies' as const), ms: fc.integer({ min: -200_000, max: 200_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { clock, watch, endpoints, set, offMs } = setUp();
        const truth = endpoints.behind;
        for (const { kind, ms } of steps) {
          if (kind === 'pass') await clock.advance(ms);
          if (kind === 'set') set(ms);
          if (kind === 'creep') {
            for (let times = 0; times < 70; times += 1) {
              set(ms);
              await clock.advance(5_000);
            }
          }
          if (kind === 'uncertain') endpoints.uncertainMs = ms;
          if (kind === 'hosts') endpoints.hosts = ['a', 'b', 'c'].slice(0, ms);
          if (kind === 'lies') endpoints.behind = (host) => truth(host) + (host === 'a' ? ms : 0);
          const { status } = watch.view();
          if (status === 'ok') expect(Math.abs(offMs())).toBeLessThanOrEqual(60_000);
          if (status === 'wrong') expect(Math.abs(offMs())).toBeGreaterThan(60_000);
        }
        watch[Symbol.dispose]();
      }),
      { numRuns: 60 },
    );
  });
});
