import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { gwBinary, runGw } from './gw.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-terminal-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const hasScript = spawnSync('script', ['--version']).status === 0;

/** Runs gw on a terminal of 24 lines and 60 columns. */
function onTerminal(args: string, env: Record<string, string> = {}) {
  const line = `stty rows 24 cols 60; ${process.execPath} ${gwBinary} ${args}`;
  const { PATH = '', HOME = '' } = process.env;
  const run = spawnSync('script', ['-qec', line, '/dev/null'], {
    cwd: dir,
    encoding: 'utf8',
    input: '',
    timeout: 100_000,
    env: { PATH, HOME, NO_COLOR: '1', TERM: 'xterm', ...env },
  });
  return { code: run.status, lines: run.stdout.replaceAll('\r', '').trimEnd().split('\n') };
}

describe.skipIf(!hasScript)('on a terminal', () => {
  it('asks nothing where the questions would go to a file, and says how to answer', () => {
    const { code } = onTerminal('site init asked.yaml 2>asked.txt');
    expect(code).toBe(2);
    const text = readFileSync(join(dir, 'asked.txt'), 'utf8');
    expect(text).toContain('Prompts need a terminal.');
    expect(text).toContain('--yes with --name and --chassis-host');
    expect(existsSync(join(dir, 'asked.yaml'))).toBe(false);
  });

  it('asks for no secret where the prompt would go to a file', () => {
    writeFileSync(
      join(dir, 'p.yaml'),
      'name: P\nchassis: { host: 127.0.0.1, serial: S }\noperator: { passwordFile: secret }\n',
    );
    const { code } = onTerminal('operator password --site p.yaml 2>secret.txt');
    expect(code).toBe(2);
    expect(readFileSync(join(dir, 'secret.txt'), 'utf8')).toContain('The prompt would go to a file');
    expect(existsSync(join(dir, 'secret'))).toBe(false);
  });

  it('breaks no line within a word, and ends a long text with its verdict', () => {
    const { code, lines } = onTerminal('evidence list', { GW_PAGER: 'cat' });
    expect(code).toBe(0);
    expect(lines.length).toBeGreaterThan(1_000);
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines.slice(-2)).toEqual(lines.slice(0, 2));
    expect(lines[0]).toMatch(/^\d+ of \d+ facts/);
  });

  it('shows a long text of a command that only shows through the pager, with its colours, and keeps the exit code', () => {
    writeFileSync(join(dir, 'pager.sh'), '#!/bin/sh\necho paged\nhead -n 2\n', { mode: 0o755 });
    const { code, lines } = onTerminal('evidence list', { GW_PAGER: join(dir, 'pager.sh') });
    expect(code).toBe(0);
    expect(lines[0]).toBe('paged');
    expect(lines).toHaveLength(3);
  });

  it('prints the text where the pager is missing', () => {
    const { code, lines } = onTerminal('evidence list', { GW_PAGER: '/nowhere/pager' });
    expect(code).toBe(0);
    expect(lines.length).toBeGreaterThan(1_000);
  });

  it('uses no pager for a short text, or with --json', () => {
    const env = { GW_PAGER: '/nowhere/pager' };
    expect(onTerminal('version', env).lines.length).toBeLessThan(24);
    expect(onTerminal('evidence list --json', env).lines[0]).toBe('{');
  });

  it('uses none with --no-pager, and loses nothing where the reader leaves at once', () => {
    writeFileSync(join(dir, 'leaves.sh'), '#!/bin/sh\necho left\nexit 3\n', { mode: 0o755 });
    const env = { GW_PAGER: join(dir, 'leaves.sh') };
    expect(onTerminal('evidence list', env)).toEqual({ code: 0, lines: ['left'] });
    const { code, lines } = onTerminal('evidence list --no-pager', env);
    expect([code, lines.includes('left'), lines.length > 1_000]).toEqual([0, false, true]);
    writeFileSync(join(dir, 'few.json'), '{"type":"FeatureCollection","features":[]}');
    // A check that is not fine keeps its exit code behind the pager.
    const features = Array.from(
      { length: 60 },
      (_, x) => `{"type":"Feature","id":"${x}","properties":{},"geometry":{"type":"Point","coordinates":[${x},0]}}`,
    );
    writeFileSync(join(dir, 'many.json'), `{"type":"FeatureCollection","features":[${features.join(',')}]}`);
    const diff = onTerminal('overlays diff few.json many.json', env);
    // The terminal also shows the progress.
    expect([diff.code, diff.lines.some((line) => line.endsWith('left'))]).toEqual([1, true]);
  });
});

describe('elsewhere', () => {
  it('keeps lines whole, and honours COLUMNS', async () => {
    const whole = await runGw(['checklist', 'show', 'site'], { cwd: dir });
    expect(Math.max(...whole.stdout.split('\n').map((line) => line.length))).toBeGreaterThan(120);
    const narrow = await runGw(['checklist', 'show', 'site'], { cwd: dir, env: { COLUMNS: '70' } });
    expect(narrow.stdout.split('\n').filter((line) => line.length > 70)).toEqual([]);
    expect(narrow.stdout.replace(/\s+/g, ' ')).toBe(whole.stdout.replace(/\s+/g, ' '));
  });

  it('breaks no document', async () => {
    const yaml = 'name: A long name of a site, as people give them to sites\nchassis: { host: 127.0.0.1, serial: S }\n';
    writeFileSync(join(dir, 'site.yaml'), yaml);
    const args = ['network', 'request', '--format', 'html'];
    const whole = await runGw(args, { cwd: dir });
    expect(await runGw(args, { cwd: dir, env: { COLUMNS: '60' } })).toMatchObject({ stdout: whole.stdout });
    expect(await runGw([...args, '--quiet'], { cwd: dir })).toMatchObject({ stdout: whole.stdout });
  });
});

describe('--quiet', () => {
  it('prints nothing of a result that is fine', async () => {
    expect(await runGw(['site', 'check', '--quiet', '--accept-undecided'], { cwd: dir })).toMatchObject({
      code: 0,
      stdout: '',
    });
  });

  it('prints the first line of one that is not, and errors', async () => {
    const feature = (x: number) =>
      `{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","properties":{},"geometry":{"type":"Point","coordinates":[${x},0]}}]}`;
    writeFileSync(join(dir, 'a.json'), feature(0));
    writeFileSync(join(dir, 'b.json'), feature(1));
    const diff = ['overlays', 'diff', 'a.json', 'b.json'];
    const whole = await runGw(diff, { cwd: dir });
    const quiet = await runGw([...diff, '-q'], { cwd: dir });
    expect(quiet).toMatchObject({ code: whole.code, stderr: whole.stderr });
    expect(whole.code).toBe(1);
    expect(quiet.stdout).toBe(`${whole.stdout.split('\n')[0]}\n`);
    const error = await runGw(['site', 'check', '--quiet', '--site', 'none.yaml'], { cwd: dir });
    expect(error).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('none.yaml') });
  });

  it('changes nothing of JSON', async () => {
    const { stdout } = await runGw(['version', '--json', '--quiet'], { cwd: dir });
    expect(JSON.parse(stdout).ok).toBe(true);
  });
});
