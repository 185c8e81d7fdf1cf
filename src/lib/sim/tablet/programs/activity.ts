import type { Device } from '../device.ts';
import { classOf } from '../packages/package-file.ts';
import { type OptionTable, type Program, readOptions } from '../shell/process.ts';
import { EXCEPTION, exception, refuseOption } from './settings.ts';

/** Android 12 and later print owners in the short form. */
const SHORT_OWNER_SDK = 31;

/** `package/full.Class` from a component in short form. */
function wholeComponent(text: string): string {
  const [name = '', className = ''] = text.split('/');
  return className === '' ? '' : `${name}/${classOf(name, className)}`;
}

/** `package/.Class` if the class is in the package. */
function shortComponent(component: string): string {
  const [name = '', className = ''] = component.split('/');
  return className.startsWith(`${name}.`) ? `${name}/${className.slice(name.length)}` : component;
}

/** Like the system, dumps show only scheme and host of an http URL. */
function safeAddress(data: string): string {
  const found = /^(https?:\/\/[^/?#]+)/i.exec(data);
  return found ? `${found[1]}/...` : data;
}

/** Options of `am start`. Extras and flags have no effect on this tablet. */
const startOptions: OptionTable = {
  '-a': 1,
  '-c': 1,
  '-d': 1,
  '-n': 1,
  '-t': 1,
  '-f': 1,
  '-W': 0,
  '--user': 1,
  '--es': 2,
  '--ez': 2,
  '--ei': 2,
  '--el': 2,
  '--activity-clear-task': 0,
  '--activity-clear-top': 0,
  '--activity-single-top': 0,
};

const start: Program = async (process) => {
  const { device, out, err } = process;
  const read = readOptions(process.words, startOptions);
  const refused = await refuseOption(process, 'start', read);
  if (refused !== undefined) return refused;
  const { options, rest } = read;
  const data = options.get('-d');
  const named = options.get('-n') ?? rest.find((word) => word.includes('/') && !word.includes(':'));
  const component = named === undefined ? homeOf(device) : wholeComponent(named);
  const action = options.get('-a') ?? (named === undefined ? 'android.intent.action.MAIN' : undefined);
  const intent = [
    ...(action === undefined ? [] : [`act=${action}`]),
    ...(options.has('-c') ? [`cat=[${options.get('-c')}]`] : []),
    ...(data === undefined ? [] : [`dat=${safeAddress(data)}`]),
    ...(options.has('-t') ? [`typ=${options.get('-t')}`] : []),
    `cmp=${shortComponent(component)}`,
  ].join(' ');
  await out(`Starting: Intent { ${intent} }\n`);
  const [name = '', className = ''] = component.split('/');
  const found = device.packages.get(name);
  const isThere =
    found?.state === 'enabled' && found.manifest.activities.some((activity) => activity.name === className);
  if (!isThere) {
    await err(`Error type 3\nError: Activity class {${component}} does not exist.\n`);
    return 1;
  }
  const isOther = device.screen.isLocked && device.owner?.split('/')[0] !== name;
  if (isOther) {
    await err('Error: Activity not started, unknown error code 101\n');
    return 1;
  }
  device.screen.start(component, action ?? '', data);
  // Kiosk shells that are device owner enter lock task mode with their first screen.
  if (device.owner?.split('/')[0] === name && !device.is('tablet-unlocked')) device.screen.isLocked = true;
  if (options.has('-W')) {
    await out(
      `Status: ok\nLaunchState: COLD\nActivity: ${shortComponent(component)}\nTotalTime: 412\nWaitTime: 430\nComplete\n`,
    );
  }
  return 0;
};

/** The activity in front after boot. */
export function homeOf(device: Device): string {
  const homes = device.packages
    .list()
    .filter(({ state }) => state === 'enabled')
    .flatMap(({ manifest }) =>
      manifest.activities.filter(({ isHome }) => isHome).map(({ name }) => `${manifest.name}/${name}`),
    );
  const ofOwner = homes.find((home) => home.split('/')[0] === device.owner?.split('/')[0]);
  return ofOwner ?? 'com.android.launcher3/com.android.launcher3.Launcher';
}

const am: Program = async (process) => {
  const [verb = '', ...words] = process.words;
  switch (verb) {
    case 'start':
    case 'start-activity':
      return start({ ...process, words });
    case 'force-stop': {
      const read = readOptions(words, { '--user': 1 });
      const refused = await refuseOption(process, verb, read);
      if (refused !== undefined) return refused;
      const [name = ''] = read.rest;
      const isFront = process.device.screen.front().component.startsWith(`${name}/`);
      if (isFront && !process.device.screen.isLocked) process.device.screen.goHome();
      return 0;
    }
    case 'get-current-user':
      await process.out('0\n');
      return 0;
    default:
      await process.err(`Unknown command: ${verb}\n`);
      return EXCEPTION;
  }
};

const dpm: Program = async (process) => {
  const { device, out } = process;
  const [verb = '', ...words] = process.words;
  const read = readOptions(words, { '--user': 1, '--name': 1 });
  const refused = await refuseOption(process, verb, read);
  if (refused !== undefined) return refused;
  const { rest } = read;
  const component = wholeComponent(rest[0] ?? '');
  const [name = '', className = ''] = component.split('/');
  const isShort = device.android().sdk >= SHORT_OWNER_SDK;
  if (verb === 'set-device-owner') {
    const admins = device.packages.get(name)?.manifest.admins ?? [];
    const problem = !admins.includes(className)
      ? `java.lang.IllegalArgumentException: Unknown admin: ComponentInfo{${component}}`
      : device.owner !== undefined
        ? 'java.lang.IllegalStateException: Trying to set the device owner, but device owner is already set.'
        : device.is('tablet-account')
          ? 'java.lang.IllegalStateException: Not allowed to set the device owner because there are already some accounts on the device.'
          : undefined;
    if (problem !== undefined) return exception(process, verb, problem);
    device.owner = component;
    const shown = isShort ? shortComponent(component) : `ComponentInfo{${component}}`;
    await out(
      `Success: Device owner set to package ${shown}\nActive admin set to component ${isShort ? shown : `{${component}}`}\n`,
    );
    return 0;
  }
  if (verb === 'remove-active-admin') {
    if (device.owner !== component || !device.packages.get(name)?.manifest.isTestOnly) {
      return exception(
        process,
        verb,
        `java.lang.SecurityException: Attempt to remove non-test admin ComponentInfo{${component}} 0`,
      );
    }
    device.owner = undefined;
    device.screen.isLocked = false;
    await out(`Success: Admin removed ${shortComponent(component)}\n`);
    return 0;
  }
  if (verb === 'list-owners' && isShort) {
    await out(
      device.owner === undefined
        ? 'no owners\n'
        : `1 owner:\nUser  0: admin=${shortComponent(device.owner)},DeviceOwner\n`,
    );
    return 0;
  }
  await process.err(`Unknown command: ${verb}\n`);
  return EXCEPTION;
};

const dumps: Readonly<Record<string, (device: Device, words: readonly string[]) => string>> = {
  device_policy({ owner }) {
    const head = 'Current Device Policy Manager state:\n  Immutable state:\n    mHasFeature=true\n    mIsWatch=false\n';
    if (owner === undefined) return head;
    const [name] = owner.split('/');
    return `${head}  Device Owner: 
    admin=ComponentInfo{${owner}}
    name=
    package=${name}
    isOrganizationOwnedDevice=true
    User ID: 0

  Enabled Device Admins (User 0, provisioningState: 3):
    ${shortComponent(owner)}:
      testOnlyAdmin=false
`;
  },
  activity({ screen, owner }, [what]) {
    if (what !== undefined && what !== 'activities' && what !== 'a')
      return `Bad activity command, or no activities match: ${what}\n`;
    const { component, action, data, task, record } = screen.front();
    const [name] = component.split('/');
    const shown = `ActivityRecord{${record} u0 ${shortComponent(component)} t${task}}`;
    const intent = [
      ...(action === '' ? [] : [`act=${action}`]),
      ...(data === undefined ? [] : [`dat=${data}`]),
      'flg=0x10000000',
      `cmp=${shortComponent(component)}`,
    ].join(' ');
    const locked = screen.isLocked ? 'LOCKED' : 'NONE';
    return `ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)
Display #0 (activities from top to bottom):
  * Task{${record} #${task} type=standard A=10101:${name} U=0 visible=true mode=fullscreen sz=1}
    * Hist  #0: ${shown}
      packageName=${name} processName=${name}
      Intent { ${intent} }

  topResumedActivity=${shown}

  ResumedActivity: ${shown}

  LockTaskController:
    mLockTaskModeState=${locked}
    mLockTaskModeTasks=${screen.isLocked ? `\n      Task{${record} #${task}}` : ''}
    mLockTaskPackages (userId:packages)=
      u0:[${owner?.split('/')[0] ?? ''}]
`;
  },
  package({ packages }, [name = '']) {
    const found = packages.get(name);
    if (!found) return `Unable to find package: ${name}\n`;
    const { manifest, path, uid, state } = found;
    return `Packages:
  Package [${name}]:
    userId=${uid}
    codePath=${path.slice(0, path.lastIndexOf('/'))}
    versionCode=${manifest.versionCode} minSdk=${manifest.minSdk} targetSdk=${manifest.targetSdk}
    versionName=${manifest.versionName}
    User 0: installed=true hidden=false suspended=false stopped=false enabled=${state === 'enabled' ? 0 : 3}
`;
  },
};

const dumpsys: Program = async ({ words, out, err, device }) => {
  const [service = '', ...rest] = words;
  const dump = Object.hasOwn(dumps, service) ? dumps[service] : undefined;
  const most = service === 'package' || service === 'activity' ? 1 : 0;
  if (dump && rest.length > most) {
    await err(`Unknown argument: ${rest[most] ?? ''}; this simulated tablet dumps the whole\n`);
    return 0;
  }
  if (!dump) {
    await err(`Can't find service: ${service}\n`);
    return 0;
  }
  await out(dump(device, rest));
  return 0;
};

export const activityPrograms: Readonly<Record<string, Program>> = { am, dpm, dumpsys };
