import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { createCatalogue } from '../../../src/lib/toolkit/catalogue/catalogue.ts';
import type { Prerequisite } from '../../../src/lib/toolkit/checklist/checklist.result.ts';
import type { ChecklistRunOptions } from '../../../src/lib/toolkit/checklist/run-options.ts';
import { runList } from '../../checklist/kit.ts';
import { ownFolder } from '../kit.ts';

const bare = { name: 'Lobby', chassis: { host: '127.0.0.1', port: 1, serial: 'SN0001' }, stateDir: 'state' };

let dir = '';
beforeEach(async () => {
  dir = ownFolder();
});

/** The output of a run of this list before its first step, where it ends. */
async function before(list: string, site: object, more: Partial<ChecklistRunOptions> = {}) {
  const path = join(dir, 'site.yaml');
  await writeFile(path, stringify(site));
  const ending = new AbortController();
  let prerequisites: readonly Prerequisite[] = [];
  let isFirst = true;
  const result = await runList({
    nameOrFile: list,
    sitePaths: [path],
    motionAllowed: true,
    signal: ending.signal,
    onPrerequisites: (missing) => {
      expect(isFirst).toBe(true);
      prerequisites = missing;
    },
    onStep: () => {
      isFirst = false;
      ending.abort(new Error('enough'));
    },
    ...more,
  });
  expect(result.prerequisites).toEqual(prerequisites);
  return prerequisites;
}

test('all prerequisites missing in the site file are listed before the first step, with the steps that need them', async () => {
  const prerequisites = await before('site', bare);
  expect(prerequisites.map(({ key }) => key)).toEqual([
    'cloud',
    'network.robotSegment',
    'network.gateway',
    'chassis.mac',
    'dock',
    'tablet',
    'fleet',
    'tours.acceptance',
  ]);
  expect(prerequisites.at(-1)).toMatchObject({ serial: 'SN0001', what: expect.stringContaining("'acceptance'") });
  expect(prerequisites.find(({ key }) => key === 'tours.acceptance')?.steps).toEqual(['tour']);
});

test('steps that read a check are listed for what their own lines need, and for nothing else', async () => {
  const steps = async (list: string, site: object, more: Partial<ChecklistRunOptions> = {}) =>
    Object.fromEntries((await before(list, site, more)).map(({ key, steps: ids }) => [key, ids]));
  const cloud = { mqtt: { alpn: 'x-example-mqtt-ca' } };
  const partly = { ...bare, cloud, enrolment: { url: 'https://enrol.example.com', caFile: 'ca.pem' } };
  expect(await steps('site', bare)).toMatchObject({
    cloud: ['cloud-reached', 'outbound'],
    'network.robotSegment': ['segments'],
    'network.gateway': ['segments'],
    tablet: ['debug-bridge', 'debug-bridge-restart'],
  });
  expect(await steps('site', partly)).toMatchObject({
    'cloud.storageUrl': ['cloud-reached', 'outbound'],
    'cloud.tunnel': ['cloud-reached', 'outbound'],
  });
  const fromHosts = [{ name: 'it@198.51.100.20' }] as never;
  expect(await steps('site', bare, { checks: { fromHosts } })).toMatchObject({
    'network.gateway': ['unreachable-from-site', 'segments'],
  });
  expect(await steps('premises', partly)).toMatchObject({ 'cloud.mqtt.host': ['region'] });
  expect(await steps('premises', bare)).toMatchObject({ cloud: expect.arrayContaining(['cloud-reached', 'region']) });
});

test('with the device password its checks require a configured password, and the stop check the same tour', async () => {
  const prerequisites = await before('site', bare, { checks: { password: 'x' } });
  expect(prerequisites.find(({ key }) => key === 'tours.acceptance')?.steps).toEqual(['stop', 'tour']);
  expect(prerequisites.find(({ key }) => key === 'operator.passwordFile')?.steps).toEqual(['stop']);
});

test('existing prerequisites, steps left out, and an unreadable site file are not listed', async () => {
  const full = {
    ...bare,
    chassis: { ...bare.chassis, mac: '02:00:00:00:00:01' },
    stations: { A: { xM: 0, yM: 0 } },
    tours: { acceptance: { stations: ['A'] } },
  };
  const keys = (prerequisites: readonly Prerequisite[]) => prerequisites.map(({ key }) => key);
  expect(keys(await before('site', full))).toEqual([
    'cloud',
    'network.robotSegment',
    'network.gateway',
    'dock',
    'tablet',
    'fleet',
    'maps',
  ]);
  expect(keys(await before('site', bare, { only: ['chassis-mac'] }))).toEqual(['chassis.mac']);
  expect(await before('site', { ...bare, nonsense: true })).toEqual([]);
});

test('places without a map are listed for the steps that drive to them, and no others', async () => {
  const A = { xM: 0, yM: 0 };
  const dock = { xM: 1, yM: 0, yawDeg: 90 };
  const hall = { uid: 'u-1', version: 1 };
  const missing = async (site: object) =>
    (await before('site', { ...bare, ...site })).filter(({ key }) => key === 'maps').flatMap(({ steps }) => steps);
  const tours = { acceptance: { stations: ['A'] } };
  expect(await missing({ stations: { A }, dock, tours })).toEqual(['verify-dock', 'tour']);
  expect(await missing({ stations: { A, B: A }, tours, maps: { hall } })).toEqual([]);
  expect(await missing({ dock })).toEqual(['verify-dock']);
});

test('the device password is requested only where a step of this run can use it', async () => {
  let promptCount = 0;
  const askPassword = async () => {
    promptCount += 1;
    return null;
  };
  await before('site', bare, { askPassword, only: ['address'] });
  expect(promptCount).toBe(0);
  await before('site', bare, { askPassword, only: ['stop'] });
  expect(promptCount).toBe(1);
});

test.each(['premises', 'site'])(
  'the commissioning page names, for %s, every key that it misses in a bare site file',
  async (list) => {
    const page = await readFile(new URL('../../../docs/commissioning.md', import.meta.url), 'utf8');
    const row = page.split('\n').find((line) => line.startsWith(`| \`${list}\` |`));
    const keys = (await before(list, bare, { checks: { password: 'x' } })).map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(2);
    // The device password has a row of its own, since it is needed before the first checklist.
    expect(page).toContain('| the password, before step 4 | `operator.passwordFile: secrets/password` |');
    for (const key of keys.filter((one) => one !== 'operator.passwordFile')) expect(row, key).toContain(`\`${key}\``);
  },
);

const MQTT = 'mqtt: { host: mqtt.example.test, alpn: x }';
test.each([
  ['cloud stop', '', ['cloud', 'operator.passwordFile']],
  ['release rehearsal', '', ['cloud']],
  ['release rehearsal', MQTT, ['cloud.release']],
  ['release rehearsal', `${MQTT}, release: { keyFile: k.pem }`, []],
  ['tunnel rehearsal', '', ['cloud', 'operator.passwordFile']],
  ['tunnel rehearsal', MQTT, ['cloud.tunnel', 'operator.passwordFile']],
  ['tunnel rehearsal', `${MQTT}, tunnel: { host: tunnel.example.test }`, ['operator.passwordFile']],
])('of %s with cloud: { %s } are named by their key', async (name, cloud, missing) => {
  const sitePath = join(ownFolder(), 'site.yaml');
  const text = `name: t\nchassis: { host: 127.0.0.1, serial: S1 }\n${cloud === '' ? '' : `cloud: { ${cloud} }\n`}`;
  await writeFile(sitePath, text);
  const entry = createCatalogue({ sitePath })[name];
  expect((await entry?.missing?.(entry.with.parse({}), {}))?.map(({ key }) => key)).toEqual(missing);
});
