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
import type { KioskFinding, KioskStatus } from './kiosk.result.ts';

type Now = { readonly wall: Date; readonly machine: MachineTime };
type SetUp = Omit<KioskStatus['setUp'], 'notRead'>;

/** An older reading counts as not checked. Project decision. */
const MAX_READING_AGE_S = 24 * 3_600;

const doubtTexts: Readonly<Record<Doubt['id'], string>> = {
  'restarted-by-gw': 'gw restarted the tablet after that',
  restarted: 'the tablet has restarted since, or does not report its boot id',
  opened: 'its ADB port was seen open again after that',
  reset: 'factory reset of the tablet after that',
  'other-device': 'another tablet was connected after that',
};

/** The newest reading, with the reasons to doubt that it still holds. */
export function knownSetUp(
  record: TabletRecord | null,
  current: {
    readonly now: Now;
    /** Whether this command read the tablet. */
    readonly isRead: boolean;
    /** Hash of the current profile; null: unreadable. */
    readonly hash: string | null;
    readonly answeredBy: Responder;
    readonly address: TabletRecord['address'];
  },
): SetUp {
  const reading = record?.reading ?? null;
  if (reading === null) {
    const none = { verdict: 'not-checked', atLastConnection: 'not-checked' } as const;
    return { ...none, ...NO_PROVENANCE, by: null, profile: null, steps: [], doubts: [] };
  }
  const { now, isRead, hash, answeredBy, address } = current;
  const provenance = provenanceOf(reading.observed, isRead ? 'read-now' : 'remembered', now);
  const doubts: SetUp['doubts'] = reading.doubts.map(({ id, observed }) => ({
    id,
    detail: `${doubtTexts[id]} (${observed.at})`,
  }));
  const doubt = (id: SetUp['doubts'][number]['id'], detail: string) => doubts.push({ id, detail });
  if (!isRead) {
    const last = record?.address;
    if (last?.host !== address.host || last.port !== address.port) {
      doubt('address-changed', 'the address in the site file has changed since');
    }
    if (answeredBy === 'other' && !doubts.some(({ id }) => id === 'other-device')) {
      doubt('other-device', 'another MAC address answers at its address now');
    }
    if (record?.bridge.state === 'open' && !doubts.some(({ id }) => id === 'opened')) {
      doubt('opened', 'its ADB port is open: any client can change its settings');
    }
    if (hash === null) doubt('profile-unreadable', 'the profile cannot be read');
    else if (hash !== reading.profile.sha256) doubt('profile-changed', 'the profile has changed since');
    if (provenance.ageS === null) doubt('age-unknown', 'its age is unknown, because a clock was set back');
    else if (provenance.ageS > MAX_READING_AGE_S) doubt('too-old', 'read more than 24 hours ago');
  }
  return {
    verdict: verdictOf(reading.verdict, doubts),
    atLastConnection: verdictOf(
      reading.verdict,
      doubts.filter(({ id }) => id !== 'restarted-by-gw'),
    ),
    ...provenance,
    by: reading.by,
    profile: reading.profile.name,
    steps: [...reading.steps],
    doubts,
  };
}

/** A difference stays wrong until a new reading, except with another tablet, after a reset or with another profile. */
function verdictOf(verdict: SetUp['verdict'], doubts: SetUp['doubts']): SetUp['verdict'] {
  const has = (...ids: readonly string[]) => doubts.some(({ id }) => ids.includes(id));
  if (verdict !== 'as-profile') {
    return has('other-device', 'profile-changed', 'reset') ? 'not-checked' : verdict;
  }
  return doubts.length === 0 ? 'as-profile' : 'not-checked';
}

/** The last verified behaviour at a restart; later events have already invalidated it in the record. */
export function knownRestart(
  record: TabletRecord | null,
  { now, answeredBy }: { readonly now: Now; readonly answeredBy: Responder },
): KioskStatus['restart'] {
  const known = record?.bridge.afterRestart;
  if (known === undefined || known.observed === null) return { verdict: 'not-checked', ...NO_PROVENANCE };
  // The result of one tablet does not hold for another one.
  const verdict = answeredBy === 'other' ? 'not-checked' : known.verdict;
  return { verdict, ...provenanceOf(known.observed, 'remembered', now) };
}

const SPEC = 'Cloud and other network paths';

export function findingsOf(found: {
  readonly port: PortState;
  readonly answeredBy: Responder;
  readonly setUp: SetUp & Pick<KioskStatus['setUp'], 'notRead'>;
  readonly restart: KioskStatus['restart'];
  readonly now: Now;
  readonly known: Known;
}): KioskFinding[] {
  const { verdict, basis } = found.setUp;
  const isMissing = basis === 'none' || verdict === 'differs' || verdict === 'not-done';
  return [portFinding(found, isMissing), restartFinding(found.restart, isMissing), setUpFinding(found.setUp)];
}

/** What the record states of the tablet at an address whose device is not visible. */
export interface Known {
  /** null: no tablet was ever connected at this address. */
  readonly bridge: TabletRecord['bridge'] | null;
}

/** What of the record holds for this address. */
export function knownAt(record: TabletRecord | null, { host, port }: TabletRecord['address']): Known {
  const isHere = record !== null && record.address.host === host && record.address.port === port;
  return { bridge: isHere && record.tablet !== null ? record.bridge : null };
}

const IDENTIFY =
  'Run it on a machine in the robot segment, which sees the MAC address, or read the tablet over USB: `gw kiosk status --usb`.';

/** `isMissing`: settings are, so the setup comes before the lock; after a lock only USB opens the port again. */
function portFinding(
  {
    port,
    answeredBy,
    now,
    known: { bridge },
  }: { readonly port: PortState; readonly answeredBy: Responder; readonly now: Now; readonly known: Known },
  isMissing: boolean,
): KioskFinding {
  const base = {
    id: 'port',
    title: 'ADB port at the address of the tablet is closed',
    spec: SPEC,
    remembered: null,
    basis: 'read-now' as const,
    at: now.wall.toISOString(),
    ageS: 0,
    ageBy: 'uptime' as const,
    serial: null,
    bootId: null,
  };
  switch (port) {
    case 'closed': {
      if (answeredBy === 'other') {
        return notChecked(
          base,
          'refused by another device: its MAC address is not that of the tablet',
          'Look up the address of the tablet, correct tablet.host in the site file, then run the command again.',
        );
      }
      if (answeredBy === 'same') return ok(base, 'connections are refused (MAC address of the tablet)');
      if (bridge === null) {
        return notChecked(base, 'refused by an unknown device: no tablet was ever connected at this address', IDENTIFY);
      }
      return bridge.state === 'closed'
        ? ok(base, 'connections are refused (device not visible from here; the tablet was closed at this address)')
        : notChecked(
            base,
            `refused by an unknown device, and the tablet is not verified as closed: ${bridge.why}`,
            IDENTIFY,
          );
    }
    case 'open':
      return wrong(
        base,
        'the port accepts connections: any client that reaches it can control the tablet',
        isMissing ? 'Run `gw kiosk setup`: it closes the port when the tablet is configured.' : 'Run `gw kiosk lock`.',
      );
    case 'silent':
      return notChecked(
        base,
        'no answer from the address of the tablet',
        'Wake the tablet, check its WLAN and tablet.host in the site file, then run the command again.',
      );
  }
}

function provenanceIn(part: Provenance): Provenance {
  const { basis, at, ageS, ageBy, serial, bootId } = part;
  return { basis, at, ageS, ageBy, serial, bootId };
}

function restartFinding(restart: KioskStatus['restart'], isMissing: boolean): KioskFinding {
  const base = {
    id: 'restart',
    title: 'ADB port stays closed after a restart of the tablet',
    spec: SPEC,
    ...provenanceIn(restart),
  };
  switch (restart.verdict) {
    case 'closed':
      return notChecked({ ...base, remembered: 'ok' }, 'it stayed closed at the last watched restart', null);
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

function setUpFinding(setUp: SetUp & Pick<KioskStatus['setUp'], 'notRead'>): KioskFinding {
  const { verdict, basis, by, profile, steps, doubts, notRead } = setUp;
  const base = { id: 'set-up', title: 'Settings of the tablet match its profile', spec: null, ...provenanceIn(setUp) };
  const readError = notRead === null ? '' : `; not read now: ${notRead.message}`;
  if (basis === 'none') {
    const detail = `never read by this machine${readError}`;
    return notChecked({ ...base, remembered: null }, detail, 'Run `gw kiosk setup`.');
  }
  const matching = steps.filter(({ state }) => state === 'ok').length;
  const others = steps.filter(({ state }) => state !== 'ok').map(({ title }) => title);
  const rest = others.length === 0 ? '' : `; different or not reported: ${others.join(', ')}`;
  const doubted = doubts.length === 0 ? '' : `; ${doubts.map(({ detail }) => detail).join('; ')}`;
  const count = `${matching} of ${steps.length} steps match '${profile ?? ''}'`;
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
