import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckRecord, RobotRecord } from '../../checklist/index.ts';
import { systemReason } from '../../error/index.ts';
import { signatureState } from '../../report/index.ts';
import type { Toolkit } from '../toolkit.ts';
import type { RecordSubject, RecordVerify } from './checklist.result.ts';
import { verifyRecordAt } from './record-file.ts';
import { subjectOf } from './verify.ts';

/** Of a full folder the newest of these are read; each may have 16 MiB. */
const MAX_READ = 20;

/** Project decision: of a record that another machine wrote, whose clock may differ by so much. */
const AHEAD_MS = 60_000;

/** A record of this robot, by its content. */
export interface KeptRecord {
  readonly path: string;
  readonly state: RecordVerify['state'];
  readonly subject: RecordSubject;
  readonly record: CheckRecord;
  /** What it says of this robot. */
  readonly robot: RobotRecord;
}

export interface KeptRecords {
  readonly folder: string;
  /** The newest end first. */
  readonly records: readonly KeptRecord[];
  /** Why there may be more than these, or another may be the newest; empty: neither. */
  readonly notes: readonly string[];
}

/**
 * The records of this robot in the state folder of this machine, each with its signature verified against the CA of the
 * site. Where one was written to another place it is not among them.
 */
export async function keptRecords(
  { site, clock }: Pick<Toolkit, 'site' | 'clock'>,
  /** Of this robot, by default that of the site file, which must have signed them. */
  serial: string = site.chassis.serial,
): Promise<KeptRecords> {
  const folder = join(site.stateDir, 'records');
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => error);
  if (names instanceof Error) {
    const { code = names.message } = names;
    return {
      folder,
      records: [],
      notes: code === 'ENOENT' ? [] : [`the folder cannot be read: ${systemReason({ code })}`],
    };
  }
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => {
        const path = join(folder, name);
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
        return { path, mtimeMs };
      }),
  );
  const newest = files.sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, MAX_READ);
  let unread = 0;
  const records: KeptRecord[] = [];
  for (const { path } of newest) {
    const verification = await verifyRecordAt(path, { sitePath: site.path, serial }).catch(() => null);
    const record = verification?.record ?? null;
    if (verification === null || record === null) {
      unread += 1;
      continue;
    }
    const robot = record.robots.find((one) => one.serial === serial);
    if (robot === undefined) continue;
    records.push({ path, state: signatureState(record, verification), subject: subjectOf(record), record, robot });
  }
  const nowMs = clock.wall().getTime();
  const early = records.find(({ record }) => Date.parse(record.endedAt) > nowMs + AHEAD_MS);
  return {
    folder,
    records: records.sort((a, b) => Date.parse(b.record.endedAt) - Date.parse(a.record.endedAt)),
    notes: [
      ...(unread === 0 ? [] : [`${unread} of the files cannot be read as records`]),
      ...(files.length === newest.length
        ? []
        : [`of ${files.length} files only the newest ${newest.length} were read`]),
      ...(early === undefined
        ? []
        : [
            `${early.path} is dated ${early.record.endedAt}, in the future by the clock of this machine: which record is the newest is not decided`,
          ]),
    ],
  };
}
