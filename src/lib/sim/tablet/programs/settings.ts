import { type Process, type Program, readOptions } from '../process.ts';
import { namespaces } from '../settings.ts';

/** Exit code of a program of Android's that ended with an exception. */
export const EXCEPTION = 255;

export async function exception(process: Process, what: string, text: string): Promise<number> {
  await process.err(`\nException occurred while executing '${what}':\n${text}\n`);
  return EXCEPTION;
}

const getprop: Program = async ({ words, out, device }) => {
  const [name, otherwise = ''] = words;
  if (name === undefined) {
    await out(
      device.properties
        .list()
        .map(([key, value]) => `[${key}]: [${value}]\n`)
        .join(''),
    );
  } else await out(`${device.property(name) || otherwise}\n`);
  return 0;
};

const setprop: Program = async ({ words, err, device }) => {
  const [name = '', value] = words;
  if (value === undefined) {
    await err('setprop: Needs 2 arguments (see "setprop --help")\n');
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

const settings: Program = async (process) => {
  const { out, err, device } = process;
  const { rest } = readOptions(process.words, ['--user']);
  const [verb, space = '', key = '', value] = rest;
  const namespace = namespaces.find((name) => name === space);
  if (!namespace) {
    await err(`Invalid namespace '${space}'\n`);
    return EXCEPTION;
  }
  switch (verb) {
    case 'get':
      await out(`${device.settings.get(namespace, key) ?? 'null'}\n`);
      return 0;
    case 'put':
      if (value === undefined) {
        await err('Bad arguments\n');
        return EXCEPTION;
      }
      if (device.settings.put(namespace, key, value)) return 0;
      return exception(process, 'put', 'java.lang.IllegalArgumentException: You cannot keep this setting');
    case 'delete':
      await out(`Deleted ${Number(device.settings.delete(namespace, key))} rows\n`);
      return 0;
    case 'list':
      await out(
        device.settings
          .list(namespace)
          .map(([name, text]) => `${name}=${text}\n`)
          .join(''),
      );
      return 0;
    default:
      await err(`Unknown command: ${verb ?? ''}\n`);
      return EXCEPTION;
  }
};

/** Kinds of supply, as bits of `stay_on_while_plugged_in`. */
const stayOn: Readonly<Record<string, number>> = { true: 7, false: 0, ac: 1, usb: 2, wireless: 4 };

const svc: Program = async ({ words, err, device }) => {
  const [what, verb, value = ''] = words;
  if (what === 'power' && verb === 'stayon') {
    const bits = stayOn[value];
    if (bits === undefined) {
      await err('usage: svc power stayon [true|false|usb|ac|wireless]\n');
      return 0;
    }
    device.settings.put('global', 'stay_on_while_plugged_in', String(bits));
    return 0;
  }
  if (what === 'power' && verb === 'reboot') {
    device.reboot();
    return 0;
  }
  if (what === 'wifi' && (verb === 'enable' || verb === 'disable')) {
    device.settings.put('global', 'wifi_on', verb === 'enable' ? '1' : '0');
    return 0;
  }
  await err('Available commands:\n    power\n    wifi\n');
  return 0;
};

const wm: Program = async ({ words, out, err, device }) => {
  const { screen } = device;
  const [what, value] = words;
  if (what === 'density') {
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
  await err(`Unknown command: ${[what, value].filter((word) => word !== undefined).join(' ')}\n`);
  return EXCEPTION;
};

const LOUDEST = 15;

const media: Program = async ({ words, out, err, device }) => {
  const { options } = readOptions(words, ['--stream', '--set', '--adj']);
  if (words[0] !== 'volume') {
    await err('usage: media [subcommand] [options]\n');
    return 1;
  }
  const stream = Number(options.get('--stream') ?? 3);
  if (!Number.isInteger(stream) || stream < 0 || stream > 10) {
    await err(`Error: invalid stream\n`);
    return 1;
  }
  const lines = [`[V] will control stream=${stream} (${stream === 3 ? 'STREAM_MUSIC' : `STREAM_${stream}`})`];
  const set = options.get('--set');
  if (set !== undefined) {
    const index = Number(set);
    if (!/^\d{1,3}$/.test(set) || index > LOUDEST) {
      await err(`Error: invalid volume index ${set}\n`);
      return 1;
    }
    device.screen.volumes.set(stream, index);
    lines.push(`[V] will set volume to index=${index}`, '[V] Connecting to AudioService');
  }
  if (options.has('--get')) {
    const index = device.screen.volumes.get(stream) ?? 5;
    lines.push(
      '[V] will get volume',
      '[V] Connecting to AudioService',
      `[V] volume is ${index} in range [0..${LOUDEST}]`,
    );
  }
  await out(`${lines.join('\n')}\n`);
  return 0;
};

const ip: Program = async ({ words, out, device }) => {
  const isBrief = words.includes('-o') || words.includes('-oneline');
  const { address } = device.wlan;
  const isUp = device.settings.get('global', 'wifi_on') === '1';
  const rows = [['1', 'lo', '127.0.0.1/8', 'host'] as const];
  const all = isUp ? [...rows, ['26', 'wlan0', address, 'global'] as const] : rows;
  for (const [number, name, range, scope] of all) {
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

const wifi: Program = async ({ words, out, device }) => {
  if (words[0] !== 'status') return EXCEPTION;
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

const reboot: Program = ({ device }) => {
  device.reboot();
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
  // Both need root on a build for users.
  start: async ({ err }) => Number(await err('start: must be root\n')),
  stop: async ({ err }) => Number(await err('stop: must be root\n')),
  input: () => 0,
};
