import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printedIn, printedPages, readProjectFile, wordsOf } from '../cli/printed-commands.ts';
import { freePort } from '../free-port.ts';
import { hasProgram } from '../peers/peer.ts';
import { type Running, runGw, startGw } from './gw.ts';
import { until } from './robot.ts';

/**
 * Commands that are not typed here, each with the reason. A command that could run here does not belong here, and one
 * that no page prints any more fails the test.
 */
const notTyped: readonly (readonly [reason: string, pattern: RegExp])[] = [
  ['connects to another host', /--via |--probe-from it@/],
  ['runs until Ctrl-C, and this test stands on one of its kind', /^gw (serve|sim( --with.*| --dir.*| &)?$)/],
  ['runs until Ctrl-C with a token: test/e2e/tunnel-connect.test.ts', /^gw tunnel connect /],
  ['typed by test/e2e/demo.test.ts', /gw-demo|^gw demo --keep/],
  ['asks at a terminal', /^gw site init( site\.yaml)?$/],
  ['reads the chassis of another host', /^gw site init --yes --name "Lobby" --chassis-host robot-7\.local$/],
  ['takes three minutes: test/e2e/kiosk.test.ts restarts a tablet', /^gw kiosk setup --after-restart$/],
  ['takes up to a minute and asks: test/e2e/checklist.test.ts', /^gw checklist run /],
  ['typed with another name', /^gw evidence verify .* --who "J\. Doe"$/],
  [
    'typed with a person beside the robot; the trial of the stop stands for them',
    /^gw evidence verify (move|dock|pose) .*--unattended/,
  ],
  ['needs a signed package: test/cli/release.test.ts, test/e2e/cloud.test.ts', /gw-1\.\d\.\d\.(release\.)?tar/],
  [
    'needs a second robot: test/toolkit/map/restore.test.ts',
    /^gw map (restore .* --from-another-robot|backup --site first)/,
  ],
  ['needs the part that is replaced: test/e2e/replace.test.ts', /^gw replace /],
  ['needs the records of the cloud: test/e2e/tunnel-audit.test.ts', /^gw tunnel audit /],
  ['asks for a passphrase: test/peers/gateway-backup.test.ts', /^gw gateway (backup|verify|restore) /],
];

/** Where a command ends with another code than 0 here, and why that is right. */
const otherCode: readonly (readonly [code: number, reason: string, pattern: RegExp])[] = [
  [1, 'here no program tells whether the clock is synchronised', /^gw doctor$/],
  [1, 'the day is not over', /^gw next$/],
  [1, 'at rest its unit is not decided, and a simulator verifies no fact', /^gw chassis probe$/],
  [1, 'one line cannot be proven from inside the robot', /^gw network check( --site \S+)?$/],
  [1, 'some of its lines are remembered only', /^gw kiosk status$/],
  [1, 'on 127.0.0.1 no MAC address shows which device refuses', /^gw kiosk lock$/],
  [1, 'this map has overlays with errors, on purpose', /^gw overlays inspect --map 3 /],
  [2, 'the simulator has written a key already', /^gw heartbeat key new$/],
  [3, 'the tablet was closed by the setup', /^gw kiosk plan$/],
  [4, 'the simulator was enrolled by the first of them', /^gw enrol --/],
  [4, 'no release is installed', /^gw release rollback/],
];

const atDock = 'gw motion pose --at-dock --robot-stands-there';
interface Standing {
  readonly standstill: { readonly verdict: string };
}

type Around = readonly (readonly [pattern: RegExp, command: string])[];
/** What a person does before a command, as its page says: the robot is put on its dock, its position is known. */
const prepared: Around = [
  [/^gw evidence verify stop --(?!help)/, atDock],
  [/^gw motion go /, atDock],
  [/^gw motion dock /, 'gw motion pose --at A --robot-stands-there'],
];
/** What a person does after a command, so that the next one finds the robot as its page expects it. */
const undone: Around = [
  [/^gw sim cloud stop|^gw motion stop$/, 'gw motion clear'],
  [/^gw sim tunnel open (?!--dir)/, 'gw sim tunnel close'],
];
const commandsOf = (around: Around, line: string) =>
  around.filter(([pattern]) => pattern.test(line)).map(([, command]) => command);

const dir = mkdtempSync(join(tmpdir(), 'gw-printed-'));
/** Names that stand for a place or a file of the reader. */
const given: Readonly<Record<string, string>> = {
  'site.yaml': 'gw-sim/site.yaml',
  '/etc/gw/site.yaml': 'gw-sim/site.yaml',
};
const archives = ['FILE', 'maps-SN0007-20261121T101500Z.tar.gz', 'maps-SN0007.tar.gz'];
const record = 'state/records/site-SN0001-20260102T030405Z.json';
const recordAtDesk = 'gw-sim/state/records/site-SIM-0001-20260102T030405Z.json';

const lines = [
  ...new Set(
    printedPages
      .flatMap((page) => printedIn(readProjectFile(page)))
      .filter(({ part }) => !part)
      .map(({ line }) => line),
  ),
];
const reasonOf = (line: string) => notTyped.find(([, pattern]) => pattern.test(line))?.[0] ?? null;

/** Types a command in the folder of the simulator's site file. */
async function typed(line: string, input = '') {
  const args = wordsOf(line)
    .slice(1)
    .map((word) => (given[word] ?? word).replace('/tmp/robot', join(dir, 'gw-sim')));
  const env = { GW_SITE: 'gw-sim/site.yaml' };
  const { code, stdout, stderr } = await runGw(args, { cwd: dir, env, input });
  return { code, text: `${stdout.slice(0, 1_000)}\n${stderr.slice(-1_000)}` };
}

/** The gateway connects again within seconds after the chassis was restarted. */
async function typedOnceBack(line: string) {
  return await until(
    () => typed(line),
    ({ code }) => code !== 3,
  );
}

describe.skipIf(!hasProgram('adb'))('the commands of the pages', () => {
  let sim: Running;
  let serve: Running;
  let operatorPort = 0;
  /** A fault that was switched, or a stop, is followed by a while in which the poses prove nothing. */
  const stands = () =>
    until(
      async () => (await (await fetch(`http://127.0.0.1:${operatorPort}/api/stopp`)).json()) as Standing,
      ({ standstill }) => standstill.verdict === 'stands',
    );
  beforeAll(async () => {
    operatorPort = await freePort();
    const ports = ['--chassis-port', '0', '--operator-port', String(operatorPort)];
    const parts = ['--with', 'enrolment,cloud,tablet,password', '--robots', '2'];
    sim = startGw(['sim', ...ports, ...parts, '--json'], { cwd: dir });
    await sim.untilOutput('"event":"ready"');
    // As on a terminal: the code is read from the first line.
    const code = readFileSync(join(dir, 'gw-sim', 'secrets', 'enrolment-code.txt'), 'utf8');
    expect(await typed('gw enrol', code)).toMatchObject({ code: 0 });
    serve = startGw(['serve', '--site', 'gw-sim/site.yaml', '--json'], { cwd: dir });
    await serve.untilOutput('"event":"ready"');
    // Its outbox opens after that.
    await until(
      () => typed('gw status'),
      ({ code }) => code === 0,
    );
    expect(await typed('gw map backup')).toMatchObject({ code: 0 });
    const [backup = ''] = readdirSync(dir).filter((name) => name.startsWith('maps-'));
    for (const name of archives) cpSync(join(dir, backup), join(dir, name));
    expect(await typed('gw checklist run demo --only site-file')).toMatchObject({ code: 0 });
    const records = join(dir, 'gw-sim', 'state', 'records');
    mkdirSync(join(dir, 'state', 'records'), { recursive: true });
    const [written = ''] = readdirSync(records).filter((name) => name.endsWith('.json'));
    cpSync(join(records, written), join(dir, record));
    cpSync(join(records, written), join(dir, recordAtDesk));
    cpSync(join(dir, 'gw-sim', 'secrets', 'device-password.txt'), join(dir, 'device-password.txt'));
    mkdirSync(join(dir, 'robot-7'));
    writeFileSync(join(dir, 'overlays.json'), '{"type":"FeatureCollection","features":[]}');
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await sim?.[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  test.each(lines.filter((line) => reasonOf(line) === null && line !== 'gw enrol'))('%s', async (line) => {
    const [expected = 0] = otherCode.find(([, , pattern]) => pattern.test(line)) ?? [];
    if (commandsOf(prepared, line).length > 0) await stands();
    for (const command of commandsOf(prepared, line)) {
      const { code, text } = await typedOnceBack(command);
      expect(code, `${command}\n${text}`).toBe(0);
    }
    const { code, text } = await typed(line);
    expect(code, `${line}\n${text}`).toBe(expected);
    const fault = /^(gw sim fault \S+) on/.exec(line)?.[1];
    for (const command of [...commandsOf(undone, line), ...(fault === undefined ? [] : [`${fault} off`])]) {
      expect(await typed(command)).toMatchObject({ code: 0 });
    }
  });

  test('are typed but for those on the list, which names nothing else', () => {
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => reasonOf(line) === null).length).toBeGreaterThan(70);
    const tables = [...notTyped.map(([, pattern]) => pattern), ...otherCode.map(([, , pattern]) => pattern)];
    for (const pattern of [...tables, ...[...prepared, ...undone].map(([one]) => one)]) {
      expect(
        lines.some((line) => pattern.test(line)),
        String(pattern),
      ).toBe(true);
    }
  });
});
