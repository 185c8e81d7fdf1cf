import { chmod, mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { recordText } from '../../../src/lib/checklist/index.ts';
import { newTabletRecord, writeTabletRecord } from '../../../src/lib/kiosk/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { PageState } from '../../../src/lib/pages/index.ts';
import { nextSchema } from '../../../src/lib/toolkit/next/next.result.ts';
import { readNext } from '../../../src/lib/toolkit/next/next.ts';
import { freePort } from '../../free-port.ts';
import { latched, ready } from '../../pages/states.ts';
import { recordOf, robotOf, stepOf } from '../../report/records.ts';
import { context, httpServer, ownFolder, verdictsOf } from '../kit.ts';

const SERIAL = ready.site.serial;
let dir: string;
let sitePath: string;
let state: unknown;

beforeEach(async () => {
  dir = ownFolder();
  sitePath = join(dir, 'site.yaml');
  state = ready;
  const server = await httpServer((request, response: ServerResponse) => {
    response.setHeader('gw-robot', SERIAL);
    if (request.url === '/api/events') response.write(`event: state\ndata: ${JSON.stringify(state)}\n\n`);
    else response.end('{}');
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  await writeSite({ port: server.port });
});

async function writeSite({ port, more = '' }: { readonly port: number; readonly more?: string }): Promise<void> {
  await writeFile(
    sitePath,
    `name: Lobby
chassis: { host: 127.0.0.1, port: ${await freePort()}, serial: ${SERIAL} }
operator: { port: ${port}, passwordFile: secrets/device-password }
${more}`,
  );
}

async function look() {
  const next = nextSchema.parse(await readNext(sitePath, { clock: systemClock }, context()));
  return { ...next, verdicts: verdictsOf(next.steps), step: (id: string) => next.steps.find((one) => one.id === id) };
}

const HASH = `$scrypt$ln=15,r=8,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}`;

async function setPassword(text = HASH, mode = 0o600): Promise<void> {
  await mkdir(join(dir, 'secrets'), { recursive: true });
  await writeFile(join(dir, 'secrets/device-password'), text);
  await chmod(join(dir, 'secrets/device-password'), mode);
}

const gateClosed = (unverified: readonly string[]): unknown => ({
  ...ready,
  gate: { ...ready.gate, isOpen: false, notes: [{ code: 'facts', count: 1 }], unverified },
  headline: { level: 'bad', code: 'locked', notes: [{ code: 'facts', count: 1 }] } satisfies PageState['headline'],
});

/** A record of a checklist, not signed. */
async function keep(
  list: string,
  software: string | null,
  changes: Parameters<typeof recordOf>[1] = {},
): Promise<void> {
  const found = software === null ? null : { value: software, mark: 'BELEGT', basis: 'measured', source: 'test' };
  const robot = robotOf([stepOf()], { serial: SERIAL, simulated: false, software: found as never });
  const record = recordOf([robot], { attachments: [], ...changes });
  await mkdir(join(dir, 'state/records'), { recursive: true });
  const text = recordText({ ...record, checklist: { ...record.checklist, name: list }, signature: null });
  await writeFile(join(dir, 'state/records', `${list}.json`), text);
}

describe('the next command', () => {
  it('is the site file where there is none, and its check where it is not valid', async () => {
    await writeFile(sitePath, 'name: 3\n');
    expect((await look()).next).toMatchObject({ id: 'site-file', command: `gw site check ${sitePath}` });
    sitePath = join(dir, 'none.yaml');
    const next = await look();
    expect(next).toMatchObject({ verdict: 'wrong', serial: null, next: { command: `gw site init ${sitePath}` } });
  });

  it('is the password, then the gateway, then the first trial, each as it is now', async () => {
    expect((await look()).next).toMatchObject({ id: 'password', command: 'gw operator password' });
    await setPassword();
    state = gateClosed(['angles.pose-ori', 'vendor.move.cancel', 'vendor.move.request']);
    expect((await look()).next?.command).toMatch(/^gw evidence verify stop --robot-will-move/);
    state = gateClosed(['angles.pose-ori', 'vendor.move.request']);
    expect((await look()).next?.command).toMatch(/^gw evidence verify move --distance/);
    state = gateClosed(['angles.pose-ori']);
    expect((await look()).next?.command).toMatch(/^gw evidence verify pose/);
    state = ready;
    expect((await look()).next).toMatchObject({ id: 'premises', atHand: [expect.any(String), expect.any(String)] });
    await writeSite({ port: await freePort() });
    const { next, verdicts } = await look();
    expect(next).toMatchObject({ id: 'gateway', command: 'gw serve' });
    expect(verdicts).toMatchObject({ chassis: 'not-checked', stop: 'not-checked', trials: 'not-checked' });
  });

  it('is to clear a stop before anything that moves', async () => {
    await setPassword();
    state = latched;
    const { next, verdicts } = await look();
    expect(next).toMatchObject({ id: 'stop', command: 'gw motion clear' });
    expect(verdicts.trials).not.toBe('ok');
  });

  it('calls no trial done while the gate is closed by anything else, as a fact that was contradicted here', async () => {
    await setPassword();
    state = gateClosed([]);
    expect((await look()).next).toMatchObject({ id: 'trials', verdict: 'wrong', command: 'gw status' });
  });

  it('takes nothing of an earlier connection, or of the gateway of another robot, for the state of this one', async () => {
    await setPassword();
    state = { ...ready, link: { ...ready.link, kind: 'not-connected', failure: 'refused' } };
    expect((await look()).verdicts).toMatchObject({ chassis: 'wrong', trials: 'not-checked' });
    state = { ...ready, site: { ...ready.site, serial: 'SN-OTHER' } };
    const { verdicts, next } = await look();
    expect(next).toMatchObject({ id: 'gateway', verdict: 'wrong' });
    expect(verdicts).toMatchObject({ chassis: 'not-checked', trials: 'not-checked' });
  });

  it('takes no record that is not signed for a checklist that was run', async () => {
    await keep('premises', null);
    expect((await look()).verdicts).toMatchObject({ premises: 'wrong', site: 'wrong' });
  });

  it('is a service where the software changed since the handover', async () => {
    expect((await look()).verdicts.service).toBe('not-applicable');
    await keep('handover', ready.identity?.software ?? '');
    expect((await look()).step('service')).toMatchObject({ verdict: 'ok' });
    await keep('handover', 'another');
    expect((await look()).step('service')).toMatchObject({
      verdict: 'wrong',
      command: expect.stringMatching(/ service /),
    });
    await keep('handover', null);
    expect((await look()).step('service')).toMatchObject({ verdict: 'not-checked' });
  });

  it('is to go on with a service that was not completed, or whose record is not signed', async () => {
    const { software = '' } = ready.identity ?? {};
    await keep('handover', software);
    await keep('service', software, { endedAt: '2026-11-22T12:00:00.000Z' });
    expect((await look()).step('service')).toMatchObject({
      verdict: 'wrong',
      command: expect.stringMatching(/^gw checklist run service/),
    });
  });

  it('calls no password set where what is in its file lets no person in', async () => {
    await setPassword('a password in the clear');
    expect((await look()).next).toMatchObject({ id: 'password', command: 'gw operator password' });
    await setPassword(HASH, 0o644);
    expect((await look()).verdicts.password).not.toBe('ok');
    await setPassword();
    expect((await look()).verdicts.password).toBe('ok');
  });

  it('calls no places done that were measured with the robot before', async () => {
    const place = async (more: string) => {
      await writeSite({ port: await freePort(), more });
      return (await look()).verdicts.places;
    };
    const stations = (map: string) => `stations: { A: { xM: 1, yM: 2, yawDeg: 0${map} } }\n`;
    const maps = (robot: string) => `maps: { one: { uid: m1, version: 1${robot} }, two: { uid: m2, version: 1 } }\n`;
    expect(await place(stations(', map: one') + maps(''))).toBe('ok');
    expect(await place(stations(', map: one') + maps(', robot: SN-BEFORE'))).toBe('wrong');
  });

  it('never calls a tablet done that is remembered, and goes on all the same', async () => {
    await setPassword();
    const { port } = new URL(`http://127.0.0.1:${await freePort()}`);
    await writeSite({ port: Number(port), more: 'tablet: { host: 127.0.0.1 }' });
    expect((await look()).step('tablet')).toMatchObject({
      verdict: 'wrong',
      command: expect.stringMatching(/^gw kiosk setup/),
    });
    const observed = {
      at: '2026-11-30T10:00:00.000Z',
      machine: { bootId: null, uptimeS: null },
      serial: 'T1',
      bootId: null,
      androidId: null,
      mac: null,
    };
    const record = newTabletRecord({ host: '127.0.0.1', port: 5555 }, observed);
    await mkdir(join(dir, 'state'), { mode: 0o700 });
    await writeTabletRecord(join(dir, 'state'), {
      ...record,
      bridge: { ...record.bridge, state: 'closed' },
      reading: {
        by: 'setup',
        profile: { name: 'p', sha256: null },
        verdict: 'as-profile',
        steps: [],
        observed,
        doubts: [],
      },
    });
    const { next, step } = await look();
    expect(step('tablet')).toMatchObject({ verdict: 'not-checked', command: null });
    expect(next?.id).toBe('gateway');
  });

  it('says what belongs to the day and cannot be seen', async () => {
    const { unseen } = await look();
    expect(unseen).toEqual([expect.stringContaining('gw network request')]);
  });
});
