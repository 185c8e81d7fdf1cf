import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import { type FaultName, faultNames, faultTable, type Sim, startSim } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { call, type Listener, listen, type Message, parse, until } from './raw-client.ts';

// Every fault as observed by a client. A fault without a test here fails the last test.

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const info = (sim: Sim) => call(sim, 'GET', '/device/info');
const seen = new Set<FaultName>();

/**
 * A running simulator with the fault on, and one topic connection opened before. `paced`: in simulated time, as fast
 * as this machine can follow.
 */
async function withFault(
  name: FaultName,
  check: (sim: Sim, listener: Listener, clock: Clock) => Promise<void>,
  time: 'paced' | 'real' = 'real',
) {
  seen.add(name);
  const clock = time === 'paced' ? createPacedClock() : systemClock;
  await using sim = await startSim({ clock });
  await using listener = await listen(sim);
  listener.send({ enable_topic: ['/tracked_pose', '/battery_state', '/planning_state', '/alerts', '/slam/state'] });
  await listener.next(({ topic }) => topic === '/tracked_pose');
  listener.forget();
  sim.setFault(name, true);
  await sim.settled();
  expect(sim.faults().filter(({ on }) => on)).toMatchObject([{ name }]);
  await check(sim, listener, clock);
  // Every fault can be switched off.
  sim.setFault(name, false);
  await sim.settled();
  await until(async () => (await info(sim).catch(() => undefined))?.status === 200);
  expect((await info(sim)).json).toMatchObject({ device: { sn: sim.chassis.serial } });
  await using later = await listen(sim);
  later.send({ enable_topic: '/tracked_pose' });
  expect((await later.next(({ topic }) => topic === '/tracked_pose')).ori).toBeTypeOf('number');
}

const closing = ({ ws }: Listener) =>
  ws.readyState === WebSocket.CLOSED
    ? Promise.resolve()
    : new Promise<void>((resolve) => ws.once('close', () => resolve()));

describe.concurrent('faults of the network', () => {
  it('cut: connections are refused and closed, and the same port is open again afterwards', () =>
    withFault('cut', async (sim, listener) => {
      await closing(listener);
      await expect(info(sim)).rejects.toThrow('ECONNREFUSED');
      await expect(listen(sim)).rejects.toThrow('ECONNREFUSED');
    }));

  it('cut: closes an idle connection and one with a half-sent request', async () => {
    await using sim = await startSim();
    const socket = connect(sim.chassis.port, '127.0.0.1');
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('POST /chassis/moves HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await pause(50);
    sim.setFault('cut', true);
    await closed;
  });

  it('cut: ends in the last state after quick changes', async () => {
    await using sim = await startSim();
    for (let i = 0; i < 5; i += 1) {
      sim.setFault('cut', true);
      sim.setFault('cut', false);
    }
    await sim.settled();
    expect((await info(sim)).status).toBe(200);
    sim.setFault('cut', false);
    sim.setFault('cut', true);
    await sim.settled();
    await expect(info(sim)).rejects.toThrow('ECONNREFUSED');
  });

  it('silent: connections are accepted, without reply, pong or topic message', () =>
    withFault('silent', async (sim, listener) => {
      let pongs = 0;
      listener.ws.on('pong', () => {
        pongs += 1;
      });
      listener.ws.ping();
      listener.send({ enable_topic: '/map/info' });
      await expect(call(sim, 'GET', '/device/info', undefined, { timeoutMs: 400 })).rejects.toThrow('no answer within');
      await pause(200);
      expect([pongs, listener.texts]).toEqual([0, []]);
      expect(listener.ws.readyState).toBe(WebSocket.OPEN);
    }));

  it('slow: everything is 3 seconds late', () =>
    withFault(
      'slow',
      async (sim, listener, clock) => {
        await listener.next(({ topic }) => topic === '/tracked_pose');
        const beganMs = clock.monotonicMs();
        const pong = new Promise((resolve) => listener.ws.once('pong', resolve));
        listener.ws.ping();
        expect((await info(sim)).status).toBe(200);
        await pong;
        expect(clock.monotonicMs() - beganMs).toBeGreaterThanOrEqual(3_000);
      },
      'paced',
    ));

  it('flapping: topic connections are dropped again and again', () =>
    withFault(
      'flapping',
      async (sim, listener) => {
        await closing(listener);
        await using next = await listen(sim);
        await closing(next);
      },
      'paced',
    ));

  it('stale: topics fall silent while pings are answered', () =>
    withFault('stale', async (sim, listener) => {
      await pause(100);
      listener.forget();
      const pong = new Promise((resolve) => listener.ws.once('pong', resolve));
      listener.ws.ping();
      await pong;
      await pause(500);
      expect(listener.received).toEqual([]);
      expect((await info(sim)).status).toBe(200);
    }));
});

describe.concurrent('faults of the answers', () => {
  it('wrong-serial: another serial number, and the old connection is closed', () =>
    withFault('wrong-serial', async (sim, listener) => {
      await closing(listener);
      const { device } = (await info(sim)).json as { device: { sn: string } };
      expect(device.sn).not.toBe(sim.chassis.serial);
      await using next = await listen(sim);
      next.send({ enable_topic: '/tracked_pose' });
      await next.next(({ topic }) => topic === '/tracked_pose');
    }));

  it('no-serial: no serial number', () =>
    withFault('no-serial', async (sim) => {
      const { device } = (await info(sim)).json as { device: object };
      expect(device).not.toHaveProperty('sn');
    }));

  it('html: a web page instead of JSON, and no upgrade', () =>
    withFault('html', async (sim, listener) => {
      await closing(listener);
      const { status, headers, text } = await info(sim);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(text).toContain('<html>');
      await expect(listen(sim)).rejects.toThrow('200');
    }));

  it('truncated: JSON is cut in the middle', () =>
    withFault('truncated', async (sim, listener) => {
      const { text, json, headers } = await info(sim);
      expect(json).toBeUndefined();
      expect(text.startsWith('{"')).toBe(true);
      expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text));
      await until(() => listener.texts.length > 2);
      expect(listener.texts.every((message) => parse(message) === undefined)).toBe(true);
    }));

  it('wrong-types: numbers as text, text as numbers, lists as objects', () =>
    withFault('wrong-types', async (sim, listener) => {
      expect((await info(sim)).json).toMatchObject({
        device: { sn: expect.any(Number) },
        caps: { supportsWsV2: 'yes' },
      });
      const pose = await listener.next(({ topic }) => topic === '/tracked_pose');
      expect(pose).toMatchObject({ ori: '90', pos: { 0: '0' } });
    }));

  it('nan: NaN and -Infinity in the text', () =>
    withFault('nan', async (sim, listener) => {
      const { text, json } = await info(sim);
      expect(json).toBeUndefined();
      expect(text).toMatch(/:NaN/);
      await until(() => listener.texts.some((message) => message.includes('"ori":NaN')));
      expect(listener.received).toEqual([]);
    }));

  it('duplicate-keys: every key twice, the last with a wrong value', () =>
    withFault('duplicate-keys', async (sim, listener) => {
      const { text, json } = await info(sim);
      expect(text.match(/"sn":/g)?.length).toBeGreaterThan(1);
      expect((json as { device: { sn: string } }).device.sn).not.toBe(sim.chassis.serial);
      const pose = await listener.next(({ topic }) => topic === '/tracked_pose');
      expect(pose.ori).not.toBe(90);
    }));

  it('huge: 50 MB of JSON, over HTTP and as one message', () =>
    withFault('huge', async (sim, listener) => {
      const { text, headers } = await info(sim);
      expect(text.length).toBe(50 * 1024 * 1024);
      expect(Number(headers['content-length'])).toBe(text.length);
      listener.send({ enable_topic: '/map/info' });
      await until(() => listener.texts.some((message) => message.length === 50 * 1024 * 1024));
    }));

  it('endless: a reply that never ends', () =>
    withFault('endless', async (sim) => {
      const aborter = new AbortController();
      const reply = await fetch(`http://127.0.0.1:${sim.chassis.port}/device/info`, { signal: aborter.signal });
      expect(reply.status).toBe(200);
      let bytes = 0;
      const began = performance.now();
      for await (const piece of reply.body ?? []) {
        bytes += piece.length;
        if (performance.now() - began > 300) break;
      }
      expect(bytes).toBeGreaterThan(50_000);
      aborter.abort();
    }));

  it('redirect: to a closed local port', () =>
    withFault('redirect', async (sim, listener) => {
      await closing(listener);
      const { status, headers } = await info(sim);
      expect(status).toBe(302);
      const target = new URL(String(headers.location));
      expect(target.hostname).toBe('127.0.0.1');
      await expect(fetch(target)).rejects.toThrow();
      await expect(listen(sim)).rejects.toThrow('302');
    }));

  it('server-error: 500 for everything', () =>
    withFault('server-error', async (sim) => {
      const { status, json } = await info(sim);
      expect([status, json]).toEqual([500, { detail: 'internal error' }]);
      await expect(listen(sim)).rejects.toThrow('500');
    }));

  it('garbage-frames: text that is not JSON, invalid UTF-8, frames out of order, random bytes', () =>
    withFault(
      'garbage-frames',
      async (sim) => {
        const codes = new Set<string>();
        let foreignTexts = 0;
        const end = performance.now() + 10_000;
        while (
          performance.now() < end &&
          !(codes.has('WS_ERR_INVALID_UTF8') && codes.has('WS_ERR_INVALID_OPCODE') && foreignTexts > 0)
        ) {
          const listener = await listen(sim);
          listener.ws.on('error', (error) => codes.add((error as { code?: string }).code ?? error.message));
          await Promise.race([closing(listener), pause(500)]);
          foreignTexts += listener.texts.filter((text) => typeof parse(text) !== 'object').length;
          listener.ws.terminate();
        }
        expect([...codes]).toContain('WS_ERR_INVALID_UTF8');
        expect([...codes]).toContain('WS_ERR_INVALID_OPCODE');
        expect(foreignTexts).toBeGreaterThan(0);
      },
      'paced',
    ));

  it('unknown-state: a move that arrives reports finished', () =>
    withFault(
      'unknown-state',
      async (sim, listener) => {
        const order = { type: 'standard', target_x: 0, target_y: -1 };
        const { id } = (await call(sim, 'POST', '/chassis/moves', order)).json as { id: number };
        await listener.next(({ move_state }) => move_state === 'finished', 10_000);
        expect((await call(sim, 'GET', `/chassis/moves/${id}`)).json).toMatchObject({ state: 'finished' });
      },
      'paced',
    ));
});

describe.concurrent('faults of the robot', () => {
  it('booting: does not become ready, and its boot progress stops', () =>
    withFault('booting', async (sim, listener) => {
      await closing(listener);
      expect((await info(sim)).status).toBe(503);
      const first = (await call(sim, 'GET', '/device/boot_progress')).json as { progress: number };
      expect(first.progress).toBeLessThan(1);
      await pause(200);
      expect((await call(sim, 'GET', '/device/boot_progress')).json).toMatchObject({ progress: first.progress });
    }));

  it('radians: the pose covers a full circle within ±π, while the robot turns', () =>
    withFault(
      'radians',
      async (sim, listener) => {
        const oris = () =>
          listener.received.flatMap(({ topic, ori }) => (topic === '/tracked_pose' ? [ori as number] : []));
        const turned = () => {
          const all = oris();
          // Steps are short, so each is the shorter rotation.
          const steps = all.slice(1).map((ori, i) => ori - (all[i] ?? 0));
          return steps.reduce((sum, step) => sum + step - 2 * Math.PI * Math.round(step / (2 * Math.PI)), 0);
        };
        await until(() => turned() > 2 * Math.PI, 10_000);
        expect(Math.max(...oris().map(Math.abs))).toBeLessThanOrEqual(Math.PI + 1e-6);
        expect(Math.max(...oris().map(Math.abs))).toBeGreaterThan(2.8);
        expect(sim.state().moving).toBe(false);
      },
      'paced',
    ));

  /** Values of `/tracked_pose` over a full circle, from the first effect of the fault. */
  const orisOf = (listener: Listener) =>
    listener.received.flatMap(({ topic, ori }) => (topic === '/tracked_pose' ? [ori as number] : []));

  it('radians-0-2pi: the same from 0 to 2π, with the wrap there', () =>
    withFault(
      'radians-0-2pi',
      async (_sim, listener) => {
        const dropsAtWrap = () => orisOf(listener).some((ori, i, all) => (all[i - 1] ?? 0) - ori > 5.5);
        await until(dropsAtWrap, 10_000);
        const shown = orisOf(listener).slice(1);
        expect(Math.min(...shown)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...shown)).toBeLessThan(2 * Math.PI);
      },
      'paced',
    ));

  it('radians-unwrapped: several turns from 0, without a wrap', () =>
    withFault(
      'radians-unwrapped',
      async (_sim, listener) => {
        const shown = () => orisOf(listener).filter((ori) => ori > 35 && ori < 80);
        const turned = () => (shown().at(-1) ?? 0) - (shown()[0] ?? 0);
        await until(() => turned() > 2.5 * Math.PI, 10_000);
        const steps = shown().map((ori, i, all) => ori - (all[i - 1] ?? ori));
        expect(Math.max(...steps.map(Math.abs))).toBeLessThan(1);
      },
      'paced',
    ));

  it('turned-by-hand and degrees-0-360: degrees of a robot that turns, from 0 to 360', () =>
    withFault(
      'turned-by-hand',
      async (sim, listener) => {
        seen.add('degrees-0-360');
        await until(() => orisOf(listener).some((ori) => ori < -90), 10_000);
        sim.setFault('degrees-0-360', true);
        await until(() => orisOf(listener).some((ori) => ori > 190), 10_000);
        const before = orisOf(listener).length;
        await until(() => orisOf(listener).length > before + 30, 10_000);
        const shown = orisOf(listener).slice(before);
        expect(Math.min(...shown)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...shown)).toBeGreaterThan(180);
        expect(Math.max(...shown)).toBeLessThanOrEqual(360);
      },
      'paced',
    ));

  it("map-loss: a restart loses every map (spec, 'Chassis interface'), and the robot is not localised", async () => {
    seen.add('map-loss');
    await using sim = await startSim({ clock: createPacedClock() });
    sim.setFault('map-loss', true);
    await call(sim, 'POST', '/services/restart_service');
    await until(async () => (await info(sim)).status === 200);
    expect((await call(sim, 'GET', '/maps/')).json).toEqual([]);
    expect((await call(sim, 'GET', '/chassis/current-map')).status).toBe(404);
    expect((await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 })).status).toBe(
      400,
    );
    await using listener = await listen(sim);
    listener.send({ enable_topic: ['/slam/state', '/map/info', '/tracked_pose'] });
    expect(await listener.next(({ topic }) => topic === '/slam/state')).toMatchObject({
      state: 'inactive',
      reliable: false,
    });
    expect(listener.received.some(({ topic }) => topic === '/map/info')).toBe(false);
  });

  it('emergency-stop: the robot stops, and the move waits', () =>
    withFault(
      'emergency-stop',
      async (sim, listener) => {
        listener.send({ enable_topic: '/wheel_state' });
        await listener.next((message) => message.emergency_stop_pressed === true);
        const before = sim.state();
        await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
        await listener.next(({ stuck_state }) => stuck_state === 'move_stucked', 10_000);
        expect(sim.state()).toMatchObject({ xM: before.xM, yM: before.yM, moving: true });
      },
      'paced',
    ));

  it('localisation-lost: not reliable, an alert, and moves fail with 1000', () =>
    withFault('localisation-lost', async (sim, listener) => {
      await listener.next(({ topic, reliable }) => topic === '/slam/state' && reliable === false);
      await listener.next(({ topic, alerts }) => topic === '/alerts' && alerts[0]?.code === 7005);
      await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
      await listener.next(({ move_state, fail_reason }) => move_state === 'failed' && fail_reason === 1000);
    }));

  it('blocked: the robot waits, an alert is raised, and the move times out with 15', () =>
    withFault(
      'blocked',
      async (sim, listener) => {
        await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
        await listener.next(({ topic, alerts }) => topic === '/alerts' && alerts[0]?.code === 1008);
        await listener.next(({ move_state, fail_reason }) => move_state === 'failed' && fail_reason === 15, 10_000);
      },
      'paced',
    ));

  it('battery-unsure: full at 41 percent', () =>
    withFault('battery-unsure', async (_sim, listener) => {
      const low = await listener.next(({ percentage }) => percentage === 0.41);
      expect(low).toMatchObject({ power_supply_status: 'full' });
    }));

  it('manual-control: another control mode, the wheels are released, and a move waits', () =>
    withFault(
      'manual-control',
      async (sim, listener) => {
        listener.send({ enable_topic: '/wheel_state' });
        const state = await listener.next(({ control_mode }) => control_mode === 'manual');
        expect(state).toMatchObject({ wheels_released: true, emergency_stop_pressed: false });
        const before = sim.state();
        await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
        await listener.next(({ stuck_state }) => stuck_state === 'move_stucked', 10_000);
        expect(sim.state()).toMatchObject({ xM: before.xM, yM: before.yM });
      },
      'paced',
    ));

  it('alert-active: two errors, everything else unchanged', () =>
    withFault('alert-active', async (_sim, listener) => {
      const { alerts } = await listener.next(({ topic, alerts }) => topic === '/alerts' && alerts[0] !== undefined);
      expect(alerts).toMatchObject([
        { code: 8004, level: 'error' },
        { code: 1012, level: 'error' },
      ]);
      expect(await listener.next(({ topic }) => topic === '/slam/state')).toMatchObject({ reliable: true });
    }));

  it('position-poor: reliable, with a poor quality', () =>
    withFault('position-poor', async (_sim, listener) => {
      const state = await listener.next(
        ({ topic, position_quality }) => topic === '/slam/state' && position_quality === 3,
      );
      expect(state).toMatchObject({ state: 'positioning', reliable: true });
    }));

  it('numbers-as-text: every number of a topic message is quoted, REST is unchanged', () =>
    withFault('numbers-as-text', async (sim, listener) => {
      const pose = await listener.next(({ topic, ori }) => topic === '/tracked_pose' && typeof ori === 'string');
      expect(pose).toMatchObject({ pos: [expect.any(String), expect.any(String)] });
      expect(Number.isFinite(Number(pose.ori))).toBe(true);
      const battery = await listener.next(({ percentage }) => typeof percentage === 'string');
      expect(Number(battery.percentage)).toBeGreaterThan(0);
      expect((await call(sim, 'GET', '/maps/1')).json).toMatchObject({ grid_resolution: expect.any(Number) });
    }));

  it('half-readable: one member is of the wrong type, the others are true', () =>
    withFault('half-readable', async (sim, listener) => {
      sim.setFault('emergency-stop', true);
      sim.setFault('localisation-lost', true);
      sim.setFault('alert-active', true);
      listener.send({ enable_topic: '/wheel_state' });
      const isPressed = ({ topic, emergency_stop_pressed }: Message) =>
        topic === '/wheel_state' && emergency_stop_pressed === true;
      expect(await listener.next(isPressed)).toMatchObject({ control_mode: 0 });
      const isLost = ({ topic, reliable }: Message) => topic === '/slam/state' && reliable === false;
      expect(await listener.next(isLost)).toMatchObject({ state: 0 });
      const hasAlerts = ({ topic, alerts }: Message) => topic === '/alerts' && alerts.length > 2;
      expect((await listener.next(hasAlerts)).alerts).toContainEqual(expect.objectContaining({ code: 8004, level: 2 }));
      for (const name of ['emergency-stop', 'localisation-lost', 'alert-active'] as const) sim.setFault(name, false);
    }));

  it('battery-low: 6 percent and an alert', () =>
    withFault('battery-low', async (_sim, listener) => {
      await listener.next(({ topic, percentage }) => topic === '/battery_state' && percentage === 0.06);
      await listener.next(({ topic, alerts }) => topic === '/alerts' && alerts[0]?.code === 8501);
    }));
});

/** Overlays with an undocumented property and a reference by id. */
const sent = {
  type: 'FeatureCollection',
  features: [
    {
      id: 'p1',
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [0, 0] },
      properties: { type: '9', name: 'Lader', dockingPointId: 'p2', house: { keeps: ['this', 1] }, iconYaw: '8' },
    },
    { id: 'p2', type: 'Feature', geometry: { type: 'Point', coordinates: [0, 1] }, properties: { type: 36 } },
    null,
    { id: 'p3', type: 'Feature', geometry: null, properties: null },
  ],
  top: 'level',
};

/** Patches these overlays onto map 1; returns the answer and the stored overlays. */
async function patched(sim: Sim) {
  const text = JSON.stringify(sent);
  const before = (await call(sim, 'GET', '/maps/1')).json as { overlays: string; overlays_version: number };
  const { status, json } = await call(sim, 'PATCH', '/maps/1', { overlays: text });
  const after = (await call(sim, 'GET', '/maps/1')).json as { overlays: string; overlays_version: number };
  return { status, reply: json as { overlays_version: number }, text, before, after };
}

describe.concurrent('faults of orders', () => {
  it('pose-in-degrees: a value in radians is used as degrees', () =>
    withFault('pose-in-degrees', async (sim, listener) => {
      const body = { position: [0, 0, 0], ori: 1.5708, adjust_position: false };
      expect((await call(sim, 'POST', '/chassis/pose', body)).status).toBe(201);
      listener.forget();
      expect((await listener.next(({ topic }) => topic === '/tracked_pose')).ori).toBeCloseTo(1.5708, 1);
    }));

  it('target-in-degrees: a heading in radians is used as degrees', () =>
    withFault(
      'target-in-degrees',
      async (sim, listener) => {
        const { xM, yM } = sim.state();
        const order = { creator: 'test', type: 'standard', target_x: xM, target_y: yM + 0.5, target_ori: 1.5708 };
        await call(sim, 'POST', '/chassis/moves', order);
        await until(() => !sim.state().moving, 10_000);
        listener.forget();
        expect((await listener.next(({ topic }) => topic === '/tracked_pose')).ori).toBeCloseTo(1.5708, 1);
      },
      'paced',
    ));

  it('drifting-pose: the reported pose drifts while the robot stands still', () =>
    withFault(
      'drifting-pose',
      async (sim, listener) => {
        const { xM, yM } = sim.state();
        const seen: { pos: [number, number]; ori: number }[] = [];
        for (let count = 0; count < 160; count += 1) {
          listener.forget();
          seen.push(
            (await listener.next(({ topic }) => topic === '/tracked_pose')) as unknown as (typeof seen)[number],
          );
        }
        const range = (values: number[]) => Math.max(...values) - Math.min(...values);
        expect(range(seen.map(({ pos }) => pos[0]))).toBeGreaterThan(0.2);
        expect(range(seen.map(({ ori }) => ori))).toBeGreaterThan(6);
        expect(sim.state()).toMatchObject({ xM, yM, moving: false });
      },
      'paced',
    ));

  it('cancel-ignored: the cancel returns 200, and the move continues', () =>
    withFault('cancel-ignored', async (sim) => {
      const order = { creator: 'test', type: 'standard', target_x: 1.4, target_y: 0, target_ori: 0 };
      const { json } = await call(sim, 'POST', '/chassis/moves', order);
      const cancel = () => call(sim, 'PATCH', '/chassis/moves/current', { state: 'cancelled' });
      expect((await cancel()).status).toBe(200);
      const { id } = json as { id: number };
      expect((await call(sim, 'GET', `/chassis/moves/${id}`)).json).toMatchObject({ state: 'moving' });
      sim.setFault('cancel-ignored', false);
      expect((await cancel()).status).toBe(200);
      expect((await call(sim, 'GET', `/chassis/moves/${id}`)).json).toMatchObject({ state: 'cancelled' });
    }));
});

describe.concurrent('faults in which the robot does something else than it reports', () => {
  const cancel = (sim: Sim) => call(sim, 'PATCH', '/chassis/moves/current', { state: 'cancelled' });
  const awayM = (sim: Sim, xM: number, yM: number) => Math.hypot(sim.state().xM - xM, sim.state().yM - yM);
  const stateOf = async (sim: Sim, id: number) =>
    ((await call(sim, 'GET', `/chassis/moves/${id}`)).json as { state: string }).state;

  /** A move of 3 m that is under way; its id. */
  async function underWay(sim: Sim): Promise<number> {
    const order = { creator: 'test', type: 'standard', target_x: 1.4, target_y: 0.6 };
    const { id } = (await call(sim, 'POST', '/chassis/moves', order)).json as { id: number };
    const { xM, yM } = sim.state();
    await until(() => awayM(sim, xM, yM) > 0.4, 10_000);
    return id;
  }

  it('cancel-lies: the cancel returns 200, the move is cancelled everywhere, and the robot drives to its goal', () =>
    withFault(
      'cancel-lies',
      async (sim, listener) => {
        const id = await underWay(sim);
        expect((await cancel(sim)).status).toBe(200);
        expect(await stateOf(sim, id)).toBe('cancelled');
        await listener.next(({ action_id, move_state }) => action_id === id && move_state === 'cancelled');
        expect(sim.state()).toMatchObject({ moving: false });
        await until(() => awayM(sim, 1.4, 0.6) < 0.03, 10_000);
        expect(await stateOf(sim, id)).toBe('cancelled');
      },
      'paced',
    ));

  it('coasting: the move is cancelled, and the robot rolls on before it rests', () =>
    withFault(
      'coasting',
      async (sim, _listener, clock) => {
        const id = await underWay(sim);
        expect((await cancel(sim)).status).toBe(200);
        expect(await stateOf(sim, id)).toBe('cancelled');
        const { xM, yM } = sim.state();
        const began = clock.monotonicMs();
        await until(() => sim.state().speedMS === 0, 10_000);
        expect(clock.monotonicMs() - began).toBeGreaterThan(3_000);
        expect(awayM(sim, xM, yM)).toBeGreaterThan(0.8);
      },
      'paced',
    ));

  it('creeping: the place changes while no move runs', () =>
    withFault(
      'creeping',
      async (sim, listener) => {
        await until(() => awayM(sim, 0, -2) > 0.5, 10_000);
        expect(sim.state().moving).toBe(false);
        await listener.next(({ topic, pos }) => topic === '/tracked_pose' && pos[1] > -1.6);
        expect(listener.received.filter(({ move_state }) => move_state === 'moving')).toEqual([]);
      },
      'paced',
    ));

  it('spinning: the heading changes while no move runs', () =>
    withFault(
      'spinning',
      async (sim, listener) => {
        await listener.next(({ topic, ori }) => topic === '/tracked_pose' && ori > 130, 10_000);
        expect(sim.state()).toMatchObject({ moving: false, xM: 0, yM: -2 });
        expect(listener.received.filter(({ move_state }) => move_state === 'moving')).toEqual([]);
      },
      'paced',
    ));

  it('cancel-refused: the cancel returns 500, and the move continues; without a move it is 404 as ever', () =>
    withFault(
      'cancel-refused',
      async (sim) => {
        expect((await cancel(sim)).status).toBe(404);
        const id = await underWay(sim);
        expect(await cancel(sim)).toMatchObject({ status: 500, json: { detail: expect.any(String) } });
        expect(await stateOf(sim, id)).toBe('moving');
        await until(() => !sim.state().moving, 10_000);
        expect(await stateOf(sim, id)).toBe('succeeded');
      },
      'paced',
    ));

  it('misses: the move succeeds about 1 m before its goal', () =>
    withFault(
      'misses',
      async (sim) => {
        const id = await underWay(sim);
        await until(() => !sim.state().moving, 10_000);
        expect(await stateOf(sim, id)).toBe('succeeded');
        expect(awayM(sim, 1.4, 0.6)).toBeGreaterThan(0.85);
        expect(awayM(sim, 1.4, 0.6)).toBeLessThan(1.05);
      },
      'paced',
    ));

  it('succeeds-early: the move succeeds on the way, and the robot drives on to its goal', () =>
    withFault(
      'succeeds-early',
      async (sim, listener) => {
        const id = await underWay(sim);
        await listener.next(({ action_id, move_state }) => action_id === id && move_state === 'succeeded', 10_000);
        expect(awayM(sim, 1.4, 0.6)).toBeGreaterThan(0.5);
        await until(() => awayM(sim, 1.4, 0.6) < 0.03, 10_000);
      },
      'paced',
    ));

  it('clockwise: the sign of the reported heading is reversed', () =>
    withFault('clockwise', async (sim, listener) => {
      listener.forget();
      const pose = await listener.next(({ topic, ori }) => topic === '/tracked_pose' && ori < 0);
      expect([pose.ori, pose.pos]).toEqual([-90, [0, -2]]);
      expect(sim.state().yawRad).toBeCloseTo(Math.PI / 2, 6);
      sim.setFault('degrees-0-360', true);
      await listener.next(({ topic, ori }) => topic === '/tracked_pose' && ori === 270);
      sim.setFault('degrees-0-360', false);
      sim.setFault('radians-unwrapped', true);
      // Seven full turns before the start, and turning.
      await listener.next(({ topic, ori }) => topic === '/tracked_pose' && ori < -45 && ori > -80);
      sim.setFault('radians-unwrapped', false);
    }));

  it('noisy-pose: 1 cm and 0.5 degrees around the true pose, the same in every run', async () => {
    const runs: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      await withFault(
        'noisy-pose',
        async (sim, listener) => {
          listener.forget();
          const poses = () => listener.received.filter(({ topic, ori }) => topic === '/tracked_pose' && ori !== 90);
          await until(() => poses().length >= 300, 20_000);
          const first = poses().slice(0, 300);
          const columns = [
            first.map(({ pos }) => pos[0] / 0.01),
            first.map(({ pos }) => (pos[1] + 2) / 0.01),
            first.map(({ ori }) => (ori - 90) / 0.5),
          ];
          for (const values of columns) {
            const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
            const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
            expect(Math.abs(mean)).toBeLessThan(0.2);
            expect(Math.abs(deviation - 1)).toBeLessThan(0.15);
          }
          expect(sim.state()).toMatchObject({ xM: 0, yM: -2, speedMS: 0 });
          runs.push(JSON.stringify(first.map(({ pos, ori }) => [pos, ori])));
        },
        'paced',
      );
    }
    expect(runs[0]).toBe(runs[1]);
  });

  it('battery-to-100: 1 percent is reported as 1', () =>
    withFault('battery-to-100', async (sim, listener) => {
      const isBattery = ({ topic }: Message) => topic === '/battery_state';
      await listener.next((message) => isBattery(message) && message.percentage === 1);
      await listener.next(({ topic, alerts }) => topic === '/alerts' && alerts[0]?.code === 8501);
      sim.setFault('battery-low', true);
      await listener.next((message) => isBattery(message) && message.percentage === 6);
      sim.setFault('battery-low', false);
    }));
});

describe.concurrent('faults of maps', () => {
  it('overlays-version-stuck: new overlays with the old version, also when one is sent', () =>
    withFault('overlays-version-stuck', async (sim) => {
      const { status, reply, text, before, after } = await patched(sim);
      expect([status, reply.overlays_version]).toEqual([200, before.overlays_version]);
      expect(after).toMatchObject({ overlays: text, overlays_version: before.overlays_version });
      await call(sim, 'PATCH', '/maps/1', { overlays: before.overlays, overlays_version: 99 });
      expect((await call(sim, 'GET', '/maps/1')).json).toMatchObject({
        overlays: before.overlays,
        overlays_version: before.overlays_version,
      });
    }));

  it('patch-drops: returns 200 and keeps documented properties only', () =>
    withFault('patch-drops', async (sim) => {
      const { status, reply, before, after } = await patched(sim);
      expect([status, reply.overlays_version]).toEqual([200, before.overlays_version + 1]);
      const expected = structuredClone(sent) as { features: ({ properties: Record<string, unknown> } | null)[] };
      delete expected.features[0]?.properties.house;
      expect(JSON.parse(after.overlays)).toEqual(expected);
      // The properties of its own overlays are documented.
      const own = before.overlays;
      await call(sim, 'PATCH', '/maps/1', { overlays: own });
      const kept = ((await call(sim, 'GET', '/maps/1')).json as { overlays: string }).overlays;
      expect(JSON.parse(kept)).toEqual(JSON.parse(own));
    }));

  it('patch-renames: every feature has a new unique id, the rest is as sent', () =>
    withFault('patch-renames', async (sim) => {
      const { status, after } = await patched(sim);
      expect(status).toBe(200);
      const { features } = JSON.parse(after.overlays) as { features: (Record<string, unknown> | null)[] };
      const ids = features.flatMap((feature) => (feature ? [feature.id] : []));
      expect(ids).toHaveLength(3);
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
      const restored = features.map((feature, index) => feature && { ...feature, id: sent.features[index]?.id });
      expect(restored).toEqual(sent.features);
    }));

  it('patch-ignored: returns 200 without effect', () =>
    withFault('patch-ignored', async (sim) => {
      const { status, before, after } = await patched(sim);
      expect(status).toBe(200);
      expect(after).toEqual(before);
      expect((await call(sim, 'PATCH', '/maps/1', { overlays: 'no overlays' })).status).toBe(400);
    }));

  it('patch-405: returns 405 like a framework without the method, without effect', () =>
    withFault('patch-405', async (sim) => {
      const { status, reply, before, after } = await patched(sim);
      expect([status, reply]).toEqual([405, { detail: 'Method "PATCH" not allowed.' }]);
      expect(after).toEqual(before);
    }));

  it('running-map-keeps-overlays: stores the overlays, and uses them once the map is loaded again', () =>
    withFault('running-map-keeps-overlays', async (sim) => {
      const running = async () => {
        await using late = await listen(sim);
        late.send({ enable_topic: '/map/info' });
        const { overlays, overlays_version: version } = await late.next(({ topic }) => topic === '/map/info');
        return { overlays, version };
      };
      const first = await running();
      const { status, reply, text, before, after } = await patched(sim);
      expect([status, reply.overlays_version]).toEqual([200, before.overlays_version]);
      expect(after).toMatchObject({ overlays: text, overlays_version: before.overlays_version });
      expect(await running()).toEqual(first);
      expect(first).toEqual({ overlays: JSON.parse(before.overlays), version: before.overlays_version });
      await call(sim, 'POST', '/chassis/current-map', { map_id: 1 });
      expect(await running()).toEqual({ overlays: sent, version: before.overlays_version });
    }));

  it('image-slow: the picture is complete, in many pieces over 4 seconds; localisation data are sent at once', () =>
    withFault(
      'image-slow',
      async (sim, _listener, clock) => {
        const url = `http://127.0.0.1:${sim.chassis.port}/maps/1`;
        const beganMs = clock.monotonicMs();
        const { status, headers, body } = await fetch(`${url}.png`);
        const pieces: Uint8Array[] = [];
        for await (const piece of body ?? []) pieces.push(piece);
        expect(clock.monotonicMs() - beganMs).toBeGreaterThan(3_200);
        expect(pieces.length).toBeGreaterThan(10);
        const slow = Buffer.concat(pieces);
        expect([status, headers.get('content-length')]).toEqual([200, String(slow.length)]);
        const localisationBeganMs = clock.monotonicMs();
        expect((await fetch(`${url}.pbstream`)).status).toBe(200);
        expect(clock.monotonicMs() - localisationBeganMs).toBeLessThan(2_000);
        // Switched off midway, the rest is sent at once.
        const late = await fetch(`${url}.png`);
        sim.setFault('image-slow', false);
        expect(Buffer.from(await late.arrayBuffer()).equals(slow)).toBe(true);
        sim.setFault('image-slow', true);
        // A client that disconnects midway affects no other.
        const ending = new AbortController();
        await fetch(`${url}.png`, { signal: ending.signal });
        ending.abort();
      },
      'paced',
    ));

  it('image-fails: picture, thumbnail and localisation data return 500, the data of the map do not', () =>
    withFault('image-fails', async (sim) => {
      for (const path of ['/maps/1.png', '/maps/1/thumbnail', '/maps/1.pbstream']) {
        const { status, json } = await call(sim, 'GET', path);
        expect([path, status, json]).toEqual([path, 500, { detail: expect.stringMatching(/./) }]);
      }
      expect((await call(sim, 'GET', '/maps/1')).status).toBe(200);
      expect((await call(sim, 'GET', '/maps/77.png')).status).toBe(404);
    }));

  it('image-cut: picture and localisation data end before the announced length', () =>
    withFault('image-cut', async (sim) => {
      for (const path of ['/maps/1.png', '/maps/1.pbstream']) {
        const reply = await fetch(`http://127.0.0.1:${sim.chassis.port}${path}`);
        expect(reply.status, path).toBe(200);
        const announced = Number(reply.headers.get('content-length'));
        let came = 0;
        const reading = async () => {
          for await (const piece of reply.body ?? []) came += piece.length;
        };
        await expect(reading(), path).rejects.toThrow();
        expect(announced, path).toBeGreaterThan(10);
        expect(came, path).toBe(announced >> 1);
      }
      expect((await call(sim, 'GET', '/maps/1')).status).toBe(200);
    }));
});

describe.concurrent('faults of reported data', () => {
  it('wheel-error: the robot stops, and the error stays until it is cleared after its cause is removed', () =>
    withFault(
      'wheel-error',
      async (sim, listener) => {
        const clear = () => call(sim, 'POST', '/services/wheel_control/clear_errors');
        const codes = (message: Message) => message.alerts?.map(({ code }: { code: number }) => code).join();
        await listener.next((message) => codes(message) === '2006');
        const before = sim.state();
        await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
        expect((await clear()).status).toBe(201);
        await pause(100);
        expect(sim.state()).toMatchObject({ xM: before.xM, yM: before.yM, moving: true });
        sim.setFault('wheel-error', false);
        await pause(100);
        expect(sim.state()).toMatchObject({ xM: before.xM, yM: before.yM, moving: true });
        listener.forget();
        await clear();
        await listener.next((message) => codes(message) === '');
        await until(() => !sim.state().moving, 10_000);
        expect(sim.state().yM).toBeGreaterThan(-0.1);
        sim.setFault('wheel-error', true);
      },
      'paced',
    ));

  it('rest-rates: lower rates at rest, unchanged during a move, and enabling sends one message at once', async () => {
    seen.add('rest-rates');
    await using sim = await startSim({ clock: createPacedClock() });
    sim.setFault('rest-rates', true);
    await using listener = await listen(sim);
    listener.send({ enable_topic: ['/tracked_pose', '/wheel_state', '/slam/state', '/battery_state'] });
    const count = (topic: string) => listener.received.filter((message) => message.topic === topic).length;
    await until(() => count('/tracked_pose') === 2);
    for (const topic of ['/wheel_state', '/slam/state', '/battery_state']) expect(count(topic), topic).toBe(1);
    await until(() => count('/battery_state') === 3, 10_000);
    // Two intervals of the battery are 10 s: at most 11 of the pose and 6 of the others; fewer where the test had to wait.
    expect(count('/tracked_pose')).toBeLessThanOrEqual(14);
    expect(count('/tracked_pose')).toBeGreaterThan(count('/wheel_state'));
    for (const topic of ['/wheel_state', '/slam/state']) {
      expect(count(topic), topic).toBeLessThanOrEqual(8);
      expect(count(topic), topic).toBeGreaterThan(3);
    }
    await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
    listener.forget();
    await until(() => !sim.state().moving, 10_000);
    // A move of at least 3 s: at the rate of rest it would be 4.
    expect(count('/tracked_pose')).toBeGreaterThan(8);
  });
});

describe('the end of a simulator', () => {
  it('is immediate, with any fault on and with unanswered requests', async () => {
    const sim = await startSim();
    const listener = await listen(sim);
    const waiting = [info(sim), info(sim)];
    for (const name of faultNames) if (name !== 'cut') sim.setFault(name, true);
    waiting.push(info(sim), call(sim, 'GET', '/maps/1.png'));
    await pause(50);
    const began = performance.now();
    await sim[Symbol.asyncDispose]();
    expect(performance.now() - began).toBeLessThan(1000);
    await Promise.allSettled(waiting);
    await closing(listener);
    await expect(info(sim)).rejects.toThrow('ECONNREFUSED');
    // A second call has no effect.
    await sim[Symbol.asyncDispose]();
  });
});

describe('the table of faults', () => {
  it('has a test above and a description for every fault', () => {
    // Faults of other parts have their tests there.
    const ofRobot = faultNames.filter((name) => ['network', 'answers', 'robot'].includes(faultTable[name].kind));
    expect([...seen].toSorted()).toEqual(ofRobot.toSorted());
    for (const name of faultNames) expect(faultTable[name].effect.length).toBeGreaterThan(20);
  });
});
