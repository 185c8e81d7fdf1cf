import {
  type Doubt,
  type MachineTime,
  NO_PROVENANCE,
  type PortState,
  type Provenance,
  provenanceOf,
  type Responder,
  type TabletRecord,
} from '../../kiosk/index.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { FoundBy } from './find.ts';
import type { KioskFinding, KioskStatus } from './kiosk.result.ts';

type SetUp = KioskStatus['setUp'];

/** What the command saw of the tablet itself. */
export interface Seen {
  readonly now: { readonly wall: Date; readonly machine: MachineTime };
  readonly port: PortState;
  readonly answeredBy: Responder;
  /** The record is of another tablet than the one that the site file names by its serial number. */
  readonly isOfAnother: boolean;
  readonly foundBy: FoundBy;
  readonly address: TabletRecord['address'];
  /** Whether this command read the tablet, and the error of an attempt, or of its profile. */
  readonly isRead: boolean;
  readonly notRead: SetUp['notRead'];
  /** Hash of the current profile; null: unreadable. */
  readonly hash: string | null;
}

/** The state of a tablet by its record and what was seen now. */
export function statusOf(
  record: TabletRecord | null,
  seen: Seen,
): Pick<KioskStatus, 'setUp' | 'restart'> & { readonly findings: KioskFinding[] } {
  const setUp = knownSetUp(record, seen);
  const restart = knownRestart(record, seen);
  // Missing settings come before the lock: after a lock only USB opens the port again.
  const isMissing = setUp.basis === 'none' || setUp.verdict === 'differs' || setUp.verdict === 'not-done';
  const findings = [portFinding(record, seen, isMissing), restartFinding(restart, isMissing), setUpFinding(setUp)];
  return { setUp, restart, findings };
}

/** An older reading counts as not checked. Project decision. */
const MAX_READING_AGE_S = 24 * 3_600;

const doubtTexts: Readonly<Record<Doubt, string>> = {
  'restarted-by-gw': 'gw restarted the tablet after that',
  restarted: 'the tablet has restarted since, or does not report its boot id',
  opened: 'its ADB port was seen open again after that',
  reset: 'factory reset of the tablet after that',
  'other-device': 'another tablet was connected after that',
};

/** The newest reading, with the reasons to doubt that it still holds. */
function knownSetUp(record: TabletRecord | null, seen: Seen): SetUp {
  const { now, isRead, notRead } = seen;
  const reading = record?.reading ?? null;
  if (record === null || reading === null) {
    const none = { verdict: 'not-checked', atLastConnection: 'not-checked' } as const;
    return { ...none, ...NO_PROVENANCE, by: null, profile: null, steps: [], doubts: [], notRead };
  }
  const provenance = provenanceOf(reading.observed, isRead ? 'read-now' : 'remembered', now);
  const doubts: SetUp['doubts'] = reading.doubts.map(({ id, observed }) => ({
    id,
    detail: `${doubtTexts[id]} (${observed.at})`,
  }));
  if (!isRead) {
    const added = doubtsNow(record, seen, reading.profile.sha256, provenance.ageS);
    doubts.push(...added.filter(({ id }) => !doubts.some((doubt) => doubt.id === id)));
  }
  const atLastConnection = doubts.filter(({ id }) => id !== 'restarted-by-gw');
  return {
    verdict: verdictOf(reading.verdict, doubts),
    atLastConnection: verdictOf(reading.verdict, atLastConnection),
    ...provenance,
    by: reading.by,
    profile: reading.profile.name,
    steps: [...reading.steps],
    doubts,
    notRead,
  };
}

/** Reasons to doubt a remembered reading that are seen now. */
function doubtsNow(
  { address: last, bridge }: TabletRecord,
  { address, answeredBy, isOfAnother, foundBy, hash }: Seen,
  lastHash: string | null,
  ageS: number | null,
): SetUp['doubts'] {
  // A tablet that is looked for may move: its MAC address then says that it is the same one.
  const mayMove = foundBy !== 'site-file' && answeredBy === 'same';
  const isElsewhere = !mayMove && (last.host !== address.host || last.port !== address.port);
  const reasons: readonly (readonly [boolean, SetUp['doubts'][number]['id'], string])[] = [
    [isElsewhere, 'address-changed', 'it was at another address then'],
    [isOfAnother, 'other-device', 'the site file names another serial number'],
    [answeredBy === 'other', 'other-device', 'another MAC address answers at its address now'],
    [bridge.state === 'open', 'opened', 'its ADB port is open: any client can change its settings'],
    [hash === null, 'profile-unreadable', 'the profile cannot be read'],
    [hash !== null && hash !== lastHash, 'profile-changed', 'the profile has changed since'],
    [ageS === null, 'age-unknown', 'its age is unknown, because a clock was set back'],
    [ageS !== null && ageS > MAX_READING_AGE_S, 'too-old', 'read more than 24 hours ago'],
  ];
  return reasons.flatMap(([isDoubted, id, detail]) => (isDoubted ? [{ id, detail }] : []));
}

/** A difference stays wrong until a new reading, except with another tablet, after a reset or with another profile. */
function verdictOf(verdict: SetUp['verdict'], doubts: SetUp['doubts']): SetUp['verdict'] {
  if (verdict === 'as-profile') return doubts.length === 0 ? 'as-profile' : 'not-checked';
  const refuting: readonly string[] = ['other-device', 'profile-changed', 'reset'];
  return doubts.some(({ id }) => refuting.includes(id)) ? 'not-checked' : verdict;
}

/** The last verified behaviour at a restart; later events have already invalidated it in the record. */
function knownRestart(record: TabletRecord | null, { now, answeredBy, isOfAnother }: Seen): KioskStatus['restart'] {
  const known = record?.bridge.afterRestart;
  if (known === undefined || known.observed === null) return { verdict: 'not-checked', ...NO_PROVENANCE };
  // The result of one tablet does not hold for another one.
  const verdict = answeredBy === 'other' || isOfAnother ? 'not-checked' : known.verdict;
  return { verdict, ...provenanceOf(known.observed, 'remembered', now) };
}

const SPEC = 'Cloud and other network paths';
const IDENTIFY =
  'Run it on a machine in the robot segment, which sees the MAC address, or read the tablet over USB: `gw kiosk status --usb`.';

function portFinding(
  record: TabletRecord | null,
  { port, answeredBy, now, address, isOfAnother, foundBy }: Seen,
  isMissing: boolean,
): KioskFinding {
  const base = {
    id: 'port',
    title: 'ADB port at the address of the tablet is closed',
    spec: SPEC,
    remembered: null,
    ...{ ...NO_PROVENANCE, basis: 'read-now' as const, at: now.wall.toISOString(), ageS: 0, ageBy: 'uptime' as const },
  };
  if (port === 'open') {
    return wrong(
      base,
      'the port accepts connections: any client that reaches it can control the tablet',
      isMissing ? 'Run `gw kiosk setup`: it closes the port when the tablet is configured.' : 'Run `gw kiosk lock`.',
    );
  }
  if (port === 'silent') {
    return notChecked(
      base,
      'no answer from the address of the tablet',
      'Wake the tablet, check its WLAN and section tablet of the site file, then run the command again.',
    );
  }
  if (answeredBy === 'other') {
    return notChecked(
      base,
      'refused by another device: its MAC address is not that of the tablet',
      'Look up the address of the tablet and correct tablet.host in the site file, or name tablet.serial there in its place, then run the command again.',
    );
  }
  if (isOfAnother) {
    return notChecked(
      base,
      `refused, and the only known tablet is '${record?.tablet?.serial ?? ''}', which the site file does not name`,
      'Connect the tablet of the site file once: `gw kiosk setup`.',
    );
  }
  if (answeredBy === 'same') return ok(base, 'connections are refused (MAC address of the tablet)');
  if (foundBy === 'remembered') {
    return notChecked(
      base,
      'refused at the remembered address; the tablet was not found in the robot segment',
      IDENTIFY,
    );
  }
  const isHere = record?.tablet != null && record.address.host === address.host && record.address.port === address.port;
  if (!isHere) {
    return notChecked(base, 'refused by an unknown device: no tablet was ever connected at this address', IDENTIFY);
  }
  const { state, why } = record.bridge;
  if (state === 'closed') {
    return ok(base, 'connections are refused (device not visible from here; the tablet was closed at this address)');
  }
  const detail = `refused by an unknown device, and the tablet is not verified as closed: ${why}`;
  return notChecked(base, detail, IDENTIFY);
}

function provenanceIn({ basis, at, ageS, ageBy, serial, bootId }: Provenance): Provenance {
  return { basis, at, ageS, ageBy, serial, bootId };
}

function restartFinding(restart: KioskStatus['restart'], isMissing: boolean): KioskFinding {
  const title = 'ADB port stays closed after a restart of the tablet';
  const base = { id: 'restart', title, spec: SPEC, ...provenanceIn(restart) };
  switch (restart.verdict) {
    case 'closed':
      return notChecked({ ...base, remembered: 'ok' }, 'it stayed closed at the last watched restart');
    case 'open':
      return wrong(
        { ...base, remembered: 'wrong' },
        'the port opened again at a restart, or a property of the tablet opens it at every start',
        'Switch ADB over TCP off in the developer options of the tablet, then run `gw kiosk lock --after-restart`.',
      );
    case 'not-checked':
      return notChecked(
        { ...base, remembered: null },
        'no restart watched since it was last open',
        `Verify it while the port is open: \`gw kiosk ${isMissing ? 'setup' : 'lock'} --after-restart\`.`,
      );
  }
}

function setUpFinding(setUp: SetUp): KioskFinding {
  const { verdict, basis, by, profile, steps, doubts, notRead } = setUp;
  const base = { id: 'set-up', title: 'Settings of the tablet match its profile', spec: null, ...provenanceIn(setUp) };
  const readError = notRead === null ? '' : `; not read now: ${notRead.message}`;
  if (basis === 'none') {
    const detail = `never read by this machine${readError}`;
    return notChecked({ ...base, remembered: null }, detail, 'Run `gw kiosk setup`.');
  }
  const others = steps.filter(({ state }) => state !== 'ok').map(({ title }) => title);
  const rest = others.length === 0 ? '' : `; different or not reported: ${others.join(', ')}`;
  const doubted = doubts.map(({ detail }) => `; ${detail}`).join('');
  const count = `${steps.length - others.length} of ${steps.length} steps match '${profile ?? ''}'`;
  const result = verdict === 'not-done' ? 'setup did not complete' : count;
  const detail = `${result}, read by ${by ?? 'gw'}${rest}${doubted}${readError}`;
  if (verdict === 'differs' || verdict === 'not-done') {
    const remedy = 'Correct that, then run `gw kiosk setup` again.';
    return wrong({ ...base, remembered: basis === 'remembered' ? 'wrong' : null }, detail, remedy);
  }
  if (basis === 'read-now') {
    const current = { ...base, remembered: null };
    return verdict === 'as-profile'
      ? ok(current, detail)
      : notChecked(current, detail, 'Check these settings on the tablet itself.');
  }
  const remedy = 'Read it again over USB with `gw kiosk status --usb`, or check the tablet itself.';
  const remembered = verdict === 'as-profile' ? 'ok' : 'not-checked';
  return notChecked({ ...base, remembered }, detail, remedy);
}
