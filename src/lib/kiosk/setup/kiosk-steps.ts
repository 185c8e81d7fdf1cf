import { GwError } from '../../error/index.ts';
import { isInRange } from '../../net/probe/index.ts';
import { plural } from '../../text/index.ts';
import { tabletCommand } from '../adb/command.ts';
import {
  comparePage,
  fullComponent,
  parseAddresses,
  parseDeviceOwner,
  parseFrontActivity,
  parseLockTaskMode,
  parsePackages,
  parseSsid,
} from '../adb/command-output.ts';
import { commandRefused } from '../adb/tablet.ts';
import type { KioskProfile } from '../profile.ts';
import { isWhole, packageStep, packagesNotReported, readPackages } from './package-step.ts';
import { compared, notReported, settingSteps } from './setting-steps.ts';
import type { CheckResult, Step, StepContext } from './step.ts';

/** Every step of a profile, in the order of execution. */
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

/** API level of Android 11, the first with `cmd wifi status`. */
const MIN_WIFI_STATUS_SDK = 30;

function ssidStep(ssid: string): Step {
  const remedy = 'Select the WLAN of the robot segment on the tablet, and delete the other networks there.';
  return {
    id: 'wlan',
    title: 'WLAN',
    expected: ssid,
    remedy,
    async check({ tablet }) {
      if (tablet.facts.sdk < MIN_WIFI_STATUS_SDK) return notReported('its WLAN (requires Android 11)');
      const found = parseSsid(await tablet.read(tabletCommand`cmd wifi status`));
      if (found === undefined) return notReported('its WLAN');
      return { ...compared(found === ssid, found ?? 'not connected'), remedy };
    },
  };
}

const IPV4_RANGE = /^\d{1,3}(\.\d{1,3}){3}\//;

function segmentStep(segment: string): Step {
  const remedy = 'Select the WLAN of the robot segment on the tablet.';
  return {
    id: 'segment',
    title: 'Address of the tablet',
    expected: `in ${segment}`,
    remedy,
    async check({ tablet }) {
      const addresses = parseAddresses(await tablet.read(tabletCommand`ip -f inet -o addr show`));
      if (addresses.length === 0) return notReported('its addresses');
      const found = addresses.map(({ name, address }) => `${address} (${name})`).join(', ');
      if (!IPV4_RANGE.test(segment)) {
        // The command lists IPv4 addresses only, which cannot be compared with an IPv6 range.
        const detail = `${found}; IPv6 addresses in ${segment} are not read`;
        return {
          verdict: 'not-checked',
          found: detail,
          remedy: 'Check the IPv6 addresses in the settings of the tablet.',
        };
      }
      const isThere = addresses.some(({ address }) => isInRange(address, segment) === true);
      return { ...compared(isThere, found), remedy };
    },
  };
}

function ownerStep({ app }: KioskProfile, receiver: string): Step {
  const component = fullComponent(`${app.name}/${receiver}`);
  return {
    id: 'device-owner',
    title: 'Device owner',
    expected: component,
    remedy: 'Reset the tablet to factory settings, add no account, then run the command again.',
    async check({ tablet }) {
      const owner = parseDeviceOwner(await tablet.read(tabletCommand`dumpsys ${'device_policy'}`));
      if (owner === undefined) return notReported('its device owner');
      return compared(owner === component, owner ?? 'none');
    },
    async apply({ tablet }) {
      const command = tabletCommand`dpm set-device-owner --user ${0} ${component}`;
      const { stdout, stderr, exitCode } = await tablet.run(command);
      if (/^Success\b/m.test(stdout)) return;
      throw ownerRefused(`${stdout}\n${stderr}`, exitCode);
    },
  };
}

/** Android's reasons for refusing a device owner, each with its remedy. */
function ownerRefused(output: string, exitCode: number): GwError {
  const remedy = /already (?:some )?accounts|some accounts/i.test(output)
    ? 'Remove all accounts in the settings of the tablet (or reset it to factory settings), then try again.'
    : /already set|already has (?:a )?device owner/i.test(output)
      ? 'Reset the tablet to factory settings: another application is device owner.'
      : /already several users|already provisioned/i.test(output)
        ? 'Reset the tablet to factory settings: it has further users or is already provisioned.'
        : 'Compare deviceOwner of the profile with the receiver in the package, or reset the tablet to factory settings.';
  const error = commandRefused('dpm set-device-owner', output, exitCode);
  return new GwError(error.code, error.message, { remedy, details: error.details });
}

function hideStep(names: readonly string[]): Step {
  const read = async ({ tablet }: StepContext) => {
    const all = await readPackages(tablet);
    const disabled = parsePackages(await tablet.read(tabletCommand`pm list packages -d --user ${0}`));
    const others = names.filter((name) => !disabled.packages.has(name));
    // A line that is no package may be the one that says that a package is there, or that it is disabled.
    const visible = disabled.unread === null ? others.filter((name) => all.packages.has(name)) : [];
    const isDecided = visible.length === others.length || (isWhole(all) && disabled.unread === null);
    return { visible, unknown: isDecided ? null : { ...all, unread: all.unread ?? disabled.unread } };
  };
  return {
    id: 'hidden-packages',
    title: 'Hidden packages',
    expected: `${plural(names.length, 'package')} disabled or not installed`,
    remedy: 'Hide the protected package through the device owner, or remove it from the profile.',
    async check(context) {
      const { visible, unknown } = await read(context);
      if (visible.length === 0 && unknown !== null) return packagesNotReported(unknown);
      return compared(visible.length === 0, visible.length === 0 ? 'all' : `visible: ${visible.join(', ')}`);
    },
    async apply(context) {
      for (const name of (await read(context)).visible) {
        const command = tabletCommand`pm disable-user --user ${0} ${name}`;
        const { stdout, stderr, exitCode } = await context.tablet.run(command);
        if (exitCode !== 0 || !/new state: disabled-user/.test(stdout)) {
          throw commandRefused(command, `${stdout}\n${stderr}`, exitCode);
        }
      }
    },
  };
}

function startStep({ app, startPage }: KioskProfile): Step {
  const component = fullComponent(`${app.name}/${app.activity}`);
  const front = async ({ tablet }: StepContext) =>
    parseFrontActivity(await tablet.read(tabletCommand`dumpsys ${'activity'} ${'activities'}`));
  const compareFront = (found: Awaited<ReturnType<typeof front>>): CheckResult => {
    if (found === null) return { verdict: 'differs', found: 'no activity in the foreground, or the screen is off' };
    if (found.component !== component) return { verdict: 'differs', found: `${found.component} in the foreground` };
    if (found.data === null) return { verdict: 'differs', found: 'the kiosk shell in the foreground, without a page' };
    const fit = comparePage(found.data, startPage);
    const limit = fit === 'prefix' ? ' (Android reports host and port only)' : '';
    return { verdict: fit === 'other' ? 'differs' : 'ok', found: `${found.data} in the foreground${limit}` };
  };
  return {
    id: 'start-page',
    title: 'Start page',
    expected: `${startPage} in ${component}`,
    remedy: 'Close the application that covers the kiosk shell on the tablet, then run the command again.',
    check: async (context) => compareFront(await front(context)),
    async apply({ tablet }) {
      const action = 'android.intent.action.VIEW';
      const command = tabletCommand`am start -W --user ${0} -a ${action} -d ${startPage} -n ${component}`;
      const { stdout, stderr, exitCode } = await tablet.run(command, { timeoutMs: 60_000 });
      const output = `${stdout}\n${stderr}`;
      if (exitCode !== 0 || /^Error\b/m.test(output) || /\bException\b/.test(output)) {
        throw commandRefused('am start', output, exitCode);
      }
    },
    async verify(context) {
      const found = await front(context);
      const result = compareFront(found);
      if (found?.component !== component || result.verdict === 'ok') return result;
      // For an activity that was running already Android lists the page of its first start.
      return {
        verdict: 'not-checked',
        found: 'the kiosk shell is in the foreground; Android does not report its current page',
        remedy: 'Check that the tablet shows the operator surface.',
      };
    },
  };
}

function lockTaskStep({ app }: KioskProfile): Step {
  const remedy = `Check the tablet: the shell ${app.name} enters lock task mode itself, as device owner.`;
  return {
    id: 'lock-task',
    title: 'Lock task mode',
    expected: 'locked',
    remedy,
    async check({ tablet }) {
      const mode = parseLockTaskMode(await tablet.read(tabletCommand`dumpsys ${'activity'} ${'activities'}`));
      if (mode === null) return notReported('its lock task mode');
      const texts = { LOCKED: 'locked', PINNED: 'only pinned: any user can leave it', NONE: 'not locked' } as const;
      return { ...compared(mode === 'LOCKED', texts[mode]), remedy };
    },
    // The shell enters the mode itself shortly after its start; the verification waits for it.
    apply: async () => {},
  };
}
