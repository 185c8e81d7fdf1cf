import { mkdir, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMachineTime } from '../../../src/lib/kiosk/index.ts';
import { ageOf, parseBootId } from '../../../src/lib/kiosk/record/observation.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';

const dir = folderOfEach();
const boot = '0b2f3c1e-5c43-4b52-9a6a-9d0e5a1c7f10';
const other = 'f6a7d7aa-1f0e-4a53-8d1c-2b7d7d7e0001';
const at = '2026-01-31T12:00:00.000Z';
const wall = (text: string) => new Date(text);

describe('the age of an observation', () => {
  it('is measured by the uptime until this machine restarts, independent of its wall clock', () => {
    const then = { at, machine: { bootId: boot, uptimeS: 100.4 } };
    for (const jumped of ['1970-01-01T00:00:03.000Z', '2026-01-31T12:00:00.000Z', '2099-06-01T00:00:00.000Z']) {
      const age = ageOf(then, { wall: wall(jumped), machine: { bootId: boot, uptimeS: 161.5 } });
      expect(age).toEqual({ ageS: 61, ageBy: 'uptime' });
    }
  });

  it('is measured by the wall clock after a restart of this machine, and is marked so', () => {
    const then = { at, machine: { bootId: boot, uptimeS: 100 } };
    const now = { wall: wall('2026-01-31T13:00:00.500Z'), machine: { bootId: other, uptimeS: 5 } };
    expect(ageOf(then, now)).toEqual({ ageS: 3_600, ageBy: 'wall-clock' });
  });

  it('is unknown when a clock was set back, and never negative', () => {
    const then = { at, machine: { bootId: boot, uptimeS: 100 } };
    const unknown = { ageS: null, ageBy: null };
    const earlier = { wall: wall('2026-01-31T11:59:59.000Z'), machine: { bootId: other, uptimeS: 900 } };
    expect(ageOf(then, earlier)).toEqual(unknown);
    expect(ageOf(then, { wall: wall(at), machine: { bootId: boot, uptimeS: 99 } })).toEqual(unknown);
    // A machine that does not report its boot id does not count as the same boot.
    const withoutBootId = { at, machine: { bootId: null, uptimeS: 100 } };
    const later = { wall: wall('2026-01-31T12:00:09.000Z'), machine: { bootId: null, uptimeS: 900 } };
    expect(ageOf(withoutBootId, later)).toEqual({ ageS: 9, ageBy: 'wall-clock' });
  });
});

describe('the time of this machine', () => {
  it('is parsed as Linux prints it, and unknown when missing or malformed', async () => {
    expect(await readMachineTime(dir.path)).toEqual({ bootId: null, uptimeS: null });
    await mkdir(dir.at('sys/kernel/random'), { recursive: true });
    await writeFile(dir.at('sys/kernel/random/boot_id'), `${boot}\n`);
    await writeFile(dir.at('uptime'), '1032713.55 2052141.20\n');
    expect(await readMachineTime(dir.path)).toEqual({ bootId: boot, uptimeS: 1_032_713.55 });
    await writeFile(dir.at('uptime'), 'NaN -1\n');
    expect(await readMachineTime(dir.path)).toMatchObject({ uptimeS: null });
  });

  it('accepts exactly one boot id', { tags: 'property' }, () => {
    expect(parseBootId(`${boot}\r\n`)).toBe(boot);
    for (const text of ['', 'cat: boot_id: Permission denied\n', `${boot} ${boot}`, boot.toUpperCase()]) {
      expect(parseBootId(text)).toBeNull();
    }
    fc.assert(fc.property(fc.string(), (text) => parseBootId(text) === null));
  });
});
