import { GwError } from '../error/index.ts';
import { isInRange } from '../net/probe/index.ts';
import { plural } from '../text/index.ts';
import {
  readAddresses,
  readDeviceOwner,
  readFrontActivity,
  readLockTaskMode,
  readPackages,
  readSsid,
  showsPage,
  wholeComponent,
} from './answers.ts';
import { tabletCommand } from './command.ts';
import { packageStep } from './package-step.ts';
import type { KioskProfile } from './profile.ts';
import { compared, notTold, settingSteps } from './setting-steps.ts';
import type { Look, Step, StepScene } from './step.ts';
import { refused } from './tablet.ts';

/** Every step of a profile, in the order in which they are done. */
export function kioskSteps(profile: KioskProfile, robotSegment: string | undefined): Step[] {
  const { network, deviceOwner, hidePackages, lockTask } = profile;
  const segment = network.segment ?? robotSegment;
  const steps: (Step | false)[] = [
    network.ssid !== undefined && ssidStep(network.ssid),
    segment !== undefined && segmentStep(segment),
    packageStep(profile),
    deviceOwner !== undefined && ownerStep(profile, deviceOwner),
  ];
  const last: (Step | false)[] = [
    hidePackages.length > 0 && hideStep(hidePackages),
    startStep(profile),
    lockTask && lockTaskStep(profile),
  ];
  return [...steps, ...settingSteps(profile), ...last].filter((step) => step !== false);
}

/** First version of Android whose shell tells the state of the WLAN: 11. */
const WIFI_STATUS_SDK = 30;

function ssidStep(ssid: string): Step {
  const remedy = 'Choose the WLAN of the robot segment on the tablet, and forget the others there.';
  return {
    id: 'wlan',
    title: 'WLAN',
    expected: ssid,
    remedy,
    async check({ tablet }) {
      if (tablet.facts.sdk < WIFI_STATUS_SDK) return notTold('its WLAN (Android 11 and later do)');
      const found = readSsid(await tablet.read(tabletCommand`cmd wifi status`));
      if (found === undefined) return notTold('its WLAN');
      return { ...compared(found === ssid, found ?? 'in no WLAN'), remedy };
    },
  };
}

const IPV4_RANGE = /^\d{1,3}(\.\d{1,3}){3}\//;

function segmentStep(segment: string): Step {
  const remedy = 'The tablet belongs into the robot segment alone: choose its WLAN on the tablet.';
  return {
    id: 'segment',
    title: 'Address of the tablet',
    expected: `in ${segment}`,
    remedy,
    async check({ tablet }) {
      const addresses = readAddresses(await tablet.read(tabletCommand`ip -f inet -o addr show`));
      if (addresses.length === 0) return notTold('its addresses');
      const found = addresses.map(({ name, address }) => `${address} (${name})`).join(', ');
      if (!IPV4_RANGE.test(segment)) {
        // The command gives IPv4 addresses only, and those say nothing about such a range.
        const why = `${found}; whether it has an address in ${segment} too is not looked at`;
        return {
          verdict: 'not-checked',
          found: why,
          remedy: 'Look at its IPv6 addresses in the settings of the tablet.',
        };
      }
      const isThere = addresses.some(({ address }) => isInRange(address, segment) === true);
      return { ...compared(isThere, found), remedy };
    },
  };
}

function ownerStep({ app }: KioskProfile, receiver: string): Step {
  const component = wholeComponent(`${app.name}/${receiver}`);
  return {
    id: 'device-owner',
    title: 'Device owner',
    expected: component,
    remedy: 'Reset the tablet to factory settings, add no account, and run the command again.',
    async check({ tablet }) {
      const owner = readDeviceOwner(await tablet.read(tabletCommand`dumpsys ${'device_policy'}`));
      if (owner === undefined) return notTold('its device owner');
      return compared(owner === component, owner ?? 'none');
    },
    async apply({ tablet }) {
      const command = tabletCommand`dpm set-device-owner --user ${0} ${component}`;
      const { stdout, stderr, exitCode } = await tablet.run(command);
      const said = `${stdout}\n${stderr}`;
      if (/^Success\b/m.test(stdout)) return;
      throw ownerRefused(said, exitCode);
    },
  };
}

/** Each reason for which Android refuses a device owner has its own way out. */
function ownerRefused(said: string, exitCode: number): GwError {
  const remedy = /already (?:some )?accounts|some accounts/i.test(said)
    ? 'Accounts are on the tablet: remove them all in its settings (or reset it to factory settings), then try again.'
    : /already set|already has (?:a )?device owner/i.test(said)
      ? 'Another application owns this tablet: only a reset to factory settings frees it.'
      : /already several users|already provisioned/i.test(said)
        ? 'The tablet has further users or was provisioned otherwise: reset it to factory settings.'
        : 'Compare deviceOwner of the profile with the receiver in the package, or reset the tablet.';
  const error = refused('dpm set-device-owner', said, exitCode);
  return new GwError(error.code, error.message, { remedy, details: error.details });
}

function hideStep(names: readonly string[]): Step {
  const shown = async ({ tablet }: StepScene): Promise<string[] | null> => {
    const all = readPackages(await tablet.read(tabletCommand`pm list packages --user ${0} --show-versioncode`));
    const disabled = readPackages(await tablet.read(tabletCommand`pm list packages -d --user ${0}`));
    return all.size === 0 ? null : names.filter((name) => all.has(name) && !disabled.has(name));
  };
  return {
    id: 'hidden-packages',
    title: 'Hidden packages',
    expected: `${plural(names.length, 'package')} disabled or not there`,
    remedy: 'The manufacturer protects this package: hide it by the device owner, or leave it out of the profile.',
    async check(scene) {
      const visible = await shown(scene);
      if (visible === null) return notTold('its packages');
      return compared(visible.length === 0, visible.length === 0 ? 'all of them' : `visible: ${visible.join(', ')}`);
    },
    async apply(scene) {
      for (const name of (await shown(scene)) ?? []) {
        const command = tabletCommand`pm disable-user --user ${0} ${name}`;
        const { stdout, stderr, exitCode } = await scene.tablet.run(command);
        if (exitCode !== 0 || !/new state: disabled-user/.test(stdout)) {
          throw refused(command, `${stdout}\n${stderr}`, exitCode);
        }
      }
    },
  };
}

function startStep({ app, startPage }: KioskProfile): Step {
  const component = wholeComponent(`${app.name}/${app.activity}`);
  const front = async ({ tablet }: StepScene) =>
    readFrontActivity(await tablet.read(tabletCommand`dumpsys ${'activity'} ${'activities'}`));
  const look = (found: Awaited<ReturnType<typeof front>>): Look => {
    if (found === null) return { verdict: 'differs', found: 'nothing in front, or the screen is off' };
    if (found.component !== component) return { verdict: 'differs', found: `${found.component} in front` };
    if (found.data === null) return { verdict: 'differs', found: 'the shell in front, without a page' };
    const fit = showsPage(found.data, startPage);
    const limit = fit === 'as-far-as-shown' ? ' (Android shows host and port only)' : '';
    return { verdict: fit === 'other' ? 'differs' : 'ok', found: `${found.data} in front${limit}` };
  };
  return {
    id: 'start-page',
    title: 'Start page',
    expected: `${startPage} in ${component}`,
    remedy: 'Look at the tablet: close what covers the kiosk shell, and run the command again.',
    check: async (scene) => look(await front(scene)),
    async apply({ tablet }) {
      const action = 'android.intent.action.VIEW';
      const command = tabletCommand`am start -W --user ${0} -a ${action} -d ${startPage} -n ${component}`;
      const { stdout, stderr, exitCode } = await tablet.run(command, { timeoutMs: 60_000 });
      const said = `${stdout}\n${stderr}`;
      if (exitCode !== 0 || /^Error\b/m.test(said) || /\bException\b/.test(said)) {
        throw refused('am start', said, exitCode);
      }
    },
    async verify(scene) {
      const found = await front(scene);
      if (found?.component !== component || look(found).verdict === 'ok') return look(found);
      // An activity that was there already keeps in this list the page it was first started with.
      return {
        verdict: 'not-checked',
        found: 'the shell is in front; Android does not tell which page it was given last',
        remedy: 'Look at the tablet: it must show the operator surface.',
      };
    },
  };
}

function lockTaskStep({ app }: KioskProfile): Step {
  const remedy = `The shell ${app.name} enters lock task mode itself, as device owner: look at the tablet whether it did.`;
  return {
    id: 'lock-task',
    title: 'Lock task mode',
    expected: 'locked',
    remedy,
    async check({ tablet }) {
      const mode = readLockTaskMode(await tablet.read(tabletCommand`dumpsys ${'activity'} ${'activities'}`));
      if (mode === null) return notTold('its lock task mode');
      const words = { LOCKED: 'locked', PINNED: 'only pinned: anybody can leave it', NONE: 'not locked' } as const;
      return { ...compared(mode === 'LOCKED', words[mode]), remedy };
    },
    // The shell does it itself, some moments after it was started: waiting for it is all there is to do.
    apply: async () => {},
  };
}
