import { describe, expect, it } from 'vitest';
import { ask, postJson, signIn, startServer } from './server.ts';
import { runningSupport, standInSupport } from './support-stand-in.ts';

const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };

/** Each action of a person that changes the robot, its evidence or its sessions, with its required audit event. */
const acts = [
  ['POST', '/api/stopp', { reason: 'guest' }, 'stop requested'],
  ['DELETE', '/api/stopp', undefined, 'stop cleared'],
  ['POST', '/api/touren/lauf', { tour: 'breakfast' }, 'tour started'],
  ['POST', '/api/touren/lauf/pause', {}, 'tour paused'],
  ['POST', '/api/touren/lauf/weiter', { tour: 'breakfast' }, 'tour continued'],
  ['DELETE', '/api/touren/lauf', undefined, 'end of tour requested'],
  ['POST', '/api/fahrt', { station: 'A' }, 'drive started'],
  ['DELETE', '/api/fahrt', undefined, 'end of drive requested'],
  ['POST', '/api/fahrt/gesehen', { id: 'd1' }, 'end of the run seen'],
  ['POST', '/api/pose', { xM: 1, yM: 2, yawDeg: 90 }, 'pose set'],
  ['POST', '/api/versuch', { kind: 'stop', who: 'J. Doe', conditions }, 'trial started'],
  ['DELETE', '/api/versuch', undefined, 'trial cancelled'],
  ['POST', '/api/evidenz/uebernahme', {}, 'evidence adopted'],
  ['DELETE', '/api/wartung/sitzung', undefined, 'end of remote support requested'],
  ['POST', '/api/wartung/sitzung/ende', {}, 'end of remote support requested'],
  ['DELETE', '/api/anmeldung/alle', undefined, 'all sessions ended'],
  ['POST', '/api/abmeldung/alle', {}, 'all sessions ended'],
] as const;

describe('the audit log', () => {
  it('contains each act with the address of its sender', async () => {
    const support = standInSupport();
    await using server = await startServer({ password: true, more: { support } });
    for (const [method, path, body] of acts) {
      const cookie = await signIn(server.full);
      support.state = runningSupport;
      server.motion.set({ tour: { ...(await server.motion.startTour('breakfast')), state: 'paused' } });
      if (path === '/api/fahrt/gesehen') {
        const drive = { id: 'd1', kind: 'move', station: 'A', state: 'failed', outcome: null, reason: 'x' } as const;
        server.motion.set({ tour: null, drive });
      }
      const response = await ask(server.full, path, {
        method,
        headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect([path, response.status < 400]).toEqual([path, true]);
    }
    const { data } = await ask(server.full, '/api/protokolle', { headers: { cookie: await signIn(server.full) } });
    const entries = (data.audit as { message: string; count: number; fields: { address: string } }[]).filter(
      ({ message }) => message !== 'signed in',
    );
    expect(entries.filter(({ fields }) => fields.address !== '127.0.0.1')).toEqual([]);
    const noted = entries.flatMap(({ message, count }) => Array.from({ length: count }, () => message));
    expect(noted.toSorted()).toEqual(acts.map(([, , , message]) => message).toSorted());
  });

  it('does not contain orders that were refused for lack of a session', async () => {
    await using server = await startServer({ password: true });
    expect((await postJson(server.full, '/api/evidenz/uebernahme', {})).status).toBe(401);
    const { data } = await ask(server.full, '/api/protokolle', { headers: { cookie: await signIn(server.full) } });
    expect(data.audit.map(({ message }: { message: string }) => message)).toEqual(['signed in']);
  });
});
