import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadEvidenceFile } from '../../src/lib/evidence/index.ts';
import { factsOfOrder } from '../../src/lib/motion/gate.ts';
import { parsePasswordHash, verifyPassword } from '../../src/lib/operator/sign-in/password-hash.ts';
import { switchFault } from '../../src/lib/sim/control/switch-fault.ts';
import { controlSim, faultNames, startSim, stations } from '../../src/lib/sim/index.ts';
import { type SimEvent, simEventSchema, simFaultSchema } from '../../src/lib/sim/sim.result.ts';
import { loadSite } from '../../src/lib/site/index.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { listening } from '../listening.ts';
import { createDrivenClock } from './driven-clock.ts';
import { call } from './raw-client.ts';

const folder = folderOfEach();
let dir: string;
let pointerFile: string;
beforeEach(() => {
  dir = folder.path;
  pointerFile = join(dir, 'pointer.json');
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
/** A port of another program. */
const occupied = (port = 0) => listening(createServer(), port);

describe('the files of a simulator', () => {
  it('are a valid site file for the simulated robot, with no part of --with', async () => {
    await using sim = await startSim({ dir, operatorPort: 6123 });
    const site = await loadSite(sim.sitePath ?? '');
    expect(site.chassis).toMatchObject({ host: '127.0.0.1', port: sim.chassis.port, serial: sim.chassis.serial });
    expect(site.operator).toMatchObject({ port: 6123 });
    for (const part of ['passwordFile', 'voice', 'building']) expect(site.operator).not.toHaveProperty(part);
    expect(site.stations).toMatchObject(stations);
    expect([site.tours.demo?.stations, site.tours.acceptance?.stations]).toEqual([
      ['A', 'B', 'C'],
      ['B', 'A'],
    ]);
  });

  it.each([false, true])(
    'include evidence for every vendor fact that an order needs, on request: %s',
    async (evidence) => {
      await using sim = await startSim({ dir, evidence });
      const records = await loadEvidenceFile(join(dir, 'evidence.jsonl'));
      const needed = Object.values(factsOfOrder)
        .flat()
        .filter((fact) => fact.startsWith('vendor.'));
      expect(new Set(records.map(({ fact }) => fact))).toEqual(new Set(evidence ? needed : []));
      for (const { serial, software, how } of records) {
        expect([serial, software]).toEqual([sim.chassis.serial, sim.chassis.software]);
        expect(how).toContain('Simulator');
      }
    },
  );

  it('include on request a device password that the operator server accepts', async () => {
    await using sim = await startSim({ dir, with: ['password'] });
    const { operator } = await loadSite(sim.sitePath ?? '');
    const clear = (await readFile(sim.passwordPath ?? '', 'utf8')).trim();
    const hash = parsePasswordHash(await readFile(operator.passwordFile ?? '', 'utf8'));
    expect(clear.length).toBeGreaterThanOrEqual(8);
    expect(hash && (await verifyPassword(clear, hash))).toBe(true);
    for (const path of [sim.passwordPath ?? '', operator.passwordFile ?? '', join(dir, 'sim.json')]) {
      expect(await modeOf(path), path).toBe(0o600);
    }
    expect(await modeOf(join(dir, 'secrets'))).toBe(0o700);
  });

  it('name on request a voice service and a building module that answer', async () => {
    await using sim = await startSim({ dir, with: ['voice', 'building'] });
    const { operator } = await loadSite(sim.sitePath ?? '');
    const config = await fetch(`${operator.voice?.url}/config`);
    expect([config.status, await config.json()]).toMatchObject([200, { language: 'de-DE' }]);
    const status = await fetch(`${operator.building?.url}/status`);
    expect([status.status, await status.json()]).toMatchObject([200, { lift: { floor: 0 } }]);
    expect((await fetch(`${sim.voiceUrl}/status`)).status).toBe(404);
    expect((await fetch(`${sim.buildingUrl}/status`, { method: 'POST' })).status).toBe(405);
  });

  it('are reported as events of the published schema, with ready last', async () => {
    const events: SimEvent[] = [];
    await using sim = await startSim({ dir, with: ['voice'], onEvent: (event) => events.push(event) });
    for (const event of events) expect(simEventSchema.parse(event)).toEqual(event);
    const shown = events.map((event) => (event.event === 'listening' ? event.part : event.event));
    expect(shown).toEqual(['chassis', 'voice', 'control', 'ready']);
    expect(events.at(-1)).toMatchObject({ sitePath: sim.sitePath, chassis: sim.chassis, voiceUrl: sim.voiceUrl });
  });

  it('leave no handle and no temporary file at the end, and are replaced by the next run', async () => {
    for (let run = 0; run < 2; run += 1) {
      await using _sim = await startSim({ dir, pointerFile });
    }
    expect((await readdir(dir)).toSorted()).toEqual(['evidence.jsonl', 'site.yaml']);
  });

  it('never replace another site file, nor one that cannot be read; all parts end when one cannot be written', async () => {
    const file = join(dir, 'site.yaml');
    await writeFile(file, 'name: real robot\n');
    await expect(startSim({ dir })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(await readFile(file, 'utf8')).toBe('name: real robot\n');
    await expect(startSim({ dir: join(file, 'below') })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await rm(file);
    await mkdir(file);
    await expect(startSim({ dir })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

describe('the port of the chassis', () => {
  it('is refused with its address when in use by another program', async () => {
    await using other = await occupied();
    await expect(startSim({ chassisPort: other.port })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      tried: { address: '127.0.0.1', port: other.port },
    });
  });
});

describe('switching faults from outside', () => {
  const set = (name: string, on: boolean) => controlSim(dir, { set: { name, on } });

  it('lists and switches them, with the folder of the simulator', async () => {
    const events: SimEvent[] = [];
    await using sim = await startSim({ dir, onEvent: (event) => events.push(event) });
    const off = faultNames.map((name) => ({ name, on: false }));
    expect((await controlSim(dir)).faults).toMatchObject(off);
    const { faults } = await set('wrong-serial', true);
    expect(faults.filter(({ on }) => on)).toMatchObject([{ name: 'wrong-serial' }]);
    expect((await call(sim, 'GET', '/device/info')).text).not.toContain(sim.chassis.serial);
    expect(events.at(-1)).toEqual({ event: 'fault', name: 'wrong-serial', on: true });
  });

  it('works while the cable is cut, which affects the chassis only, and names a port that is taken then', async () => {
    await using sim = await startSim({ dir });
    await set('cut', true);
    await expect(call(sim, 'GET', '/device/info')).rejects.toThrow('ECONNREFUSED');
    await set('cut', false);
    expect((await call(sim, 'GET', '/device/info')).status).toBe(200);
    await set('cut', true);
    await using other = await occupied(sim.chassis.port);
    await expect(set('cut', false)).rejects.toMatchObject({ code: 'PORT_IN_USE', tried: { port: other.port } });
  });

  it('requires the token', async () => {
    await using _sim = await startSim({ dir });
    const { url, token } = JSON.parse(await readFile(join(dir, 'sim.json'), 'utf8')) as { url: string; token: string };
    const status = async (authorization: string | undefined, body: string) =>
      (await fetch(url, { method: 'POST', body, headers: authorization === undefined ? {} : { authorization } }))
        .status;
    for (const authorization of [undefined, 'Bearer x', `bearer ${token}`, `Bearer ${token}x`]) {
      expect(await status(authorization, '{}')).toBe(401);
    }
    const proto = '{"set":{"name":"__proto__","on":true}}';
    for (const body of ['', '{', '{"set":{"name":"cut"}}', proto, 'x'.repeat(2_000_000)]) {
      expect(await status(`Bearer ${token}`, body)).toBe(400);
    }
  });

  it('reports a missing simulator and an unknown fault', async () => {
    await expect(controlSim(dir)).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING', exitCode: 3 });
    await expect(set('rain', true)).rejects.toMatchObject({ code: 'USAGE' });
    // Left by a killed simulator.
    await writeFile(join(dir, 'sim.json'), JSON.stringify({ url: 'http://127.0.0.1:1', token: 'x' }));
    await expect(controlSim(dir)).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING', tried: { port: 1 } });
    await writeFile(join(dir, 'sim.json'), '{"url":"http://192.0.2.1/","token":"x"}');
    await expect(controlSim(dir)).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING' });
  });

  it('reports a program that does not answer', async () => {
    await using silent = await occupied();
    await writeFile(join(dir, 'sim.json'), JSON.stringify({ url: `http://127.0.0.1:${silent.port}`, token: 'x' }));
    const clock = createDrivenClock();
    const asking = clock.during(controlSim(dir, { clock }));
    await expect(asking).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING', tried: { port: silent.port } });
    expect(clock.pending).toBe(0);
  });

  it('refuses a second simulator in the same folder', async () => {
    await using _sim = await startSim({ dir });
    await expect(startSim({ dir })).rejects.toMatchObject({ code: 'SIM_RUNNING' });
  });

  it('finds the last started simulator by its pointer file, if this user owns it alone', async () => {
    const box = join(dir, 'box');
    await using _sim = await startSim({ dir: box, pointerFile });
    expect((await controlSim(dir, { pointerFile })).dir).toBe(box);
    expect(await modeOf(pointerFile)).toBe(0o600);
    await chmod(pointerFile, 0o644);
    await expect(controlSim(dir, { pointerFile })).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING' });
  });
});

describe('gw sim fault', () => {
  it('switches, lists, and matches the published schema', async () => {
    await using _sim = await startSim({ dir });
    const result = await switchFault({ name: 'slow', state: 'on', dir });
    expect(simFaultSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({ dir, changed: { name: 'slow', on: true } });
    expect((await switchFault({ list: true, dir })).faults.find(({ name }) => name === 'slow')?.on).toBe(true);
  });

  it('lists the faults with unknown states without a simulator', async () => {
    const result = await switchFault({ list: true, pointerFile });
    expect(simFaultSchema.parse(result)).toEqual(result);
    if (result.dir === null) expect(new Set(result.faults.map(({ on }) => on))).toEqual(new Set([null]));
    await expect(switchFault({ list: true, dir })).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING' });
  });

  it.each([
    { name: 'slow' },
    { name: 'slow', state: 'on' as const, list: true },
    { name: 'rain', state: 'on' as const },
  ])('requires a state, and either a fault or the list: %o', async (options) => {
    await expect(switchFault({ ...options, dir })).rejects.toMatchObject({ code: 'USAGE' });
  });
});
