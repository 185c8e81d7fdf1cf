import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { backUpMapsToFile } from '../../../src/lib/toolkit/map/backup.ts';
import { type ReplaceChassisOptions, replaceChassis } from '../../../src/lib/toolkit/replace/chassis.ts';
import { replacementPath } from '../../../src/lib/toolkit/replace/replacement-file.ts';
import { openToolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { context } from '../kit.ts';

/** With a simulated chassis and its files, and without a gateway: what stands in a file of a replacement, and what is refused. */
describe('gw replace chassis', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'gw-replace-'));
  const robots: Sim[] = [];
  let sitePath = '';
  let stateDir = '';
  beforeAll(async () => {
    const first = await startSim({ dir: join(scratch, 'one'), serial: 'SN1' });
    robots.push(first, await startSim({ dir: join(scratch, 'three'), serial: 'SN3' }));
    sitePath = first.sitePath ?? '';
    stateDir = join(scratch, 'one', 'state');
  });
  afterAll(async () => {
    for (const robot of robots) await robot[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
  });

  const replace = async (changes: Partial<ReplaceChassisOptions> = {}, site = sitePath) =>
    replaceChassis(
      await openToolkit(site),
      {
        ...{ to: undefined, from: undefined, host: undefined, mac: undefined, archive: undefined, withoutMaps: false },
        ...{
          readCode: undefined,
          write: false,
          itStandsStill: false,
          gwVersion: '1.0.0',
          command: 'gw replace chassis',
        },
        ...{ person: { confirms: [], by: 'K. Maier' }, ...changes },
      },
      { ...context(), onSafetyBackup() {} },
    );
  const kept = () => JSON.parse(readFileSync(replacementPath(stateDir, 'chassis'), 'utf8'));
  const verdictOf = (id: string, { steps }: Awaited<ReturnType<typeof replace>>) =>
    steps.find((one) => one.id === id)?.verdict;

  it.each([
    ['no serial number of a new chassis', {}, 'USAGE'],
    ['the serial number that is there', { to: 'SN1' }, 'USAGE'],
    ['what is no serial number', { to: 'SN 2' }, 'USAGE'],
    ['an old one that the site file does not name', { to: 'SN2', from: 'SN7' }, 'REPLACEMENT_OTHER'],
    ['a step that asks for no word', { to: 'SN2', person: { confirms: ['maps'], by: 'K. Maier' } }, 'USAGE'],
  ])('refuses %s', async (_what, changes, code) => {
    await expect(replace(changes)).rejects.toMatchObject({ code });
    rmSync(replacementPath(stateDir, 'chassis'), { force: true });
  });

  it('remembers both serial numbers and the backup that it takes, and takes over no file of others', async () => {
    const begun = await replace({ to: 'SN2' });
    expect([begun.from, begun.to, verdictOf('old-maps', begun)]).toEqual(['SN1', 'SN2', 'ok']);
    expect(kept()).toMatchObject({
      from: 'SN1',
      to: 'SN2',
      archive: { path: expect.stringMatching(/map-backups/) },
      words: [],
    });
    const content = kept();
    expect(verdictOf('old-maps', await replace())).toBe('ok');
    await expect(replace({ to: 'SN8' })).rejects.toMatchObject({ code: 'REPLACEMENT_OTHER' });
    await expect(replace({ from: 'SN8' })).rejects.toMatchObject({ code: 'REPLACEMENT_OTHER' });
    const other = join(scratch, 'one', 'other.yaml');
    writeFileSync(other, readFileSync(sitePath, 'utf8').replaceAll(/SN[12]/g, 'SN3'));
    await expect(replace({}, other)).rejects.toMatchObject({ code: 'REPLACEMENT_OTHER' });
    expect(kept()).toEqual(content);
  });

  it('takes no backup of another chassis, and keeps the one that it has', async () => {
    const { archive } = kept();
    const third = await openToolkit(robots[1]?.sitePath ?? '');
    const { file } = await backUpMapsToFile(
      third,
      { ids: [], folder: scratch, force: false, gwVersion: '1.0.0' },
      context(),
    );
    await expect(replace({ archive: file })).rejects.toMatchObject({ code: 'ARCHIVE_FOREIGN' });
    await expect(replace({ archive: sitePath })).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' });
    expect(kept().archive).toEqual(archive);
  });

  it('is wrong where the backup was changed, until a person gives the maps up', async () => {
    writeFileSync(kept().archive.path, 'cut');
    const changed = await replace();
    expect([verdictOf('old-maps', changed), changed.verdict]).toEqual(['wrong', 'wrong']);
    expect(verdictOf('old-maps', await replace({ withoutMaps: true }))).toBe('stated');
    expect(kept().words).toMatchObject([{ step: 'old-maps', by: 'K. Maier' }]);
  });
});
