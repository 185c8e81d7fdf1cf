import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { movesOf } from '../../src/lib/chassis/moves.ts';
import { ofEach } from '../lifecycle/shared.ts';
import { clientOf, closedPort, deviceInfo, failureOf, fakeChassis, httpAnswer, rawPeer, until } from './peers.ts';

const stack = ofEach();

async function robot(secret?: string) {
  const chassis = stack.use(await fakeChassis());
  return { chassis, moves: movesOf(stack.use(clientOf(chassis, { expectedSerial: 'SN-1', secret }))) };
}

describe('a move order', () => {
  it('carries its heading in radians and returns the id', async () => {
    const { chassis, moves } = await robot();
    const goal = { xM: 1.5, yM: -2, yawDeg: degrees(90), accuracyM: 0.1 };
    expect(await moves.move({ type: 'charge', ...goal })).toEqual({ moveId: 41 });
    expect(chassis.bodies[0]).toMatchObject({ method: 'POST', path: '/chassis/moves' });
    const body = chassis.bodies[0]?.body as Record<string, unknown>;
    expect(body.target_ori).toBeCloseTo(1.5708, 4);
    expect(body).toEqual({
      ...{ creator: 'gw', type: 'charge', target_x: 1.5, target_y: -2, target_z: 0 },
      ...{ target_ori: body.target_ori, target_accuracy: 0.1 },
    });
  });

  it('has no heading where none was given', async () => {
    const { chassis, moves } = await robot();
    await moves.move({ type: 'standard', xM: 0, yM: 0 });
    expect(chassis.bodies[0]?.body).not.toHaveProperty('target_ori');
    expect(chassis.bodies[0]?.body).not.toHaveProperty('target_accuracy');
  });

  it('verifies the serial number on the connection of the order, every time', async () => {
    const { chassis, moves } = await robot();
    await moves.move({ type: 'standard', xM: 0, yM: 0 });
    await moves.move({ type: 'standard', xM: 1, yM: 0 });
    const checked = ['GET /device/info', 'POST /chassis/moves'];
    expect(chassis.requests).toEqual([...checked, ...checked]);
    expect(chassis.connections()).toBe(2);
  });

  it('never reaches a chassis with another serial number', async () => {
    const { chassis, moves } = await robot();
    chassis.serial = 'SN-2';
    expect((await failureOf(moves.move({ type: 'standard', xM: 0, yM: 0 }))).code).toBe('CHASSIS_WRONG_DEVICE');
    const pose = { xM: 0, yM: 0, yawDeg: degrees(0), adjust: true };
    expect((await failureOf(moves.setPose(pose))).code).toBe('CHASSIS_WRONG_DEVICE');
    expect(chassis.requests).not.toContain('POST /chassis/moves');
    expect(chassis.requests).not.toContain('POST /chassis/pose');
  });

  it('is never sent twice, and reports unknown acceptance', async () => {
    let posts = 0;
    await using peer = await rawPeer((socket) => {
      socket.on('data', (data) => {
        if (data.toString().startsWith('GET')) {
          socket.write(httpAnswer(JSON.stringify(deviceInfo())));
          return;
        }
        posts += 1;
        socket.destroy();
      });
    });
    await using client = clientOf(peer, { expectedSerial: 'SN-1' });
    const error = await failureOf(movesOf(client).move({ type: 'standard', xM: 0, yM: 0 }));
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', details: { orderAccepted: 'unknown' } });
    expect(error.tried?.action).toBe('POST /chassis/moves');
    expect(posts).toBe(1);
  });

  it('is reported as not accepted on a closed port', async () => {
    await using client = clientOf({ endpoint: await closedPort() });
    const error = await failureOf(movesOf(client).move({ type: 'standard', xM: 0, yM: 0 }));
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'refused' });
    expect(error.details).toBeUndefined();
  });

  it('passes on the reason of a refusal, in either form', async () => {
    const bodies: [body: string, answer: string][] = [
      ['{"message":"error: no map"}', 'error: no map'],
      ['{"detail":"no current map"}', 'no current map'],
      // The one that the vendor's own client prefers where there are several.
      ['{"message":"bad request","detail":"no current map","error":"x"}', 'no current map'],
      ['{"detail":{"code":5,"why":"no map"}}', '{"code":5,"why":"no map"}'],
      ['{"target_x":["A valid number is required."]}', '{"target_x":["A valid number is required."]}'],
      ['{}', ''],
      ['<html>Bad request</html>', 'an HTML page'],
      ['no map', 'no map'],
    ];
    for (const [body, answer] of bodies) {
      const { chassis, moves } = await robot();
      chassis.intercept = (request, response) => {
        if (request.method !== 'POST') return false;
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(body);
        return true;
      };
      const error = await failureOf(moves.move({ type: 'standard', xM: 0, yM: 0 }));
      expect(error, body).toMatchObject({ code: 'CHASSIS_REFUSED', details: { status: 400, answer } });
      expect(error.message, body).toContain(answer);
    }
  });

  it('leaves no connection open', async () => {
    const { chassis, moves } = await robot();
    await moves.move({ type: 'standard', xM: 0, yM: 0 });
    await until(() => chassis.sockets.size === 0);
  });
});

describe('a pose order', () => {
  it('carries 90 degrees as the 1.5708 of the specification and always states whether to adjust', async () => {
    const { chassis, moves } = await robot();
    await moves.setPose({ xM: 1, yM: 2, yawDeg: degrees(90), adjust: false });
    const body = chassis.bodies[0]?.body as Record<string, unknown>;
    expect(chassis.bodies[0]).toMatchObject({ method: 'POST', path: '/chassis/pose' });
    expect(body.position).toEqual([1, 2, 0]);
    expect(body.ori).toBeCloseTo(1.5708, 4);
    expect(body.adjust_position).toBe(false);
  });
});

describe('a move that is read back', () => {
  const reading = async (move: object) => {
    await using peer = await rawPeer((socket) =>
      socket.once('data', () => socket.end(httpAnswer(JSON.stringify(move)))),
    );
    await using client = clientOf(peer);
    return await movesOf(client).readMove(41);
  };

  it('is in degrees, and its fail_reason is passed through as a number', async () => {
    const fails = { fail_reason: 103, fail_reason_str: 'invalid_charge_dock' };
    expect(await reading({ id: 41, state: 'failed', target_ori: 1.5707963267948966, ...fails })).toEqual({
      ...{ moveId: 41, state: 'failed', yawDeg: 90 },
      ...{ failReason: 103, failReasonText: 'invalid_charge_dock' },
    });
  });

  it('keeps absent fields absent, and unknown words unchanged', async () => {
    expect(await reading({ id: 41, state: 'oscillating', target_ori: null })).toEqual({
      ...{ moveId: 41, state: 'oscillating' },
      ...{ failReason: null, failReasonText: null, yawDeg: null },
    });
  });

  it('is rejected when a numeric field is not a number', async () => {
    for (const move of [{ id: '41' }, { id: 41, target_ori: '1.5' }, { id: 41, fail_reason: 'x' }]) {
      expect((await failureOf(reading(move))).code).toBe('CHASSIS_BAD_ANSWER');
    }
  });
});

describe('cancelling', () => {
  it('is sent without a check, with the secret where there is one', async () => {
    const { chassis, moves } = await robot('s3cret');
    chassis.serial = 'SN-2';
    await moves.cancelCurrent();
    expect(chassis.requests).toEqual(['PATCH /chassis/moves/current']);
    expect(chassis.bodies[0]?.body).toEqual({ state: 'cancelled' });
    expect(chassis.bodies[0]?.headers.secret).toBe('s3cret');
  });
});
