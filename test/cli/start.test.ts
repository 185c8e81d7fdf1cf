import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childrenOf, gwBinary, olderNode, runGw, startGw } from '../e2e/gw.ts';
import type { Ended } from '../process.ts';
import { isFull } from '../properties.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-start-'));
const site = join(scratch, 'site.yaml');
const spy = join(scratch, 'spy.mjs');

beforeAll(() => {
  writeFileSync(site, 'name: Test\nchassis: { host: 127.0.0.1, serial: SN-1 }\n');
  writeFileSync(
    spy,
    `import { registerHooks } from 'node:module';
     import { appendFileSync, writeFileSync } from 'node:fs';
     const list = process.env.GW_TEST_MODULES;
     writeFileSync(list, '');
     registerHooks({ load(url, context, next) { appendFileSync(list, url + '\\n'); return next(url, context); } });`,
  );
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Loaded extends Ended {
  /** Files read by the loader. */
  readonly files: readonly string[];
  /** Packages that these files belong to, or were built from. */
  readonly packages: readonly string[];
  /** Source files of gw that they were built from. */
  readonly sources: readonly string[];
}

/** The modules that a run of the built program loads, from the loader and the source maps. */
async function loadedBy(args: readonly string[]): Promise<Loaded> {
  const list = join(scratch, 'modules.txt');
  const ended = await runGw(args, { node: ['--import', spy], env: { GW_TEST_MODULES: list } });
  const files = readFileSync(list, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:') && url !== `file://${spy}`)
    .map((url) => fileURLToPath(url));
  const origins = files.flatMap((file) => (file.includes('/dist/') ? builtFrom(file) : [file]));
  const packages = origins.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const sources = origins.flatMap((path) => /\/(src\/.*)$/.exec(path)?.[1] ?? []);
  return { ...ended, files, packages: [...new Set(packages)].sort(), sources };
}

/** Chunks that only re-export, or are of the bundler, have no source file and no map. */
function builtFrom(file: string): readonly string[] {
  if (!existsSync(`${file}.map`)) {
    expect(readFileSync(file, 'utf8')).not.toMatch(/^\/\/ (src|node_modules)\//m);
    return [];
  }
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: readonly string[] };
  return sources.map((path) => join(dirname(file), path));
}

/** Libraries that take long to load and are used by few commands. */
const dear = [
  'undici',
  'ws',
  'fastify',
  'pino',
  'ssh2',
  'pdfkit',
  'aedes',
  'pngjs',
  'ora',
  '@peculiar/x509',
  'age-encryption',
];

const licenses = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.md'), 'utf8');
/** One in `npm test`: each is a process. */
const someOf = (lines: readonly string[]) => (isFull ? lines : lines.slice(0, 1));

describe('the modules loaded', () => {
  it('by --version are those that answer it and no others', async () => {
    const { files, code } = await loadedBy(['--version']);
    expect(code).toBe(0);
    expect(files).toEqual([gwBinary, join(root, 'package.json')]);
  });

  const helps = ['site check --help', '--help', 'evidence --help'];
  it.for(someOf(helps))(
    'by gw %s are the framework in a few files, and no modules of command work',
    { tags: 'property' },
    async (line) => {
      const { files, packages, sources } = await loadedBy(line.split(' '));
      expect(packages).toContain('@oclif/core');
      for (const library of [...dear, 'zod', 'yaml']) expect(packages).not.toContain(library);
      expect(sources.filter((path) => /^src\/lib\/(?!error\/|text\/)/.test(path))).toEqual([]);
      expect(files.length).toBeLessThan(22);
    },
  );

  const readers = [
    `site check ${site}`,
    `evidence show angles.target-ori --site ${site}`,
    `evidence list --site ${site}`,
  ];
  it.for(someOf(readers))(
    'by gw %s are those that read the site file, and no network client',
    { tags: 'property' },
    async (line) => {
      const { files, packages, sources, code } = await loadedBy(line.split(' '));
      expect(code).toBe(0);
      expect(packages.length).toBeGreaterThan(5);
      for (const name of packages) expect(licenses).toContain(`## ${name} - `);
      expect(packages).toEqual(expect.arrayContaining(['@oclif/core', 'yaml', 'zod']));
      for (const path of ['src/lib/site/load.ts', 'src/lib/evidence/ledger.ts']) expect(sources).toContain(path);
      for (const library of dear) expect(packages).not.toContain(library);
      expect(files.filter((path) => path.includes('/node_modules/'))).toEqual([]);
      expect(files.length).toBeLessThan(65);
    },
  );
});

describe('the build', () => {
  it('names file and line of the source in a stack, where it is asked for', async () => {
    const { stderr } = await runGw(['evidence', 'show', 'no-such-fact'], { env: { GW_DEBUG: '1' } });
    const [, path = '', line = '0'] = /at namedFact \((.*\.ts):(\d+):\d+\)/.exec(stderr) ?? [];
    expect(path).toMatch(/\/src\/lib\/toolkit\//);
    expect(readFileSync(path, 'utf8').split('\n')[Number(line) - 1]).toContain('unknownFact(');
  });

  /** The simulated robot, started by an older Node.js. */
  function simOnOlderNode() {
    const dir = mkdtempSync(join(scratch, 'sim-'));
    const words = ['sim', '--dir', dir, '--chassis-port', '0', '--operator-port', '5173', '--json'];
    return startGw(words, { node: olderNode, env: { WATCHDOG_PID: '1' } });
  }

  it('ends in order when the older Node.js that restarted it is killed', async () => {
    await using sim = simOnOlderNode();
    await sim.untilOutput('"event":"ready"');
    expect(childrenOf(sim.child)).toHaveLength(1);
    // Resolves when nothing has its output open any more.
    const { signal, stdout } = await sim.end('SIGKILL');
    expect([signal, stdout.trim().split('\n').at(-1)]).toEqual(['SIGKILL', expect.stringContaining('"event":"ended"')]);
  });

  it.for(isFull ? (['SIGQUIT', 'SIGTERM'] as const) : (['SIGQUIT'] as const))(
    'restarts itself from an older Node.js, which passes %s on, and opens no inspector',
    { tags: 'property' },
    async (signal) => {
      await using sim = simOnOlderNode();
      await sim.untilOutput('"event":"ready"');
      const { pid = 0 } = sim.child;
      const [bundled = 0] = childrenOf(sim.child);
      expect(readFileSync(`/proc/${bundled}/cmdline`, 'utf8').split('\0')[1]).toBe('--disable-sigusr1');
      expect(readFileSync(`/proc/${bundled}/environ`, 'utf8')).not.toContain('WATCHDOG_PID');
      for (const one of [pid, bundled]) process.kill(one, 'SIGUSR1');
      const { code, stderr } = await sim.end(signal);
      // An inspector says on stderr that it listens; its thread has the whole end of the process for that.
      expect(stderr).not.toContain('Debugger');
      expect([code, sim.stdout().trim().split('\n').at(-1)]).toEqual([0, expect.stringContaining('"event":"ended"')]);
    },
  );
});
