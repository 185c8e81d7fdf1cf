import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended } from '../process.ts';
import { gwBinary, runGw } from './gw.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-cli-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const { version } = JSON.parse(readFileSync(join(dirname(gwBinary), '../package.json'), 'utf8'));
const manifest = JSON.parse(readFileSync(join(dirname(gwBinary), '../oclif.manifest.json'), 'utf8'));
/** Without those that only gw itself starts, which are not in the help and have tests of their own. */
const commandIds = Object.entries<{ readonly hidden?: boolean }>(manifest.commands)
  .filter(([, { hidden }]) => hidden !== true)
  .map(([id]) => id.split(':'));

/** Makes this Node appear old to bin/run.js; the runtime that it then starts is not affected. */
const asNode20 = [
  '--import',
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})',
];

describe('gw --version', () => {
  it('prints name, version and platform', async () => {
    const { code, stdout } = await runGw(['--version']);
    expect(code).toBe(0);
    expect(stdout.trim()).toBe(`gw/${version} ${process.platform}-${process.arch} node-${process.version}`);
  });
});

describe('on an older Node', () => {
  it('restarts itself on the runtime installed by npm ci', async () => {
    const { code, stdout, stderr } = await runGw(['--version'], { node: asNode20 });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toMatch(/ node-v24\./);
  });

  it('passes arguments, output and exit code through', async () => {
    const direct = await runGw(['evidence', 'show', 'no-such-fact', '--json']);
    const again = await runGw(['evidence', 'show', 'no-such-fact', '--json'], { node: asNode20 });
    expect(again.code).toBe(2);
    expect(again.stdout).toBe(direct.stdout);
  });

  it('reports in one line the missing runtime', async () => {
    const lonely = join(scratch, 'bin');
    mkdirSync(lonely);
    copyFileSync(gwBinary, join(lonely, 'run.mjs'));
    const run = spawnSync(process.execPath, [...asNode20, join(lonely, 'run.mjs'), '--version'], { encoding: 'utf8' });
    expect(run.status).toBe(2);
    expect(run.stdout).toBe('');
    expect(run.stderr.trim().split('\n')).toHaveLength(1);
    expect(run.stderr).toContain('needs Node 22.19');
  });
});

describe('every command', () => {
  /** Of each: its help, and an unknown flag in text and as JSON. */
  const ways = [['--help'], ['--no-such-flag'], ['--no-such-flag', '--json']] as const;
  const found = new Map<string, Pick<Ended, 'code' | 'stdout' | 'stderr'>>();
  const of = (id: readonly string[], way: readonly string[]) =>
    found.get([...id, ...way].join(' ')) ?? expect.fail(`gw ${id.join(' ')} was not run`);
  /** `gw serve` ends its process by itself; the others are run in one process. */
  const isApart = ([first]: readonly string[]) => first === 'serve';

  beforeAll(async () => {
    const all = commandIds.flatMap((id) => ways.map((way) => [...id, ...way]));
    const together = all.filter((words) => !isApart(words));
    const [, apart] = await Promise.all([
      runTogether(together).then((ends) => {
        for (const [n, words] of together.entries()) {
          const end = ends[n];
          if (end) found.set(words.join(' '), end);
        }
      }),
      // And some as typed.
      Promise.all(
        [...all.filter(isApart), ...all.slice(0, ways.length)].map((words) =>
          runGw(words).then((end) => ({ words, end })),
        ),
      ),
    ]);
    for (const { words, end } of apart) {
      const { code, stdout, stderr } = end;
      const inOneProcess = found.get(words.join(' '));
      if (inOneProcess) expect(inOneProcess).toEqual({ code, stdout, stderr });
      found.set(words.join(' '), end);
    }
  });

  // `gw help --help` is the list of all commands.
  it.each(commandIds.filter(([id]) => id !== 'help'))(
    'gw %s %s prints --help on stdout with a real example',
    (...id) => {
      const { code, stdout, stderr } = of(id, ways[0]);
      expect(code).toBe(0);
      expect(stderr).toBe('');
      expect(stdout).toContain('EXAMPLES');
      expect(stdout).toContain('--json');
    },
  );

  it.each(commandIds)('gw %s %s rejects an unknown flag as usage, in text and as JSON alike', (...id) => {
    // The service manager does not restart after this code; 2 is also that of a missing launcher.
    const usage = id[0] === 'serve' ? 78 : 2;
    const text = of(id, ways[1]);
    expect(text.code).toBe(usage);
    expect(text.stdout).toBe('');
    expect(text.stderr).toContain('no-such-flag');
    const json = of(id, ways[2]);
    expect(json.code).toBe(usage);
    expect(json.stderr).toBe('');
    const envelope = JSON.parse(json.stdout);
    expect(envelope).toMatchObject({ ok: false, data: null, error: { code: 'USAGE' } });
    expect(envelope.schema).toBe(`gw/${id.join('-')}/1`);
    expect(Object.keys(envelope).sort()).toEqual(['data', 'error', 'ok', 'schema', 'warnings']);
    expect(json.stdout).not.toContain(dirname(gwBinary));
  });
});

describe('the site file', () => {
  it.each([
    [['site', 'check'], {}, 'site.yaml'],
    [['site', 'check', 'one.yaml'], { GW_SITE: 'three.yaml' }, 'one.yaml'],
    [['site', 'check', '--site', 'two.yaml'], { GW_SITE: 'three.yaml' }, 'two.yaml'],
    [['site', 'check'], { GW_SITE: 'three.yaml' }, 'three.yaml'],
  ] as [string[], Record<string, string>, string][])('of gw %j with %j is %s', async (args, env, file) => {
    const { code, stderr } = await runGw(args, { cwd: scratch, env });
    expect(stderr).toContain(file === 'site.yaml' ? 'No site.yaml in ' : `File not found: ${file}.`);
    expect(code).toBe(2);
  });

  it('cannot be two files', async () => {
    const { code, stderr } = await runGw(['site', 'check', 'one.yaml', '--site', 'two.yaml']);
    expect(stderr).toContain('Two site files are given: one.yaml and --site two.yaml.');
    expect(code).toBe(2);
  });
});

/** Runs gw for each of these argument lists, in one process. */
async function runTogether(all: readonly (readonly string[])[]): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>[]> {
  const main = join(dirname(gwBinary), '../dist/cli/main.js');
  const { PATH = '', HOME = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('./cli-child.ts', import.meta.url)), main, gwBinary],
    {
      encoding: 'utf8',
      input: JSON.stringify(all),
      env: { PATH, HOME, NO_COLOR: '1', OCLIF_DISABLE_ENGINE_WARNING: '1' },
      maxBuffer: 1 << 24,
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}
