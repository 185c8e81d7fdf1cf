import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { archiveFileName, readArchive } from '../../maps/index.ts';
import { editSiteFile, loadSite, type SiteEdit } from '../../site/index.ts';
import { type KeptRecords, keptRecords } from '../checklist/kept-records.ts';
import { enrolDevice } from '../enrol/enrol.ts';
import { viewArchive } from '../map/archive.ts';
import { backUpMapsToFile } from '../map/backup.ts';
import type { MapRestore } from '../map/change.result.ts';
import { type MapRestoreContext, restoreFromBackup } from '../map/restore.ts';
import type { Toolkit } from '../toolkit.ts';
import { attempt, orderUnit, readRobot } from './read-robot.ts';
import type { OpenedReplacement, ReplacementFile } from './replacement-file.ts';
import type { Unit } from './robot-looks.ts';
import { isUnseen, type RobotSeen, type Seen } from './seen.ts';
import type { Word } from './step.ts';

/** The backup of the maps of the old chassis, as it is now. */
export interface ArchiveSeen {
  readonly path: string;
  readonly serial: string | null;
  readonly createdAt: string;
  /** The file that was verified when it was named. */
  readonly isSame: boolean;
  readonly isComplete: boolean;
  readonly lacks: readonly string[];
  readonly uids: readonly string[];
}

export interface ChassisSeen extends RobotSeen {
  readonly from: string;
  readonly to: string;
  readonly old: NonNullable<ReplacementFile['old']>;
  readonly words: readonly Word[];
  /** null: none is known. */
  readonly archive: Seen<ArchiveSeen> | null;
  /** The archive compared with the new chassis by content; null: not compared. */
  readonly copied: Seen<Pick<MapRestore, 'verdict' | 'maps'>> | null;
  readonly unit: Seen<Unit>;
  /** Of the new chassis, as given on the command line. */
  readonly wanted: Pick<ChassisGiven, 'host' | 'mac'>;
  /** Of the old chassis. */
  readonly oldRecords: Seen<KeptRecords>;
}

/** What a replacement of the chassis does. Each is complete, or as if it had not begun, when this process is killed. */
export interface ChassisRobot {
  see(): Promise<ChassisSeen>;
  backUp(seen: ChassisSeen): Promise<boolean>;
  stop(seen: ChassisSeen): Promise<boolean>;
  editSite(seen: ChassisSeen): Promise<boolean>;
  enrol(seen: ChassisSeen): Promise<boolean>;
  start(seen: ChassisSeen): Promise<boolean>;
  restore(seen: ChassisSeen): Promise<boolean>;
}

export interface ChassisGiven {
  readonly host: string | undefined;
  readonly mac: string | undefined;
  /** Absent: no one-time code can be had. */
  readonly readCode: (() => Promise<string>) | undefined;
  /** A person beside the robot accepts the risk of a write that was never measured. */
  readonly write: boolean;
  readonly itStandsStill: boolean;
  readonly gwVersion: string;
}

/** The robot of this site file; the file is read anew each time, since a step changes it. */
export function chassisRobot(
  toolkit: Toolkit,
  file: OpenedReplacement,
  given: ChassisGiven,
  context: MapRestoreContext,
): ChassisRobot {
  const { path, stateDir } = toolkit.site;
  const now = async (): Promise<Toolkit> => ({ ...toolkit, site: await loadSite(path) });
  const folder = join(stateDir, 'map-backups');
  return {
    async see() {
      const present = await now();
      const { from, to, old, archive, words } = file.current();
      const robot = await readRobot(present, file.current(), context);
      const saved = archive === null ? null : await attempt(readSaved(archive), context);
      const isNew = present.site.chassis.serial === to;
      const isComparable = isNew && saved !== null && !isUnseen(saved) && saved.isSame && saved.serial === from;
      const copied = isComparable ? await attempt(restore(present, saved.path, from, false), context) : null;
      const oldRecords = await attempt(keptRecords(present, from), context);
      const { host } = present.site.chassis;
      return {
        ...{ ...robot, from, to: to ?? '', old: old ?? { mac: null, host }, words },
        ...{ archive: saved, copied, wanted: { host: given.host, mac: given.mac }, oldRecords },
      };
    },
    async backUp({ from, site, archive, words }) {
      // With another site file another chassis would be asked; a backup that is named is not replaced by itself.
      if (site.chassis.serial !== from || archive !== null || words.some(({ step }) => step === 'old-maps'))
        return false;
      const view = await backUpMapsToFile(
        await now(),
        { ids: [], folder, force: false, gwVersion: given.gwVersion },
        context,
      );
      await file.change(() => ({ archive: { path: view.file, sha256: view.sha256 } }));
      return true;
    },
    async stop({ gateway: { unit, robots }, from }) {
      // Of another robot it is no step of this replacement.
      if (unit !== 'active' || robots.length === 0 || robots.some(({ serial }) => serial !== from)) return false;
      return await orderUnit('stop');
    },
    async editSite({ site, from, to, old }) {
      // The MAC address of the old chassis would be that of the reservation, and of the letter.
      if (old.mac !== null && given.mac === undefined) return false;
      const edits = editsOf(site, { from, to, host: given.host, mac: given.mac });
      if (edits.length === 0) return false;
      await editSiteFile(site, edits);
      return true;
    },
    async enrol({ site, to, identity }) {
      // What an interrupted run left behind its new identity is removed without a code.
      const isLeft = identity !== null && !isUnseen(identity) && identity.identity?.serial === to;
      const readCode = given.readCode ?? (isLeft ? noCode : undefined);
      if (readCode === undefined || site.chassis.serial !== to || identity === null) return false;
      const isThere = isUnseen(identity) || identity.state === 'broken' || identity.identity !== null;
      await enrolDevice(await now(), { renew: isThere, readCode }, context);
      return true;
    },
    start: ({ gateway }) => (gateway.unit === 'inactive' ? orderUnit('start') : Promise.resolve(false)),
    async restore({ site, from, to, archive, copied }) {
      if (!given.write || site.chassis.serial !== to || archive === null || isUnseen(archive)) return false;
      if (copied === null || isUnseen(copied) || copied.verdict !== 'to-do') return false;
      const { verdict, problem } = await restore(await now(), archive.path, from, true);
      if (problem !== null) throw new GwError(problem.code, problem.title, { remedy: problem.remedy });
      return verdict === 'restored' || verdict === 'stored-only';
    },
  };

  async function restore(present: Toolkit, path: string, from: string, write: boolean) {
    return await restoreFromBackup(
      present,
      {
        ...{ path, ids: [], fromAnotherRobot: from, write, sitePath: present.site.path },
        ...{ itStandsStill: given.itStandsStill, gwVersion: given.gwVersion },
        backupPath: join(folder, archiveFileName(present.site.chassis.serial, toolkit.clock.wall(), 'before-restore')),
      },
      context,
    );
  }
}

async function noCode(): Promise<never> {
  throw new GwError('USAGE', 'The identity has to be renewed, which needs a one-time code.', {
    remedy: 'Name its file with --code-file, or run the command at a terminal.',
  });
}

/** Reads the file that was named, now. Throws ARCHIVE_INVALID, FILE_UNREADABLE. */
async function readSaved({ path, sha256 }: NonNullable<ReplacementFile['archive']>): Promise<ArchiveSeen> {
  const view = await viewArchive(await readArchive(path));
  const wrong = view.findings.filter(({ verdict }) => verdict === 'wrong');
  return {
    ...{ path, serial: view.chassis.serial, createdAt: view.createdAt, isSame: view.sha256 === sha256 },
    isComplete: view.verdict === 'ok',
    lacks: wrong.map(({ title, detail }) => `${title}: ${detail.replaceAll('\n', '; ')}`),
    uids: view.maps.flatMap(({ uid }) => uid ?? []),
  };
}

interface NewChassis {
  readonly from: string;
  readonly to: string;
  readonly host: string | undefined;
  readonly mac: string | undefined;
}

/** What the site file says of the old chassis, in the words of the new one. */
export function editsOf(
  { chassis, fleet }: RobotSeen['site'],
  { from, to, host, mac }: NewChassis,
): readonly SiteEdit[] {
  const edits: SiteEdit[] = [];
  if (chassis.serial !== to) edits.push({ path: ['chassis', 'serial'], value: to });
  if (host !== undefined && host !== chassis.host) edits.push({ path: ['chassis', 'host'], value: host });
  if (mac !== undefined && mac.toLowerCase() !== chassis.mac?.toLowerCase()) {
    edits.push({ path: ['chassis', 'mac'], value: mac });
  }
  const robots = fleet?.robots ?? [];
  if (robots.includes(from)) {
    const named = robots.map((serial) => (serial === from ? to : serial));
    edits.push({ path: ['fleet', 'robots'], value: [...new Set(named)] });
  }
  return edits;
}

/**
 * The archive that a person names, verified now: one of another chassis does not take the place of a good one. Throws
 * ARCHIVE_FOREIGN, ARCHIVE_INVALID, FILE_UNREADABLE.
 */
export async function nameArchive(path: string, from: string): Promise<NonNullable<ReplacementFile['archive']>> {
  const { sha256, archive } = await readArchive(path);
  const { serial } = archive.chassis;
  if (serial === from) return { path, sha256 };
  throw new GwError('ARCHIVE_FOREIGN', `${path} is of ${serial ?? 'an unknown chassis'}; the old chassis is ${from}.`, {
    remedy: `Name a backup of ${from}, or go on without: --without-maps --who NAME.`,
  });
}
