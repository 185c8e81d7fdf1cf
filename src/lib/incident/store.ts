import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError, systemReason } from '../error/index.ts';
import { assertOwnFolder, readWhole, removeLeftDrafts, replaceFile } from '../lifecycle/index.ts';
import type { IncidentBody, IncidentHead } from '../pages/index.ts';
import { mapTexts } from '../text/index.ts';
import { encodeIncident, INCIDENT_FORMAT, MAX_INCIDENT_BYTES, notAnIncident, readLines } from './incident-file.ts';

/** Project decision. With at most 2 MB each they take 100 MB at most; a usual one has 60 kB. */
export const MAX_KEPT = 50;
/**
 * A larger number in a name is not one that was counted to: with an incident a second it would be that of years. It is listed,
 * and the numbers go on from the others. Project decision.
 */
const COUNTED_UP_TO = 99_999_999;
const FILE_NAME = /^incident-([1-9][0-9]{0,8})\.jsonl$/;

/** The kept incidents of one gateway, a file each. */
export interface IncidentStore {
  /**
   * Heads of the kept incidents, newest first, with the first causes and the beginnings of their texts: the list goes to
   * anyone, and its size must not be in the hands of others. Waits until the folder has been read.
   */
  heads(): Promise<readonly IncidentHead[]>;
  /** Files in the folder that cannot be read as incidents. They are left where they are. */
  unreadable(): number;
  /** Why the folder could not be read; null: it could, or there was none. */
  folderProblem(): string | null;
  /** A number that no other incident gets, kept or not. */
  takeId(): Promise<number>;
  /** Writes or replaces one, and removes those that are too many. Throws FILE_UNWRITABLE. */
  save(head: IncidentHead, body: IncidentBody): Promise<void>;
  /** The bytes of the file with a sound sum; null: no such incident. Throws INCIDENT_INVALID, FILE_UNREADABLE. */
  read(id: number): Promise<Uint8Array | null>;
}

/** Begins to read the folder. The start of the gateway does not wait for it: its disk may not answer. */
export function openIncidentStore(dir: string, now: Date): IncidentStore {
  const heads = new Map<number, IncidentHead>();
  const unreadable = new Set<number>();
  let folderProblem: string | null = null;
  let last = 0;
  const loaded = load();

  /** Never rejects. */
  async function load(): Promise<void> {
    try {
      await assertOwnFolder(dir);
      await removeLeftDrafts(dir, now);
      for (const name of await readdir(dir)) {
        const id = Number(FILE_NAME.exec(name)?.[1] ?? 0);
        if (id === 0) continue;
        if (id <= COUNTED_UP_TO) last = Math.max(last, id);
        const head = await readHead(join(dir, name)).catch(() => null);
        if (head === null || head.id !== id) unreadable.add(id);
        else heads.set(id, listed(head));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      const reason = error instanceof GwError ? error.message : (error as NodeJS.ErrnoException).code;
      folderProblem = `${dir} cannot be read: ${reason ?? 'unknown reason'}.`.replace('..', '.');
    }
  }

  const pathOf = (id: number) => join(dir, `incident-${id}.jsonl`);

  /** Of the kind with the most incidents the oldest, so that one kind does not displace the others; never the newest. */
  function surplus(): number | null {
    if (heads.size <= MAX_KEPT) return null;
    const ids = [...heads.keys()].sort((a, b) => a - b).slice(0, -1);
    const kindOf = (id: number) => heads.get(id)?.causes[0]?.code ?? '';
    const counts = Map.groupBy(ids, kindOf);
    const most = Math.max(...[...counts.values()].map(({ length }) => length));
    return ids.find((id) => counts.get(kindOf(id))?.length === most) ?? null;
  }

  return {
    async heads() {
      await loaded;
      return [...heads.values()].sort((a, b) => b.id - a.id);
    },
    unreadable: () => unreadable.size,
    folderProblem: () => folderProblem,
    async takeId() {
      await loaded;
      do last += 1;
      while (heads.has(last) || unreadable.has(last));
      return last;
    },
    async save(head, body) {
      await loaded;
      await assertOwnFolder(dir);
      await replaceFile(pathOf(head.id), encodeIncident(head, body), { mode: 0o600, folderMode: 0o700, durable: true });
      heads.set(head.id, listed(head));
      for (let id = surplus(); id !== null; id = surplus()) {
        heads.delete(id);
        await rm(pathOf(id), { force: true }).catch(() => unreadable.add(id));
      }
    },
    async read(id) {
      await loaded;
      if (!heads.has(id)) return null;
      const path = pathOf(id);
      const bytes = await readWhole(path, MAX_INCIDENT_BYTES).catch((cause: NodeJS.ErrnoException) => {
        throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${systemReason(cause)}).`, { cause });
      });
      readLines(bytes, path);
      return bytes;
    },
  };
}

/** Project decisions: what a list has of each incident. */
const MAX_LISTED_CAUSES = 8;
const MAX_LISTED_TEXT = 100;

function listed(head: IncidentHead): IncidentHead {
  const causes = mapTexts(head.causes.slice(0, MAX_LISTED_CAUSES), (text) => text.slice(0, MAX_LISTED_TEXT));
  return { ...head, causes, moreCauses: head.moreCauses + head.causes.length - causes.length };
}

/**
 * Its sum is sound, so it is as a gateway wrote it; of which version, the format says. A schema of all that it holds would
 * stay in the memory of the daemon.
 */
async function readHead(path: string): Promise<IncidentHead> {
  const { head } = readLines(await readWhole(path, MAX_INCIDENT_BYTES), path);
  const found = JSON.parse(Buffer.from(head).toString()) as IncidentHead;
  if (found.format !== INCIDENT_FORMAT) throw notAnIncident(path, `its format is not ${INCIDENT_FORMAT}`);
  return found;
}
