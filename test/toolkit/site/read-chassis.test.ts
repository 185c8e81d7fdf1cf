import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSiteInit } from '../../../src/cli/render/site.ts';
import { degrees } from '../../../src/lib/angle/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { commentedSiteFile, loadSite, parseSite, type SeenChassis } from '../../../src/lib/site/index.ts';
import { initSite, type Question } from '../../../src/lib/toolkit/site/init.ts';
import { readChassis } from '../../../src/lib/toolkit/site/read-chassis.ts';
import { siteInitSchema } from '../../../src/lib/toolkit/site/site.result.ts';
import { freePort } from '../../free-port.ts';
import { oddText } from '../../overlays/arbitrary.ts';
import { forAll, sharedFolder } from '../kit.ts';

const dir = sharedFolder();
const read = (endpoint: { host: string; port: number }) =>
  readChassis(endpoint, { dialer: directDialer, clock: systemClock, signal: new AbortController().signal });

describe('a new site file for a chassis that answers', () => {
  it('has its serial number, and what it said of itself as comments', async () => {
    await using sim = await startSim();
    const { host, port } = sim.chassis;
    const path = join(dir, 'yes.yaml');
    const result = await initSite({ path, force: false, given: { name: 'L', host, port: String(port) }, read });
    expect(siteInitSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({ serial: sim.chassis.serial, read: { software: sim.chassis.software } });
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(`# Read from the chassis at ${host}:${port} on `);
    expect(text).toContain("1 'Erdgeschoss' (current)");
    expect(text).toContain("#   'A': { xM: 1.4, yM: 0, yawDeg: 90 }");
    const { chassis, stations } = await loadSite(path);
    expect(chassis).toMatchObject({ host, port, serial: sim.chassis.serial });
    // What a point is for is not known: a person names the stations.
    expect(Object.keys(stations)).toEqual([]);
  });

  it('offers its serial number as the default, and keeps the one that a person types', async () => {
    await using sim = await startSim();
    const { host, port } = sim.chassis;
    const asked: Question[] = [];
    const reported: string[] = [];
    const answering = (serial: string) => async (question: Question) => {
      asked.push(question);
      if (/^Serial/.test(question.text)) return serial || (question.fallback ?? '');
      return question.fallback ?? '';
    };
    const given = { name: 'L', host, port: String(port) };
    const onRead = ({ seen }: Awaited<ReturnType<typeof read>>) => void reported.push(seen?.serial ?? '');
    const taken = await initSite({ path: join(dir, 'a.yaml'), force: false, given, read, onRead, ask: answering('') });
    expect(taken.serial).toBe(sim.chassis.serial);
    expect(reported).toEqual([sim.chassis.serial]);
    const typed = await initSite({ path: join(dir, 'b.yaml'), force: false, given, read, ask: answering('SN9') });
    expect(typed).toMatchObject({ serial: 'SN9', read: { serial: sim.chassis.serial } });
    expect(renderSiteInit(typed)).toContain(`reports serial ${sim.chassis.serial}: another robot answers there`);
    const text = readFileSync(join(dir, 'b.yaml'), 'utf8');
    expect(text).toContain('# THIS FILE NAMES ANOTHER CHASSIS: SN9.');
    expect(text).not.toContain('candidates for stations');
  });
});

describe('a new site file for a chassis that does not answer', () => {
  it('is asked for, and not written without its serial number', async () => {
    const given = { name: 'L', host: '127.0.0.1', port: String(await freePort()) };
    const path = join(dir, 'silent.yaml');
    await expect(initSite({ path, force: false, given, read })).rejects.toMatchObject({
      code: 'CHASSIS_NOT_CONNECTED',
      remedy: expect.stringContaining('--serial'),
    });
    const ask = async ({ text, fallback }: Question) => (/^Serial/.test(text) ? 'SN1' : (fallback ?? ''));
    expect(await initSite({ path, force: false, given, read, ask })).toMatchObject({ serial: 'SN1', read: null });
  });

  it('is not read where the serial number is given', async () => {
    const given = { name: 'L', host: '127.0.0.1', serial: 'SN1' };
    const never = () => Promise.reject(new Error('was read'));
    expect(await initSite({ path: join(dir, 'n.yaml'), force: false, given, read: never })).toMatchObject({
      read: null,
    });
  });
});

describe('what a chassis says', () => {
  it('stays within the comments of the file, whatever it is', { tags: 'property' }, () => {
    const text = oddText();
    const seen: fc.Arbitrary<SeenChassis> = fc.record({
      ...{ address: text, at: fc.constant('2026-11-21T09:00:00.000Z'), serial: text },
      ...{ model: fc.option(text), software: fc.option(text) },
      maps: fc.array(fc.record({ id: text, name: text, isCurrent: fc.boolean() }), { maxLength: 3 }),
      points: fc.array(
        fc.record({
          ...{ name: fc.option(text), xM: fc.double(), yM: fc.double() },
          yawDeg: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map(degrees)),
        }),
        { maxLength: 3 },
      ),
    });
    const site = { name: 'x', chassis: { host: 'robot', serial: 'SN1' }, operator: { port: 5173 } };
    const plain = parseSite(commentedSiteFile(site), 'site.yaml');
    forAll(seen, (one) => {
      const written = commentedSiteFile(site, one);
      expect(parseSite(written, 'site.yaml')).toEqual(plain);
      expect(written.split('\n').filter((line) => line !== '' && !/^ *(#|\w+:)/.test(line))).toEqual([]);
    });
  });
});
