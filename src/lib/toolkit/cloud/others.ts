import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type KeptMessage, readSetAside } from '../../cloud/index.ts';
import { GwError, systemReason } from '../../error/index.ts';
import { createFile, sha256 } from '../../lifecycle/index.ts';
import { otherRobots, type Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import type { CloudOthers } from './others.result.ts';

export interface OthersOptions {
  readonly site: Pick<Site, 'stateDir' | 'chassis'>;
  /** null: they are listed only. */
  readonly exported: { readonly serial: string; readonly out: string | null } | null;
  readonly now: Date;
}

/** An outbox that is used no more, and the robot whose messages were taken over from it; null: it was set aside whole. */
interface Aside {
  readonly path: string;
  readonly owner: string | null;
  readonly takenOver: string | null;
}

type Message = KeptMessage & { readonly path: string };

/**
 * Messages to the cloud that belong to other robots, from copies of the files in which they were set aside; writes those of
 * one robot to a new file, a line of JSON each. Nothing is sent, and the files stay as they are. Throws USAGE for a robot
 * without messages, FILE_EXISTS, FILE_UNWRITABLE, and the error of the operating system.
 */
export async function readOthers({ site, exported, now }: OthersOptions): Promise<CloudOthers> {
  const messages: Message[] = [];
  const unread: CloudOthers['unread'] = [];
  // A disk that is not mounted has no messages either.
  await readdir(site.stateDir).catch((error: unknown) =>
    unread.push({ path: site.stateDir, reason: systemReason(error) }),
  );
  const scratch = await mkdtemp(join(tmpdir(), 'gw-others-'));
  try {
    for (const { path, owner, takenOver } of await asideFiles(site)) {
      try {
        const read = await readSetAside(path, owner, join(scratch, 'copy'));
        messages.push(...read.messages.filter(({ serial }) => serial !== takenOver).map((one) => ({ ...one, path })));
        if (read.unreadable !== 0) {
          const count = read.unreadable === null ? 'an unknown number of messages' : plural(read.unreadable, 'message');
          unread.push({ path, reason: `${count} cannot be read` });
        }
      } catch (error) {
        unread.push({ path, reason: reasonOf(error) });
      }
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return {
    verdict: unread.length === 0 ? 'ok' : 'wrong',
    robots: [...Map.groupBy(messages, ({ serial }) => serial)].map(([serial, own]) => summaryOf(serial, own)),
    unread,
    exported: exported === null ? null : await exportMessages(messages, exported, now),
  };
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined || code === 'ERR_SQLITE_ERROR' ? message : systemReason(error);
}

const DATABASE = 'outbox.db';
const OTHER = /^outbox\.db\.other-robot-(?!.*-(?:wal|shm|journal)$)/;
/** With the copies that were kept of a name which was taken. */
const CLOUD = /^cloud(?:~\d+)?$/;

async function asideFiles(site: OthersOptions['site']): Promise<Aside[]> {
  const own = site.chassis.serial;
  const found: Aside[] = await asidesIn(join(site.stateDir, 'cloud', 'outbox'), own);
  for (const { serial, folder } of await otherRobots(site)) {
    for (const name of (await namesIn(folder)).filter((each) => CLOUD.test(each))) {
      const dir = join(folder, name, 'outbox');
      if ((await namesIn(dir)).includes(DATABASE)) {
        found.push({ path: join(dir, DATABASE), owner: serial, takenOver: null });
      }
      found.push(...(await asidesIn(dir, serial)));
    }
  }
  return found;
}

async function asidesIn(dir: string, takenOver: string): Promise<Aside[]> {
  const names = (await namesIn(dir)).filter((name) => OTHER.test(name));
  return names.map((name) => ({ path: join(dir, name), owner: null, takenOver }));
}

async function namesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.toSorted();
}

function summaryOf(serial: string | null, messages: readonly Message[]): CloudOthers['robots'][number] {
  const times = messages.map(({ at }) => at.getTime());
  const ends = { oldest: Infinity, newest: -Infinity };
  for (const time of times) {
    ends.oldest = Math.min(ends.oldest, time);
    ends.newest = Math.max(ends.newest, time);
  }
  return {
    ...{ serial, count: messages.length, files: [...new Set(messages.map(({ path }) => path))] },
    ...{ oldest: new Date(ends.oldest).toISOString(), newest: new Date(ends.newest).toISOString() },
  };
}

async function exportMessages(
  messages: readonly Message[],
  { serial, out }: NonNullable<OthersOptions['exported']>,
  now: Date,
): Promise<CloudOthers['exported']> {
  const own = messages.filter((message) => message.serial === serial);
  if (own.length === 0) {
    const known = [...new Set(messages.flatMap((message) => message.serial ?? []))];
    throw new GwError('USAGE', `No messages of ${serial} are kept.`, {
      remedy: known.length === 0 ? 'None of other robots are kept.' : `Name one of: ${known.join(', ')}.`,
    });
  }
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const path = resolve(out ?? `messages-${serial.replace(/[^A-Za-z0-9_-]/g, '_')}-${stamp}.jsonl`);
  const text = own
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.seq - b.seq)
    .map(lineOf)
    .join('');
  await createFile(path, text, { mode: 0o600, durable: true });
  return { path, serial, count: own.length, bytes: Buffer.byteLength(text), sha256: sha256(text) };
}

/** The payload as a text where it is one, so that its bytes are known either way. */
function lineOf({ serial, class: kind, seq, at, topic, payload }: KeptMessage): string {
  const bytes = Buffer.from(payload);
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(bytes);
  const content = { encoding: isText ? 'utf8' : 'base64', payload: isText ? text : bytes.toString('base64') };
  return `${JSON.stringify({ serial, class: kind, seq, at: at.toISOString(), topic, ...content })}\n`;
}
