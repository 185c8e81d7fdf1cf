import { expect, it } from 'vitest';
import { silentLog, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { auditRecords } from '../../../src/lib/tunnel/audit/index.ts';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { runs } from '../../properties.ts';
import { endOf, startOf } from '../records/bodies.ts';
import { limits } from './folder.ts';

const folder = folderOfEach();

it('an audit while gw writes, rotates and removes files has no finding', { tags: 'large' }, async () => {
  // About one session in each file.
  const dir = folder.path;
  const options = { dir, serial: 'SN-1', clock: systemClock, log: silentLog, maxFileBytes: 900 };
  await using records = await openRecords(options);
  let n = 0;
  const write = async () => {
    n += 1;
    await records.append(startOf(n));
    await records.append(endOf(n));
    await records.markSent(2 * n);
  };
  // More than the files that are kept.
  while (n < 25) await write();
  const audit = () => auditRecords({ records: dir, limits, now: new Date() });
  const verdicts: string[] = [];
  for (let round = 0; round < 500 && verdicts.length < runs(40); round += 1) {
    const [facts] = await Promise.all([audit().catch((error) => error), write()]);
    // Written faster than the folder can be read at one moment: said, not judged.
    if (facts instanceof Error) expect(facts).toMatchObject({ code: 'FILE_UNREADABLE' });
    else {
      expect(facts.findings).toEqual([]);
      verdicts.push(facts.verdict);
    }
  }
  expect(verdicts.length).toBeGreaterThan(5);
  const after = await audit();
  expect(after).toMatchObject({ verdict: 'ok', findings: [] });
  expect(after.firstSeq).toBeGreaterThan(1);
  expect(after.checks.find(({ id }) => id === 'beginning')).toMatchObject({ detail: 'rotated' });
});
