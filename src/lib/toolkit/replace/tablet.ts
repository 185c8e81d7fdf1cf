import { readTabletRecord } from '../../kiosk/index.ts';
import type { KioskAccess } from '../kiosk/connection.ts';
import type { KioskStatus } from '../kiosk/kiosk.result.ts';
import { tabletOf } from '../kiosk/memory.ts';
import { setUpKiosk } from '../kiosk/setup.ts';
import { kioskStatus } from '../kiosk/status.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { attempt } from './read-robot.ts';
import type { Replacement, StepLine } from './replace.result.ts';
import { openReplacement, otherReplacement, REPLACEMENT_FORMAT, type ReplacementFile } from './replacement-file.ts';
import { type Person, runReplacement } from './run.ts';
import { isUnseen, type Seen, unseen } from './seen.ts';
import { line, type Step } from './step.ts';

export interface ReplaceTabletOptions {
  readonly access: KioskAccess;
  /** Watch time of the port after the restart. */
  readonly watchMs: number;
  /** Serial number of the old tablet, where this machine remembers none. */
  readonly from: string | undefined;
  readonly person: Person;
  readonly command: string;
}

/** The old tablet was never met from this machine: any other one may be it. */
export const UNKNOWN = 'unknown';

/**
 * Replaces the tablet of this robot, step by step. A tablet whose ADB port is open is set up and locked. Throws USAGE where
 * the site file names no tablet, REPLACEMENT_OTHER, FILE_UNREADABLE.
 */
export async function replaceTablet(
  toolkit: Toolkit,
  { access, watchMs, from, person, command }: ReplaceTabletOptions,
  context: CheckContext,
): Promise<Replacement> {
  const { site, clock } = toolkit;
  tabletOf(site);
  const record = await readTabletRecord(site.stateDir);
  const file = await openReplacement(site.stateDir, 'tablet', (found, path) =>
    tabletReplacement(found, path, { from, remembered: record?.tablet?.serial, now: clock.wall() }),
  );
  const { from: old, begunAt } = file.current();
  const see = async (): Promise<TabletSeen> => {
    return { from: old, begunAt, status: await attempt(kioskStatus(toolkit, access, context), context) };
  };
  const setUp = async ({ status }: TabletSeen) => {
    if (isUnseen(status) || (status.port !== 'open' && access.usb !== true)) return false;
    await setUpKiosk(toolkit, { ...access, leaveOpen: false, afterRestart: true, watchMs }, context);
    return true;
  };
  const { signal, onProgress } = context;
  const steps = tabletSteps(setUp);
  const { seen, ...ran } = await runReplacement({ steps, file, see, person, clock, signal, onProgress, command });
  const to = newTablet(seen) ?? '';
  return { part: 'tablet', from: old, to, begunAt, file: file.path, simulated: false, ...ran };
}

interface TabletBegin {
  /** Serial number of the old tablet, by the command line and by what this machine remembers. */
  readonly from: string | undefined;
  readonly remembered: string | undefined;
  readonly now: Date;
}

/** The replacement that goes on, with the old tablet once it is named, or a new one. Throws REPLACEMENT_OTHER. */
export function tabletReplacement(
  found: ReplacementFile | null,
  path: string,
  { from, remembered, now }: TabletBegin,
): ReplacementFile {
  if (found !== null) {
    if (from === undefined || from === found.from) return found;
    if (found.from === UNKNOWN) return { ...found, from };
    throw otherReplacement(found, path, `this is of ${from}`);
  }
  return {
    ...{ format: REPLACEMENT_FORMAT, part: 'tablet', from: from ?? remembered ?? UNKNOWN, to: null },
    ...{ begunAt: now.toISOString(), old: null, archive: null, records: [], words: [] },
  };
}

export interface TabletSeen {
  /** Serial number of the old tablet. */
  readonly from: string;
  readonly begunAt: string;
  readonly status: Seen<
    Pick<KioskStatus, 'port' | 'tablet' | 'setUp' | 'restart' | 'redLine' | 'findings' | 'address'>
  >;
}

/** The steps of a replaced tablet, in their order. */
export function tabletSteps(setUp: (seen: TabletSeen) => Promise<boolean>): readonly Step<TabletSeen>[] {
  return [
    { id: 'address', title: 'A tablet has the address', look: addressLines },
    { id: 'set-up', title: 'The new tablet is set up', look: setUpLines, act: setUp },
    { id: 'locked', title: 'Its ADB port is closed, also after a restart', look: lockedLines, act: setUp },
    {
      id: 'surface',
      title: 'It shows the operator surface',
      look: () => [],
      word: {
        question: 'Does the new tablet show the operator surface by itself after its restart, and can it not be left?',
        frame: newTablet,
      },
    },
    {
      id: 'old-key',
      title: 'The old tablet knows this computer no more',
      look: () => [],
      word: {
        question: 'Was the old tablet reset, or its authorisation for USB debugging revoked (developer options)?',
        // With one more tablet, another one is the old one.
        frame: newTablet,
      },
    },
  ];
}

/** The tablet of the last connection, where it is another one than the old one. */
function newTablet({ status, from }: TabletSeen): string | null {
  const serial = isUnseen(status) ? null : (status.tablet?.serial ?? null);
  return serial === from ? null : serial;
}

const setItUp = 'Open its ADB port, then run this command again, or `gw kiosk setup --after-restart`.';

function addressLines({ status }: TabletSeen): StepLine[] {
  if (isUnseen(status)) return [unseen('answers', 'The address answers', status)];
  const { host, port } = status.address;
  const title = `${host}:${port} answers`;
  if (status.port === 'open') return [line('answers', title, 'ok', 'its ADB port is open')];
  if (status.port === 'closed')
    return [line('answers', title, 'ok', 'it refuses the port; which device it is, a refusal does not show')];
  return [
    line('answers', title, 'open', 'no answer', 'Correct tablet.host of the site file, or switch the tablet on.'),
  ];
}

function setUpLines(seen: TabletSeen): StepLine[] {
  const { status, from, begunAt } = seen;
  const another = 'Another tablet than before';
  if (isUnseen(status)) return [unseen('tablet', another, status)];
  const serial = newTablet(seen);
  if (serial === null) {
    const detail = status.tablet === null ? 'none was connected yet' : `the last connected one is ${from}`;
    return [line('tablet', another, 'open', detail, setItUp)];
  }
  const lines = [
    from === UNKNOWN
      ? line('tablet', another, 'not-checked', `${serial}; the old one is not known`, 'Name it with --old SERIAL.')
      : line('tablet', another, 'ok', serial),
  ];
  const { setUp } = status;
  const title = 'Its settings were those of the profile at the last connection';
  if (!isSince(setUp, serial, begunAt))
    lines.push(line('set-up', title, 'open', 'not read since the beginning', setItUp));
  else if (setUp.atLastConnection === 'as-profile') lines.push(line('set-up', title, 'ok', `read at ${setUp.at}`));
  else {
    const verdict = setUp.atLastConnection === 'differs' ? 'wrong' : 'open';
    lines.push(line('set-up', title, verdict, `${setUp.atLastConnection}, read at ${setUp.at}`, setItUp));
  }
  return lines;
}

function lockedLines(seen: TabletSeen): StepLine[] {
  const { status, begunAt } = seen;
  if (isUnseen(status)) return [unseen('port', 'ADB port', status)];
  const port = status.findings.find(({ id }) => id === 'port');
  const isClosed = status.redLine === null && port?.verdict === 'ok';
  const verdict = status.port === 'open' || status.redLine !== null ? 'wrong' : 'not-checked';
  const { restart } = status;
  const serial = newTablet(seen);
  const stays = serial !== null && isSince(restart, serial, begunAt) ? restart.verdict : 'not-checked';
  return [
    isClosed
      ? line('port', 'ADB port', 'ok', 'closed')
      : line('port', 'ADB port', verdict, port?.detail ?? status.port, 'gw kiosk lock --after-restart'),
    stays === 'closed'
      ? line('restart', 'It stayed closed after a restart', 'ok', `watched at ${restart.at}`)
      : line('restart', 'It stayed closed after a restart', stays === 'open' ? 'wrong' : 'open', stays, setItUp),
  ];
}

/** Of this tablet, and not from before the replacement. */
function isSince({ at, serial }: Pick<KioskStatus['restart'], 'at' | 'serial'>, of: string, begunAt: string): boolean {
  return serial === of && at !== null && Date.parse(at) >= Date.parse(begunAt);
}
