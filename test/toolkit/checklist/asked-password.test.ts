import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runList } from '../../checklist/kit.ts';
import { ownFolder } from '../kit.ts';
import { startFakeOperator } from '../operator/fake-operator.ts';

let dir = '';
beforeEach(async () => {
  dir = ownFolder();
});

/** A run of the step that signs in, ended before it; what was typed, and what was said to that. */
async function typing(port: number, passwords: readonly (string | null)[]) {
  const path = join(dir, 'site.yaml');
  const chassis = { host: '127.0.0.1', port: 1, serial: 'SN0001' };
  await writeFile(path, stringify({ name: 'Lobby', chassis, stateDir: 'state', operator: { port } }));
  const ending = new AbortController();
  const warnings: string[] = [];
  let asked = 0;
  let kind = '';
  await runList({
    nameOrFile: 'handover',
    sitePaths: [path],
    only: ['sign-in'],
    signal: ending.signal,
    onProgress: () => {},
    onWarning: (text) => warnings.push(text),
    askPassword: async () => passwords[asked++] ?? null,
    onStep: () => ending.abort(new Error('enough')),
    onResult: (step) => {
      if (step.id === 'sign-in') kind = step.kind;
    },
  });
  return { asked, warnings, kind };
}

test('a mistyped device password is asked for again before the first step, and the right one leaves no session', async () => {
  await using fake = await startFakeOperator();
  const { port } = fake.toolkit.site.operator;
  const { asked, warnings, kind } = await typing(port, ['correct hosre', fake.password]);
  expect(asked).toBe(2);
  expect(warnings).toEqual([
    'The gateway rejects this device password. Type it again, or press Enter to answer questions.',
  ]);
  expect(kind).toBe('run');
  expect(fake.requests.slice(0, 3)).toEqual(['POST /api/anmeldung', 'POST /api/anmeldung', 'DELETE /api/anmeldung']);
  expect(fake.sessions.size).toBe(0);
});

test('after three wrong ones, or none, the steps are questions', async () => {
  await using fake = await startFakeOperator();
  const { port } = fake.toolkit.site.operator;
  const wrong = await typing(port, ['a', 'b', 'c', fake.password]);
  expect(wrong).toMatchObject({ asked: 3, kind: 'confirm' });
  expect(wrong.warnings.at(-1)).toBe('The gateway rejects this device password. The steps that sign in are questions.');
  expect(await typing(port, ['a', null])).toMatchObject({ asked: 2, kind: 'confirm' });
});

test('a password that no gateway can judge is kept: its step says why', async () => {
  expect(await typing(2, ['correct horse'])).toEqual({ asked: 1, warnings: [], kind: 'run' });
  await using fake = await startFakeOperator();
  fake.override = () => [429, { error: { code: 'TOO_MANY', message: 'later' } }];
  expect(await typing(fake.toolkit.site.operator.port, ['any'])).toEqual({ asked: 1, warnings: [], kind: 'run' });
});
