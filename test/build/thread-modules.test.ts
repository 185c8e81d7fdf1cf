import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, describe, expect, it } from 'vitest';
import { threadModules } from '../../scripts/thread-modules.ts';
import config from '../../vite.config.ts';
import { runProcess } from '../process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-thread-modules-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Opens the outbox, appends and sends one message, and prints what the publisher was given. */
const program = (module: string) => `
import { openOutbox } from ${JSON.stringify(module)};
import { systemClock as clock } from ${JSON.stringify(join(root, 'src/lib/lifecycle/index.ts'))};
const log = { debug() {}, info() {}, warn() {}, error: (fields, text) => console.log(text, fields) };
const outbox = await openOutbox({
  path: process.argv[2], serial: 'SN1', recordTopic: 'r', shadowTopic: 's', maxBytes: 4e6, maxPerSecond: 100, clock, log,
});
const { seq } = await outbox.append({ class: 'fault', topic: 'gw/SN1/faults', body: { key: 'a' } });
const end = new AbortController();
await outbox.drain({ async publish(topic, payload) {
  const { seq: sent, serial } = JSON.parse(Buffer.from(payload));
  console.log(topic, serial, seq === sent);
  end.abort();
} }, end.signal);
await outbox[Symbol.asyncDispose]();
console.log(outbox.view().accepted, outbox.view().acknowledged);
`;

async function ran(module: string) {
  const script = join(scratch, 'program.mjs');
  writeFileSync(script, program(module));
  return await runProcess(process.execPath, [script, join(mkdtempSync(join(scratch, 'state-')), 'outbox', 'db')], {
    // Another working directory than that of the sources and of the build.
    cwd: scratch,
  });
}

const expected = { code: 0, stdout: 'gw/SN1/faults SN1 true\n1 1\n', stderr: '' };

describe('the worker thread of the outbox', () => {
  it('runs from the build of gw, and prints nothing', { tags: 'large' }, async () => {
    const outDir = join(scratch, 'dist');
    // With the daemon, so that code is shared out to chunks as in the build.
    const input = {
      outbox: 'src/lib/cloud/outbox/outbox.ts',
      'cli/main': 'src/cli/main.ts',
      'commands/serve': 'src/commands/serve.ts',
    };
    const rolldownOptions = { ...config.build?.rolldownOptions, input };
    await build({
      ...config,
      configFile: false,
      root,
      logLevel: 'silent',
      build: {
        ...config.build,
        outDir,
        license: false,
        rolldownOptions: { ...rolldownOptions, preserveEntrySignatures: 'allow-extension' },
      },
    });
    // The build has no sources beside it.
    expect(readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))).toEqual(
      [],
    );
    expect(await ran(join(outDir, 'outbox.js'))).toMatchObject(expected);
  });

  it('runs from the sources, and prints nothing', async () => {
    expect(await ran(join(root, 'src/lib/cloud/outbox/outbox.ts'))).toMatchObject(expected);
  });
});

describe('the build', () => {
  it('refuses another use of import.meta.url in a source file', async () => {
    const path = join(mkdtempSync(join(scratch, 'src-')), 'src', 'a.ts');
    const plugins = [
      {
        name: 'source',
        resolveId: () => path,
        load: () => `export const here = import.meta.url;`,
      },
      threadModules(),
    ];
    const building = build({
      configFile: false,
      root: scratch,
      logLevel: 'silent',
      plugins,
      build: { ssr: true, write: false, rolldownOptions: { input: 'a' } },
    });
    await expect(building).rejects.toThrow(/this use of import\.meta\.url is not understood/);
  });
});
