import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RecordVerify } from '../../../src/lib/toolkit/checklist/checklist.result.ts';
import { gwBinary } from '../../e2e/gw.ts';
import { run } from '../namespace.ts';
import { nameOf } from '../segments.ts';
import { REMARK } from './answers.ts';
import { commandResultOf, type Machine, SERIAL } from './day.ts';

/**
 * A record is verified where it was written, by the CA of the identity there, and elsewhere by the certificate of that
 * CA; with one byte of one remark changed by neither.
 */
export async function verifyEverywhere(
  { gateway, laptop }: { readonly gateway: Machine; readonly laptop: Machine },
  file: string,
): Promise<void> {
  const ways = [
    [gateway, ['--site', gateway.site]],
    [laptop, ['--ca-file', join(laptop.dir, 'ca.pem'), '--serial', SERIAL]],
  ] as const;
  const verify = async ([{ side, home }, words]: (typeof ways)[number], path: string) => {
    const args = [gwBinary, 'checklist', 'verify', path, ...words, '--json'];
    return commandResultOf<RecordVerify>(await run(nameOf(side), args, { env: { HOME: home } }));
  };
  const changed = `${file}.changed`;
  const bytes = readFileSync(file);
  const at = bytes.indexOf(`"${REMARK}"`) + 1;
  expect(at).toBeGreaterThan(0);
  bytes[at] = (bytes[at] ?? 0) ^ 0x20;
  writeFileSync(changed, bytes);
  for (const way of ways) {
    const believed = await verify(way, file);
    expect(believed).toMatchObject({ code: 0, ok: true, data: { state: 'verified', signedBy: SERIAL } });
    expect(believed.data.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    const refused = await verify(way, changed);
    expect(refused).toMatchObject({ code: 1, ok: false, data: { state: 'wrong' } });
    expect(refused.data.findings.filter(({ verdict }) => verdict === 'wrong').map(({ id }) => id)).toEqual([
      'signature',
    ]);
  }
}
