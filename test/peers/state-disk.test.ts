import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { gwBinary } from '../e2e/gw.ts';
import { hasNamespaces } from './peer.ts';

const child = fileURLToPath(new URL('./state-disk-child.ts', import.meta.url));
const script = 'ip link set lo up && exec "$@"';

/** Real file systems of the kernel, mounted for this one program only. */
async function play(scenario: string) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-state-disk-'));
  try {
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['--net', '--mount', '--', 'sh', '-c', script, '_', process.execPath, child, gwBinary, dir, scenario],
      { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1' }, timeout: 100_000 },
    );
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
    return JSON.parse(stdout) as Record<string, any>;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** It is retried repeatedly, and may be starting. */
const triedAgain = { status: expect.stringMatching(/^(?:re)?starting$/), lastError: expect.stringMatching(/./) };

const service = (health: { data: { services: { name: string }[] } }, name: string) =>
  health.data.services.find((row) => row.name === name);

describe.runIf(hasNamespaces())('gw serve on a real file system', { concurrent: true }, () => {
  it.each([
    ['full', /no space left/, false],
    ['full later', /no space left/, true],
    ['read-only', /read-only file system/, false],
  ])('that is %s serves, stops, reports unsaved state, and recovers by itself', async (scenario, why, runs) => {
    const { early, stop, seen, health, neighbours, healthAfterRepair, saved, after, code } = await play(scenario);
    // Known from the start, not only once a stop could not be saved.
    expect(early.data.disk.state.status).toBe(scenario === 'full later' ? 'ok' : 'unusable');
    expect(stop).toMatchObject({ status: 200, data: { stop: { latched: true, saved: false } } });
    expect(seen.data.stop.unsavedBecause).toMatch(/^not saved: a restart of gw would forget this stop\./);
    expect(seen.data.stop.unsavedBecause).toMatch(why);
    expect(health.data).toMatchObject({
      status: 'degraded',
      disk: {
        state: { status: 'unusable', detail: expect.stringMatching(why), remedy: expect.stringMatching(/stateDir/) },
      },
    });
    expect(service(health, 'motion')).toMatchObject({ status: 'running' });
    expect(service(health, 'fleet')).toMatchObject(runs ? { status: 'running' } : triedAgain);
    expect(neighbours.data.status).toBe(runs ? 'listening' : 'not-checked');
    expect(healthAfterRepair.data).toMatchObject({ status: 'ok', disk: { state: { status: 'ok' } } });
    expect(saved.data.stop).toMatchObject({ latched: true, saved: true, unsavedBecause: null });
    // It was reported as saved, so it survives kill -9.
    expect(after.data.stop).toMatchObject({ latched: true, saved: true });
    expect(code).toBe(0);
  });

  it('that is damaged runs without heartbeat and media, and starts both after a repair', async () => {
    const { stop, health, neighbours, healthAfterRepair, after, code } = await play('damaged');
    expect(stop.data.stop).toMatchObject({ latched: true, saved: true });
    expect(health.data.status).toBe('degraded');
    expect(service(health, 'fleet')).toMatchObject({
      // It is retried repeatedly, and may be starting.
      status: expect.stringMatching(/^(?:re)?starting$/),
      lastError: expect.stringMatching(/heartbeat-received\.json cannot be read/),
      remedy: expect.stringMatching(/move it away/),
    });
    expect(health.data.disk.media).toMatchObject({
      status: 'unusable',
      detail: expect.stringContaining('too many symbolic links'),
    });
    expect(neighbours.data).toMatchObject({ status: 'not-checked', detail: expect.stringContaining('is not running') });
    expect(healthAfterRepair.data.status).toBe('ok');
    expect(after.data.stop).toMatchObject({ latched: true, saved: true });
    expect(code).toBe(0);
  });
});
