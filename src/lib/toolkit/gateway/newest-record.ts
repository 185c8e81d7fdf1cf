import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asGwError } from '../../error/index.ts';
import { checkRecord } from '../checklist/verify.ts';
import type { Toolkit } from '../toolkit.ts';
import type { Status } from './status.result.ts';

/** Of a full folder the newest of these are read; each may have 16 MiB. */
const MAX_READ = 20;

/**
 * The newest record of a checklist for this robot in the state folder of this machine, by its content, with its signature
 * verified. Where it was written to another place it is not found, and the folder that was searched is named.
 */
export async function newestRecord({ site, clock }: Pick<Toolkit, 'site' | 'clock'>): Promise<Status['record']> {
  const folder = join(site.stateDir, 'records');
  const none = { folder, path: null, endedAt: null, ageMs: null, signature: null };
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => error);
  if (names instanceof Error) {
    if (names.code === 'ENOENT') return { ...none, status: 'none', detail: 'no record in the state folder' };
    return { ...none, status: 'not-checked', detail: `the folder cannot be read: ${names.code ?? names.message}` };
  }
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => {
        const path = join(folder, name);
        return {
          path,
          mtimeMs: await stat(path).then(
            ({ mtimeMs }) => mtimeMs,
            () => 0,
          ),
        };
      }),
  );
  const newest = files.sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, MAX_READ);
  const unread: string[] = [];
  const found: Status['record'][] = [];
  for (const { path } of newest) {
    const record = await checkRecord(path, { sitePath: site.path }).catch((error: unknown) => asGwError(error));
    if (record instanceof Error || record.subject === null) {
      unread.push(path);
      continue;
    }
    const { subject, state } = record;
    if (!subject.robots.some(({ serial }) => serial === site.chassis.serial)) continue;
    const { endedAt } = subject;
    found.push({
      ...{ status: 'found', folder, path, endedAt, signature: state },
      ageMs: clock.wall().getTime() - Date.parse(endedAt),
      detail: `checklist ${subject.checklist}: ${subject.verdict}`,
    });
  }
  const [latest] = found.sort((a, b) => Date.parse(b.endedAt ?? '') - Date.parse(a.endedAt ?? ''));
  const unreadable = unread.length === 0 ? '' : `; ${unread.length} of the files cannot be read as records`;
  const beyond =
    files.length === newest.length ? '' : `; of ${files.length} files only the newest ${newest.length} were read`;
  const notes = `${unreadable}${beyond}`;
  if (latest !== undefined) return { ...latest, detail: `${latest.detail}${notes}` };
  const detail = `no record of this robot in the state folder${notes}`;
  return { ...none, status: notes === '' ? 'none' : 'not-checked', detail };
}
