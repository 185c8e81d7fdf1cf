import type { Clock } from '../../src/lib/lifecycle/index.ts';
import { normal, seeded } from '../chassis/poses.ts';
import type { Answer, Served, Stream } from './wire.ts';

/** The robot as it is. Headings are true degrees, counter-clockwise from +x. */
export interface Truth {
  xM: number;
  yM: number;
  deg: number;
  /** Along its heading, or where it is pushed. */
  speedMS: number;
  turnDegS: number;
}

/** What a chassis publishes as its pose. */
export interface Published {
  readonly xM: number;
  readonly yM: number;
  readonly ori: number;
}

export interface MapNow {
  readonly name: string;
  readonly uid: string;
  readonly map_version: number;
  readonly overlays_version: number;
}

/** What a stranger's chassis may do otherwise than it should. All times in ms since it began to lie. */
export interface Lies {
  /** Additional movement, whatever it was ordered: metres and degrees per second. */
  readonly moves?: (now: Moment) => {
    readonly alongMS?: number;
    readonly asideMS?: number;
    readonly turnDegS?: number;
  };
  /** After an accepted cancel it obeys only so much later; Infinity: never. */
  readonly obeysAfterMs?: number;
  readonly cancelStatus?: number;
  /** The number of a heading. */
  readonly encodes?: (deg: number, now: Moment) => number;
  /** What is published instead of this pose; null: nothing. */
  readonly publishes?: (pose: Published, now: Moment) => Published | null;
  /** What is reported of the move. */
  readonly says?: (state: string, now: Moment) => string;
  /** The number of the move that is reported. */
  readonly reports?: (id: number, now: Moment) => number;
  /** Where it really drives, for this order. */
  readonly goesTo?: (goal: { xM: number; yM: number; deg: number | null }) => {
    xM: number;
    yM: number;
    deg: number | null;
  };
  readonly map?: (now: Moment, map: MapNow) => MapNow | null;
  /** What GET of the current map says; by default the same. */
  readonly mapAsRead?: (now: Moment, map: MapNow) => MapNow | null;
  readonly positioning?: (now: Moment) => object;
  /** Further members of each message, such as its time. */
  readonly stamp?: (now: Moment) => object;
  readonly wheels?: (now: Moment) => object;
}

export interface Moment {
  readonly ms: number;
  readonly truth: Readonly<Truth>;
  /** Since the first order, its cancel and its end; null: not yet. */
  readonly orderedMs: number | null;
  readonly cancelledMs: number | null;
  readonly endedMs: number | null;
  readonly drivenM: number;
  readonly state: string;
}

export interface ChassisOptions {
  readonly clock: Clock;
  readonly serial: string;
  readonly software: string;
  readonly map: MapNow;
  readonly seed: number;
  readonly hz: number;
  /** Of each answer and each message, in ms, at most. */
  readonly latencyMs?: number;
  readonly noiseM?: number;
  readonly noiseDeg?: number;
  readonly speedMS?: number;
  readonly turnDegS?: number;
  readonly start?: { readonly xM: number; readonly yM: number; readonly deg: number };
  readonly lies?: Lies;
}

const [STEP_MS, BRAKING_M_S2, TURN_DEG_S2] = [20, 0.8, 90];
const short = (deg: number) => deg - 360 * Math.round(deg / 360);
const rad = (deg: number) => (deg * Math.PI) / 180;

/** A robot of its own: it turns on the spot towards its goal, drives there, and turns to the heading that was ordered. */
export function createChassis(options: ChassisOptions) {
  const { clock, seed, hz, latencyMs = 0, noiseM = 0, noiseDeg = 0, speedMS = 0.5, turnDegS = 45 } = options;
  let lies: Lies = options.lies ?? {};
  const chance = seeded(seed * 9_973 + 17);
  let beganMs = clock.monotonicMs();
  /** Up to here its movement is computed. */
  let movedMs = beganMs;
  const truth: Truth = { ...(options.start ?? { xM: 0, yM: 0, deg: 0 }), speedMS: 0, turnDegS: 0 };
  const streams = new Set<{ readonly stream: Stream; readonly topics: Set<string> }>();
  let move: {
    readonly id: number;
    readonly goal: { xM: number; yM: number; deg: number | null };
    isThere: boolean;
  } | null = null;
  let nextId = 1 + Math.floor(1_000 * chance());
  const report = { id: 0, state: 'idle' };
  const times = {
    orderedMs: null as number | null,
    cancelledMs: null as number | null,
    endedMs: null as number | null,
  };
  let drivenM = 0;
  const sent: { readonly method: string; readonly path: string; readonly body: string }[] = [];
  let lastPublished = '';
  const now = (): Moment => ({
    ms: movedMs - beganMs,
    truth: { ...truth },
    ...times,
    drivenM,
    state: report.state,
  });

  /** Later, in order, by the latency of this network. */
  let arrivesMs = 0;
  function later(work: () => void): void {
    if (latencyMs === 0) {
      work();
      return;
    }
    arrivesMs = Math.max(arrivesMs, clock.monotonicMs() + latencyMs * (0.8 + 0.2 * chance()));
    clock.after(arrivesMs - clock.monotonicMs(), work);
  }

  function message(topic: string): object | null {
    const at = now();
    const stamp = lies.stamp?.(at) ?? {};
    switch (topic) {
      case '/tracked_pose': {
        const heading = truth.deg + noiseDeg * normal(chance);
        const pose: Published = {
          xM: truth.xM + noiseM * normal(chance),
          yM: truth.yM + noiseM * normal(chance),
          ori: lies.encodes?.(heading, at) ?? short(heading),
        };
        const said = lies.publishes === undefined ? pose : lies.publishes(pose, at);
        return said && { topic, ...stamp, pos: [said.xM, said.yM], ori: said.ori };
      }
      case '/planning_state': {
        const move_state = lies.says?.(report.state, at) ?? report.state;
        const rest = { action_type: 'standard', fail_reason: 0, fail_reason_str: '', remaining_distance: 0 };
        const action_id = lies.reports?.(report.id, at) ?? report.id;
        return { topic, ...stamp, action_id, move_state, ...rest };
      }
      case '/wheel_state':
        return { topic, ...stamp, control_mode: 'auto', emergency_stop_pressed: false, ...lies.wheels?.(at) };
      case '/slam/state':
        return { topic, ...stamp, state: 'positioning', reliable: true, ...lies.positioning?.(at) };
      case '/alerts':
        return { topic, ...stamp, alerts: [] };
      case '/battery_state':
        return { topic, ...stamp, percentage: 0.7, power_supply_status: 'discharging' };
      case '/map/info': {
        const map = lies.map === undefined ? options.map : lies.map(at, options.map);
        return map && { topic, ...stamp, ...map };
      }
      default:
        return null;
    }
  }

  function publish(topic: string): void {
    const said = message(topic);
    if (said === null) return;
    const text = JSON.stringify(said);
    later(() => {
      for (const { stream, topics } of streams) if (topics.has(topic)) stream.send(text);
    });
  }

  function becomes(state: string): void {
    report.state = state;
    if (state !== 'moving') times.endedMs = movedMs - beganMs;
    publish('/planning_state');
  }

  /** The speed and the turn that it wants. */
  function wanted(): { readonly speedMS: number; readonly turnDegS: number } {
    const rest = { speedMS: 0, turnDegS: 0 };
    const { cancelledMs } = times;
    if (move === null) return rest;
    if (cancelledMs !== null && movedMs - beganMs - cancelledMs >= (lies.obeysAfterMs ?? 0)) return rest;
    const { goal } = move;
    const leftM = Math.hypot(goal.xM - truth.xM, goal.yM - truth.yM);
    if (!move.isThere && leftM > 0.02) {
      const course = (Math.atan2(goal.yM - truth.yM, goal.xM - truth.xM) * 180) / Math.PI;
      const off = short(course - truth.deg);
      if (Math.abs(off) > 3 && truth.speedMS < 0.05) return { speedMS: 0, turnDegS: turnBy(off) };
      return {
        speedMS: Math.min(speedMS, Math.max(0.02, Math.sqrt(1.4 * BRAKING_M_S2 * leftM) - 0.02)),
        turnDegS: turnBy(off),
      };
    }
    move.isThere = true;
    if (truth.speedMS > 0.01) return rest;
    const off = goal.deg === null ? 0 : short(goal.deg - truth.deg);
    if (Math.abs(off) > 0.5) return { speedMS: 0, turnDegS: turnBy(off) };
    if (Math.abs(truth.turnDegS) < 1) {
      move = null;
      if (report.state === 'moving') becomes('succeeded');
    }
    return rest;
  }

  const turnBy = (off: number) =>
    Math.sign(off) * Math.min(turnDegS, Math.max(1, Math.sqrt(TURN_DEG_S2 * Math.abs(off))));
  const towards = (value: number, to: number, most: number) => value + Math.max(-most, Math.min(most, to - value));

  /** Movement of the truth in the last step, also where it was not ordered. */
  const moving = { speedMS: 0, turnDegS: 0 };
  function step(): void {
    const dt = STEP_MS / 1_000;
    const want = wanted();
    truth.speedMS = towards(truth.speedMS, want.speedMS, BRAKING_M_S2 * dt);
    truth.turnDegS = towards(truth.turnDegS, want.turnDegS, 2 * TURN_DEG_S2 * dt);
    const { alongMS = 0, asideMS = 0, turnDegS: more = 0 } = lies.moves?.(now()) ?? {};
    const along = truth.speedMS + alongMS;
    truth.deg += (truth.turnDegS + more) * dt;
    truth.xM += (along * Math.cos(rad(truth.deg)) - asideMS * Math.sin(rad(truth.deg))) * dt;
    truth.yM += (along * Math.sin(rad(truth.deg)) + asideMS * Math.cos(rad(truth.deg))) * dt;
    moving.speedMS = Math.hypot(along, asideMS);
    moving.turnDegS = Math.abs(truth.turnDegS + more);
    drivenM += moving.speedMS * dt;
  }

  /** Moves it up to now. Whoever looks at it, or orders something, does this first: between two looks it needs no timer. */
  function catchUp(): void {
    while (clock.monotonicMs() - movedMs >= STEP_MS) {
      movedMs += STEP_MS;
      step();
    }
  }

  async function answer({
    method,
    path,
    body,
  }: {
    method: string;
    path: string;
    body: string;
  }): Promise<Answer | null> {
    const delay = () => (latencyMs === 0 ? Promise.resolve() : clock.sleep((latencyMs * (0.8 + 0.2 * chance())) / 2));
    await delay();
    const result = handle(method, path, body);
    await delay();
    return result;
  }

  function handle(method: string, path: string, body: string): Answer {
    catchUp();
    if (method !== 'GET') sent.push({ method, path, body });
    if (method === 'GET' && path === '/device/info') {
      const device = { sn: options.serial, model: 'stranger' };
      return { status: 200, json: { axbot_version: options.software, device, caps: {}, ...lies.stamp?.(now()) } };
    }
    if (method === 'GET' && path === '/chassis/current-map') {
      const topic = lies.map === undefined ? options.map : lies.map(now(), options.map);
      const map = lies.mapAsRead === undefined ? topic : lies.mapAsRead(now(), options.map);
      if (map === null) return { status: 404, json: { message: 'none' } };
      return { status: 200, json: { id: 1, uid: map.uid, map_name: map.name, map_version: map.map_version } };
    }
    if (method === 'POST' && path === '/chassis/moves') {
      const { target_x: xM, target_y: yM, target_ori } = JSON.parse(body);
      const asked = { xM, yM, deg: typeof target_ori === 'number' ? (target_ori * 180) / Math.PI : null };
      nextId += 1;
      move = { id: nextId, goal: lies.goesTo?.(asked) ?? asked, isThere: false };
      times.orderedMs = movedMs - beganMs;
      times.cancelledMs = null;
      times.endedMs = null;
      report.id = nextId;
      becomes('moving');
      return { status: 200, json: { id: nextId } };
    }
    if (method === 'PATCH' && path === '/chassis/moves/current') {
      const status = lies.cancelStatus ?? 200;
      if (status !== 200) return { status, json: { message: 'no' } };
      times.cancelledMs ??= movedMs - beganMs;
      if (report.state === 'moving') becomes('cancelled');
      return { status: 200, json: { state: 'cancelled' } };
    }
    if (method === 'GET' && path.startsWith('/chassis/moves/')) {
      const state = lies.says?.(report.state, now()) ?? report.state;
      return { status: 200, json: { id: report.id, state, fail_reason: 0, fail_reason_str: '' } };
    }
    if (method === 'POST' && path === '/chassis/pose') return { status: 201, json: {} };
    return { status: 404, json: { message: 'unknown' } };
  }

  const served: Served = {
    answer,
    opened(stream) {
      const own = { stream, topics: new Set<string>() };
      streams.add(own);
      stream.onText = (text) => {
        catchUp();
        const asked = JSON.parse(text);
        for (const topic of [asked.enable_topic ?? [], asked.enable_topics ?? []].flat()) {
          own.topics.add(topic);
          const last = message(topic);
          if (last !== null) stream.send(JSON.stringify(last));
        }
        stream.send(JSON.stringify({ enabled_topics: [...own.topics] }));
      };
    },
  };

  /** Topics that a chassis publishes when they change, and once a second. */
  const slow = ['/wheel_state', '/slam/state', '/map/info', '/planning_state'];
  const running = [
    clock.every(1_000 / hz, () => {
      catchUp();
      publish('/tracked_pose');
    }),
    clock.every(1_000, () => {
      catchUp();
      for (const topic of slow) publish(topic);
    }),
    clock.every(100, () => {
      catchUp();
      const text = JSON.stringify([message('/map/info'), message('/slam/state'), message('/wheel_state')]);
      if (lies.stamp !== undefined || text === lastPublished) return;
      lastPublished = text;
      for (const topic of slow.slice(0, 3)) publish(topic);
    }),
  ];

  return {
    served,
    truth(): Readonly<Truth> {
      catchUp();
      return truth;
    },
    moving(): Readonly<typeof moving> {
      catchUp();
      return moving;
    },
    moment(): Moment {
      catchUp();
      return now();
    },
    /** From here on it lies like this; moments count from here on. */
    lie(next: Lies) {
      catchUp();
      lies = next;
      beganMs = movedMs;
      Object.assign(times, { orderedMs: null, cancelledMs: null, endedMs: null });
      drivenM = 0;
    },
    /** Requests that change something. */
    sent,
    /** It breaks every connection. */
    cut() {
      for (const { stream } of streams) stream.close();
      streams.clear();
    },
    [Symbol.dispose]() {
      for (const one of running) one[Symbol.dispose]();
      for (const { stream } of streams) stream.close();
    },
  };
}
