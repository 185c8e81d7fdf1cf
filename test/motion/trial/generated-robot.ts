import type { degrees } from '../../../src/lib/angle/index.ts';
import { type ChassisLink, type ChassisSnapshot, createTrack, type PoseUnit } from '../../../src/lib/chassis/index.ts';
import type { ChassisMoves } from '../../../src/lib/chassis/moves.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createCanceller } from '../../../src/lib/motion/canceller.ts';
import type { TrialView } from '../../../src/lib/motion/index.ts';
import { orderLimits } from '../../../src/lib/motion/orders.ts';
import { createStopProofs } from '../../../src/lib/motion/stop-proof.ts';
import type { TrialReport } from '../../../src/lib/motion/trial/store.ts';
import { createTrials } from '../../../src/lib/motion/trial/trials.ts';
import { createMoveWatch } from '../../../src/lib/motion/unowned-move.ts';
import { normal, seeded } from '../../chassis/poses.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { ground, openGate, readySnapshot, received } from '../snapshot.ts';

/** What a robot does about its first cancel, whatever it answers. */
const deeds = {
  /** It brakes, and reports the cancel. */
  obeys: { answers: 200, reports: 'cancelled' },
  /** It drives on to its goal, and goes on reporting the move. */
  ignores: { answers: 200, reports: 'moving' },
  /** It drives on to its goal, and reports the move as cancelled. */
  lies: { answers: 200, reports: 'cancelled' },
  /** It brakes four seconds later. */
  coasts: { answers: 200, reports: 'cancelled' },
  /** It stands for four seconds, then drives on. */
  pauses: { answers: 200, reports: 'cancelled' },
  /** It stands and spins. */
  spins: { answers: 200, reports: 'cancelled' },
  /** It drives on, and so says its answer. */
  refuses: { answers: 500, reports: 'moving' },
} as const;
export type Deed = keyof typeof deeds;

export interface GeneratedRobot {
  readonly deed: Deed;
  readonly speedMS: number;
  /** Poses per second. */
  readonly hz: number;
  readonly seed: number;
  readonly unit?: PoseUnit;
  /** Standard deviations; the heading in its unit. */
  readonly noiseM?: number;
  readonly noiseOri?: number;
  /** Of the spin, in the unit of the heading. */
  readonly oriPerS?: number;
  /** A further order of the person: the way of the trial. */
  readonly distanceM?: number;
  /** A robot that pauses drives on after this time. */
  readonly pauseMs?: number;
  /** How its poses arrive: at once, or held back and then one after the other. */
  readonly delivery?: Delivery;
}

/** A busy gateway: of each period, poses of the first part wait for its end, and then arrive at this interval. */
export interface Delivery {
  readonly everyMs: number;
  readonly heldMs: number;
  readonly apartMs: number;
}

/** The trial, its samples, and what really happened: times in ms since its start. */
export interface Conducted {
  readonly ended: TrialView;
  readonly report: TrialReport;
  /** The first alarm. */
  readonly alarm: { readonly text: string; readonly atMs: number } | null;
  readonly cancelAtMs: number | null;
  /** When the robot was really at rest after the cancel; null where it drove on. */
  readonly restAtMs: number | null;
  /** When its way since the cancel exceeded this noise; null where it did not. */
  readonly exceededAtMs: (noiseM: number) => number | null;
  readonly cancels: number;
  /** What latches the stop. */
  readonly disobeyed: string | null;
  /** How far the robot had driven since it had stood, when the record was written. */
  readonly keptAfterM: number;
}

const MOVE = 7;
/** It accelerates as it brakes. */
const [STEP_MS, ACCELERATION_M_S2] = [20, 1];
const [COAST_MS, PAUSE_MS] = [4_000, 4_000];

/** Conducts one stop trial with a robot that is made of numbers, in simulated time: everything but the wire is real. */
export async function conductStopTrial(robot: GeneratedRobot): Promise<Conducted> {
  const { deed, speedMS, hz, seed, unit = 'degrees', noiseM = 0.01, noiseOri = 0.3, oriPerS = 0, delivery } = robot;
  const { pauseMs = PAUSE_MS } = robot;
  const random = seeded(seed * 7_919 + 1);
  // No sockets: one round of the event loop is enough for the promises.
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock = createFakeClock({ startMs: 1_000_000, settled });
  const course = 2 * Math.PI * random();
  const from = { xM: 40 * random() - 20, yM: 40 * random() - 20 };
  const headingDeg = (course * 180) / Math.PI - 180;
  const toRad = (deg: number) => (deg * Math.PI) / 180;
  const startOri = unit === 'radians' ? toRad(headingDeg) : headingDeg;

  const phaseMs = delivery === undefined ? 0 : delivery.everyMs * random();

  let wayM = 0;
  let goalM: number | null = null;
  let speed = 0;
  let turned = 0;
  let cancelledAtMs: number | null = null;
  let moveState = 'idle';
  let cancels = 0;
  const history: { readonly atMs: number; readonly wayM: number; readonly speed: number }[] = [];

  const track = createTrack();
  const listeners = new Set<() => void>();
  const ready = readySnapshot();
  let values: ChassisSnapshot['values'] = ready.values;
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };
  const publish = (change: Partial<ChassisSnapshot['values']>) => {
    values = { ...values, ...change };
    notify();
  };
  const link: ChassisLink = {
    name: 'chassis',
    get client(): never {
      throw new Error('a robot of numbers has no client');
    },
    start: async () => {},
    stop: async () => {},
    describe: () => '',
    snapshot: () => ({
      ...ready,
      values,
      poses: track.poses(),
      standing: track.standing(clock.monotonicMs(), unit),
      poseUnit: { ...ready.poseUnit, verdict: unit },
    }),
    state: () => ready.link,
    poseWasSet: () => track.interrupt(),
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
  const plan = (state: string) => {
    moveState = state;
    const actionId = state === 'idle' ? 0 : MOVE;
    const common = { actionType: 'standard', failReason: 0, failReasonText: '' };
    publish({ planning: received({ ...common, actionId, moveState: state } as never, { ageMs: 0 }) });
  };

  /** The speed that it wants, given the time since its cancel. */
  function wanted(): number {
    if (goalM === null || wayM >= goalM) return 0;
    if (cancelledAtMs === null) return speedMS;
    const sinceMs = clock.monotonicMs() - cancelledAtMs;
    switch (deed) {
      case 'obeys':
      case 'spins':
        return 0;
      case 'coasts':
        return sinceMs < COAST_MS ? speedMS : 0;
      case 'pauses':
        return sinceMs < pauseMs ? 0 : speedMS;
      default:
        return speedMS;
    }
  }

  function step(): void {
    const dt = STEP_MS / 1_000;
    const want = wanted();
    const change = ACCELERATION_M_S2 * dt;
    speed += Math.max(-change, Math.min(change, want - speed));
    if (goalM !== null && wayM + speed * dt >= goalM) {
      wayM = goalM;
      speed = 0;
      if (moveState === 'moving') plan('succeeded');
    }
    wayM += speed * dt;
    if (deed === 'spins' && cancelledAtMs !== null && speed === 0) turned += oriPerS * dt;
    history.push({ atMs: clock.monotonicMs(), wayM, speed });
  }

  const circle = unit === 'radians' ? 2 * Math.PI : 360;
  function pose(): void {
    const raw = startOri + turned + noiseOri * normal(random);
    const ori = raw - circle * Math.round(raw / circle);
    const xM = from.xM + wayM * Math.cos(course - Math.PI) + noiseM * normal(random);
    const yM = from.yM + wayM * Math.sin(course - Math.PI) + noiseM * normal(random);
    arrivesAtMs = Math.max(arrivesAtMs + (delivery?.apartMs ?? 0), releasedAtMs(clock.monotonicMs()));
    const arrive = () => {
      track.add({ atMs: clock.monotonicMs(), xM, yM, ori });
      publish({ pose: received({ xM, yM, yawDeg: ori as ReturnType<typeof degrees> }, { ageMs: 0 }) });
    };
    const delayMs = arrivesAtMs - clock.monotonicMs();
    if (delayMs > 0) clock.after(delayMs, arrive);
    else arrive();
  }

  let arrivesAtMs = Number.NEGATIVE_INFINITY;
  function releasedAtMs(nowMs: number): number {
    if (delivery === undefined) return nowMs;
    const { everyMs, heldMs } = delivery;
    const into = (nowMs + phaseMs) % everyMs;
    return into < heldMs ? nowMs - into + heldMs : nowMs;
  }

  const moves: ChassisMoves = {
    async move({ xM, yM }) {
      await clock.sleep(10);
      goalM = Math.hypot(xM - from.xM, yM - from.yM);
      plan('moving');
      return { moveId: MOVE };
    },
    async cancelCurrent() {
      cancels += 1;
      await clock.sleep(20);
      cancelledAtMs ??= clock.monotonicMs();
      const { answers, reports } = deeds[deed];
      if (answers === 500) {
        throw new GwError('CHASSIS_REFUSED', 'The chassis refused the request with status 500.', {
          details: { status: 500 },
        });
      }
      if (moveState === 'moving') plan(reports);
    },
    readMove: async () => ({ moveId: MOVE, state: moveState, failReason: 0, failReasonText: null, yawDeg: null }),
    setPose: async () => {},
    readMap: async () => ({ id: 1, uid: ground.uid, name: ground.title, mapVersion: 3 }),
  };

  const context = { link, moves, clock, log: silentLog };
  // No trial of this robot sets a pose.
  const noAlarm = {
    state: () => null,
    load: async () => {},
    watch: () => new DisposableStack(),
    raise: async () => {},
    raiseBefore: async () => async () => {},
    clear: async () => {},
    all: () => [],
    trouble: () => null,
  };
  const proofs = createStopProofs(context);
  const canceller = createCanceller({
    ...{ ...context, proofs },
    tries: 12,
    signal: () => new AbortController().signal,
  });
  const watch = createMoveWatch({ clock, log: silentLog, policy: 'leave' });
  let report: TrialReport | undefined;
  let keptAtM = 0;
  let disobeyed: string | null = null;
  let alarm: Conducted['alarm'] = null;
  const trials = createTrials({
    site: { dock: undefined, path: 'site.yaml' } as never,
    tools: { ...context, canceller, watch, proofs, poseAlarm: noAlarm, limits: { ...orderLimits, moveMs: 120_000 } },
    clock,
    log: silentLog,
    store: {
      keep: async (reportNow) => {
        const said = reportNow();
        report = said;
        keptAtM = wayM;
        return { said, report: null, recorded: said.facts.map(({ fact }) => fact), problems: [] };
      },
      adoptAll: () => Promise.reject(new Error('not in this test')),
    },
    gateInput: () => openGate({ snapshot: link.snapshot() }),
    onDisobeyed: (why: string) => {
      disobeyed ??= why;
    },
    occupant: () => null,
    occupy: (_judge, signal, work) => work(signal),
    onChange: () => {
      const text = trials.view()?.alarm ?? null;
      if (text !== null) alarm ??= { text, atMs: clock.monotonicMs() };
    },
  });

  using _stepping = clock.every(STEP_MS, step);
  plan('idle');
  await clock.advance((1_000 / hz) * random());
  pose();
  using _posing = clock.every(1_000 / hz, pose);
  await clock.advance(2_000);
  const beganMs = clock.monotonicMs();
  const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
  const { distanceM } = robot;
  const { id } = await trials.start({ kind: 'stop', who: 'J. Doe', conditions, distanceM });
  for (let view = trials.view(); view?.state !== 'ended'; view = trials.keepAlive(id)) {
    if (clock.monotonicMs() - beganMs > 300_000) throw new Error('the trial did not end');
    await clock.advance(500);
  }
  const ended = trials.view();
  if (ended === null || report === undefined) throw new Error('no trial');
  const atCancelM = history.find(({ atMs }) => atMs >= (cancelledAtMs ?? Number.POSITIVE_INFINITY))?.wayM ?? 0;
  const since = history.filter(({ atMs }) => cancelledAtMs !== null && atMs >= cancelledAtMs);
  const stoodAtM = since.find(({ speed: then }) => then === 0)?.wayM ?? wayM;
  const relative = (atMs: number | undefined) => (atMs === undefined ? null : atMs - beganMs);
  const found = alarm as Conducted['alarm'];
  return {
    ended,
    report,
    alarm: found && { ...found, atMs: found.atMs - beganMs },
    cancelAtMs: relative(cancelledAtMs ?? undefined),
    restAtMs: relative(since[since.findLastIndex(({ speed: then }) => then > 0) + 1]?.atMs),
    exceededAtMs: (ofM) => relative(since.find((at) => at.wayM - atCancelM > ofM)?.atMs),
    cancels,
    disobeyed,
    keptAfterM: keptAtM - stoodAtM,
  };
}
