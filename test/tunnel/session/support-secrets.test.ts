import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import type { SupportView } from '../../../src/lib/tunnel/view.ts';
import type { FakeProxy } from './fake-proxy.ts';
import { isKnown } from './fake-proxy.ts';
import { recordsWith, startedWorld, supportWorld, TOKEN, type WorldOptions } from './support-world.ts';

/** A service that returns the tokens in every text that it can reach. */
const echo = 'status 400: <TOKEN> with <CLIENT-TOKEN>';
const says: FakeProxy['says'] = [
  { event: 'connected', channelId: 'ch-<TOKEN>', localAddress: '127.0.0.1' },
  { event: 'lost', detail: echo },
  `not an event: ${echo}`,
  `{"event":"lost","detail":["${echo}"]}`,
  { event: 'counts', open: 1, connections: 1, bytesIn: 1, bytesOut: 1 },
];

/** Everything that a session leaves behind or shows. */
async function traces(world: ReturnType<typeof supportWorld>, errors: readonly unknown[]): Promise<string[]> {
  const files = globSync('**', { cwd: world.stateDir })
    .map((name) => join(world.stateDir, name))
    .filter((path) => statSync(path).isFile());
  const { logged, sent, failures, support } = world;
  const shown = [logged, support.view(), sent, failures, await support.sessions(50), errors];
  return [
    ...files.map((path) => readFileSync(path, 'utf8')),
    ...shown.map((one) => JSON.stringify(one)),
    ...[...shown, world.support].map((one) => inspect(one, { depth: 20, showHidden: true })),
  ];
}

async function expectNoToken(world: ReturnType<typeof supportWorld>, errors: readonly unknown[] = []): Promise<void> {
  const given = world.proxy.spawned().flatMap(({ env }) => [env.GW_TUNNEL_TOKEN, env.GW_TUNNEL_CLIENT_TOKEN]);
  const tokens = [TOKEN, ...given].filter((token) => token !== undefined);
  const pieces = tokens.flatMap((token) => [token.slice(0, 12), token.slice(-12)]);
  const all = await traces(world, errors);
  expect(all.join('').length).toBeGreaterThan(500);
  expect(pieces.filter((piece) => all.some((text) => text.includes(piece)))).toEqual([]);
}

const failing = (kind: 'start' | 'end'): WorldOptions => ({
  openRecords: recordsWith(async (body) => {
    if (body.kind === kind) throw new GwError('FILE_UNWRITABLE', `cannot write ${inspect(body)}`);
  }),
});

describe('the token of a session', () => {
  it.each<[string, FakeProxy]>([
    ['is refused', { says: [...says, { event: 'ended', exit: 'refused', detail: echo }], code: 4, stderr: echo }],
    ['fails', { says, code: 1, stderr: `${'x'.repeat(4_060)}${echo}` }],
  ])('is in no file, log, view, record or error after a session that %s', async (_name, behaviour) => {
    await using world = await startedWorld({}, behaviour);
    world.offer();
    await world.untilRecords(2);
    await expect.poll(() => world.sent.length).toBe(2);
    await expectNoToken(world);
  });

  it('is in none of them while the session runs; only the environment of the proxy contains it', async () => {
    await using world = await startedWorld({}, { says, stderr: echo });
    // Sessions of other tests may run at the same time.
    const token = `${crypto.randomUUID()}${crypto.randomUUID()}`;
    world.offer({ token });
    const { pid } = await world.nth(1);
    await expect.poll(() => world.support.view().running?.open).toBe(1);
    await expectNoToken(world);
    const with_ = (name: 'cmdline' | 'environ') =>
      globSync(`/proc/[0-9]*/${name}`).filter((path) => readOr(path).includes(token));
    expect(with_('cmdline')).toEqual([]);
    expect(with_('environ')).toEqual([`/proc/${pid}/environ`]);
    await world.support.endOnSite('Kim');
    expect(isKnown(pid)).toBe(false);
    await expectNoToken(world);
  });

  it.each([
    ['start', ({ lastRefused }: SupportView) => lastRefused?.reason === 'not-recorded'],
    ['end', ({ records }: SupportView) => records.status === 'failing'],
  ] as const)('is in none of them when the %s cannot be recorded', async (kind, isShown) => {
    await using world = await startedWorld(failing(kind), { says, code: 1, stderr: echo });
    world.offer();
    await expect.poll(() => isShown(world.support.view())).toBe(true);
    await expectNoToken(world);
  });

  it('is in none of them when the program does not exist, and in no error', async () => {
    await using world = supportWorld();
    const support = world.make({ program: ['/nonexistent/node'] });
    await world.start();
    await world.start(support);
    world.offer({}, support);
    await world.untilRecords(2);
    world.offer({ services: [TOKEN] }, support);
    await world.untilRecords(3);
    const errors: unknown[] = [];
    await world.support.stop();
    await world.support.sessions(1).catch((error: unknown) => errors.push(error));
    expect(errors.length).toBe(1);
    await world.start();
    await expectNoToken(world, errors);
  });
});

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended, or belongs to another user.
    return '';
  }
}
