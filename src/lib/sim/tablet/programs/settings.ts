import { namespaces } from '../settings.ts';
import { type Process, type Program, readOptions, toybox, type WordOptions } from '../shell/process.ts';

/** Exit code of an Android program after an exception. */
export const EXCEPTION = 255;

export async function exception(process: Process, what: string, text: string): Promise<number> {
  await process.err(`\nException occurred while executing '${what}':\n${text}\n`);
  return EXCEPTION;
}

/** Reports an invalid option and returns the exit code; undefined when all options are valid. */
export async function refuseOption(process: Process, what: string, read: WordOptions): Promise<number | undefined> {
  const user = read.options.get('--user');
  const problem =
    read.unknown !== undefined
      ? `Unknown option: ${read.unknown}`
      : read.unfinished !== undefined
        ? `Argument expected after "${read.unfinished}"`
        : user !== undefined && !isThisUser(user)
          ? `Invalid user: ${user}`
          : undefined;
  if (problem === undefined) return undefined;
  return exception(process, what, `java.lang.IllegalArgumentException: ${problem}`);
}

/** The tablet has one user. */
const isThisUser = (user: string) => user === '0' || user === 'current' || user === 'cur' || user === 'all';

const getprop = toybox('getprop', {
  usage: '[NAME [DEFAULT]]',
  max: 2,
  async run({ operands, out, device }) {
    const [name, otherwise = ''] = operands;
    if (name === undefined) {
      await out(
        device.properties
          .list()
          .map(([key, value]) => `[${key}]: [${value}]\n`)
          .join(''),
      );
    } else await out(`${device.property(name) || otherwise}\n`);
    return 0;
  },
});

const setprop: Program = async ({ words, err, device }) => {
  const [name = '', value = ''] = words;
  if (words.length !== 2) {
    await err('setprop: Need 2 arguments (see "setprop --help")\n');
    return 1;
  }
  if (name === 'ctl.restart' && value === 'adbd') {
    device.restartBridge();
    return 0;
  }
  if (!name.startsWith('ctl.') && device.properties.set(name, value)) return 0;
  await err(`Failed to set property '${name}' to '${value}'.\nSee dmesg for error reason.\n`);
  return 1;
};

/** Number of words of each, including itself. */
const settingVerbs: ReadonlyMap<string, number> = new Map([
  ['get', 3],
  ['put', 4],
  ['delete', 3],
  ['list', 2],
]);

const settings: Program = async (process) => {
  const { out, err, device } = process;
  // `--user` may be anywhere; other words are literal, also a value with a leading dash.
  const rest = [...process.words];
  const at = rest.indexOf('--user');
  const [, user] = at === -1 ? [] : rest.splice(at, 2);
  const [verb, space = '', key = '', value] = rest;
  const namespace = namespaces.find((name) => name === space);
  const most = settingVerbs.get(verb ?? '');
  if (most === undefined || (at !== -1 && !isThisUser(user ?? ''))) {
    await err(most === undefined ? `Unknown command: ${verb ?? ''}\n` : `Invalid user: ${user ?? ''}\n`);
    return EXCEPTION;
  }
  if (!namespace) {
    await err(`Invalid namespace '${space}'\n`);
    return EXCEPTION;
  }
  if (rest.length !== most) {
    await err(rest.length > most ? 'Too many arguments\n' : 'Bad arguments\n');
    return EXCEPTION;
  }
  switch (verb) {
    case 'get':
      await out(`${device.settings.get(namespace, key) ?? 'null'}\n`);
      return 0;
    case 'put':
      if (device.settings.put(namespace, key, value ?? '')) return 0;
      return exception(process, 'put', 'java.lang.IllegalArgumentException: You cannot keep this setting');
    case 'delete':
      await out(`Deleted ${Number(device.settings.delete(namespace, key))} rows\n`);
      return 0;
    default:
      await out(
        device.settings
          .list(namespace)
          .map(([name, text]) => `${name}=${text}\n`)
          .join(''),
      );
      return 0;
  }
};

/** Power sources, as bits of `stay_on_while_plugged_in`. */
const stayOn: ReadonlyMap<string, number> = new Map([
  ['true', 7],
  ['false', 0],
  ['ac', 1],
  ['usb', 2],
  ['wireless', 4],
]);

const svc: Program = async ({ words, err, device }) => {
  const [what, verb, value = '', more] = words;
  if (what === 'power' && verb === 'stayon') {
    const bits = more === undefined ? stayOn.get(value) : undefined;
    if (bits === undefined) {
      await err('usage: svc power stayon [true|false|usb|ac|wireless]\n');
      return 0;
    }
    device.settings.put('global', 'stay_on_while_plugged_in', String(bits));
    return 0;
  }
  if (what === 'power' && verb === 'reboot' && value === '') {
    device.reboot();
    return 0;
  }
  if (what === 'wifi' && (verb === 'enable' || verb === 'disable') && value === '') {
    device.settings.put('global', 'wifi_on', verb === 'enable' ? '1' : '0');
    return 0;
  }
  await err('Available commands:\n    power\n    wifi\n');
  return 0;
};

const wm: Program = async ({ words, out, err, device }) => {
  const { screen } = device;
  const [what, value, more] = words;
  if (what === 'density' && more === undefined) {
    if (value === undefined) {
      await out(`Physical density: ${screen.physicalDensity}\n`);
      if (screen.density !== undefined) await out(`Override density: ${screen.density}\n`);
      return 0;
    }
    if (value === 'reset') {
      screen.density = undefined;
      return 0;
    }
    const density = Number(value);
    if (!Number.isInteger(density) || density < 72) {
      await err(`Error: density must be >= 72\n`);
      return EXCEPTION;
    }
    screen.density = density === screen.physicalDensity ? undefined : density;
    return 0;
  }
  if (what === 'size' && value === undefined) {
    await out(`Physical size: ${screen.size}\n`);
    return 0;
  }
  await err(`Unknown command: ${words.join(' ')}\n`);
  return EXCEPTION;
};

const MAX_VOLUME = 15;
const DEFAULT_VOLUME = 5;

const media: Program = async ({ words, out, err, device }) => {
  const { options, rest, unknown, unfinished } = readOptions(words, {
    '--stream': 1,
    '--set': 1,
    '--adj': 1,
    '--get': 0,
  });
  const { volumes } = device.screen;
  const problem = async (text: string) => {
    await err(`${text}\n`);
    return 1;
  };
  if (rest[0] !== 'volume' || rest.length > 1) return problem('usage: media [subcommand] [options]');
  if (unknown !== undefined || unfinished !== undefined)
    return problem(`Error: unknown option ${unknown ?? unfinished}`);
  const stream = Number(options.get('--stream') ?? 3);
  if (!Number.isInteger(stream) || stream < 0 || stream > 10) return problem('Error: invalid stream');
  const set = options.get('--set');
  const way = options.get('--adj');
  const now = volumes.get(stream) ?? DEFAULT_VOLUME;
  const lines = [`[V] will control stream=${stream} (${stream === 3 ? 'STREAM_MUSIC' : `STREAM_${stream}`})`];
  if (set !== undefined) {
    const index = Number(set);
    if (!/^\d{1,3}$/.test(set) || index > MAX_VOLUME) return problem(`Error: invalid volume index ${set}`);
    volumes.set(stream, index);
    lines.push(`[V] will set volume to index=${index}`, '[V] Connecting to AudioService');
  } else if (way !== undefined) {
    const step = ['lower', 'same', 'raise'].indexOf(way) - 1;
    if (step < -1) return problem(`Error: no or invalid volume adjustment, was '${way}'`);
    volumes.set(stream, Math.min(MAX_VOLUME, Math.max(0, now + step)));
    lines.push('[V] will adjust volume', '[V] Connecting to AudioService');
  }
  if (options.has('--get')) {
    const index = volumes.get(stream) ?? DEFAULT_VOLUME;
    lines.push(
      '[V] will get volume',
      '[V] Connecting to AudioService',
      `[V] volume is ${index} in range [0..${MAX_VOLUME}]`,
    );
  }
  await out(`${lines.join('\n')}\n`);
  return 0;
};

/** `ip addr`, IPv4 only. */
const ip: Program = async ({ words, out, err, device }) => {
  const problem = async (text: string) => {
    await err(`${text}\n`);
    return 1;
  };
  const { options, rest, unknown } = readOptions(words, { '-f': 1, '-family': 1, '-4': 0, '-o': 0, '-oneline': 0 });
  if (unknown !== undefined) return problem(`Option "${unknown}" is unknown, try "ip -help".`);
  const family = options.get('-f') ?? options.get('-family') ?? 'inet';
  const [object = '', verb = 'show', ...names] = rest;
  const [only, ...more] = names[0] === 'dev' ? names.slice(1) : names;
  if (!/^a(d(d(r(e(ss?)?)?)?)?)?$/.test(object)) return problem(`Object "${object}" is unknown, try "ip help".`);
  if (family !== 'inet' || !['show', 'list', 'ls', 'sh'].includes(verb) || more.length > 0) {
    return problem('this simulated tablet shows IPv4 addresses only');
  }
  const isBrief = options.has('-o') || options.has('-oneline');
  const { address } = device.wlan;
  const isUp = device.settings.get('global', 'wifi_on') === '1';
  const rows = [['1', 'lo', '127.0.0.1/8', 'host'] as const];
  const all = [...rows, ...(isUp ? [['26', 'wlan0', address, 'global'] as const] : [])];
  if (only !== undefined && only !== 'lo' && only !== 'wlan0') return problem(`Device "${only}" does not exist.`);
  for (const [number, name, range, scope] of all.filter(([, name]) => only === undefined || name === only)) {
    if (isBrief) {
      await out(
        `${number}: ${name}    inet ${range} scope ${scope} ${name}\\       valid_lft forever preferred_lft forever\n`,
      );
    } else {
      await out(
        `${number}: ${name}: <UP,LOWER_UP> mtu 1500\n    inet ${range} scope ${scope} ${name}\n       valid_lft forever preferred_lft forever\n`,
      );
    }
  }
  return 0;
};

const wifi: Program = async ({ words, out, err, device }) => {
  if (words.join(' ') !== 'status') {
    await err(`Unknown command: ${words.join(' ')}\n`);
    return EXCEPTION;
  }
  if (device.android().sdk < 30) {
    await out('No shell command implementation.\n');
    return EXCEPTION;
  }
  if (device.settings.get('global', 'wifi_on') !== '1') {
    await out('Wifi is disabled\n');
    return 0;
  }
  const { ssid, address } = device.wlan;
  const [bare] = address.split('/');
  await out('Wifi is enabled\nWifi scanning is only available when wifi is enabled\n');
  await out('==== Primary ClientModeManager instance ====\n');
  await out(`Wifi is connected to "${ssid}"\nWifiInfo: SSID: "${ssid}", IP: /${bare}, Supplicant state: COMPLETED\n`);
  return 0;
};

const reboot = toybox('reboot', {
  usage: '',
  max: 0,
  run({ device }) {
    device.reboot();
    return 0;
  },
});

const inputs: ReadonlySet<string> = new Set(['keyevent', 'text', 'tap', 'swipe', 'press']);
const HOME_KEYS: readonly string[] = ['3', 'HOME', 'KEYCODE_HOME'];

/** Only the home key has an effect. */
const input: Program = async ({ words, err, device }) => {
  const [what = '', ...keys] = words;
  if (!inputs.has(what) || keys.length === 0) {
    await err(`Error: Unknown command: ${what}\n`);
    return EXCEPTION;
  }
  if (what === 'keyevent' && keys.some((key) => HOME_KEYS.includes(key)) && !device.screen.isLocked) {
    device.screen.goHome();
  }
  return 0;
};

export const settingPrograms: Readonly<Record<string, Program>> = {
  getprop,
  setprop,
  settings,
  svc,
  wm,
  media,
  ip,
  'cmd-wifi': wifi,
  reboot,
  // Both need root on a user build.
  start: async ({ err }) => Number(await err('start: must be root\n')),
  stop: async ({ err }) => Number(await err('stop: must be root\n')),
  input,
};
