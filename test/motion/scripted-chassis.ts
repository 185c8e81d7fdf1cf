import type { IncomingMessage, ServerResponse } from 'node:http';
import { fakeChassis } from '../chassis/peers.ts';
import { ground, SERIAL } from './snapshot.ts';
import { time } from './time.ts';

interface ReceivedOrder {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** An answer, or a failure: `drop` accepts the request and closes the connection, `hang` never answers. */
type Answer = { readonly status: number; readonly json?: unknown } | 'drop' | 'hang';

/**
 * A scripted chassis: it publishes and answers what a test sets and records its requests, so that a lost reply, a late
 * state or a foreign move occur at a defined moment. Its shapes are those of the vendor.
 */
export interface ScriptedChassis extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Requests that move, stop or place the robot, in order of arrival. */
  readonly orders: ReceivedOrder[];
  /** Every query of a move. */
  readonly questions: string[];
  /** The answer to POST /chassis/moves; by default the next number, and the robot is moving. */
  onMove: (body: Record<string, unknown>) => Answer | Promise<Answer>;
  onCancel: () => Answer | Promise<Answer>;
  onPose: (body: Record<string, unknown>) => Answer | Promise<Answer>;
  /** The answer to GET /chassis/moves/<id>. */
  onQuestion: (id: number) => Answer;
  readonly lastMoveId: number;
  /** Publishes a state on /planning_state; latched as the vendor documents. */
  plan(change: { action_id?: number; move_state?: string; fail_reason?: number; fail_reason_str?: string }): void;
  pose: { pos: [number, number]; ori: number } | null;
  /** With the report of a success the robot is at the goal of the last move. */
  arrives: boolean;
  /** Called before each message of /tracked_pose, so that the robot turns per message, whatever the delays. */
  beforePose: () => void;
  /** Sent with `publish`, and to a new subscriber. */
  wheels: { control_mode: unknown; emergency_stop_pressed: unknown; wheels_released?: unknown };
  alerts: readonly { code: unknown; level: unknown; msg: unknown }[];
  /** Sent with `publish`; null: it uses none, and says so. */
  map: { name: string; uid: unknown; map_version: unknown; overlays_version: unknown } | null;
  /** What GET /chassis/current-map answers, where it is another map than the topic reports. */
  mapAsRead: { id: number; uid?: string; map_name: string; map_version?: number } | null | undefined;
  positioning: { state: unknown; reliable: unknown; position_quality?: unknown };
  publish(topic: '/wheel_state' | '/alerts' | '/map/info' | '/slam/state'): void;
  serial: string;
  cut(): Promise<void>;
  restore(): Promise<void>;
}

/** `isPlanSilent`: it publishes no /planning_state until the test does. */
export async function startScriptedChassis({ isPlanSilent = false } = {}): Promise<ScriptedChassis> {
  let lastMoveId = 40;
  let goal: Record<string, unknown> | null = null;
  const idle = {
    ...{ action_id: 0, action_type: 'standard', move_state: 'idle' },
    ...{ fail_reason: 0, fail_reason_str: '', remaining_distance: 1 },
  };
  let planning: Record<string, unknown> | null = isPlanSilent ? null : idle;

  const fake = await fakeChassis();
  fake.caps = {};
  fake.latched = (topic) => {
    switch (topic) {
      case '/tracked_pose':
        chassis.beforePose();
        return chassis.pose ? { topic, ...chassis.pose } : undefined;
      case '/planning_state':
        return planning ? { topic, ...planning } : undefined;
      case '/wheel_state':
        return { topic, ...chassis.wheels };
      case '/alerts':
        return { topic, alerts: chassis.alerts };
      case '/map/info':
        return chassis.map ? { topic, ...chassis.map } : undefined;
      case '/slam/state':
        return { topic, ...chassis.positioning };
      default:
        return undefined;
    }
  };
  const publish = (topic: string) => {
    const message = fake.latched(topic);
    if (message !== undefined) fake.publish(message);
  };
  fake.intercept = (request, response) => {
    if (request.url === '/device/info') return false;
    void serve(request, response);
    return true;
  };
  const posing = time.every(100, () => publish('/tracked_pose'));

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const { method = '', url = '' } = request;
    const [, id] = /^\/chassis\/moves\/(\d+)$/.exec(url) ?? [];
    if (method === 'GET' && id !== undefined) {
      chassis.questions.push(id);
      return chassis.onQuestion(Number(id));
    }
    if (method === 'GET' && url === '/chassis/current-map') {
      const now = chassis.map && { id: 1, uid: chassis.map.uid, map_name: chassis.map.name };
      const json = chassis.mapAsRead === undefined ? now : chassis.mapAsRead;
      return json === null ? { status: 404, json: { message: 'no current map' } } : { status: 200, json };
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = JSON.parse(text || '{}') as Record<string, unknown>;
    chassis.orders.push({ method, path: url, body });
    if (method === 'POST' && url === '/chassis/moves') {
      goal = body;
      return chassis.onMove(body);
    }
    if (method === 'POST' && url === '/chassis/pose') return chassis.onPose(body);
    if (method === 'PATCH' && url === '/chassis/moves/current') return chassis.onCancel();
    return { status: 404, json: { message: 'error: not found' } };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await answerTo(request);
    if (answer === 'hang') return;
    if (answer === 'drop') return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.json ?? {}));
  }

  const chassis: ScriptedChassis = {
    ...fake.endpoint,
    orders: [],
    questions: [],
    onMove: () => {
      lastMoveId += 1;
      chassis.plan({ action_id: lastMoveId, move_state: 'moving' });
      return { status: 200, json: { id: lastMoveId } };
    },
    onCancel: () => {
      if (planning?.move_state === 'moving') chassis.plan({ move_state: 'cancelled' });
      return { status: 200, json: { state: 'cancelled' } };
    },
    onPose: () => ({ status: 201, json: {} }),
    onQuestion: (id) => ({ status: 200, json: { id, state: 'moving', fail_reason: 0, fail_reason_str: 'None' } }),
    get lastMoveId() {
      return lastMoveId;
    },
    plan(change) {
      if (change.move_state === 'succeeded' && chassis.arrives && chassis.pose !== null && goal !== null) {
        const { target_x, target_y, target_ori } = goal as { target_x: number; target_y: number; target_ori?: number };
        const ori = target_ori === undefined ? chassis.pose.ori : (target_ori * 180) / Math.PI;
        chassis.pose = { pos: [target_x, target_y], ori };
      }
      const anew = change.move_state === 'moving' && { fail_reason: 0, fail_reason_str: '' };
      planning = { ...idle, ...planning, ...anew, ...change };
      publish('/planning_state');
    },
    pose: { pos: [1, 2], ori: 90 },
    arrives: true,
    beforePose: () => {},
    wheels: { control_mode: 'auto', emergency_stop_pressed: false },
    alerts: [],
    positioning: { state: 'positioning', reliable: true },
    map: { name: ground.title, uid: ground.uid, map_version: ground.version, overlays_version: 1 },
    mapAsRead: undefined,
    publish,
    get serial() {
      return fake.serial;
    },
    set serial(serial) {
      fake.serial = serial;
    },
    cut: fake.cut,
    restore: fake.restore,
    async [Symbol.asyncDispose]() {
      posing[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
  chassis.serial = SERIAL;
  return chassis;
}
