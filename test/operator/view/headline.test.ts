import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChassisSnapshot, judgeCondition, type LiveValue } from '../../../src/lib/chassis/index.ts';
import type { MotionStatus } from '../../../src/lib/motion/index.ts';
import { gateNotes, headlineOf, stoppedState } from '../../../src/lib/operator/view/headline.ts';
import type { FailedRun, Run } from '../../../src/lib/pages/index.ts';
import { runs } from '../../properties.ts';
import { freeMotion, snapshotWith, standInHealth, tried } from '../stand-ins.ts';

const connected = snapshotWith({ kind: 'connected', tried });
const health = standInHealth({ version: '1', upForMs: 1 });
const free = freeMotion;
const closed: MotionStatus = { ...free, gate: { open: false, reasons: ['the gate has a reason'] } };
const of = (
  change: Partial<ChassisSnapshot> = {},
  motion = free,
  gateway = health,
  run: Run | null = null,
  failed: FailedRun | null = null,
) => headlineOf({ ...connected, ...change }, motion, gateway, run, failed);
const codes = ({ notes }: ReturnType<typeof of>) => notes.map(({ code }) => code);
const withValues = (values: Partial<ChassisSnapshot['values']>) => ({ values: { ...connected.values, ...values } });
const stale = <T>(value: LiveValue<T>): LiveValue<T> =>
  value.status === 'received' ? { ...value, stale: true, staleReason: 'no-connection' } : value;

function known<T>(value: T): LiveValue<T> {
  return { status: 'received', value, mark: 'HINWEIS', basis: 'vendor', source: 'test', ageMs: 100, stale: false };
}
const wheels = (controlMode: string, emergencyStopPressed: boolean) => known({ controlMode, emergencyStopPressed });
const battery = (percent: number, status: string) => of(withValues({ battery: known({ percent, status }) }));
const degraded = (change: Partial<typeof health> = {}) => of({}, free, { ...health, status: 'degraded', ...change });
const locked = (change: Partial<MotionStatus> = {}) => of({}, { ...closed, ...change });
const doubted = (change: object) => of({ poseUnit: { ...connected.poseUnit, doubt: 'x', ...change } });

describe('the headline', () => {
  it('is green for a robot without faults', () => expect(of()).toEqual({ level: 'good', code: 'ready', notes: [] }));

  it('is not ready while the robot drives, or a trial runs', () => {
    const tour = { id: '1', tour: 't', stations: ['A'], state: 'running', at: 0, outcomes: [], reason: null } as const;
    expect(of({}, { ...free, tour })).toMatchObject({ level: 'good', code: 'drives' });
    expect(of({}, { ...free, trial: { kind: 'move' } })).toMatchObject({ level: 'good', code: 'trial' });
    expect(of({}, { ...free, tour: { ...tour, state: 'failed' } }).code).toBe('ready');
  });

  it('is never green while a tour is paused, and is locked where the gate is closed', () => {
    const tour = { id: '1', tour: 't', stations: ['A'], state: 'paused', at: 0, outcomes: [], reason: null } as const;
    expect(of({}, { ...free, tour })).toMatchObject({ level: 'attention', code: 'paused', notes: [] });
    expect(of({}, { ...free, ...closed, tour })).toMatchObject({ level: 'bad', code: 'locked' });
  });

  const unread = { ...wheels('auto', true), stale: true, staleReason: 'newer-rejected', rejected: 'x' } as const;
  const service = {
    ...{ name: 'fleet', status: 'restarting' as const, restarts: 1, lastError: 'x', remedy: 'y', detail: '' },
  } as const;
  const mediaDisk = (status: 'low' | 'unusable' | 'not-checked', remedy: string | null = 'x') => ({
    disk: { ...health.disk, media: { ...health.disk.media, status, remedy } },
  });
  const unverified = { ...closed.gate, unverified: ['vendor.move.cancel' as const] };
  const notKept = { reason: 'x', remedy: 'y' };
  it.each<[string, ReturnType<typeof of>, string]>([
    ['radians', of({ unitContradicted: true }, closed), 'unit-radians'],
    ['a closed gate alone', locked(), 'gate-closed'],
    ['facts that are not verified here', locked({ gate: unverified }), 'facts'],
    [
      'a move of another program',
      locked({ unownedMove: { moveId: 9, type: 's', isBeingCancelled: false } }),
      'unowned-move',
    ],
    ['a pose that is wrong', locked({ poseAlarm: { reason: 'x', since: null } }), 'pose-alarm'],
    ['a stop that cannot be saved', locked({ keepingTrouble: notKept }), 'stop-not-kept'],
  ])('is locked with %s, and states the reason', (_what, headline, note) => {
    expect(headline).toMatchObject({ level: 'bad', code: 'locked' });
    expect(codes(headline)).toContain(note);
  });

  it('names the map on which the pose is wrong', () => {
    const noteOf = (map: { uid: string; version: number; title: string } | null) =>
      locked({ poseAlarm: { reason: 'x', since: null, map } }).notes.find(({ code }) => code === 'pose-alarm');
    expect(noteOf({ uid: 'u-1', version: 1, title: 'hall' })).toEqual({ code: 'pose-alarm', map: 'hall' });
    expect(noteOf(null)).toEqual({ code: 'pose-alarm', map: null });
  });

  it.each<[string, ReturnType<typeof of>, string]>([
    ['a doubted unit', doubted({}), 'unit-doubtful'],
    ['a heading that fits no course', doubted({ misfit: true }), 'heading-misfit'],
    ['the emergency stop', of(withValues({ wheels: wheels('auto', true) })), 'emergency-stop'],
    ['another control mode', of(withValues({ wheels: wheels('manual', false) })), 'control-mode'],
    ['a lost position', of(withValues({ positioning: known({ state: 'p', reliable: false }) })), 'positioning'],
    ['an unreadable message', of(withValues({ wheels: { status: 'not-received', rejected: 'x' } })), 'unreadable'],
    [
      'a pressed emergency stop in a message that is otherwise unreadable',
      of(withValues({ wheels: unread })),
      'emergency-stop',
    ],
    ['a low battery', battery(6, 'discharging'), 'battery'],
    ['a battery that is full at a third', battery(33, 'full'), 'battery-contradictory'],
    ['an alert', of(withValues({ alerts: known([{ code: 7005, level: 'error', message: 'x' }]) })), 'alerts'],
    ['a value that was not received', of(withValues({ wheels: { status: 'not-received' } })), 'not-checked'],
    ['a stale alert', of(withValues({ alerts: stale(connected.values.alerts) })), 'not-checked'],
    ['a stale pose', of(withValues({ pose: stale(connected.values.pose) })), 'no-pose'],
    ['complaints', of({ complaints: [{ what: 'x', count: 1, ageMs: 299_999, isLate: false }] }), 'complaints'],
    ['a late answer', of({ complaints: [{ what: 'x', count: 1, ageMs: 29_999, isLate: true }] }), 'late-answers'],
    ['a service that is down', degraded({ services: [service] }), 'service-down'],
    ['a disk without free space', degraded(mediaDisk('low')), 'disk'],
    ['a disk that nothing can be written to', degraded(mediaDisk('unusable')), 'disk-unwritable'],
    ['a disk that does not answer', degraded(mediaDisk('not-checked')), 'disk-silent'],
    ['a disk that was not looked at yet', degraded(mediaDisk('not-checked', null)), 'disk-not-checked'],
    ['a gateway that is degraded by something else', degraded(), 'gateway-degraded'],
    [
      'support without records',
      degraded({ support: { status: 'waiting', records: 'failing', detail: 'x' } }),
      'support-not-recorded',
    ],
  ])('is limited with %s, and states the reason', (_what, headline, note) => {
    expect(headline).toMatchObject({ level: 'attention', code: 'limited' });
    expect(codes(headline)).toContain(note);
  });

  it('is green only when every condition is met', { tags: 'property' }, () => {
    const live = <T>(value: T) =>
      fc.constantFrom<LiveValue<T>>({ status: 'not-received' }, known(value), stale(known(value)));
    const world = fc.record({
      link: fc.constantFrom(
        { kind: 'connected', tried } as const,
        { kind: 'connecting', tried } as const,
        { kind: 'not-connected', failure: 'cut', detail: 'x', tried } as const,
      ),
      unitContradicted: fc.boolean(),
      doubt: fc.option(fc.string()),
      complaints: fc.array(
        fc.record({ what: fc.string(), count: fc.nat(), ageMs: fc.nat(600_000), isLate: fc.boolean() }),
        { maxLength: 2 },
      ),
      open: fc.boolean(),
      latched: fc.boolean(),
      degraded: fc.boolean(),
      hasFailed: fc.boolean(),
      pose: live({
        xM: 1,
        yM: 1,
        yawDeg: connected.values.pose.status === 'received' ? connected.values.pose.value.yawDeg : (0 as never),
      }),
      wheels: fc.boolean().chain((emergencyStopPressed) => live({ controlMode: 'auto', emergencyStopPressed })),
      positioning: fc.boolean().chain((reliable) => live({ state: 'positioning', reliable })),
      alerts: fc
        .array(fc.record({ code: fc.nat(), level: fc.string(), message: fc.string() }), { maxLength: 1 })
        .chain(live),
    });
    fc.assert(
      fc.property(
        world,
        ({ link, unitContradicted, doubt, complaints, open, latched, degraded, hasFailed, ...values }) => {
          const snapshot: ChassisSnapshot = {
            ...connected,
            ...{ link, unitContradicted, poseUnit: { ...connected.poseUnit, doubt }, complaints },
            values: { ...connected.values, ...values },
          };
          const gate = { open, reasons: open ? [] : ['x'] };
          const motion: MotionStatus = { ...free, gate, stop: { ...free.stop, latched } };
          const inOrder =
            open &&
            !latched &&
            link.kind === 'connected' &&
            !unitContradicted &&
            doubt === null &&
            !degraded &&
            complaints.every(({ ageMs, isLate }) => ageMs >= (isLate ? 30_000 : 300_000)) &&
            judgeCondition(snapshot.values).every(({ verdict }) => verdict === 'ok') &&
            values.pose.status === 'received' &&
            !values.pose.stale;
          const { level, notes } = headlineOf(
            snapshot,
            motion,
            { ...health, status: degraded ? 'degraded' : 'ok' },
            null,
            hasFailed ? missed : null,
          );
          expect(level === 'good').toBe(inOrder && !hasFailed);
          if (level !== 'good' && !latched && !hasFailed) expect(notes).not.toEqual([]);
          expect(gateNotes(snapshot, motion).length === 0).toBe(open);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

describe('a latched stop', () => {
  const latched: MotionStatus = { ...closed, stop: { ...free.stop, latched: true, reason: 'r', by: 'x' } };
  const planning = (moveState: string) =>
    known({
      ...{ actionId: 7, actionType: 'standard', moveState, failReason: 0, failReasonText: 'none' },
      ...{ remainingDistanceM: 1, raw: {} },
    });

  it.each([
    ['cancelled', planning('cancelled'), 'stopped'],
    ['moving', planning('moving'), 'standing-not-known'],
    ['oscillating', planning('oscillating'), 'standing-not-known'],
    ['what it said over an earlier connection', stale(planning('cancelled')), 'standing-not-known'],
    ['nothing', { status: 'not-received' } as const, 'standing-not-known'],
  ])('is shown as a standstill only where the chassis reports so: %s', (_word, value, code) => {
    const headline = of(withValues({ planning: value }), latched);
    expect(headline).toMatchObject({ level: 'bad', code });
    expect(codes(headline).includes('standing-not-known')).toBe(code !== 'stopped');
  });

  it.each([
    ['moves', 'still-moves'],
    ['drives-on', 'does-not-stop'],
    ['not-known', 'standing-not-known'],
  ] as const)(
    'is no standstill where the chassis reports the end of its move, and the poses say: %s',
    (verdict, code) => {
      const motion = { ...latched, standstill: { verdict, reason: 'r', isOwed: true } };
      const headline = of(withValues({ planning: planning('cancelled') }), motion);
      expect(headline).toMatchObject({ level: 'bad', code });
      expect(codes(headline)[0]).toBe(code);
      expect(stoppedState({ ...connected, ...withValues({ planning: planning('cancelled') }) }, motion)).toBe(verdict);
    },
  );

  it.each([
    ['moves', 'moves'],
    ['drives-on', 'does-not-stop'],
    ['not-known', 'standing-awaited'],
  ] as const)('leaves a closed gate when it is cleared before the robot was seen to stand: %s', (verdict, note) => {
    const motion: MotionStatus = { ...closed, standstill: { verdict, reason: 'r', isOwed: true } };
    expect(of({}, motion)).toMatchObject({ level: 'bad', code: 'locked' });
    expect(codes(of({}, motion))).toContain(note);
    expect(gateNotes(connected, motion).map(({ code }) => code)).toContain(note);
  });

  it('says once that the robot does not stop, and when it stands that it drove on after the stop', () => {
    const stop = { ...free.stop, latched: true, reason: 'drill', by: 'tablet', disobeyed: 'it went 0.40 m further' };
    const standstill = { verdict: 'drives-on', reason: 'it went 0.40 m further', isOwed: true } as const;
    const driving = codes(of({}, { ...closed, stop, standstill }));
    expect(driving.filter((code) => code === 'does-not-stop')).toHaveLength(1);
    expect(driving).not.toContain('drove-on');
    expect(codes(of({}, { ...closed, stop }))).toContain('drove-on');
    expect(gateNotes(connected, { ...closed, stop }).map(({ code }) => code)).toContain('drove-on');
  });

  it('is not a standstill while the chassis is disconnected', () => {
    const link = { kind: 'not-connected', failure: 'cut', detail: 'x', tried } as const;
    const headline = of({ link, ...withValues({ planning: planning('cancelled') }) }, latched);
    expect(headline.code).toBe('not-connected');
    expect(codes(headline)).toContain('standing-not-known');
  });
});

describe('a link that is not there', () => {
  const away = (kind: 'connecting' | 'booting', linkForMs: number) =>
    of({ link: kind === 'booting' ? { kind, progress: 0.45, step: 's', tried } : { kind, tried }, linkForMs });

  it.each([
    ['booting', 'robot-starting'],
    ['connecting', 'link-starting'],
  ] as const)('only takes its time while it is %s; after five minutes it needs a technician', (kind, note) => {
    expect(away(kind, 299_000)).toEqual({ level: 'bad', code: kind, notes: [{ code: note }] });
    expect(codes(away(kind, 300_000))).toEqual(['not-connected']);
    const snapshot = { ...connected, link: { kind: 'booting', progress: 0.45, step: 's', tried } as const };
    expect(gateNotes(snapshot, closed).map(({ code }) => code)).toEqual(['robot-starting']);
  });

  it('is for a technician at once where it was lost', () => {
    const link = { kind: 'not-connected', failure: 'cut', detail: 'x', tried } as const;
    expect(codes(of({ link, linkForMs: 0 }))).toEqual(['not-connected']);
  });
});

const ended: Run = {
  ...{ id: 'r', kind: 'drive', name: 'B', stations: [], at: 0, state: 'succeeded', forMs: 1_000 },
  ...{ failReason: null, although: [], failure: null },
};
const { forMs: _forMs, ...withoutTime } = ended;
const missed: FailedRun = {
  ...{ ...withoutTime, state: 'failed', earlier: 0 },
  failure: { cause: 'missed', offM: 0.42, offDeg: null, technical: 'x' },
};

describe('a run that has ended', () => {
  const rests = (verdict: 'moves' | 'not-known' | 'drives-on', isOwed = true): MotionStatus => ({
    ...closed,
    standstill: { verdict, reason: 'r', isOwed },
  });

  it.each<[string, MotionStatus, Run]>([
    ['is cancelled and moves', rests('moves'), { ...ended, state: 'stopped' }],
    ['is cancelled and not seen to stand yet', rests('not-known'), { ...ended, state: 'stopped' }],
    ['has arrived and turns', rests('moves', false), ended],
    ['is paused and moves', rests('moves'), { ...ended, kind: 'tour', state: 'paused' }],
  ])('comes to rest, which is no fault: it %s', (_what, motion, run) => {
    expect(of({}, motion, health, run)).toMatchObject({ level: 'attention', code: 'comes-to-rest' });
    const low = withValues({ battery: known({ percent: 8, status: 'discharging' }) });
    expect(of(low, motion, health, run).code).toBe('comes-to-rest');
  });

  it.each<[string, MotionStatus, Run | null, Partial<ChassisSnapshot>?]>([
    ['moves long after', rests('moves'), { ...ended, forMs: 15_000 }],
    ['moves without any run', rests('moves'), null],
    [
      'moves by an order of another program',
      { ...rests('moves'), unownedMove: { moveId: 9, type: 's', isBeingCancelled: false } },
      ended,
    ],
    ['does not obey', rests('drives-on'), { ...ended, state: 'stopped' }],
    ['moves with a pressed emergency stop', rests('moves'), ended, withValues({ wheels: wheels('auto', true) })],
    ['moves without a known pose', rests('moves'), ended, withValues({ pose: stale(connected.values.pose) })],
    ['stands, and the gate is closed', closed, ended],
  ])('is locked where the robot %s', (_what, motion, run, change = {}) => {
    expect(of(change, motion, health, run)).toMatchObject({ level: 'bad', code: 'locked' });
  });

  it('is the headline where it failed, until a person has seen it', () => {
    for (const run of [null, ended]) {
      expect(of({}, free, health, run, missed)).toMatchObject({ level: 'attention', code: 'failed' });
      expect(of({}, closed, health, run, missed)).toMatchObject({ level: 'bad', code: 'failed' });
      expect(codes(of({}, closed, health, run, missed))).toEqual(['gate-closed']);
    }
    expect(of({}, free, health, ended)).toMatchObject({ level: 'good', code: 'ready' });
    expect(of({}, closed, health, ended)).toMatchObject({ level: 'bad', code: 'locked' });
  });

  it('that failed leaves a later one no green, and a robot that drives is said first', () => {
    const run: Run = { ...ended, state: 'running' };
    const drive = { id: 'd', kind: 'move', station: 'B', state: 'running', outcome: null, reason: null } as const;
    const tour = { id: 't', tour: 'x', stations: [], state: 'paused', at: 0, outcomes: [], reason: null } as const;
    expect(of({}, { ...free, drive }, health, run)).toMatchObject({ level: 'good', code: 'drives' });
    expect(of({}, { ...free, drive }, health, run, missed)).toMatchObject({ level: 'attention', code: 'drives' });
    expect(of({}, closed, health, run, missed)).toMatchObject({ level: 'bad', code: 'locked' });
    const paused: Run = { ...ended, kind: 'tour', state: 'paused' };
    expect(of({}, { ...free, tour }, health, paused, missed)).toMatchObject({ level: 'attention', code: 'paused' });
  });

  it('is never more urgent than a robot that does not stop, a set stop and a lost link', () => {
    expect(of({}, rests('drives-on'), health, ended, missed)).toMatchObject({ level: 'bad', code: 'locked' });
    const stop = { ...free.stop, latched: true };
    expect(of({}, { ...rests('drives-on'), stop }, health, ended, missed).code).toBe('does-not-stop');
    const link = { kind: 'not-connected', failure: 'cut', detail: 'x', tried } as const;
    expect(of({ link }, closed, health, ended, missed).code).toBe('not-connected');
  });
});

describe('a closed gate', () => {
  it('shows its own reason first, and not a hint', () => {
    const disk = { ...health.disk, media: { ...health.disk.media, status: 'low' } } as const;
    const evidence = { ...health.evidence, status: 'revoked' } as const;
    const headline = of({}, closed, { ...health, status: 'degraded', disk, evidence });
    expect(codes(headline)).toEqual(['gate-closed', 'evidence-revoked', 'disk']);
  });
});
