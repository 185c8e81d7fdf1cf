import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadEvidenceFile } from '../../src/lib/evidence/index.ts';
import { factsOfOrder } from '../../src/lib/motion/gate.ts';
import { parsePasswordHash, verifyPassword } from '../../src/lib/operator/sign-in/password-hash.ts';
import { switchFault } from '../../src/lib/sim/control/switch-fault.ts';
import { controlSim, faultNames, startSim, stations } from '../../src/lib/sim/index.ts';
import { type SimEvent, simEventSchema, simFaultSchema } from '../../src/lib/sim/sim.result.ts';
import { loadSite } from '../../src/lib/site/index.ts';
import { call } from './raw-client.ts';

let dir: string;
let pointerFile: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-sim-test-'));
  pointerFile = join(dir, 'pointer.json');
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the files of a simulator', () => {
  it('are a valid site file for the simulated robot', async () => {
    await using sim = await startSim({ dir, operatorPort: 6123 });
    const site = await loadSite(sim.sitePath ?? '');
    expect(site.chassis).toMatchObject({ host: '127.0.0.1', port: sim.chassis.port, serial: sim.chassis.serial });
    expect(site.operator).toMatchObject({ port: 6123 });
    // Without --with no part is configured: the test setup of the specification.
    expect(site.operator.passwordFile).toBeUndefined();
    expect(site.operator.voice).toBeUndefined();
    expect(site.operator.building).toBeUndefined();
    expect(site.stations).toMatchObject(stations);
    expect(site.tours.demo?.stations).toEqual(['A', 'B', 'C']);
    expect(site.tours.acceptance?.stations).toEqual(['B', 'A']);
  });

  it('include no evidence for a new robot', async () => {
    await using _sim = await startSim({ dir, evidence: false });
    expect(await loadEvidenceFile(join(dir, 'evidence.jsonl'))).toEqual([]);
  });

  it('include evidence for every vendor fact that an order needs, for this serial and software', async () => {
    await using sim = await startSim({ dir });
    const site = await loadSite(sim.sitePath ?? '');
    const records = await loadEvidenceFile(site.evidenceFile);
    const needed = new Set(
      Object.values(factsOfOrder)
        .flat()
        .filter((fact) => fact.startsWith('vendor.')),
    );
    expect(new Set(records.map(({ fact }) => fact))).toEqual(needed);
    for (const { serial, software, how } of records) {
      expect([serial, software]).toEqual([sim.chassis.serial, sim.chassis.software]);
      expect(how).toContain('Simulator');
    }
  });

  it('include on request a device password that the operator server accepts', async () => {
    await using sim = await startSim({ dir, with: ['password'] });
    const site = await loadSite(sim.sitePath ?? '');
    const clear = (await readFile(sim.passwordPath ?? '', 'utf8')).trim();
    const hash = parsePasswordHash(await readFile(site.operator.passwordFile ?? '', 'utf8'));
    expect(clear.length).toBeGreaterThanOrEqual(8);
    expect(hash && (await verifyPassword(clear, hash))).toBe(true);
    expect(hash && (await verifyPassword(`${clear}x`, hash))).toBe(false);
    for (const path of [sim.passwordPath ?? '', site.operator.passwordFile ?? '', join(dir, 'sim.json')]) {
      expect(await modeOf(path), path).toBe(0o600);
    }
    expect(await modeOf(join(dir, 'secrets'))).toBe(0o700);
  });

  it('name on request a voice service and a building module that answer', async () => {
    await using sim = await startSim({ dir, with: ['voice', 'building'] });
    const site = await loadSite(sim.sitePath ?? '');
    const config = await fetch(`${site.operator.voice?.url}/config`);
    expect([config.status, await config.json()]).toMatchObject([200, { language: 'de-DE' }]);
    const status = await fetch(`${site.operator.building?.url}/status`);
    expect([status.status, await status.json()]).toMatchObject([200, { lift: { floor: 0 } }]);
    expect((await fetch(`${sim.voiceUrl}/status`)).status).toBe(404);
    expect((await fetch(`${sim.buildingUrl}/status`, { method: 'POST' })).status).toBe(405);
  });

  it('are reported as events of the published schema, with ready last', async () => {
    const events: SimEvent[] = [];
    await using sim = await startSim({ dir, with: ['voice'], onEvent: (event) => events.push(event) });
    for (const event of events) expect(simEventSchema.parse(event)).toEqual(event);
    expect(events.map((event) => (event.event === 'listening' ? event.part : event.event))).toEqual([
      'chassis',
      'voice',
      'control',
      'ready',
    ]);
    expect(events.at(-1)).toMatchObject({ sitePath: sim.sitePath, chassis: sim.chassis, voiceUrl: sim.voiceUrl });
  });

  it('leave no handle and no temporary file at the end, and are replaced by the next run', async () => {
    for (let run = 0; run < 2; run += 1) {
      await using _sim = await startSim({ dir, pointerFile, with: ['password'] });
    }
    expect((await readdir(dir)).toSorted()).toEqual(['evidence.jsonl', 'secrets', 'site.yaml']);
  });

  it('never replace another site file', async () => {
    await writeFile(join(dir, 'site.yaml'), 'name: real robot\n');
    await expect(startSim({ dir })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(await readFile(join(dir, 'site.yaml'), 'utf8')).toBe('name: real robot\n');
  });

  it('refuses a folder whose site file cannot be read', async () => {
    await mkdir(join(dir, 'site.yaml'));
    await expect(startSim({ dir })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('ends all started parts when a file cannot be written', async () => {
    await writeFile(join(dir, 'file'), '');
    await expect(startSim({ dir: join(dir, 'file', 'below') })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });
});

describe('the port of the chassis', () => {
  it('is refused with its address when in use by another program', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as { port: number };
    await expect(startSim({ chassisPort: port })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      tried: { address: '127.0.0.1', port },
    });
    blocker.close();
  });
});

describe('switching faults from outside', () => {
  it('lists and switches them, with the folder of the simulator', async () => {
    const events: SimEvent[] = [];
    await using sim = await startSim({ dir, onEvent: (event) => events.push(event) });
    expect((await controlSim(dir)).faults.map(({ name, on }) => [name, on])).toEqual(
      faultNames.map((name) => [name, false]),
    );
    const view = await controlSim(dir, { set: { name: 'wrong-serial', on: true } });
    expect(view.faults.filter(({ on }) => on)).toMatchObject([{ name: 'wrong-serial' }]);
    expect((await call(sim, 'GET', '/device/info')).text).not.toContain(sim.chassis.serial);
    expect(events.at(-1)).toEqual({ event: 'fault', name: 'wrong-serial', on: true });
  });

  it('works while the cable is cut, which affects the chassis only', async () => {
    await using sim = await startSim({ dir });
    await controlSim(dir, { set: { name: 'cut', on: true } });
    await expect(call(sim, 'GET', '/device/info')).rejects.toThrow('ECONNREFUSED');
    await controlSim(dir, { set: { name: 'cut', on: false } });
    expect((await call(sim, 'GET', '/device/info')).status).toBe(200);
  });

  it('names the port that another program uses when the cable is restored', async () => {
    await using sim = await startSim({ dir });
    await controlSim(dir, { set: { name: 'cut', on: true } });
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(sim.chassis.port, '127.0.0.1', resolve));
    await expect(controlSim(dir, { set: { name: 'cut', on: false } })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      tried: { port: sim.chassis.port },
    });
    blocker.close();
  });

  it('requires the token', async () => {
    await using _sim = await startSim({ dir });
    const { url, token } = JSON.parse(await readFile(join(dir, 'sim.json'), 'utf8')) as { url: string; token: string };
    for (const authorization of [undefined, 'Bearer x', `bearer ${token}`, `Bearer ${token}x`]) {
      const reply = await fetch(url, {
        method: 'POST',
        body: '{}',
        headers: authorization === undefined ? {} : { authorization },
      });
      expect(reply.status).toBe(401);
    }
    const good = { headers: { authorization: `Bearer ${token}` }, method: 'POST' };
    for (const body of [
      '',
      '{',
      '{"set":{"name":"cut"}}',
      '{"set":{"name":"__proto__","on":true}}',
      'x'.repeat(2_000_000),
    ]) {
      expect((await fetch(url, { ...good, body })).status).toBe(400);
    }
  });

  it('reports a missing simulator and an unknown fault', async () => {
    await expect(controlSim(dir)).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING', exitCode: 3 });
    await expect(controlSim(dir, { set: { name: 'rain', on: true } })).rejects.toMatchObject({ code: 'USAGE' });
    // Left by a killed simulator.
    await writeFile(join(dir, 'sim.json'), JSON.stringify({ url: 'http://127.0.0.1:1', token: 'x' }));
    await expect(controlSim(dir)).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING', tried: { port: 1 } });
    await writeFile(join(dir, 'sim.json'), '{"url":"http://192.0.2.1/","token":"x"}');
    await expect(controlSim(dir)).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING' });
    await using _sim = await startSim({ dir: join(dir, 'other') });
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

  it('requires a state, and either a fault or the list', async () => {
    await expect(switchFault({ name: 'slow', dir })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(switchFault({ name: 'slow', state: 'on', list: true, dir })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(switchFault({ name: 'rain', state: 'on', dir })).rejects.toMatchObject({ code: 'USAGE' });
  });
});
