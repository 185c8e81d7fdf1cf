import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, release, tmpdir, type } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { gwBinary, runGw } from './gw.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-first-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('a mistyped command', () => {
  it.each([
    [['chasis', 'probe'], 'gw chassis probe'],
    [['help', 'chasis'], 'gw chassis'],
    [['evidence', 'list', '--jsn'], '--json'],
  ])('gw %j suggests %s, and runs no command', async (args, expected) => {
    const text = await runGw(args, { cwd: scratch });
    expect(text.code).toBe(2);
    expect(text.stdout).toBe('');
    expect(text.stderr).toContain(`Did you mean \`${expected}\`?`);
    const json = await runGw([...args, '--json'], { cwd: scratch });
    expect(json.code).toBe(2);
    expect(json.stderr).toBe('');
    const { ok, data, error } = JSON.parse(json.stdout);
    expect([ok, data, error.code, error.details]).toEqual([false, null, 'USAGE', { didYouMean: [expected] }]);
  });
});

describe('gw help', () => {
  it.each([[[]], [['chassis']], [['chassis', 'probe']], [['heartbeat', 'key']], [['enrol']]])(
    '%j prints what --help prints',
    async (words) => {
      const [help, flag] = await Promise.all([runGw(['help', ...words]), runGw([...words, '--help'])]);
      expect(help.code).toBe(0);
      expect(help.stderr).toBe('');
      expect(help.stdout.trim()).toBe(flag.stdout.trim());
      expect(help.stdout.length).toBeGreaterThan(100);
    },
  );

  it('prints it to a pipe as text without colours', async () => {
    const { code, stdout } = await runGw(['help', 'chassis', 'probe', '--json'], {
      env: { NO_COLOR: '', FORCE_COLOR: '1' },
    });
    expect(code).toBe(0);
    const { schema, ok, data } = JSON.parse(stdout);
    expect([schema, ok, data.about]).toEqual(['gw/help/1', true, 'chassis probe']);
    expect(data.text).toContain('USAGE\n  $ gw chassis probe');
  });
});

describe('gw version', () => {
  const { version } = JSON.parse(readFileSync(join(dirname(gwBinary), '../package.json'), 'utf8'));

  it('reports its platform', async () => {
    const { code, stdout } = await runGw(['version', '--json']);
    expect(code).toBe(0);
    const { data } = JSON.parse(stdout);
    expect(data).toMatchObject({
      name: 'gw',
      version,
      node: process.versions.node,
      nodePath: process.execPath,
      kernel: `${type()} ${release()}`,
      architecture: arch(),
      folder: dirname(dirname(gwBinary)),
    });
  });

  it('prints the version in its first line, and names the folder of the docs', async () => {
    const { code, stdout } = await runGw(['version']);
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toBe(`gw ${version}`);
    expect(stdout).toMatch(/^documentation +\/.*\/docs$/m);
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

/** Runs gw with stdout and stderr at a terminal, a file, or both; returns the output of each. */
function atTerminal(args: readonly string[], { to, env = {} }: { to: 'both' | 'stdout' | 'stderr'; env?: object }) {
  const file = join(scratch, 'piped');
  const redirect = to === 'stdout' ? `2>${file}` : to === 'stderr' ? `>${file}` : '';
  const line = `${process.execPath} ${gwBinary} ${args.join(' ')} ${redirect}`;
  const { PATH = '', HOME = '' } = process.env;
  const run = spawnSync('script', ['-qec', line, '/dev/null'], {
    encoding: 'utf8',
    env: { PATH, HOME, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
  });
  return { terminal: run.stdout, piped: redirect === '' ? '' : readFileSync(file, 'utf8') };
}

const code = '\u001b[';
const list = ['evidence', 'list', '--mark', 'OFFEN'];
const wrong = ['evidence', 'show', 'no-such-fact'];

describe.skipIf(!hasScript)('colours at a terminal', () => {
  it.each([[list], [wrong], [['--help']], [['help', 'chassis']]])('gw %j has them', (args) => {
    expect(atTerminal(args, { to: 'both' }).terminal).toContain(code);
  });

  it.each([[list], [wrong], [['--help']], [['help', 'chassis']]])('gw %j has none when they are disabled', (args) => {
    for (const env of [{ NO_COLOR: '1' }, { FORCE_COLOR: '0' }, { TERM: 'dumb' }]) {
      expect(atTerminal(args, { to: 'both', env }).terminal).not.toContain(code);
    }
    expect(atTerminal([...args, '--no-color'], { to: 'both' }).terminal).not.toContain(code);
    expect(atTerminal(['--no-color', ...args], { to: 'both' }).terminal).not.toContain(code);
  });

  it('are decided separately for stdout and stderr', () => {
    expect(atTerminal(list, { to: 'stderr' }).piped).not.toContain(code);
    expect(atTerminal(wrong, { to: 'stderr' }).terminal).toContain(code);
    expect(atTerminal(wrong, { to: 'stdout' }).piped).not.toContain(code);
    expect(atTerminal(list, { to: 'stdout' }).terminal).toContain(code);
  });

  it('of a checklist step, which goes to stderr, do not reach a file', () => {
    const site = join(scratch, 'site.yaml');
    writeFileSync(site, 'name: Here\nchassis: { host: 127.0.0.1, port: 9, serial: SN1 }\n');
    const list = join(scratch, 'one.yaml');
    const step =
      '{ id: file, title: The file is sound, proves: One rule, run: site check, expect: { valid: true }, remedy: Mend it. }';
    writeFileSync(
      list,
      `schema: gw/checklist/1\nname: one\ntitle: One step\npurpose: A line to look at.\nsteps:\n  - ${step}\n`,
    );
    const args = ['checklist', 'run', list, '--site', site, '--out', join(scratch, 'out')];
    const { terminal, piped } = atTerminal(args, { to: 'stdout' });
    expect(piped).toContain('The file is sound');
    expect(piped).not.toContain(code);
    expect(terminal).toContain(code);
  });
});

describe('colours in a pipe', () => {
  it.each([[list], [['--help']]])('gw %j has none, not even in CI', async (args) => {
    const { stdout, stderr } = await runGw(args, { env: { NO_COLOR: '', CI: 'true', GITHUB_ACTIONS: 'true' } });
    expect(stdout).not.toBe('');
    expect(stdout + stderr).not.toContain(code);
  });

  it('are written with FORCE_COLOR, and never into JSON', async () => {
    const env = { NO_COLOR: '', FORCE_COLOR: '1' };
    expect((await runGw(list, { env })).stdout).toContain(code);
    expect((await runGw(wrong, { env })).stderr).toContain(code);
    const json = await runGw([...list, '--json'], { env });
    expect(JSON.parse(json.stdout).ok).toBe(true);
    expect(json.stdout).not.toContain('\\u001b');
    expect(json.stderr).toBe('');
  });
});
