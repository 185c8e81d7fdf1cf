import {
  type Answerer,
  type Doubt,
  type Knowledge,
  knowledgeOf,
  type MachineTime,
  NO_KNOWLEDGE,
  type PortState,
  type TabletRecord,
} from '../../kiosk/index.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { KioskFinding, KioskStatus } from './kiosk.result.ts';

type Now = { readonly wall: Date; readonly machine: MachineTime };
type SetUp = Omit<KioskStatus['setUp'], 'notRead'>;

/** A reading that is older counts as not checked. Project decision. */
const MAX_REMEMBERED_S = 24 * 3_600;

const since: Readonly<Record<Doubt['id'], string>> = {
  'restarted-by-gw': 'gw restarted the tablet after that',
  restarted: 'the tablet has restarted since, or does not report its boot',
  opened: 'its debug bridge was seen open again after that',
  reset: 'the tablet was reset to factory settings after that',
  'other-device': 'another tablet was connected after that',
};

/** The newest reading, with what speaks against its still being so. */
export function knownSetUp(
  record: TabletRecord | null,
  scene: {
    readonly now: Now;
    /** It was read by this very command. */
    readonly isRead: boolean;
    /** Of the profile as it is now; null: it cannot be read. */
    readonly hash: string | null;
    readonly answeredBy: Answerer;
    readonly address: TabletRecord['address'];
  },
): SetUp {
  const reading = record?.reading ?? null;
  if (reading === null) {
    const none = { verdict: 'not-checked', atLastConnection: 'not-checked' } as const;
    return { ...none, ...NO_KNOWLEDGE, by: null, profile: null, steps: [], doubts: [] };
  }
  const { now, isRead, hash, answeredBy, address } = scene;
  const knowledge = knowledgeOf(reading.seen, isRead ? 'read-now' : 'remembered', now);
  const doubts: SetUp['doubts'] = reading.doubts.map(({ id, seen }) => ({ id, detail: `${since[id]} (${seen.at})` }));
  const doubt = (id: SetUp['doubts'][number]['id'], detail: string) => doubts.push({ id, detail });
  if (!isRead) {
    const last = record?.address;
    if (last?.host !== address.host || last.port !== address.port) {
      doubt('address-changed', 'the site file names another address than then');
    }
    if (answeredBy === 'other' && !doubts.some(({ id }) => id === 'other-device')) {
      doubt('other-device', 'another hardware address answers at its address now');
    }
    if (record?.bridge.state === 'open' && !doubts.some(({ id }) => id === 'opened')) {
      doubt('opened', 'its debug bridge is open: whoever reaches it can change anything');
    }
    if (hash === null) doubt('profile-unreadable', 'the profile cannot be read now');
    else if (hash !== reading.profile.sha256) doubt('profile-changed', 'the profile is another one now');
    if (knowledge.ageS === null) doubt('age-unknown', 'a clock went back, so that its age is not known');
    else if (knowledge.ageS > MAX_REMEMBERED_S) doubt('too-old', 'read more than 24 hours ago');
  }
  return {
    verdict: verdictOf(reading.verdict, doubts),
    atLastConnection: verdictOf(
      reading.verdict,
      doubts.filter(({ id }) => id !== 'restarted-by-gw'),
    ),
    ...knowledge,
    by: reading.by,
    profile: reading.profile.name,
    steps: [...reading.steps],
    doubts,
  };
}

/** A difference stays wrong until it is read otherwise, except on another tablet or by another profile. */
function verdictOf(verdict: SetUp['verdict'], doubts: SetUp['doubts']): SetUp['verdict'] {
  const has = (...ids: readonly string[]) => doubts.some(({ id }) => ids.includes(id));
  if (verdict !== 'as-profile') {
    return has('other-device', 'profile-changed', 'reset') ? 'not-checked' : verdict;
  }
  return doubts.length === 0 ? 'as-profile' : 'not-checked';
}

/** The newest proof about a restart. What happened to the tablet since has taken it away already. */
export function knownRestart(
  record: TabletRecord | null,
  { now, answeredBy }: { readonly now: Now; readonly answeredBy: Answerer },
): KioskStatus['restart'] {
  const known = record?.bridge.afterRestart;
  if (known === undefined || known.seen === null) return { verdict: 'not-checked', ...NO_KNOWLEDGE };
  // What is known of one tablet says nothing of another one.
  const verdict = answeredBy === 'other' ? 'not-checked' : known.verdict;
  return { verdict, ...knowledgeOf(known.seen, 'remembered', now) };
}

const SPEC = 'Cloud and other network paths';

export function findingsOf(found: {
  readonly port: PortState;
  readonly answeredBy: Answerer;
  readonly setUp: SetUp & Pick<KioskStatus['setUp'], 'notRead'>;
  readonly restart: KioskStatus['restart'];
  readonly now: Now;
}): KioskFinding[] {
  return [portFinding(found), restartFinding(found.restart), setUpFinding(found.setUp)];
}

function portFinding({
  port,
  answeredBy,
  now,
}: {
  readonly port: PortState;
  readonly answeredBy: Answerer;
  readonly now: Now;
}): KioskFinding {
  const base = {
    id: 'port',
    title: 'The port of the debug bridge is closed at the address of the tablet',
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
          'refused by another device: its hardware address is not that of the tablet',
          'Look up the address of the tablet, mend tablet.host in the site file, then ask again.',
        );
      }
      const who = answeredBy === 'same' ? 'by the hardware address of the tablet' : 'which device refuses is not known';
      return ok(base, `connections are refused (${who})`);
    }
    case 'open':
      return wrong(
        base,
        'the port takes connections: who reaches it owns the tablet',
        'When the tablet is set up: `gw kiosk lock`.',
      );
    case 'silent':
      return notChecked(
        base,
        'no answer from the address of the tablet',
        'Wake the tablet, check its WLAN and tablet.host in the site file, then ask again.',
      );
  }
}

function knowledgeIn(part: Knowledge): Knowledge {
  const { basis, at, ageS, ageBy, serial, bootId } = part;
  return { basis, at, ageS, ageBy, serial, bootId };
}

function restartFinding(restart: KioskStatus['restart']): KioskFinding {
  const base = {
    id: 'restart',
    title: 'The port stays closed over a restart of the tablet',
    spec: SPEC,
    ...knowledgeIn(restart),
  };
  switch (restart.verdict) {
    case 'closed':
      return notChecked({ ...base, remembered: 'ok' }, 'it stayed closed when that was tried', null);
    case 'open':
      return wrong(
        { ...base, remembered: 'wrong' },
        'the port opened again when that was tried, or a property of the tablet opens it at every start',
        'Switch ADB over TCP off in the developer options of the tablet, then `gw kiosk lock --after-restart`.',
      );
    case 'not-checked':
      return notChecked(
        { ...base, remembered: null },
        'no restart was watched since it was last open',
        'Prove it while the tablet is open: `gw kiosk lock --after-restart`.',
      );
  }
}

function setUpFinding(setUp: SetUp & Pick<KioskStatus['setUp'], 'notRead'>): KioskFinding {
  const { verdict, basis, by, profile, steps, doubts, notRead } = setUp;
  const base = { id: 'set-up', title: 'The tablet is as its profile says', spec: null, ...knowledgeIn(setUp) };
  const why = notRead === null ? '' : `; not read now: ${notRead.message}`;
  if (basis === 'none') {
    const detail = `never read from this machine${why}`;
    return notChecked({ ...base, remembered: null }, detail, 'Run `gw kiosk setup`.');
  }
  const inOrder = steps.filter(({ state }) => state === 'ok').length;
  const others = steps.filter(({ state }) => state !== 'ok').map(({ title }) => title);
  const rest = others.length === 0 ? '' : `; not in order or not reported: ${others.join(', ')}`;
  const doubted = doubts.length === 0 ? '' : `; ${doubts.map(({ detail }) => detail).join('; ')}`;
  const said = {
    'not-done': 'setup did not come to its end',
    differs: `${inOrder} of ${steps.length} steps as '${profile ?? ''}'`,
    'as-profile': `${inOrder} of ${steps.length} steps as '${profile ?? ''}'`,
    'not-checked': `${inOrder} of ${steps.length} steps as '${profile ?? ''}'`,
  }[verdict];
  const detail = `${said}, read by ${by ?? 'gw'}${rest}${doubted}${why}`;
  if (verdict === 'differs' || verdict === 'not-done') {
    const remedy = 'Mend that, then run `gw kiosk setup` again.';
    return wrong({ ...base, remembered: basis === 'remembered' ? 'wrong' : null }, detail, remedy);
  }
  if (basis === 'read-now') {
    const start = { ...base, remembered: null };
    return verdict === 'as-profile'
      ? ok(start, detail)
      : notChecked(start, detail, 'Look at the tablet itself for these.');
  }
  const remedy = 'Read it again at a cable with `gw kiosk status --usb`, or look at the tablet itself.';
  const remembered = verdict === 'as-profile' ? 'ok' : 'not-checked';
  return notChecked({ ...base, remembered }, detail, remedy);
}
