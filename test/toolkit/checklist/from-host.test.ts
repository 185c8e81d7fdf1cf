import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { DialError, type Dialer, type SshOptions } from '../../../src/lib/net/index.ts';
import { secondHosts } from '../../../src/lib/toolkit/network/check/from.ts';
import type { SecondHost } from '../../../src/lib/toolkit/network/check.ts';
import { runList } from '../../checklist/kit.ts';
import { has, ownFolder } from '../kit.ts';

let dir = '';
beforeEach(async () => {
  dir = ownFolder();
  await mkdir(join(dir, 'state'));
});

/** A host of the customer network from which only these ports of the gateway are open. */
function hostThatReaches(...ports: number[]): SecondHost {
  const dialer: Dialer = {
    way: 'via it@198.51.100.20',
    dial: async ({ host, port }) => {
      if (ports.includes(port)) return new PassThrough();
      throw new DialError('no-answer', { address: host, port });
    },
  };
  return { name: 'it@198.51.100.20', use: (signal, work) => work(dialer, signal, { host: '127.0.0.1', port: 22 }) };
}

test.each(['it@', '@198.51.100.20', 'it@host:0', 'it@host:70000', 'it@ho st', ''])(
  'the second host %j is a usage error, and no undecided line',
  (target) => {
    expect(() => secondHosts(['it@198.51.100.20', target], {} as SshOptions)).toThrowError(
      expect.objectContaining({ code: 'USAGE', exitCode: 2, message: has(`'${target}'`) }),
    );
  },
);

/** The step of the list `site`, asked or checked. */
async function step(fromHosts: readonly SecondHost[]) {
  const path = join(dir, 'site.yaml');
  await writeFile(
    path,
    stringify({
      name: 'Lobby',
      chassis: { host: '127.0.0.1', port: 1, serial: 'SN0001' },
      network: { gateway: '192.0.2.2' },
      stateDir: 'state',
    }),
  );
  const questions: string[] = [];
  const { steps } = await runList({
    nameOrFile: 'site',
    sitePaths: [path],
    only: ['unreachable-from-site'],
    checks: { fromHosts },
    ask: async ({ id }) => {
      questions.push(id);
      return { answer: 'yes', by: null, initials: 'KM', remark: null, value: null, attachments: [] };
    },
  });
  return { questions: questions, result: steps.find(({ id }) => id === 'unreachable-from-site') };
}

test('without a second host it is a question', async () => {
  const { questions, result } = await step([]);
  expect(questions).toContain('unreachable-from-site');
  expect(result).toMatchObject({ kind: 'confirm', verdict: 'ok' });
});

test('with one it is checked from there, and an open port is wrong, whatever a person answers', async () => {
  const closed = await step([hostThatReaches()]);
  expect(closed.questions).not.toContain('unreachable-from-site');
  expect(closed.result).toMatchObject({ kind: 'run', run: 'network check', verdict: 'ok' });
  const open = await step([hostThatReaches(5174)]);
  expect(open.result).toMatchObject({ kind: 'run', verdict: 'wrong', why: has('5174') });
});

test('with one that cannot be used it is not checked', async () => {
  const dead: SecondHost = {
    name: 'it@198.51.100.20',
    use: async () => {
      throw new DialError('no-answer', { address: '198.51.100.20', port: 22 });
    },
  };
  expect((await step([dead])).result).toMatchObject({ kind: 'run', verdict: 'not-checked' });
});
