import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  attachmentsDirOf,
  beginJournal,
  type Checklist,
  type CheckRecord,
  composeRecord,
  findJournal,
  type Journal,
  type RecordRobot,
  type RecordSigner,
  type RedLine,
  readJournal,
  recordText,
  resumeJournal,
  type SessionRobotResult,
  signRecord,
} from '../../checklist/index.ts';
import { asGwError, GwError, systemReason } from '../../error/index.ts';
import { type EvidenceRecord, loadEvidenceFile } from '../../evidence/index.ts';
import { type Clock, createFile, readWhole, replaceFile, syncFolder } from '../../lifecycle/index.ts';
import { type Site, timeZoneOf } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import type { ChecklistRun } from './checklist.result.ts';
import type { ChecklistRunOptions, RunRobot } from './run-options.ts';

/** Folder of the checklist journals, in the state folder of a site. */
const journalsIn = (site: Site) => join(site.stateDir, 'checklist-runs');

/** When the newest run of this list for the robot of the site was begun that `--resume` would continue; null: none. Throws JOURNAL_BROKEN. */
export async function runToResume(site: Site, list: string): Promise<string | null> {
  const found = await findJournal(journalsIn(site), list, [site.chassis.serial]);
  return found?.state.begun.at ?? null;
}

interface JournalOptions extends Pick<ChecklistRunOptions, 'resume' | 'clock' | 'gwVersion'> {
  readonly checklist: Checklist;
  readonly onWarning: (text: string) => void;
}

/**
 * The journal of this run: new, or the one to resume. undefined when a site file cannot be read, since the folder is unknown. Throws USAGE, NOTHING_TO_RESUME, CHECKLIST_CHANGED, JOURNAL_BROKEN, RUN_OPEN,
 * FILE_UNWRITABLE.
 */
export async function openJournal(robots: readonly RunRobot[], options: JournalOptions): Promise<Journal | undefined> {
  const { checklist, resume = false, clock, gwVersion, onWarning } = options;
  const sites = robots.flatMap(({ site }) => (site === null ? [] : [site]));
  const [first] = sites;
  if (first === undefined || sites.length < robots.length) {
    if (resume) throw new GwError('NOTHING_TO_RESUME', 'A site file cannot be read, so the run to resume is unknown.');
    onWarning('No record is written: a site file cannot be read, and a record must name every robot.');
    return undefined;
  }
  const serials = sites.map((site) => site.chassis.serial);
  const twice = serials.find((serial, index) => serials.indexOf(serial) !== index);
  if (twice !== undefined) throw new GwError('USAGE', `Two of the site files name the same chassis, ${twice}.`);
  const dir = journalsIn(first);
  const at = clock.wall().toISOString();
  if (resume) {
    const found = await findJournal(dir, checklist.name, serials);
    if (!found) {
      throw new GwError(
        'NOTHING_TO_RESUME',
        `No run of checklist '${checklist.name}' for ${serials.join(', ')} to resume.`,
        { tried: { address: dir } },
      );
    }
    if (found.state.begun.checklist.sha256 !== checklist.sha256) {
      throw new GwError('CHECKLIST_CHANGED', `${checklist.file} has changed since the run of ${found.state.begun.at}.`);
    }
    const journal = await resumeJournal(found.path);
    try {
      await journal.write({ kind: 'resumed', at, gw: gwVersion });
      return journal;
    } catch (error) {
      await journal[Symbol.asyncDispose]();
      throw error;
    }
  }
  const before = await findJournal(dir, checklist.name, serials).catch((error) => {
    onWarning(`This is a new run. An earlier interrupted one could not be looked up: ${asGwError(error).message}`);
    return undefined;
  });
  const completedSteps = before?.state.completed.reduce((sum, robot) => sum + robot.size, 0) ?? 0;
  if (before && before.state.editions === 0 && completedSteps > 0) {
    const steps = plural(completedSteps, 'step');
    onWarning(
      `This is a new run. The run of ${before.state.begun.at} was interrupted after ${steps}; its answers stay in ${before.path}.`,
    );
  }
  return beginJournal(dir, {
    id: crypto.randomUUID(),
    at,
    gw: gwVersion,
    checklist: { name: checklist.name, sha256: checklist.sha256 },
    robots: sites.map((site) => ({ site: site.name, serial: site.chassis.serial })),
  });
}

/** Throws FILE_EXISTS, before the run instead of after it. */
export async function checkRecordFree(path: string): Promise<void> {
  if (await isThere(path)) {
    throw new GwError('FILE_EXISTS', `${path} already exists.`, {
      remedy: 'A record never replaces a file: name another one.',
    });
  }
}

/** Red lines of a site: blocking findings outside the steps of the checklist. */
export async function redLinesOf(site: Site | null): Promise<RedLine[]> {
  if (site === null) return [];
  const { tabletRedLine } = await import('../../kiosk/index.ts');
  const tablet = await tabletRedLine(site.stateDir);
  return tablet === null ? [] : [{ ...tablet }];
}

interface RecordOptions {
  readonly journal: Journal;
  readonly robots: readonly [RunRobot, ...RunRobot[]];
  readonly sessions: readonly SessionRobotResult[];
  readonly redLines: readonly RedLine[][];
  readonly checklist: Checklist;
  readonly technician: CheckRecord['technician'];
  readonly gwVersion: string;
  readonly clock: Clock;
  readonly onWarning: (text: string) => void;
  readonly path: string | undefined;
}

/** Writes the record of a run, signed where the identity of one of its robots is here, and its attachments first. */
export async function writeRecord(options: RecordOptions): Promise<NonNullable<ChecklistRun['record']>> {
  const { journal, robots, sessions, checklist, clock, gwVersion, onWarning } = options;
  const state = await readJournal(journal.path);
  const edition = state.editions + 1;
  const parts = await Promise.all(
    robots.map(async ({ site }, index): Promise<RecordRobot[]> => {
      const session = sessions[index];
      if (site === null || session === undefined) return [];
      const redLines = options.redLines[index] ?? [];
      const evidenceRecords = await evidenceRecordsOf(site, onWarning);
      return [
        { ...session, site: site.name, serial: site.chassis.serial, ...partiesOf(site), evidenceRecords, redLines },
      ];
    }),
  );
  const plain = composeRecord({
    journal: state,
    edition,
    gwVersion,
    checklist,
    technician: withInitials(options.technician, sessions),
    endedAt: clock.wall().toISOString(),
    timeZone: timeZoneOf(robots[0].site),
    robots: parts.flat() as [RecordRobot, ...RecordRobot[]],
  });
  const signer = await signerFor(robots, onWarning);
  const record = signer ? signRecord(plain, signer) : plain;
  const path = resolve(options.path ?? (await defaultPath(robots, record)));
  const dir = attachmentsDirOf(path);
  for (const { name } of record.attachments) {
    // A session that ended between photos and record writes the photos again.
    await replaceFile(join(dir, name), await readKept(join(journal.attachmentsDir, name)));
  }
  await createFile(path, recordText(record));
  const isOnDisk = await areSynced(record.attachments.length > 0 ? [dir, dirname(path)] : [dirname(path)]);
  await journal.write({ kind: 'record', at: record.endedAt, edition, ok: record.ok });
  // The run is complete, and the record survives a power loss.
  if (record.ok && isOnDisk) await journal.remove();
  return {
    file: path,
    id: record.id,
    edition,
    signedBy: record.signature?.serial ?? null,
    attachments: record.attachments.length,
  };
}

/** The customer and the operator by name; nothing else of `contacts` belongs into a record. */
function partiesOf({ contacts }: Site): Pick<RecordRobot, 'customer' | 'operator'> {
  const party = (who: NonNullable<Site['contacts']>['customer']) =>
    who?.company === undefined && who?.name === undefined
      ? undefined
      : { company: who.company ?? null, name: who.name ?? null };
  const [customer, operator] = [party(contacts?.customer), party(contacts?.operator)];
  return { ...(customer && { customer }), ...(operator && { operator }) };
}

/** Above the limit of any stored photo. */
const MAX_PHOTO_BYTES = 64 * 1024 * 1024;

/** A photo of the journal. Throws JOURNAL_BROKEN. */
async function readKept(path: string): Promise<Uint8Array> {
  return await readWhole(path, MAX_PHOTO_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('JOURNAL_BROKEN', `The photo ${path} of this run cannot be read (${systemReason(cause)}).`, {
      cause,
    });
  });
}

/** Not every file system supports syncing a folder. */
async function areSynced(folders: readonly string[]): Promise<boolean> {
  return await Promise.all(folders.map(syncFolder)).then(
    () => true,
    () => false,
  );
}

/** The initials of the answers, when all are of one person. */
function withInitials(technician: CheckRecord['technician'], sessions: readonly SessionRobotResult[]) {
  const answers = sessions.flatMap(({ result }) => result.steps.flatMap(({ answer }) => answer ?? []));
  const [only = null, ...others] = new Set(answers.flatMap(({ initials }) => initials ?? []));
  return { name: technician.name, initials: technician.initials ?? (others.length === 0 ? only : null) };
}

async function evidenceRecordsOf(
  site: Site,
  onWarning: (text: string) => void,
): Promise<readonly EvidenceRecord[] | null> {
  try {
    return await loadEvidenceFile(site.evidenceFile);
  } catch (error) {
    const why = asGwError(error).message;
    onWarning(`The record cannot state which facts were verified on ${site.chassis.serial}: ${why}`);
    return null;
  }
}

/** The key of the first robot of the run whose identity is on this machine. */
async function signerFor(
  robots: readonly RunRobot[],
  onWarning: (text: string) => void,
): Promise<RecordSigner | undefined> {
  let isHere = false;
  for (const { site } of robots) {
    const identityDir = site?.enrolment?.identityDir;
    if (site === null || identityDir === undefined) continue;
    const { openSigner } = await import('../../enrolment/index.ts');
    try {
      const signer = await openSigner(identityDir);
      if (signer.serial === site.chassis.serial) return signer;
      isHere = true;
      onWarning(
        `The identity in ${identityDir} belongs to ${signer.serial}, so it does not sign for ${site.chassis.serial}.`,
      );
    } catch (thrown) {
      const error = asGwError(thrown);
      if (error.code === 'NOT_ENROLLED') continue;
      isHere = true;
      onWarning(`The record is not signed by ${site.chassis.serial}: ${error.message}`);
    }
  }
  onWarning(
    isHere
      ? 'The record is not signed: no identity on this machine can sign it.'
      : 'The record is not signed: the identity of the device is not on this machine.',
  );
  return undefined;
}

async function defaultPath(robots: readonly [RunRobot, ...RunRobot[]], record: CheckRecord): Promise<string> {
  const dir = join(robots[0].site?.stateDir ?? '.', 'records');
  const [first] = record.robots;
  const who = record.robots.length === 1 ? (first?.serial ?? '') : `${record.robots.length}-robots`;
  const stamp = record.startedAt.replace(/[-:]|\.\d+/g, '');
  const edition = record.edition === 1 ? '' : `-${record.edition}`;
  // A serial may hold colons, which some file systems reject.
  const name = `${record.checklist.name}-${who.replaceAll(':', '-')}-${stamp}${edition}`;
  const plain = join(dir, `${name}.json`);
  return (await isThere(plain)) ? join(dir, `${name}-${record.id.slice(0, 8)}.json`) : plain;
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
