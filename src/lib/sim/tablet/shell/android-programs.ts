import { type Device, type Namespace, namespaces, PHYSICAL_DENSITY, wholeComponent } from '../device.ts';
import { type Content, Refused } from '../storage.ts';
import type { Call, Program } from './program.ts';

const ANY = Number.POSITIVE_INFINITY;
const MAX_VOLUME = 15;
/** Exit code of an Android program after an exception. */
const EXCEPTION = 255;
const NO_SPACE = 'Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to allocate space]';
/** Packages that the shell must not disable. */
const protectedPackages: readonly (string | undefined)[] = ['android', 'com.android.shell'];
/** Power sources, as bits of `stay_on_while_plugged_in`. */
const stayOn: ReadonlyMap<string, string> = new Map([
  ['true', '7'],
  ['false', '0'],
]);

const refuse = (text: string): never => {
  throw new Refused(text, EXCEPTION);
};

/** `package/.Class` if the class is in the package. */
function shortComponent(component: string): string {
  const [name = '', className = ''] = component.split('/');
  return className.startsWith(`${name}.`) ? `${name}/${className.slice(name.length)}` : component;
}

/** Like the system, shows only scheme and host of an http URL. */
function safeAddress(data: string): string {
  const found = /^(https?:\/\/[^/?#]+)/i.exec(data);
  return found ? `${found[1]}/...` : data;
}

function namespaceOf(word: string | undefined): Namespace {
  return namespaces.find((name) => name === word) ?? refuse(`Invalid namespace '${word}'`);
}

/** The content of a package file on the tablet, or of the given size from the input. */
async function packageContent({ words: [path], options, at, stdin, device: { storage } }: Call): Promise<Content> {
  if (path !== undefined) return storage.read(at(path));
  let missing = Number(/^\d{1,12}$/.exec(options.get('-S') ?? '')?.[0] ?? refuse('needs a file, or a size with -S'));
  using sink = storage.openSink();
  for await (const bytes of stdin) {
    const piece = bytes.subarray(0, missing);
    missing -= piece.length;
    if (!sink.add(piece)) throw new Refused(NO_SPACE);
    if (missing === 0) break;
  }
  if (missing > 0) throw new Refused('Failure [INSTALL_FAILED_INVALID_APK: the package ended early]');
  return sink.finish();
}

async function install(call: Call): Promise<string> {
  const { device, options } = call;
  const content = await packageContent(call);
  if (device.faults.is('tablet-refuses-install')) {
    throw new Refused('Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]');
  }
  device.packages.install(content, options.has('-d'));
  return 'Success\n';
}

function listPackages({ words: [filter = ''], options, device: { packages } }: Call): string {
  return packages
    .list()
    .filter(({ name }) => name.includes(filter))
    .filter(({ state }) => !options.has(state === 'enabled' ? '-d' : '-e'))
    .filter(({ isSystem }) => !options.has(isSystem ? '-3' : '-s'))
    .map(({ name, versionCode, path }) => {
      const version = options.has('--show-versioncode') ? ` versionCode:${versionCode}` : '';
      return `package:${options.has('-f') ? `${path}=` : ''}${name}${version}\n`;
    })
    .join('');
}

const setState = (state: 'enabled' | 'disabled-user'): Program => ({
  options: '--user=',
  words: [1, 1],
  run({ words: [name = ''], device }) {
    const found = device.packages.get(name) ?? refuse(`java.lang.IllegalArgumentException: Unknown package: ${name}`);
    if (state !== 'enabled' && (device.isOwner(name) || protectedPackages.includes(name))) {
      refuse(`java.lang.SecurityException: Cannot disable a protected package: ${name}`);
    }
    found.state = state;
    return `Package ${name} new state: ${state}\n`;
  },
});

async function start({ options, device, out }: Call): Promise<string> {
  const component = wholeComponent(options.get('-n') ?? refuse('needs a component with -n'));
  const [name = '', className] = component.split('/');
  const data = options.get('-d');
  const action = options.get('-a') ?? '';
  const intent = `${intentOf(action, data === undefined ? data : safeAddress(data))}cmp=${shortComponent(component)}`;
  await out(`Starting: Intent { ${intent} }\n`);
  const found = device.packages.get(name);
  if (found?.state !== 'enabled' || className !== `${name}${found.activity}`) {
    throw new Refused(`Error type 3\nError: Activity class {${component}} does not exist.`);
  }
  if (device.isLocked && !device.isOwner(name))
    throw new Refused('Error: Activity not started, unknown error code 101');
  device.start(component, action, data);
  return options.has('-W') ? `Status: ok\nLaunchState: COLD\nActivity: ${shortComponent(component)}\nComplete\n` : '';
}

const intentOf = (action: string, data: string | undefined) =>
  `${action === '' ? '' : `act=${action} `}${data === undefined ? '' : `dat=${data} `}`;

function setOwner({ words: [word = ''], device }: Call): string {
  const component = wholeComponent(word);
  const [name = '', className] = component.split('/');
  const admin = device.packages.get(name)?.admin;
  if (admin === undefined || className !== `${name}${admin}`) {
    refuse(`java.lang.IllegalArgumentException: Unknown admin: ComponentInfo{${component}}`);
  }
  const cannot = 'java.lang.IllegalStateException: Not allowed to set the device owner because';
  if (device.owner !== undefined) refuse(`${cannot} device owner is already set.`);
  if (device.faults.is('tablet-account')) refuse(`${cannot} there are already some accounts on the device.`);
  device.owner = component;
  const shown = shortComponent(component);
  return `Success: Device owner set to package ${shown}\nActive admin set to component ${shown}\n`;
}

function dumpPolicy({ owner }: Device): string {
  const shown = owner === undefined ? '' : `  Device Owner: \n    admin=ComponentInfo{${owner}}\n    User ID: 0\n`;
  return `Current Device Policy Manager state:\n  Immutable state:\n    mHasFeature=true\n${shown}`;
}

function dumpActivities({ front, isLocked }: Device): string {
  const { component, action, data, task, record } = front;
  const shown = `ActivityRecord{${record} u0 ${shortComponent(component)} t${task}}`;
  return `ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)
  * Task{${record} #${task} type=standard visible=true}
    * Hist  #0: ${shown}
      packageName=${component.split('/')[0]}
      Intent { ${intentOf(action, data)}flg=0x10000000 cmp=${shortComponent(component)} }

  topResumedActivity=${shown}

  ResumedActivity: ${shown}

  LockTaskController:
    mLockTaskModeState=${isLocked ? 'LOCKED' : 'NONE'}
`;
}

function density({ words: [value], device }: Call): string {
  if (value === undefined) {
    const override = device.density === undefined ? '' : `Override density: ${device.density}\n`;
    return `Physical density: ${PHYSICAL_DENSITY}\n${override}`;
  }
  if (value !== 'reset' && !/^(7[2-9]|[89]\d|\d{3,4})$/.test(value)) refuse('density must be >= 72');
  device.density = value === 'reset' || Number(value) === PHYSICAL_DENSITY ? undefined : Number(value);
  return '';
}

function volume({ options, device }: Call): string {
  if (options.get('--stream') !== '3') refuse('this simulated tablet has the stream 3 (STREAM_MUSIC) only');
  const step = options.get('--set');
  if (step !== undefined && !(/^\d{1,2}$/.test(step) && Number(step) <= MAX_VOLUME)) refuse(`invalid volume ${step}`);
  if (step !== undefined) device.mediaVolume = Number(step);
  const done = options.has('--get') ? `[V] volume is ${device.mediaVolume} in range [0..${MAX_VOLUME}]\n` : '';
  return `[V] will control stream=3 (STREAM_MUSIC)\n[V] Connecting to AudioService\n${done}`;
}

/** The commands of Android for setting up a kiosk, and for looking at the result. */
export const androidPrograms: Readonly<Record<string, Program>> = {
  'am start': { options: '-W --user= -a= -d= -n=', words: [0, 0], run: start },
  'cmd wifi status': {
    options: '',
    words: [0, 0],
    run: ({ device: { wlan } }) =>
      `Wifi is enabled\nWifi is connected to "${wlan.ssid}"\nWifiInfo: SSID: "${wlan.ssid}", IP: /${wlan.address.split('/')[0]}\n`,
  },
  'dpm set-device-owner': { options: '--user=', words: [1, 1], run: setOwner },
  'dumpsys activity': { options: '', words: [0, 0], run: ({ device }) => dumpActivities(device) },
  'dumpsys activity activities': { options: '', words: [0, 0], run: ({ device }) => dumpActivities(device) },
  'dumpsys device_policy': { options: '', words: [0, 0], run: ({ device }) => dumpPolicy(device) },
  getprop: {
    options: '',
    words: [0, 1],
    run: ({ words: [name], device }) =>
      name === undefined
        ? [...device.properties()].map(([key, value]) => `[${key}]: [${value}]\n`).join('')
        : `${device.property(name)}\n`,
  },
  ip: {
    options: '-f= -o',
    words: [1, ANY],
    run({ words, options, device: { wlan } }) {
      if (!/^(a|addr|address)( (show|list))?$/.test(words.join(' ')) || (options.get('-f') ?? 'inet') !== 'inet') {
        refuse('this simulated tablet shows IPv4 addresses only: ip addr');
      }
      const row = (number: number, name: string, address: string, scope: string) =>
        `${number}: ${name}    inet ${address} scope ${scope} ${name}\\       valid_lft forever preferred_lft forever\n`;
      return row(1, 'lo', '127.0.0.1/8', 'host') + row(26, 'wlan0', wlan.address, 'global');
    },
  },
  'media volume': { options: '--stream= --set= --get', words: [0, 0], run: volume },
  'pm disable-user': setState('disabled-user'),
  'pm enable': setState('enabled'),
  // `-r`, `-t` and `-g` have no effect here: a package is replaced, for no tests, and without permissions.
  'pm install': { options: '-r -d -t -g -S= --user=', words: [0, 1], run: install },
  'pm list packages': { options: '-3 -d -e -f -s --show-versioncode --user=', words: [0, 1], run: listPackages },
  'pm path': {
    options: '--user=',
    words: [1, 1],
    run: ({ words: [name = ''], device }) =>
      `package:${device.packages.get(name)?.path ?? refuse('no such package')}\n`,
  },
  'pm uninstall': {
    options: '--user=',
    words: [1, 1],
    run({ words: [name = ''], device }) {
      if (device.isOwner(name)) throw new Refused('Failure [DELETE_FAILED_DEVICE_POLICY_MANAGER]');
      device.packages.uninstall(name);
      return 'Success\n';
    },
  },
  reboot: {
    options: '',
    words: [0, 0],
    run({ device }) {
      void device.reboot();
      return '';
    },
  },
  setprop: {
    words: [2, 2],
    run({ words: [name = '', value = ''], device }) {
      if (device.trySetProperty(name, value)) return '';
      throw new Refused(`Failed to set property '${name}' to '${value}'.\nSee dmesg for error reason.`);
    },
  },
  'settings delete': {
    words: [2, 2],
    run({ words: [space, key = ''], device }) {
      device.setSetting(namespaceOf(space), key, undefined);
      return 'Deleted 1 rows\n';
    },
  },
  'settings get': {
    words: [2, 2],
    run: ({ words: [space, key = ''], device }) => `${device.settings()[namespaceOf(space)].get(key) ?? 'null'}\n`,
  },
  'settings list': {
    words: [1, 1],
    run: ({ words: [space], device }) =>
      [...device.settings()[namespaceOf(space)]].map(([key, value]) => `${key}=${value}\n`).join(''),
  },
  'settings put': {
    words: [3, 3],
    run({ words: [space, key = '', value = ''], device }) {
      device.setSetting(namespaceOf(space), key, value);
      return '';
    },
  },
  'svc power stayon': {
    options: '',
    words: [1, 1],
    run({ words: [value = ''], device }) {
      const bits = stayOn.get(value) ?? refuse('usage: svc power stayon [true|false]');
      device.setSetting('global', 'stay_on_while_plugged_in', bits);
      return '';
    },
  },
  'wm density': { words: [0, 1], run: density },
};
